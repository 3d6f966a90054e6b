#!/usr/bin/python3
"""A LLaMA of 1.1 G parameters in bfloat16 (2.2 GB) from directory to first token: the memory and time it takes.

    large_size.py --heddle BIN [--model DIR]      (without --model one is made, see make_llama.py; needs 7 GB of disk)

Not in test/run.sh. The figures are printed; the last line is `N passed, N failed`."""
import argparse
import os
import subprocess
import sys
import tempfile
import time

import real_size

COMPILE_SECONDS, COMPILE_BYTES, FIRST_TOKEN_SECONDS = 60, 600e6, 1.0


def processes(pid):
    """pid and all that it has started"""
    yield pid
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
            for child in f.read().split():
                yield from processes(int(child))
    except OSError:
        pass


def own_memory(pid):
    """Bytes that are the process's own: files it has mapped (weights, the linker's input and output) are the page cache's."""
    try:
        with open("/proc/%d/status" % pid) as f:
            return sum(1024 * int(line.split()[1]) for line in f if line.startswith("RssAnon"))
    except OSError:
        return 0


def measured(command):
    """-> seconds, the largest memory of the command and its children at one time, sampled every 5 ms"""
    start, most = time.monotonic(), 0
    p = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    while p.poll() is None:
        most = max(most, sum(map(own_memory, processes(p.pid))))
        time.sleep(0.005)
    if p.returncode:
        sys.exit("FAIL %s: exit status %d\n0 passed, 1 failed" % (" ".join(command), p.returncode))
    return time.monotonic() - start, most


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True)
    p.add_argument("--model")
    o = p.parse_args()
    results = []

    def check(what, value, limit, unit):
        results.append(value < limit)
        print("%s %s: %.2f %s, less than %g" % ("ok  " if results[-1] else "FAIL", what, value, unit, limit))

    with tempfile.TemporaryDirectory(prefix="heddle-large-size-") as work:
        model, binary = o.model or os.path.join(work, "llama"), os.path.join(work, "binary")
        if not o.model:
            subprocess.run(["/usr/bin/python3", os.path.join(real_size.HERE, "make_llama.py"), model], check=True, stdout=subprocess.DEVNULL)
        seconds, memory = measured([os.path.abspath(o.heddle), "compile", model, "-o", binary])
        check("compile", seconds, COMPILE_SECONDS, "s")
        check("memory of the compiler beside mapped files", memory / 1e6, COMPILE_BYTES / 1e6, "MB")
        first = min(real_size.measured([binary, "generate", "--ids", "1,2,3", "-n", "1", "--greedy", "--print-ids"])[0] for _ in range(3))
        check("first token, warm", first, FIRST_TOKEN_SECONDS, "s")
    print("%d passed, %d failed" % (sum(results), len(results) - sum(results)))
    return int(not all(results))


if __name__ == "__main__":
    sys.exit(main())
