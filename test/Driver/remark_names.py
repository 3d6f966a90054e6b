"""remark_names.py HEDDLE_OPT HEDDLE WORK: every name of Remarks.def is emitted in each of its kinds, and reasons of missed remarks
have a case: passes on the files of their own tests, then whole models. Prints what is not emitted, then `N passed, N failed`."""
import collections
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
from checks import check, finish

heddle_opt, heddle, work = sys.argv[1:]
ROOT = heddle_test.ROOT
os.makedirs(work)

# A file of a pass's own test, the flags, and words of remarks that it must give.
PASSES = [
    ("Dialect/Model/slice-parameters.mlir", "--model-slice-parameters", ["is a separate parameter"]),
    ("Dialect/Model/code-weights.mlir", "--model-code-weights=bits=4 group=32 keep=l.0.in", [
        "rounded to codes of 4 bits", "it chooses experts", "--keep names it", "fewer than 32 results or 64 features", "neither a linear nor a lookup of tokens"]),
    ("Dialect/Model/split-linear.mlir", "--model-split-linear", ["one linear for each of 2 results"]),
    ("Dialect/Model/conv-to-linear.mlir", "--model-conv-to-linear", ["a linear over windows", "fewer than 16 results"]),
    ("Dialect/Model/fuse-remarks.mlir", "--model-fuse-elementwise", ["one pass over memory", "done on its sums"]),
    ("Dialect/Model/gate-linears.mlir", "--model-fuse-elementwise --model-gate-linears", ["rows that have not chosen this expert"]),
    ("Interpreter/fold-constants.mlir", "--model-fold-constants --split-input-file", ["are computed by the compiler"]),
    ("Conversion/ModelToEntries/gpt.mlir", "--model-derive-entries --model-derive-batch=slots=auto", ["continues a text from", "@batch continues several texts"]),
    ("Conversion/ModelToEntries/refused.mlir", "--model-derive-entries", ["its mask does not imply causal"]),
    ("Conversion/ModelToEntries/refused.mlir", "--model-derive-entries=cache=none", ["--cache=none asks for none"]),
    ("Conversion/ModelToEntries/batch.mlir", "--model-derive-entries --model-derive-batch=slots=auto", ["the number of past positions is read"]),
    ("Conversion/ModelToEntries/skip-padding.mlir", "--model-skip-padding=rows=skip --split-input-file", ["ops work on rows that are no padding"]),
    ("Conversion/ModelToEntries/skip-padding-auto.mlir", "--model-skip-padding", ["an output has them"]),
    ("Conversion/ModelToEntries/skip-unseen.mlir", "--model-skip-unseen --split-input-file", ["queries that the mask hides are not computed", "another op reads them, too"]),
    ("Dialect/Mask/simplify.mlir", "--mask-simplify --split-input-file", ["before; ", "every row sees a key", "a row may see no key"]),
    ("Dialect/Mask/build-tables.mlir", "--mask-build-tables", ["a table that is made once a call"]),
    ("Dialect/Mask/table-remarks.mlir", "--mask-build-tables", ["changes in each iteration"]),
    ("Plan/plan-cache.mlir", "--attn-plan-cache --split-input-file", [
        "are stored as attention reads them", "a ring of 896 rows", "comes in pieces of up to 512", "an op that is no attention reads its rows",
        "keys of one attention and values of another", "one entry loads and stores it", "how far back a row looks is not known", "no text is longer than the ring would be"]),
    ("Plan/plan-schedules-tiles.mlir", "--model-plan-schedules", ["rows by"]),
    ("Plan/layout-remarks.mlir", "--model-plan-parameters", ["is packed in panels", "no linear multiplies by it", "2 times, since its readers"]),
    ("Plan/plan-memory.mlir", "--model-plan-schedules --model-plan-memory", [
        "bytes of the arena", "in the caller's memory of output", "is written over its operand", "its operand is read later, too", "a call reserves"]),
    ("Plan/plan-memory-kept.mlir", "--model-plan-memory", ["its rows are stored as bf16"]),
    ("Plan/remarks.mlir", "--split-input-file --attn-plan-cache --model-plan-schedules --model-plan-memory", ["so it rounds its rows for itself"]),
    ("Interpreter/fold-remarks.mlir", "--model-fold-constants", ["more than 2^20 elements", "op takes 0 >= 6"]),
    ("Conversion/Lowering/equal.mlir", "--heddle-share-loops", ["serves 2 loops"]),
    ("Conversion/Lowering/shared.mlir", "--heddle-tiled --heddle-buffers --convert-heddle-to-loops --heddle-share-loops=longest-function=300", ["are cut into"]),
]

