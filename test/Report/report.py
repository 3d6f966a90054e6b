"""heddle report of small models: report.py HEDDLE FOLDER [--all] MODEL...

Each model becomes FOLDER/NAME.html and NAME.json. The JSON is held against `heddle schema report`, its sums against the formulas of
the compiler (sums.py), its texts against the IR that `--emit` prints; the page must be one file that asks for nothing; commands of
passes, run in the folder of --dump-ir, must make the next file. --all: every pass, for two processors and a GPU. Prints a line for each
difference, and last `N passed, M failed`."""
import base64
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import time
import zlib

import sums
import valid

TARGETS = ("--mcpu=x86-64-v3", "--mcpu=x86-64-v4", "--target=cuda")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VALUE = re.compile(r"%[\w.$-]+|\^bb\d+")
LARGEST = 5 << 20

passed, failed = 0, []


def hold(model, what, good, detail=""):
    global passed
    passed += bool(good)
    if not good:
        failed.append("FAIL %s: %s %s" % (model, what, str(detail)[:300]))


def run(*command, **more):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, **more)


def data_of(page, name):
    """One of the packed texts of a page."""
    return json.loads(zlib.decompress(base64.b64decode(re.search('id="%s">([^<]*)' % name, page)[1])))


def check_page(name, page, report, folder):
    hold(name, "the page is smaller than 5 MB", len(page) < LARGEST, len(page))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    hold(name, "the policy forbids all that it does not name", policy.startswith("default-src 'none';"), policy)
    for tag in ("script", "style"):
        text = re.search("<%s>(.*?)</%s>" % (tag, tag), page, re.S)[1]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        hold(name, "the policy names the digest of the " + tag, "%s-src 'sha256-%s'" % (tag, digest) in policy)
    script = re.search("<script>(.*?)</script>", page, re.S)[1]
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "eval", "Function", "fetch", "XMLHttpRequest", "import"):
        hold(name, "no " + word, not re.search(r"\b%s\b(?!')" % word, script))
    outside = set(re.findall(r"(?:https?:)?//[a-z][\w.-]+\.[a-z]{2,}", page)) - {"http://www.w3.org"}
    hold(name, "the page names no address", not outside, outside)
    whole = {**data_of(page, "first"), **data_of(page, "ir")}
    for symbol, text in data_of(page, "asm").items():
        whole["kernels"][symbol]["asm"] = text
    hold(name, "the page has what report.json has", whole == report)
    hold(name, "no folder of this machine is in it", folder not in json.dumps(report) and ROOT not in json.dumps(report))


def plain(lines):
    """Lines of IR without names of values, locations and aliases."""
    lines = [re.sub(r" loc\(#loc\d*\)", "", line) for line in lines]
    return [re.sub(r"[#!]\w+", "#", VALUE.sub("%", line)).strip() for line in lines if line.strip()]


def emitted(text, function):
    """The lines of a function in the text of a stage."""
    at = re.search(r"^  func\.func @%s\b.*?^  }" % function, text, re.S | re.M)
    return plain(at[0].split("\n")) if at else []


def check_text(name, heddle, model, options, report):
    """After the last pass of a stage the recorded text is what --emit prints."""
    for stage in ("model", "buffers"):
        last = max(i for i, p in enumerate(report["passes"]) if p["stage"] == stage)
        printed = run(heddle, "compile", model, "--emit=" + stage, "-o", "-", *options).stdout
        for function in ("run", "step"):
            want, got = emitted(printed, function), plain(sums.text_after(report, function, last))
            hold(name, "@%s after stage %s" % (function, stage), want == got,
                 next(("%s | %s" % (a, b) for a, b in zip(want, got) if a != b), "%d lines, %d" % (len(want), len(got))))


def check_names(name, report):
    """A value has its lasting name in all passes: what no pass touched is never written again."""
    edits = sum(len(e[2]) for changes in report["functions"].values() for c in changes for e in c[1])
    texts = sum(p["ops"][1] for p in report["passes"])
    hold(name, "differences are small next to texts", edits < texts, "%d lines of edits, %d ops printed" % (edits, texts))
    hold(name, "some passes change nothing", any(not p["functions"] for p in report["passes"]))


