"""Calls of which two arguments make ops: C++ lets its compiler choose which is made first, so GCC and Clang would build
compilers that write differently ordered code. Statements and braces, add({mul(x, y), mul(z, u)}), have an order.

Looks at the text of what emits loops. An argument makes an op if it calls `create`, an operation of Code.h or IntCode, or a
function of the same file or of a header here that returns values, but in the body of a lambda. Constants do not count: they
have no place in the code that is made. Prints a line for each such call; exit status 1 if there is any."""
import os
import re
import sys

from classes import blank
from layering import ROOT

FOLDERS = ["compiler/Conversion/Lowering", "dialects/Mask/Emission", "dialects/Model/Transforms"]
MAKE = set("""create createOrFold clone add sub mul div rem ceilDiv floorDiv min max compare less equal both either exclusive choose
    select toI64 toIndex at load gather loadF32 loadLanes loadVec firstLanes splat spread addf subf mulf divf fma maxf sqrt lessf
    isNaN foldLanes sum largest size count linear allocatePointer scratchPointer loop vectors""".split())
CONSTANT = set("constant constantLike constantArray real integer number word flag zero one width most pointer known".split())
# Not what its words look like: builders, sizes and types.
EXCUSED = {"w.need({b, loc}, at(2), at(3))": "results of one loop"}


def closing(text, at):
    """The place of the bracket that closes the one at `at`."""
    depth = 0
    for n in range(at, len(text)):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(text[n], 0)
        if not depth:
            return n
    return len(text)


def arguments(text):
    """What stands between the commas of an argument list, brackets and template arguments kept whole."""
    parts, start, n = [], 0, 0
    while n < len(text):
        if text[n] in "([{":
            n = closing(text, n)
        elif text[n] == "<" and (angle := re.match(r"<[\w:<>, *]*>(?=[({])", text[n:])):
            n += angle.end() - 1
        elif text[n] == ",":
            parts, start = parts + [text[start:n]], n + 1
        n += 1
    return parts + [text[start:]]


def without_lambdas(text):
    lambda_head = re.compile(r"(?:(?<=[(,={?:] )|(?<=[(,={?:])|^\s*)\[[^\[\]]*\]\s*(\((?:[^()]|\([^()]*\))*\))?\s*(?:mutable\s*)?(?:->\s*[\w:<>, ]+)?\s*(?=\{)")
    while m := lambda_head.search(text):
        text = text[:m.start()] + "lambda" + text[closing(text, m.end()) + 1:]
    return text


def makers(text):
    """Functions and lambdas of a file that return values."""
    returned = r"(?:mlir::)?(?:Value|Values|Segment|Hull|Item|Exponent|RowContext|std::pair<Value, Value>)"
    names = set(re.findall(r"\n *(?:static |inline )?%s (?:\w+::)*(\w+)\(" % returned, text))
    for m in re.finditer(r"auto (\w+) = \[[^\]]*\]\s*(?:\((?:[^()]|\([^()]*\))*\))?[^{;]*\{", text):
        if re.search(r"\b(%s)\(" % "|".join(MAKE), text[m.end():closing(text, m.end() - 1)]):
            names.add(m[1])
    return names


def breaches(text, names):
    making = re.compile(r"(?<!\w)(%s)(<[\w:]+>)?\(" % "|".join(sorted(names)))
    for m in re.finditer(r"(?<![\w:.>])((?:\w+(?:::|\.|->))*(\w+)(?:<[\w:<>]+>)?)\(", text):
        if m[2] in ("if", "for", "while", "switch", "return", "sizeof", "decltype"):
            continue
        end = closing(text, m.end() - 1)
        if sum(bool(making.search(without_lambdas(a))) for a in arguments(text[m.end():end])) > 1:
            call = " ".join(text[m.start():end + 1].split())
            if call not in EXCUSED:
                yield text.count("\n", 0, m.start()) + 1, call


def main():
    paths = sorted(os.path.join(folder, f) for folder in FOLDERS for f in os.listdir(os.path.join(ROOT, folder)) if f.endswith((".h", ".cpp")))
    texts = {path: blank(open(os.path.join(ROOT, path)).read()) for path in paths}
    # The checker checked: it finds the plainest breach.
    assert list(breaches("f(add(x, y), [&] { return mul(x, y); }, sub(x, y))", MAKE)) and not list(breaches("f({add(x, y), sub(x, y)}, [&] { mul(x); })", MAKE))
    common = set().union(*(makers(t) for path, t in texts.items() if path.endswith(".h")))
    found = 0
    for path, text in texts.items():
        for line, call in breaches(text, (MAKE | common | makers(text)) - CONSTANT):
            found += 1
            print("%s:%d: two arguments make ops: %s" % (path, line, call[:150]))
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