# A model, the flags of `heddle check`, or of `heddle compile` where -o is among them, and words of remarks that they must give.
MODELS = [
    ("examples/dates/model.json", [], ["tiles of"]),
    ("examples/dates/model.json", ["--target=cuda", "--mcpu=sm_80"], ["threads of a block share tiles"]),
    ("examples/masks/model.json", ["--target=cuda", "--mcpu=sm_80"], ["its dilated mask makes it several attentions"]),
    ("examples/masks/model.json", [], ["every row sees a key", "of every 2th key", "at most: a row sees from 3 before to 0 after"]),
    ("examples/dates/model.json", ["--mcpu=sapphirerapids", "--dtype=bf16"], ["its sums are made in matrix registers", "it rounds its rows for"]),
    ("examples/dates/model.json", ["--mcpu=sapphirerapids"], ["its numbers are f32"]),
    ("examples/dates/model.json", ["-o", "dates", "--quick"], ["bytes of objects", "of fewer than 40 ops stay in the entry"]),
    ("examples/dates/model.json", ["--target=cuda", "--mcpu=sm_80", "--emit=kernels", "-o", "kernels.mlir"], ["in blocks of", "launches"]),
]

seen = collections.Counter()
words_seen = collections.defaultdict(str)


def rows():
    with open(os.path.join(ROOT, "dialects/Remarks/Remarks.def"), encoding="utf-8") as f:
        for name, kinds, numbers in re.findall(r'^HEDDLE_REMARK\(\w+, "([^"]+)", ([\w| ]+), "[^"]+", "([^"]*)"\)$', f.read(), re.M):
            yield name, [k.strip().lower() for k in kinds.split("|")], numbers.split()


def of_pass(file, flags):
    words = re.split(r" (?=--)", flags)
    ran = subprocess.run([heddle_opt, os.path.join(ROOT, "test", file), *words, "--remarks-filter=.*", "-o", os.devnull],
                         capture_output=True, text=True, timeout=60)
    check(ran.returncode == 0, "%s %s ends with %d: %s" % (file, flags, ran.returncode, ran.stderr[-500:]))
    for kind, name in re.findall(r"\[(Passed|Missed|Analysis)\] ([\w.]+) \|", ran.stderr):
        seen[name, kind.lower()] += 1
    return ran.stderr


def of_model(number, model, flags):
    into = os.path.join(work, "%d.json" % number)
    compiles = "-o" in flags
    ran = subprocess.run([heddle, "compile" if compiles else "check", os.path.join(ROOT, model), *flags, "--remarks-file=" + into],
                         capture_output=True, text=True, timeout=120, cwd=work)
    check(ran.returncode == 0, "%s %s ends with %d: %s" % (model, flags, ran.returncode, ran.stderr[-500:]))
    if ran.returncode:
        return ""
    with open(into, encoding="utf-8") as f:
        remarks = json.load(f)
    table = {name: (kinds, numbers) for name, kinds, numbers in rows()}
    for r in remarks:
        kinds, numbers = table.get(r["name"], ([], []))
        check(r["kind"] in kinds and set(r["args"]) <= set(numbers) and r["message"], "%s: %s is not as the table says" % (model, r))
        check(r["pass"] or r["name"] in ("codegen.function",), "%s: no pass made %s" % (model, r))
        seen[r["name"], r["kind"]] += 1
    return "\n".join(r["message"] for r in remarks)


for file, flags, words in PASSES:
    said = of_pass(file, flags)
    for word in words:
        check(word in said, "%s %s: nothing says %r" % (file, flags, word))
for number, (model, flags, words) in enumerate(MODELS):
    said = of_model(number, model, flags)
    for word in words:
        check(word in said, "%s %s: nothing says %r" % (model, " ".join(flags), word))
names = list(rows())
check(len(names) > 30, "Remarks.def has %d rows" % len(names))
for name, kinds, _ in names:
    for kind in kinds:
        check(seen[name, kind], "%s %s is emitted by nothing here" % (name, kind))
sys.exit(finish())
