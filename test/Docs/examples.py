"""Executes every ```mlir block of the dialects' .td files and of the READMEs: `examples.py HEDDLE_OPT`.

A block that is no whole function is put into one; the operands it takes from nowhere become values of whatever type it asks
for. Each block must parse, verify, and print to something that parses again. One line a failure, then `N passed, N failed`;
at least one block must be there."""
import os
import re
import subprocess
import sys
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDERS = ("dialects", "compiler", "targets")


def blocks():
    for folder in FOLDERS:
        for top, dirs, names in os.walk(os.path.join(ROOT, folder)):
            dirs.sort()
            for name in sorted(names):
                if name.endswith((".td", ".md")):
                    with open(os.path.join(top, name), encoding="utf-8") as f:
                        text = f.read()
                    for m in re.finditer(r"^[ ]*```mlir\n(.*?)^[ ]*```$", text, re.M | re.S):
                        where = "%s:%d" % (os.path.relpath(os.path.join(top, name), ROOT), text.count("\n", 0, m.start()) + 1)
                        yield where, textwrap.dedent(m.group(1))


def opt(tool, text):
    p = subprocess.run([tool, "--allow-unregistered-dialect", "-"], input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    return p.returncode, p.stdout.decode(), p.stderr.decode()


def whole(text):
    return re.search(r"^\s*(module|func\.func)\b", text, re.M)


def wrapped(text, types):
    """The snippet in a function, its free values defined by an op nobody knows."""
    given = "".join('  %s = "docs.given"() : () -> %s\n' % (v, t) for v, t in types.items())
    return "func.func @example() {\n%s%s\n  return\n}\n" % (given, textwrap.indent(text, "  "))


def execute(tool, text):
    """None, or what is wrong."""
    types = {}
    while True:
        code, out, said = opt(tool, text if whole(text) else wrapped(text, types))
        if code == 0:
            code, again, said = opt(tool, out)
            return None if code == 0 and again == out else "does not parse back: " + (said or again)
        # The parser says what it misses, one thing at a time.
        missing = re.search(r"use of undeclared SSA value name", said)
        other = re.search(r"use of value '(%\w+)' expects different type than prior uses: '(.*?)' vs '(.*?)'\n", said)
        if whole(text) or not (missing or other):
            return said
        if missing:
            line = re.search(r"<stdin>:(\d+):(\d+)", said)
            source = wrapped(text, types).split("\n")[int(line[1]) - 1]
            name = re.match(r"%[\w$.-]+", source[int(line[2]) - 1:])
            if not name or name[0] in types:
                return said
            types[name[0]] = "none"
        else:
            if types.get(other[1]) != "none":
                return said
            types[other[1]] = other[2]


def main():
    passed = failed = 0
    for where, text in blocks():
        wrong = execute(sys.argv[1], text)
        if wrong:
            print("FAIL %s\n%s" % (where, textwrap.indent(wrong.strip(), "  ")))
        passed, failed = passed + (not wrong), failed + bool(wrong)
    print("%d passed, %d failed" % (passed, failed))
    return int(failed > 0 or passed == 0)


if __name__ == "__main__":
    sys.exit(main())
