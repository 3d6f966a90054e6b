"""Every row of runtime/include/heddle/errors.def has a user in the sources: `heddle reference errors | codes.py`.

A user is `Error::Name`; what the compiler and the targets have is said by heddle, what the runtime has by a compiled model.
No source spells a code itself, and no message begins with `error` without one. The page is read from standard input: a row
for each code."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TABLE = "runtime/include/heddle/errors.def"
SAID_BY = {"Heddle": {"compiler"}, "Model": {"runtime"}, "Both": {"compiler", "runtime"}}


def sources():
    for folder in ("compiler", "runtime", "targets", "dialects"):
        for top, _, names in os.walk(os.path.join(ROOT, folder)):
            for name in sorted(names):
                if name.endswith((".cpp", ".h", ".c")):
                    path = os.path.join(top, name)
                    with open(path, encoding="utf-8") as f:
                        yield os.path.relpath(path, ROOT), f.read()


def main():
    with open(os.path.join(ROOT, TABLE), encoding="utf-8") as f:
        rows = re.findall(r"^HEDDLE_ERROR\((H\d{4}), (\w+), (\w+), (\w+), ", f.read(), re.M)
    used, wrong = {}, []
    for path, text in sources():
        # What Base finds in a header is a code of the compiler's; the runtime has one for all of it.
        side = "runtime" if path.startswith("runtime/") and not path.startswith("runtime/Base/") else "compiler"
        for number, line in enumerate(text.split("\n"), 1):
            code = line.split("//")[0]
            for name in re.findall(r"\bError::(\w+)", code):
                used.setdefault(name, set()).add(side)
            # The help of `heddle explain` has one as an example.
            if not path.startswith("compiler/Tools/") and re.search(r'"[^"]*(\bH0\d{3}\b|(?<!internal )\berror: )', code):
                wrong.append("%s:%d: a code or `error: ` outside of %s" % (path, number, TABLE))
    for code, name, _, by in rows:
        if name not in used:
            wrong.append("%s: nothing says %s (%s)" % (TABLE, code, name))
        elif used[name] != SAID_BY[by]:
            wrong.append("%s: %s (%s) is said by %s" % (TABLE, code, name, " and ".join(sorted(used[name]))))
    for which in (0, 1):
        names = [row[which] for row in rows]
        wrong += ["%s: %s twice" % (TABLE, n) for n in sorted(set(names)) if names.count(n) > 1]
    if [row[0] for row in rows] != sorted(row[0] for row in rows):
        wrong.append("%s: not in the order of its codes" % TABLE)
    page = re.findall(r"^\| (H\d{4}) \|", sys.stdin.read(), re.M)
    if page != [row[0] for row in rows]:
        wrong.append("the page has other codes than %s" % TABLE)
    print("\n".join(wrong + ["%d codes, %d wrong" % (len(rows), len(wrong))]))
    return int(bool(wrong) or len(rows) < 80)


if __name__ == "__main__":
    sys.exit(main())
