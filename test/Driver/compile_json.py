"""--json of commands that print something: `compile_json.py HEDDLE WORK`. One line a failure, then `N passed, N failed`.

The objects are held against what the same command prints as text, and against the files that it wrote."""
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
from checks import check, finish

heddle, work = sys.argv[1:]
ROOT = os.path.abspath(__file__).rpartition("/test/")[0]
DATES = os.path.join(ROOT, "examples", "dates", "model.json")
STORIES = os.path.join(ROOT, "examples", "stories")
os.makedirs(work)


def at(*names):
    return os.path.join(work, *names)


def said(*words, status=0):
    """Standard output and standard error of a command."""
    ran = subprocess.run(words, capture_output=True, text=True, timeout=120)
    check(ran.returncode == status, "%s: exit status %d: %s" % (" ".join(words), ran.returncode, ran.stderr))
    return ran.stdout, ran.stderr


def compiled(*words, status=0):
    out, err = said(heddle, "compile", *words, "--json", *cached.quick(heddle), status=status)
    made = json.loads(out)
    check(made["status"] == status, "the status of %s is %s" % (words, made["status"]))
    return made, err


# A program, with everything that a program has.
made, err = compiled(DATES, "-o", at("dates"))
facts = json.loads(said(at("dates"), "info", "--json")[0])
check(made["stage"] == "exe" and made["output"] == at("dates") and made["bytes"] == os.path.getsize(at("dates")), "the output: %s" % made)
check(made["target"] == facts["target"] and made["entries"] == [e["name"] for e in facts["entries"]], "the entries: %s" % made["entries"])
check(made["weights"] == {"tensors": made["weights"]["tensors"], "bytes": facts["weight_bytes"], "file": None}, "the weights: %s" % made["weights"])
check(0 < made["seconds"] < 120 and made["rounding"] is None and made["messages"] == [], "the rest: %s" % made)

# Weights in another file, rounded.
shutil.copytree(STORIES, at("stories"))
os.remove(at("stories", "tokenizer.json"))
with open(at("stories", "README.md"), "w", encoding="utf-8") as f:
    f.write("---\nlicense: other\nlicense_name: tales of a loom\n---\n")
made, err = compiled(at("stories"), "-o", at("tale"), "--no-embed", "--weights-dtype=int8", "--without=serve")
check(made["weights"]["file"] == at("tale.weights") and made["weights"]["bytes"] <= os.path.getsize(at("tale.weights")), "the side file: %s" % made["weights"])
rounding = made["rounding"]
check(len(rounding["matrices"]) == 17 and 0 < rounding["relative_error"] < 0.1, "the rounding: %s" % rounding)

# A note: of an adapter that stands for its base, too. -q does not print it.
ADAPTER = os.path.join(ROOT, "examples", "contrary")
made, err = compiled(ADAPTER, "-o", at("contrary"))
check([m["kind"] for m in made["messages"]] == ["note"] and err == "heddle: note: %s\n" % made["messages"][0]["message"] and ADAPTER in err, "the notes: %s, %s" % (made["messages"], err))
quiet, err = compiled(ADAPTER, "-o", at("contrary"), "-q")
check(err == "" and quiet["messages"] == made["messages"], "-q: %r, %s" % (err, quiet["messages"]))

# The licence of the model card is in the program, and in its notices.
check(json.loads(said(at("tale"), "info", "--json")[0])["license"] == "other (tales of a loom)", "the licence in info")
text, notices = said(at("tale"), "licences")[0], json.loads(said(at("tale"), "licences", "--json")[0])
check(notices["license"] == "other (tales of a loom)" and notices["license"] in text, "the licence: %s" % notices["license"])
check([n["of"] for n in notices["notices"]] == re.findall("^== (.*)$", text, re.M)[1:] and all(n["text"].strip() in text for n in notices["notices"]),
      "the notices: %s" % [n["of"] for n in notices["notices"]])
