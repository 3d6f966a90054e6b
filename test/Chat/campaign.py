#!/usr/bin/env python3
"""Random templates (make.py) rendered by heddle and by a judge that is not in this tree.

  test/Chat/campaign.py JUDGE.py [--heddle build/bin/heddle] [--count N] [--seed N]

JUDGE.py has `render(case, folder)` and asks python3-jinja2, which is not installed by bootstrap.sh. Where the judge makes a text, heddle
makes the same bytes; where it fails, heddle fails, while compiling if the judge did. Texts with addresses of objects are not
compared. Known and left: a constant that fails inside of a block that is never looked at (Jinja computes constants first)."""
import argparse
import importlib.util
import json
import os
import random
import subprocess
import sys
import tempfile
import warnings

from make import REQUEST, VARIABLES, Maker

UNLIKE = (" at 0x", "dict_", "<Macro", "generator")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("judge")
    parser.add_argument("--heddle", default="build/bin/heddle")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    sys.dont_write_bytecode = True
    warnings.simplefilter("ignore")
    spec = importlib.util.spec_from_file_location("judge", args.judge)
    judge = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(judge)
    maker = Maker(random.Random(args.seed))
    same = failed = bad = 0
    line = json.dumps(dict(REQUEST, now="2025-03-04T05:06:07", **VARIABLES)) + "\n"
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "t.jinja")
        for _ in range(args.count):
            source = maker.template()
            try:
                want = judge.render(dict(REQUEST, kwargs=VARIABLES, source=source), ".")
            except Exception as e:  # what the judge does not expect is a failure, too
                want = {"error": {"kind": "other", "message": str(e)}}
            if any(word in want.get("expect", "") for word in UNLIKE):
                continue
            with open(path, "w", encoding="utf-8", newline="") as f:
                f.write(source)
            ran = subprocess.run([args.heddle, "template", path, "--json"], input=line, capture_output=True, text=True, timeout=30)
            got = json.loads(ran.stdout) if ran.returncode == 0 else None
            late = want.get("error", {}).get("kind") == "syntax" and got is not None
            good = (got or {}).get("text") == want["expect"] if "expect" in want else not late and (got is None or "error" in got)
            if ran.returncode not in (0, 1) or not good:
                bad += 1
                print("%r\n  want %r\n  got  %r" % (source, want, got or ran.stderr))
            elif "expect" in want:
                same += 1
            else:
                failed += 1
    print("%d the same text, %d fail in both, %d differ (seed %d)" % (same, failed, bad, args.seed))
    return int(bad > 0 or same < args.count // 10)


if __name__ == "__main__":
    sys.exit(main())
