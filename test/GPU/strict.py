"""strict.py HEDDLE WORK: programs for a GPU on a driver that computes nothing and refuses what real drivers refuse (test/GPU/strict).

Greedy and beam search, batches, graphs, bench and the server go from dlopen to the last release without a refusal; each refusal is
triggered once by a call that is wrong; and driver.def is compared with cuda.h where that is installed."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request

HEDDLE, WORK = sys.argv[1:]
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STRICT = os.path.join(ROOT, "test", "GPU", "strict")
sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
from checks import check, finish
from programs import toy

CUDA = "/usr/local/cuda/include"
THERE = {**os.environ, "LD_LIBRARY_PATH": WORK}


def refusals(said):
    """the lines of the driver that are no count"""
    return [line for line in said.split("\n") if line.startswith("strict libcuda") and not re.search(r"\d+ launches, \d+ graphs", line)]


def walked(what, *command, least=1, graphs=0):
    p = subprocess.run(command, env=THERE, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    counts = re.search(r"(\d+) launches, (\d+) graphs", p.stderr)
    good = p.returncode == 0 and not refusals(p.stderr) and counts and int(counts[1]) >= least and int(counts[2]) >= graphs
    check(good, "%s: exit status %d, %s" % (what, p.returncode, p.stderr[-400:]))


def programs():
    folder = os.path.join(WORK, "toy")
    os.makedirs(folder)
    program = os.path.join(WORK, "program")
    subprocess.run([HEDDLE, "compile", toy(folder), "--target=cuda", "--mcpu=sm_90a", "-o", program, *cached.flags(HEDDLE)], check=True)
    generate = [program, "generate", "--ids", "3,1,4,1,5", "--ignore-eos", "-n"]
    walked("greedy", *generate, "60", "--greedy", least=60, graphs=1)
    walked("one token", *generate, "1", "--greedy")
    walked("sampling", *generate, "20", "--temperature", "0.9", "--seed", "3", graphs=1)
    walked("three beams", *generate, "20", "--beams", "3", least=20)
    walked("no graphs", *generate, "20", "--greedy", "--device=0:checked", least=20)
    walked("digests and times", *generate, "5", "--greedy", "--device=0:digest,timed,log", least=20)
    walked("bench", program, "bench", "--prompt-tokens", "8", "--new-tokens", "8", graphs=1)
    dates = os.path.join(WORK, "dates")
    subprocess.run([HEDDLE, "compile", os.path.join(ROOT, "examples", "dates", "model.json"), "--target=cuda", "-o", dates, *cached.flags(HEDDLE)], check=True)
    walked("an encoder and a decoder", dates, "the first of May 1999", least=100)
    server = subprocess.Popen([dates, "serve", "--port", "0"], env=THERE, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        address = re.search(r":(\d+)/", server.stdout.readline())
        for text in ("the first of May 1999", "2 June 1871", "x"):
            asked = urllib.request.Request("http://127.0.0.1:%s/v1/completions" % address[1], json.dumps({"prompt": text, "max_tokens": 5}).encode(), {"Content-Type": "application/json"})
            with urllib.request.urlopen(asked, timeout=60) as answer:
                check(answer.status == 200, "the server: status %d" % answer.status)
    finally:
        server.send_signal(signal.SIGTERM)
        said = server.communicate(timeout=60)[1]
    check(server.returncode == 0 and not refusals(said), "the server: exit status %d, %s" % (server.returncode, said[-400:]))


# Each of its refusals, by the call that is wrong; run in a process of its own, whose standard error is read.
FAULTS = {
    "this thread has no context": "c.cuMemAlloc_v2(byref(a), 8)",
    "not while a stream is captured": "use(); c.cuStreamBeginCapture_v2(None, 1); c.cuMemAlloc_v2(byref(a), 8)",
    "cuStreamSynchronize: not while": "use(); c.cuStreamBeginCapture_v2(None, 1); c.cuStreamSynchronize(None)",
    "memory that is not page-locked": "use(); c.cuMemAlloc_v2(byref(a), 64); c.cuStreamBeginCapture_v2(None, 1); c.cuMemcpyHtoDAsync_v2(a, create_string_buffer(64), 64, None)",
    "the two places overlap": "use(); c.cuMemAlloc_v2(byref(a), 64); c.cuMemcpyDtoDAsync_v2(a, c_ulonglong(a.value + 8), 32, None)",
    "neither PTX nor a cubin": "use(); c.cuModuleLoadDataEx(byref(m), b'text', 0, None, None)",
    "expected dynamic shared memory of at most 227 KiB": "use(); c.cuFuncSetAttribute(kernel(), 8, 256 << 10)",
    "wants 60000 bytes of shared memory, 0 were asked for": "use(); launch(kernel(), 1, 32, 60000)",
    "no device takes a grid of 0 x 1 x 1": "use(); launch(kernel(), 0, 32, 0)",
    "blocks of 2048 x 1 x 1 threads": "use(); launch(kernel(), 1, 2048, 0)",
    "no stream is captured": "use(); c.cuStreamEndCapture(None, byref(m))",
}
AROUND = """
import sys
from ctypes import *
c, a, m, f = CDLL(sys.argv[1]), c_ulonglong(), c_void_p(), c_void_p()
def use():
    c.cuDevicePrimaryCtxRetain(byref(m), 0)
    c.cuCtxSetCurrent(m)
def kernel():
    c.cuModuleLoadDataEx(byref(m), b'// Generated', 0, None, None)
    c.cuModuleGetFunction(byref(f), m, b'k')
    return f
def launch(function, blocks, threads, shared):
    c.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, shared, None, (c_void_p * 1)(), None)
"""


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(WORK)
    library = os.path.join(WORK, "libcuda.so.1")
    subprocess.run(["clang-22", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC", os.path.join(STRICT, "strict_libcuda.c"), "-o", library], check=True)
    for says, calls in FAULTS.items():
        p = subprocess.run([sys.executable, "-c", AROUND + calls, library], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        lines = refusals(p.stderr)
        check(p.returncode == 0 and len(lines) == 1 and says in lines[0], "%s: %d, %s" % (calls, p.returncode, p.stderr[-300:]))
    programs()
    if not os.path.exists(os.path.join(CUDA, "cuda.h")):
        print("no cuda.h in %s: driver.def is not compared with it" % CUDA)
    else:
        p = subprocess.run(["clang++-22", "-std=c++17", "-fsyntax-only", "-I" + ROOT, "-I" + os.path.join(ROOT, "runtime", "include"), "-I" + CUDA, os.path.join(STRICT, "driver_def.cpp")],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        check(p.returncode == 0, "driver.def against cuda.h: " + p.stdout[-600:])
    return finish()


if __name__ == "__main__":
    sys.exit(main())
