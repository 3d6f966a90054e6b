#!/usr/bin/env python3
"""Renders the cases of a folder of chat templates and compares, byte for byte.

  test/Chat/run.py [--heddle build/bin/heddle] ../shared/chat-templates [--only TEXT] [--jobs N]

Each template is compiled once by `heddle template FILE --json`, which answers a conversation a line. `expect` must be met byte for
byte, the message of an error of kind `raised` too; `syntax` and `refused` must fail while compiling, any other kind of error
anywhere. A case of limits/ must end within a second and 200 MB."""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

NOW = "2025-03-04T05:06:07"
MOST_SECONDS, MOST_BYTES = 1.0, 200 << 20


def request(case):
    made = {k: case[k] for k in ("messages", "tools", "documents", "add_generation_prompt") if k in case}
    made.update(case.get("kwargs", {}))
    made["now"] = case.get("now", NOW)
    return json.dumps(made)


def answers(heddle, path, cases):
    """One answer a case, {"text"} or {"error"}; or the message with which the template was refused."""
    ran = subprocess.run([heddle, "template", path, "--json"], input="\n".join(map(request, cases)) + "\n",
                         capture_output=True, text=True, encoding="utf-8")
    lines = ran.stdout.split("\n")[:-1]
    if ran.returncode == 0 and len(lines) == len(cases):
        return [json.loads(line) for line in lines], None
    if ran.returncode != 1 or "error[H" not in ran.stderr:
        return None, "exit %d: %s" % (ran.returncode, ran.stderr[:300])
    return None, ran.stderr


def judge(case, answer, refused):
    """What is wrong with an answer; nothing if it is right."""
    if refused is not None and "error[H" not in refused:
        return refused
    if "expect" in case:
        if answer is None:
            return "refused: " + refused[:300]
        return None if answer.get("text") == case["expect"] else "want %r\n  got  %r" % (case["expect"][:400], str(answer)[:400])
    kind = case["error"]["kind"]
    if kind in ("syntax", "refused"):
        return None if answer is None else "compiled: %s" % str(answer)[:200]
    if answer is not None and "error" not in answer:
        return "no error: %s" % str(answer)[:200]
    if kind == "raised" and (answer is None or answer["error"] != case["error"]["message"]):
        return "want the error %r\n  got %s" % (case["error"]["message"], answer or refused)
    return None


def limited(heddle, path, case):
    """A hostile case on its own, under the limits. RLIMIT_DATA counts what a process allocates; its resident set would count the
    compiler's shared libraries too, of which the kernel maps more or fewer pages as it likes."""
    def limits():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))

    before = time.monotonic()
    try:
        ran = subprocess.run([heddle, "template", path, "--json"], input=request(case) + "\n", capture_output=True, text=True, timeout=30, preexec_fn=limits)
    except subprocess.TimeoutExpired:
        return "more than 30 s"
    seconds = time.monotonic() - before
    if ran.returncode not in (0, 1) or (ran.returncode == 1 and "error[H" not in ran.stderr):
        return "exit %d: %s" % (ran.returncode, ran.stderr[:200])
    if seconds > MOST_SECONDS:
        return "%.2f s" % seconds
    answer = json.loads(ran.stdout) if ran.returncode == 0 else None
    return judge(case, answer, ran.stderr if answer is None else None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--heddle", default="build/bin/heddle")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    with open(os.path.join(args.folder, "cases.json"), encoding="utf-8") as f:
        cases = [c for c in json.load(f) if args.only in c["name"]]
    if not cases:
        sys.exit("no cases in " + args.folder)
    groups, alone = {}, []
    for case in cases:
        if case["name"].startswith("limits/"):
            alone.append(case)
        else:
            groups.setdefault(case.get("template") or "source " + case["source"], []).append(case)
    bad = []
    with tempfile.TemporaryDirectory() as scratch:
        def path_of(case, number):
            if "template" in case:
                return os.path.join(args.folder, case["template"])
            path = os.path.join(scratch, "%s.jinja" % number)
            with open(path, "w", encoding="utf-8", newline="") as f:
                f.write(case["source"])
            return path

        def group(numbered):
            number, same = numbered
            answered, refused = answers(args.heddle, path_of(same[0], number), same)
            return [(c, judge(c, answered[i] if answered else None, refused)) for i, c in enumerate(same)]

        with ThreadPoolExecutor(args.jobs) as pool:
            for judged in pool.map(group, enumerate(groups.values())):
                bad += [(c["name"], wrong) for c, wrong in judged if wrong]
        for number, case in enumerate(alone):
            wrong = limited(args.heddle, path_of(case, "limit%d" % number), case)
            bad += [(case["name"], wrong)] if wrong else []
    for name, wrong in bad:
        print("%s\n  %s" % (name, wrong))
    print("%d of %d" % (len(cases) - len(bad), len(cases)))
    print("%d passed, %d failed" % (len(cases) - len(bad), len(bad)))
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
