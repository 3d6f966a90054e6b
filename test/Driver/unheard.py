"""unheard.py HEDDLE MODEL WORK: compiler and program with standard streams closed or on a full disk. One line a failure, then `N passed, N failed`."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
from checks import check, finish

heddle, model, work = sys.argv[1:]
CLOSED = {"stderr closed": [2], "stdin and stderr closed": [0, 2], "all three closed": [0, 1, 2], "stderr on a full disk": []}


def run(words, how=None):
    """Exit status with the streams of `how`, with all of them where it is None."""
    full = open("/dev/full", "wb") if how == "stderr on a full disk" else subprocess.DEVNULL
    return subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=full, cwd=work, timeout=120,
                          close_fds=True, preexec_fn=lambda: [os.close(fd) for fd in CLOSED.get(how, [])] and None).returncode


def files(folder):
    return {name: open(os.path.join(folder, name), "rb").read() for name in sorted(os.listdir(folder))}


shutil.rmtree(work, ignore_errors=True)
os.makedirs(work)
good, program = os.path.join(work, "good"), os.path.join(work, "program")
check(run([heddle, "compile", model, "-o", good, *cached.quick(heddle)]) == 0, "the model compiles")
with open(os.path.join(work, "broken.json"), "w") as f:
    f.write('{"heddle": 1, "name": "x", "frobnicate": 1}')
with open(os.path.join(work, "config.json"), "w") as f:
    f.write('{"model_type": "no_such_family"}')
COMMANDS = [
    ("no such command", [heddle, "frobnicate"], 2),
    ("no such file", [heddle, "compile", "none.json", "-o", program], 5),
    ("a broken description", [heddle, "compile", "broken.json", "-o", program], 1),
    ("an unknown family", [heddle, "check", "config.json"], 3),
    ("no such option", [good, "run", "--frobnicate"], 2),
    ("no such input", [good, "run", "--input", "none", "--output", "o"], 5),
    ("a broken input", [good, "run", "--input", "broken.json", "--output", "o"], 1),
]
before = files(model)
for how in CLOSED:
    for what, words, code in COMMANDS:
        check(run(words) == code, "%s: %d expected, got %d" % (what, code, run(words)))
        check(run(words, how) == code, "%s, %s: %d expected, got %d" % (what, how, code, run(words, how)))
    # --time writes messages while files are open; none of them may get the number of a closed stream.
    check(run([heddle, "compile", model, "-o", program, "--time", *cached.quick(heddle)], how) == 0, how + ": compile failed")
    check(files(model) == before, how + ": the model's files were written to")
    with open(program, "rb") as a, open(good, "rb") as b:
        check(a.read() == b.read(), how + ": another program")
# A result that nobody gets is an error.
check(subprocess.run([heddle, "schema"], stderr=subprocess.DEVNULL, preexec_fn=lambda: os.close(1)).returncode == 5, "schema with stdout closed")
check(subprocess.run([good, "info"], stderr=subprocess.DEVNULL, preexec_fn=lambda: os.close(1)).returncode == 5, "info with stdout closed")
check(subprocess.run([heddle, "schema"], stderr=subprocess.DEVNULL, stdout=open("/dev/full", "wb")).returncode == 4, "schema on a full disk")
sys.exit(finish())