def check_alone(name, heddle, model, options, report, folder, every):
    """The command of a pass makes the module that it made in the compiler."""
    ir = os.path.join(folder, name + ".ir")
    run(heddle, "compile", model, "-o", os.path.join(folder, name + ".bin"), "--dump-ir", ir, "--quick", *options)
    files = sorted(f for f in os.listdir(ir) if f.endswith(".mlir"))
    for i, p in list(enumerate(report["passes"]))[1:]:
        if not p["functions"] or i % every:
            continue
        words = shlex.split(p["reproduce"])
        hold(name, "the file before pass %d" % i, words[1] == files[i - 1], (words[1], files[i - 1]))
        opt = os.path.join(os.path.dirname(heddle), words[0])
        alone, there = run(opt, *words[1:], cwd=ir), run(opt, files[i], cwd=ir)
        hold(name, "pass %d, %s, alone" % (i, p["flag"]), alone.returncode == 0 and alone.stdout == there.stdout, alone.stderr)


def check(heddle, folder, model, options, every):
    name = os.path.basename(os.path.dirname(model) if model.endswith(".json") else model) + "".join(options).replace("/", "")
    page, data = os.path.join(folder, name + ".html"), os.path.join(folder, name + ".json")
    begin = time.time()
    done = run(heddle, "report", model, "-o", page, "--json", data, "--dims", "T=64", *options, "--quick")
    hold(name, "heddle report ends with 0", done.returncode == 0, done.stderr)
    if done.returncode:
        return
    print("%s: %.1f s, %.2f MB" % (name, time.time() - begin, os.path.getsize(page) / 1e6))
    report = json.load(open(data, encoding="utf-8"))
    schema = json.loads(run(heddle, "schema", "report").stdout)
    broken = list(valid.errors(report, schema))
    hold(name, "report.json is as its schema says", not broken, broken[:3])
    wrong = list(sums.problems(report))
    hold(name, "all sums hold", not wrong, wrong[:3])
    check_page(name, open(page, encoding="utf-8").read(), report, os.path.abspath(folder))
    check_text(name, heddle, model, options, report)
    check_names(name, report)
    if every:
        check_alone(name, heddle, model, options, report, folder, every)
    kinds = {n["kind"] for n in report["nodes"]}
    hold(name, "the model is a tree of statements", {"inputs", "statement", "op", "outputs"} <= kinds, kinds)
    if not any(o.startswith("--target") for o in options):
        hold(name, "kernels have machine code", any(k.get("asm") for k in report["kernels"].values()))
        hold(name, "kernels multiply", any(k["mix"].get("product") for k in report["kernels"].values()))
        called = {k for e in report["entries"] for p in e["phases"] for k in p["kernels"]}
        hold(name, "phases name kernels that are there", called and called <= set(report["kernels"]), called - set(report["kernels"]))
        hold(name, "passes have made remarks", any(r["kind"] == "passed" for r in report["remarks"]))


def refusals(heddle, folder, model):
    for words, code, text in (
            (["--detail=some"], 2, "--detail"),
            (["--bench=" + os.path.join(folder, "none.json")], 5, "none.json"),
            (["--target=cpu,cuda"], 2, "one target"),
            (["--target=cuda", "--bench"], 2, "--bench=FILE.json"),
            (["-o", "-", "--json", "-"], 2, "standard output")):
        page = [] if "-o" in words else ["-o", os.path.join(folder, "refused.html")]
        done = run(heddle, "report", model, *page, *words)
        hold("refusals", " ".join(words), done.returncode == code and text in done.stderr, (done.returncode, done.stderr))
    bad = os.path.join(folder, "bad.json")
    open(bad, "w").write("[1]")
    done = run(heddle, "report", model, "-o", os.path.join(folder, "refused.html"), "--bench=" + bad)
    hold("refusals", "a measurement that is none", done.returncode == 1 and "expected one object" in done.stderr, done.stderr)
    hold("refusals", "nothing is written", not os.path.exists(os.path.join(folder, "refused.html")))


def main():
    words = [w for w in sys.argv[1:] if w != "--all"]
    heddle, folder, models, all_ = os.path.abspath(words[0]), os.path.abspath(words[1]), words[2:], "--all" in sys.argv
    os.makedirs(folder, exist_ok=True)
    for i, model in enumerate(models):
        for target in TARGETS if all_ else [None]:
            check(heddle, folder, model, [target] if target else [], 1 if all_ else 0 if i else 11)
    refusals(heddle, folder, models[0])
    print("\n".join(failed))
    print("%d passed, %d failed" % (passed, len(failed)))
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
