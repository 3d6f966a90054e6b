"""What a person sees of work that takes long: `progress.py HEDDLE WORK`. A screen of tmux is looked at ten times a second.

A compilation: the weights are a sparse file of zeros, which are rounded to 4 bits: seconds of work, and little on the disk. A program:
its `bench`. Ends in `N passed, N failed`, or says that it is skipped where there is no tmux."""
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
from checks import check, finish

heddle, work = sys.argv[1:]
WIDTH = 1024


def model(layers):
    names = ["l.%d.weight" % i for i in range(layers)]
    size = WIDTH * WIDTH * 4
    header = json.dumps({n: {"dtype": "F32", "shape": [WIDTH, WIDTH], "data_offsets": [i * size, (i + 1) * size]} for i, n in enumerate(names)}).encode()
    with open(os.path.join(work, "model.safetensors"), "wb") as f:
        f.write(len(header).to_bytes(8, "little") + header)
        f.truncate(8 + len(header) + layers * size)
    with open(os.path.join(work, "model.json"), "w", encoding="utf-8") as f:
        json.dump({"heddle": 1, "name": "wide", "inputs": {"x": "f32[B,%d]" % WIDTH}, "weights": "model.safetensors", "body": [{"repeat": layers, "index": "i", "weights": "l.{i}", "body": [
            {"x": {"linear": "x", "out": WIDTH, "bias": False, "weights": ""}}]}, {"y": "=x"}], "outputs": ["y"]}, f)


servers = itertools.count()


def screens(command):
    """Every line that the screen had, and its last contents."""
    # A server of its own: the one before may not have ended yet.
    socket, seen = "heddle-%d-%d" % (os.getpid(), next(servers)), []

    def tmux(*words):
        return subprocess.run(["tmux", "-L", socket, *words], capture_output=True, text=True).stdout
    tmux("-f", "/dev/null", "new-session", "-d", "-x", "90", "-y", "12", "sh", "-c", command + "; echo done; sleep 60")
    try:
        last = []
        end = time.monotonic() + 250
        while time.monotonic() < end and "done" not in last:
            last = [line.rstrip() for line in tmux("capture-pane", "-p").splitlines() if line.strip()]
            seen += last
            time.sleep(0.1)
    finally:
        tmux("kill-server")
    return seen, last


def programs():
    program = os.path.join(work, "encoder")
    subprocess.run([heddle, "compile", os.path.join(heddle_test.ROOT, "examples", "seed000_encoder", "model.json"), "-o", program, *cached.flags(heddle)], check=True)
    line = r"(timing (call [0-9]+|the machine)|computing), [0-9]+ s"
    seen, last = screens("'%s' bench" % program)
    check(any(re.fullmatch(line, one) for one in seen), "a program's line of progress: %s" % sorted(set(seen)))
    check(last[-1] == "done" and any(one.startswith("machine") for one in last) and not any(re.search(line, one) for one in last), "what a program leaves: %s" % last)
    seen, last = screens("'%s' bench -q" % program)
    check(last[-1] == "done" and not any(re.search(line, one) for one in seen), "a program with -q: %s" % sorted(set(seen)))
    ran = subprocess.run([program, "bench"], capture_output=True)
    check(ran.stderr == b"" and ran.returncode == 0, "a program's pipe gets %r" % ran.stderr)


def main():
    if not shutil.which("tmux"):
        print("skipped: there is no tmux")
        return 0
    os.makedirs(work)
    model(256)
    compiling = "cd '%s' && '%s' compile model.json --weights-dtype=int4 --without=bench,serve -o " % (work, heddle)
    seen, last = screens(compiling + "program > report")
    check(any(re.fullmatch(r"heddle: the weights, while code is generated, [0-9.]+ of [0-9.]+ MiB(, [0-9]+ s left)?", line) for line in seen), "a line of progress: %s" % sorted(set(seen)))
    check(any("left" in line for line in seen), "the time that is left: %s" % sorted(set(seen)))
    check(last == ["done"], "nothing is left of it: %s" % last)
    model(64)
    seen, last = screens(compiling + "quiet -q > report")
    check(set(seen) == {"done"}, "-q: %s" % sorted(set(seen)))
    # What is no terminal gets no progress.
    ran = subprocess.run(["sh", "-c", compiling + "piped > report"], capture_output=True)
    check(ran.stderr == b"" and ran.returncode == 0, "a pipe gets %r" % ran.stderr)
    # Messages erase the line and stand by themselves.
    seen, last = screens(compiling + "/nowhere/at/all")
    check(last[-1] == "done" and any(line.startswith("heddle: error[") for line in last), "an error: %s" % last)
    programs()
    shutil.rmtree(work)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
