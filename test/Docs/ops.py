"""Every op of the four dialects is documented and round-tripped: `ops.py MLIR_TBLGEN INCLUDE`.

Compares ODS (the records that mlir-tblgen prints) with test/Dialect. Each op has
  description  what it computes, in more words than its summary,
  clauses      (C1), (C2) .. in order; an op without operands, attributes and regions says that it has none,
  example      its name in a ```mlir block of its description, or in that of the op which the description names:
               "The example of `tile.stream` has one." (examples.py executes the blocks),
  line         its name in test/Dialect/<Dialect>/ops.mlir, in a CHECK line and in an op.
Clauses are compared with verifiers and negative tests by clauses.py. Prints a line a finding, then the counts. Exit status 1
if there is a finding, or if an omission that the script plants for each of the four is not found."""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DIALECTS = {"model": "Model", "mask": "Mask", "attn": "Attn", "tile": "Tile"}
NO_CLAUSE = "no operands and no attributes"


def records(tblgen, include, folder):
    path = os.path.join(ROOT, "dialects", folder, "IR", folder + "Ops.td")
    command = [tblgen, "--print-records", "-I", ROOT, "-I", include, path]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode()


def ops_of(text, dialect):
    """{"model.param": {"description": .., "bare": whether ODS gives it nothing that could be wrong}}."""
    found = {}
    for record in re.findall(r"^def \w+ \{\t// [^\n]*\bOp\b.*?^\}$", text, re.M | re.S):
        name = re.search(r'^  string opName = "(\w+)";', record, re.M)
        if not name or not re.search(r"^  Dialect opDialect = %s_Dialect;" % DIALECTS[dialect], record, re.M):
            continue
        told = re.search(r'^  (?:code|string) description = (?:\[\{(.*?)\}\]|"(.*?)");$', record, re.M | re.S)
        bare = all(re.search(r"^  dag %s = \(\w+\);$" % what, record, re.M) for what in ("arguments", "regions"))
        found["%s.%s" % (dialect, name[1])] = {"description": (told[1] or told[2] or "").strip(), "bare": bare}
    return found


def blocks_of(description):
    return "\n".join(re.findall(r"^[ ]*```mlir\n(.*?)^[ ]*```$", description, re.M | re.S))


def names(text, op):
    return re.search(r"(?<![\w.])%s\b(?!\.)" % re.escape(op), text)


def findings(ops, tests):
    """[(op, what is missing)], for `ops` as ops_of gives them and `tests`, the text of each dialect's ops.mlir."""
    wrong = []
    for op, ods in sorted(ops.items()):
        description, dialect = ods["description"], op.split(".")[0]
        prose = re.sub(r"^[ ]*```mlir\n.*?^[ ]*```$|^ *- \(C\d+\).*", "", description, flags=re.M | re.S).strip()
        if not prose:
            wrong.append((op, "no description"))
        numbers = [int(n) for n in re.findall(r"- \(C(\d+)\)", description)]
        if numbers != list(range(1, len(numbers) + 1)):
            wrong.append((op, "clauses are not numbered (C1), (C2) .. in order"))
        if not numbers and not ods["bare"]:
            wrong.append((op, "no clause (C1)"))
        if not numbers and ods["bare"] and description and NO_CLAUSE not in " ".join(description.split()):
            wrong.append((op, "no clause, and no word that it has %s" % NO_CLAUSE))
        examples = blocks_of(description)
        named = re.search(r"example(?:s)? of ((?:`\w+\.\w+`(?:,| and)? ?)+)", " ".join(prose.split()))
        for other in re.findall(r"`(\w+\.\w+)`", named[1]) if named else []:
            examples += blocks_of(ops.get(other, {"description": ""})["description"])
        if not names(examples, op):
            wrong.append((op, "no example in a mlir block"))
        lines = tests[dialect].split("\n")
        if not any(names(l, op) for l in lines if not l.lstrip().startswith("//")):
            wrong.append((op, "no op in test/Dialect/%s/ops.mlir" % DIALECTS[dialect]))
        if not any(names(l, op) for l in lines if "// CHECK" in l):
            wrong.append((op, "no CHECK line in test/Dialect/%s/ops.mlir" % DIALECTS[dialect]))
    return wrong


def planted(ops, tests):
    """What is wrong with the script itself: an omission for each kind that it does not find."""
    op = "model.l2_norm"
    description = ops[op]["description"]
    clauses = description.index("- (C1)")
    omissions = {
        "no description": ("", None),
        "no description, but the rest": (description[clauses:], None),
        "no clause (C1)": (re.sub(r"- \(C1\).*", "", description), None),
        "clauses are not numbered": (description.replace("(C1)", "(C2)"), None),
        "no example in a mlir block": (description.replace("model.l2_norm", "model.softmax"), None),
        "no op in": (description, r"^(?! *//).*model\.l2_norm.*$"),
        "no CHECK line in": (description, r"^ *// CHECK.*model\.l2_norm.*$"),
    }
    missed = []
    for what, (text, removed) in omissions.items():
        changed = dict(ops, **{op: dict(ops[op], description=text)})
        lines = dict(tests, model=re.sub(removed, "", tests["model"], flags=re.M)) if removed else tests
        new = [why for name, why in findings(changed, lines) if name == op]
        if not any(why.startswith(what.split(",")[0]) for why in new):
            missed.append("planted: '%s' of %s is not found, but %s" % (what, op, new))
    bare = dict(ops, **{"mask.all": dict(ops["mask.all"], bare=False)})
    if ("mask.all", "no clause (C1)") not in findings(bare, tests):
        missed.append("planted: mask.all with an attribute and without a clause is not found")
    return missed


def main():
    ops, tests = {}, {}
    for dialect, folder in DIALECTS.items():
        ops.update(ops_of(records(sys.argv[1], sys.argv[2], folder), dialect))
        with open(os.path.join(ROOT, "test", "Dialect", folder, "ops.mlir"), encoding="utf-8") as f:
            tests[dialect] = f.read()
    wrong = ["%s: %s" % finding for finding in findings(ops, tests)] + planted(ops, tests)
    for line in wrong:
        print(line)
    counts = ", ".join("%d of %s" % (sum(op.startswith(d + ".") for op in ops), d) for d in DIALECTS)
    print("%d ops (%s), %d findings" % (len(ops), counts, len(wrong)))
    return int(bool(wrong) or len(ops) < 90)


if __name__ == "__main__":
    sys.exit(main())
