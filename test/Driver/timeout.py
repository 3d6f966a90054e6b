"""timeout.py HEDDLE MODEL WORK: `--timeout` and `--max-memory` end with 4 and a line, and leave everything as it was."""
import os
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
from checks import check, finish

heddle, model, work = sys.argv[1:]
output = os.path.join(work, "model")


def compile(*flags):
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    with open(output, "w") as f:
        f.write("old")
    start = time.time()
    done = subprocess.run([heddle, "compile", model, "-o", output] + list(flags), capture_output=True, text=True, timeout=120)
    return done, time.time() - start


def limited(flag, value, what, sure):
    """It ends with 4 and this message, or, where it is not `sure`, with a binary."""
    done, _ = compile(flag, value)
    name = "%s %s" % (flag, value)
    with open(output, "rb") as f:
        old = f.read() == b"old"
    check(os.listdir(work) == ["model"], "%s leaves nothing behind: %s" % (name, os.listdir(work)))
    if done.returncode == 0 and not sure:
        check(not old, name + " is enough, and there is a new binary")
        return
    check(done.returncode == 4 and old, "%s: exit %d, expected 4; the old output %s" % (name, done.returncode, "stays" if old else "is gone"))
    lines = done.stderr.splitlines()
    check(len(lines) == 1 and re.fullmatch(r"heddle: error\[H0602\]: %s .*, (but )?at the (start|import|stage \w+|translation to LLVM IR|weights, while code is generated|rest of the code generation|link|check of the binary); a larger %s gives it \w+" % (what, flag), lines[0]),
          "%s says: %s" % (name, done.stderr))


whole, seconds = compile()
check(whole.returncode == 0, "without limits: " + whole.stderr)
for value, sure in [("0.001", True), ("%.3f" % (seconds * 0.3), False), ("%.3f" % (seconds * 0.7), False), ("3600", False)]:
    limited("--timeout", value, "not done after", sure)
for value, sure in [("1K", True), ("40M", False), ("70M", False), ("4G", False)]:
    limited("--max-memory", value, "more than", sure)
for flags in [("--timeout", "0"), ("--timeout", "soon"), ("--max-memory", "much")]:
    done, _ = compile(*flags)
    check(done.returncode == 2 and flags[0] in done.stderr, "%s %s: exit %d, expected 2: %s" % (*flags, done.returncode, done.stderr))
sys.exit(finish())