check(len(notices["notices"]) >= 2 and json.loads(said(at("dates"), "licences", "--json")[0])["license"] is None, "no licence")
out, _ = said(heddle, "compile", at("stories"), "--emit=model", "-o", at("model.mlir"), "--depfile", at("d"))
with open(at("d"), encoding="utf-8") as f:
    check("README.md" in f.read(), "the depfile has the model card")
with open(at("model.mlir"), encoding="utf-8") as f:
    check('model.license = "other (tales of a loom)"' in f.read(), "the stage has the licence")

# Errors: of the file, of the command line, of two things on one stream.
made, err = compiled(at("nowhere"), "-o", at("none"), status=5)
check(made["output"] is None and made["messages"][0]["code"] == "H0101" and made["messages"][0]["file"] == at("nowhere") and "H0101" in err, "a missing file: %s" % made)
made, err = compiled(DATES, "--emit=fused", status=2)
check(made["messages"][0]["code"] == "H0120" and "standard output" in made["messages"][0]["message"], "two things on one stream: %s" % made)
made, err = compiled(DATES, "-o", at("none"), "--target=cuda", "--weights-dtype=int8", status=3)
check(made["messages"][-1]["kind"] == "unsupported" and not os.path.exists(at("none")), "unsupported: %s" % made)
made, err = compiled(DATES, "--emit=fused", "-o", at("fused.mlir"))
check(made["stage"] == "fused" and made["bytes"] == os.path.getsize(at("fused.mlir")) and "entries" not in made, "the text of a stage: %s" % made)
out, err = said(heddle, "check", DATES, "--target=cuda", "--weights-dtype=int8", "--json", status=3)
check([m["kind"] for m in json.loads(out)] == ["unsupported"], "check: %s" % out)

# Tables.
rows = re.findall(r"^\| `(\w+)`(?: \((\w+)\))? \| (.*) \| (.*) \|$", said(heddle, "stages")[0], re.M)
stages = json.loads(said(heddle, "stages", "--json")[0])
for name, target, holds, passes in rows:
    found = [s for s in stages if s["stage"] == name and s["holds"] == holds and s["target"] in ((target,) if target else (None, "cpu"))]
    names = [p["name"] for p in found[0]["passes"]] if found else None
    listed = [] if passes == "the target" else [p for p in passes.split(", ") if p != "the importer"]
    check(names == listed, "stage %s %s: %s, in JSON %s" % (name, target, listed, names))
check(len(rows) >= 13 and all(p["does"] for s in stages for p in s["passes"]), "%d stages; every pass says what it does" % len(rows))
codes = re.findall(r"^\| (H\d+) \| (\d+) \| (.*?) \| (.*) \| (.*) \|$", said(heddle, "reference", "errors")[0], re.M)
errors = json.loads(said(heddle, "reference", "errors", "--json")[0])
check([(e["code"], str(e["exit"]), e["when"], e["help"]) for e in errors] == [(c, x, w, h) for c, x, _, w, h in codes] and len(errors) > 80, "codes of errors")
check({e["said_by"] for e in errors} == {"heddle", "model", "both"}, "who says them")
said(heddle, "reference", "--json", status=2)
json.loads(said(heddle, "reference", "blocks", "--json")[0])
words = dict(line.split(": ", 1) for line in said(heddle, "template", os.path.join(ROOT, "examples", "chat"), "--info")[0].splitlines())
template = json.loads(said(heddle, "template", os.path.join(ROOT, "examples", "chat"), "--info", "--json")[0])
check(template == {"templates": words["templates"].split(), "system": words["system"] == "yes", "parts": words["parts"] == "yes", "arguments": words["arguments"],
                   "tool_turn": words["tool_turn"] == "yes", "turn_end": None if words["turn_end"] == "none" else words["turn_end"]}, "template: %s" % template)

sys.exit(finish())
