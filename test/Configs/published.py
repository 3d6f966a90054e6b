#!/usr/bin/python3
"""`heddle check` on published config.json files: each is accepted, or refused for the reason that stands in expected.json.

    published.py --heddle BIN [--table] [DIR]

known.json: configurations by name, all to be accepted; releases.json: the defaults of each class, as three releases write them. DIR: files TYPE__NAME.json. expected.json says which model types have no family and which files of a known type describe
something else than the published architecture. Anything refused beside those is a failure, and so is anything accepted among
them, a check that takes a second, or a refusal without a place. --table prints the README's table. The last line is
`N passed, N failed`."""
import argparse
import collections
import glob
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BESIDE = ("tokenizer_config", "generation_config", "preprocessor_config")


def check(heddle, path):
    start = time.monotonic()
    r = subprocess.run([heddle, "check", "--json", path], capture_output=True, text=True, timeout=120)
    took = time.monotonic() - start
    return r.returncode, [m for m in json.loads(r.stdout or "[]") if m["kind"] not in ("remark", "warning")], took


def judge(name, kind, code, messages, took, expected):
    if code not in (0, 1, 3):
        return "exit status %d" % code
    if (code == 0) != (not messages):
        return "exit status %d with %d messages" % (code, len(messages))
    if (code == 3) != (bool(messages) and all(m["kind"] == "unsupported" for m in messages)):
        return "exit status %d for %s" % (code, sorted({m["kind"] for m in messages}))
    if any(not m.get("line") or not m.get("message") for m in messages):
        return "a message without a place"
    if took > 5:  # under a second alone; the machine of a test is never alone
        return "took %.1f s" % took
    wanted = expected["files"].get(name) or expected["types"].get(kind)
    said = " ".join(m["path"] + ": " + m["message"] for m in messages)
    if not wanted and code:
        return "refused: " + said
    if wanted and not code:
        return "accepted, though expected.json says: " + wanted["why"]
    if wanted and wanted["says"] not in said:
        return "refused, but for another reason: " + said
    return None


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--heddle", required=True)
    p.add_argument("--table", action="store_true")
    p.add_argument("dir", nargs="?")
    o = p.parse_args()
    with open(os.path.join(HERE, "expected.json"), encoding="utf-8") as f:
        expected = json.load(f)
    for kind, why in list(expected["types"].items()):
        expected["types"][kind] = {"why": why, "says": "no family file"}
    passed = failed = 0
    known = {}
    for beside in ("known.json", "releases.json"):
        with open(os.path.join(HERE, beside), encoding="utf-8") as f:
            known.update((name, config) for name, config in json.load(f).items() if name != "about")
    with tempfile.TemporaryDirectory(prefix="heddle-configs-") as work:
        path = os.path.join(work, "config.json")
        for name, config in known.items():
            with open(path, "w", encoding="utf-8") as f:
                json.dump(config, f, indent=1)
            problem = judge(name, config["model_type"], *check(o.heddle, path), expected)
            passed, failed = passed + (problem is None), failed + (problem is not None)
            if problem:
                print("FAIL %s: %s" % (name, problem[:600]))
    table = collections.defaultdict(lambda: [0, 0, set()])
    for path in sorted(glob.glob(os.path.join(o.dir, "*__*.json"))) if o.dir else []:
        name = os.path.basename(path)[:-5]
        if name.rsplit(".", 1)[-1] in BESIDE:
            continue
        kind = name.split("__")[0]
        code, messages, took = check(o.heddle, path)
        problem = judge(name, kind, code, messages, took, expected)
        passed, failed = passed + (problem is None), failed + (problem is not None)
        if problem:
            print("FAIL %s: %s" % (name, problem[:600]))
        row = table[kind]
        row[code != 0] += 1
        if code:
            row[2].add((expected["files"].get(name) or expected["types"].get(kind) or {"why": "?"})["why"])
    if o.table:
        print("| model type | accepted | refused | why |\n|---|---|---|---|")
        for kind, (good, bad, why) in sorted(table.items()):
            print("| %s | %s | %s | %s |" % (kind, good or "", bad or "", "; ".join(sorted(why))))
    print("%d passed, %d failed" % (passed, failed))
    return int(failed > 0 or passed == 0)


if __name__ == "__main__":
    sys.exit(main())
