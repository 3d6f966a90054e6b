"""Every numbered clause of the dialects' definitions, (C1), (C2) .., is checked by code that says so, and broken by a test.

The clause C2 of `linear` is `linear_c2` after the check in the code of its dialect, and in the name of a function or
attribute of the dialect's folder of test/Dialect that must be refused. Of an attribute that is called as an op is, it is
`launch_attr_c2`. A clause that ODS checks, by the type of an operand or
a trait, is named by a comment of the definition instead: `let arguments = (ins ..); // linear_c2: ODS`.
Prints what is missing and what is named but not defined; exit 1 if there is any."""
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


def defined(dialect):
    """Labels of the clauses that stand in a definition."""
    found = set()
    text = read("dialects/%s/**/*.td" % dialect)
    ops = re.findall(r'^def \w+Op : \w+<"([a-z]\w*)"', text, re.MULTILINE)
    for record in re.split(r"^(?=def |class )", text, flags=re.MULTILINE):
        mnemonic = re.search(r'"([a-z]\w*)"', record)
        attribute = re.match(r"def \w+Attr ", record)
        label = mnemonic and mnemonic[1] + ("_attr" if attribute and mnemonic[1] in ops else "")
        found.update("%s_c%s" % (label, n) for n in re.findall(r"\(C(\d+)\)", record))
    return found


def labels(text):
    return set(re.findall(r"\b([a-z0-9_]+?_c\d+)(?![0-9])", text))


def checked_by_ods(dialect):
    comments = re.findall(r"^  let (?:arguments|regions|results) = .*// (.*)$", read("dialects/%s/**/*.td" % dialect), re.MULTILINE)
    return labels("\n".join(comments))


def main():
    clauses, wrong = 0, []
    for dialect in sorted(os.listdir(os.path.join(ROOT, "dialects"))):
        if not os.path.isdir(os.path.join(ROOT, "dialects", dialect)):
            continue
        wanted = defined(dialect)
        checked = labels(read("dialects/%s/**/*.cpp" % dialect)) | checked_by_ods(dialect)
        broken = labels(read("test/Dialect/%s/**/*.mlir" % dialect))
        clauses += len(wanted)
        wrong += [(dialect, l, "no check names it") for l in wanted - checked]
        wrong += [(dialect, l, "no test breaks it") for l in wanted - broken]
        wrong += [(dialect, l, "is checked, but no definition has it") for l in checked - wanted]
    for finding in sorted(wrong):
        print("%s: %s: %s" % finding)
    print("%d clauses, %d wrong" % (clauses, len(wrong)))
    return int(bool(wrong) or not clauses)


if __name__ == "__main__":
    sys.exit(main())
