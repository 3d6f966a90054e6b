"""Every error code of the sources has its row in compiler/Driver/errors.md, and every row its code: `codes.py`.

A code is a string "Hnnnn" outside of comments, or the number of a rule given to brokenRule, which makes H02nn of it; the rules' own
numbers are those that the tests of the readers name (S01 to S26; S22 is a note)."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RULES = {"H02%02d" % n for n in range(1, 27) if n != 22}


def main():
    said = {}
    for folder in ("compiler", "runtime", "targets"):
        for top, _, names in os.walk(os.path.join(ROOT, folder)):
            for name in names:
                if name.endswith((".cpp", ".h", ".c")):
                    with open(os.path.join(top, name), encoding="utf-8") as f:
                        for number, line in enumerate(f, 1):
                            for code in re.findall(r'"(?:[^"]*\[)?(H\d{4})\b', line.split("//")[0]):
                                said.setdefault(code, "%s:%d" % (os.path.relpath(os.path.join(top, name), ROOT), number))
    with open(os.path.join(ROOT, "compiler", "Driver", "errors.md"), encoding="utf-8") as f:
        rows = set(re.findall(r"^\| (H\d{4}) \|", f.read(), re.M))
    wrong = ["%s: %s has no row in compiler/Driver/errors.md" % (said[c], c) for c in sorted(set(said) - rows)]
    wrong += ["compiler/Driver/errors.md: nothing says %s" % c for c in sorted(rows - set(said) - RULES)]
    wrong += ["compiler/Driver/errors.md has no row for the rule %s" % c for c in sorted(RULES - rows)]
    print("\n".join(wrong + ["%d codes, %d wrong" % (len(rows), len(wrong))]))
    return int(bool(wrong) or len(said) < 20)


if __name__ == "__main__":
    sys.exit(main())
