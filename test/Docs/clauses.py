"""Every numbered clause of the dialects' definitions, (C1), (C2) .., is checked by code that says so, and broken by a test.

The clause C2 of `linear` is `linear_c2` behind the check in dialects, and in the name of a function or attribute of
test/Dialect that must be refused. Prints what is missing and what is named but not defined; exit 1 if there is any."""
import glob
import os
import re
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))


def read(*patterns):
    text = ""
    for pattern in patterns:
        for path in sorted(glob.glob(os.path.join(ROOT, pattern), recursive=True)):
            with open(path, encoding="utf-8") as f:
                text += f.read() + "\n"
    return text


def defined():
    """Labels of the clauses that stand in a definition."""
    found = set()
    for record in re.split(r"^(?=def |class )", read("dialects/**/*.td"), flags=re.MULTILINE):
        mnemonic = re.search(r'"([a-z]\w*)"', record)
        found.update("%s_c%s" % (mnemonic[1], n) for n in re.findall(r"\(C(\d+)\)", record))
    return found


def labels(text):
    return set(re.findall(r"\b([a-z0-9_]+?_c\d+)(?![0-9])", text))


def main():
    wanted, checked, broken = defined(), labels(read("dialects/**/*.cpp")), labels(read("test/Dialect/**/*.mlir"))
    wrong = [(l, "no check names it") for l in wanted - checked] + [(l, "no test breaks it") for l in wanted - broken]
    wrong += [(l, "is checked, but no definition has it") for l in checked - wanted]
    for label, why in sorted(wrong):
        print("%s: %s" % (label, why))
    print("%d clauses, %d wrong" % (len(wanted), len(wrong)))
    return int(bool(wrong) or not wanted)


if __name__ == "__main__":
    sys.exit(main())
