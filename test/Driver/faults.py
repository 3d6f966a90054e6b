"""faults.py HEDDLE MODEL WORK [--part PART] [--all]: system calls that fail while a model is checked and compiled. One line a failure, then `N passed, N failed`.

A library between the compiler and libc (faults.c) lets one call fail: the 1st, the 2nd, .. or, once begun, one in so many. Whichever it is, the
compiler ends with a status of its table, within a minute, neither by a signal nor with 70; it leaves nothing behind; and where it ends
with 0 the program is the one of a run without faults. --all tries many more (minutes).
--part memory is calls that ask for memory, --part system is all the rest."""
import argparse
import glob
import hashlib
import os
import resource
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
from checks import check, finish

parser = argparse.ArgumentParser()
parser.add_argument("heddle")
parser.add_argument("model")
parser.add_argument("work")
parser.add_argument("--all", action="store_true")
parser.add_argument("--part", choices=["memory", "system"])
options = parser.parse_args()
heddle, model, work = shutil.which(options.heddle), options.model, options.work
HERE = os.path.dirname(os.path.abspath(__file__))
CALLS = ["note", "malloc", "calloc", "realloc", "mmap", "open", "read", "write", "thread", "fork"]  # note: for what a thread is to destroy
tried = 0


def run(words, **fault):
    global tried
    tried += 1
    environment = dict(os.environ, **{"FAULT_" + key.upper(): str(value) for key, value in fault.items()})
    if fault:
        environment["LD_PRELOAD"] = os.path.join(work, "faults.so")
    try:
        return subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    except subprocess.TimeoutExpired as slow:
        return subprocess.CompletedProcess(words, "a minute", slow.stdout, slow.stderr)


def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).digest()


def judge(what, done):
    good = done.returncode in (0, 1, 3, 4, 5)
    check(good, "%s: ends with %s, %s" % (what, done.returncode, (done.stderr or b"")[-300:].decode(errors="replace")))
    if done.returncode and good:
        check(b"error" in done.stderr or "write" in what, "%s: ends with %s and says nothing" % (what, done.returncode))


shutil.rmtree(work, ignore_errors=True)
os.makedirs(os.path.join(work, "out"))
subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-w", os.path.join(HERE, "faults.c"), "-o", os.path.join(work, "faults.so"), "-ldl"], check=True)
out = os.path.join(work, "out", "program")
compiled = [heddle, "compile", model, "-o", out] + ["--quick"] * (not options.all)
assert run(compiled).returncode == 0
good = digest(out)
for call in CALLS:
    many = call in ("malloc", "calloc", "realloc")
    if options.part and (options.part == "memory") != many:
        continue
    firsts = [1, 2, 3, 5, 9, 17, 40, 100] + ([300, 1000, 3000, 10000, 30000, 100000, 300000] if many else [200])
    if call == "note": # glibc's own, if it is asked at all
        firsts = [1, 2, 3]
    elif options.all:
        firsts = sorted(set(firsts + [int(1.13 ** k) for k in range(8, 115 if many else 50)]))
    for first in firsts:
        for every in ([0, 1, 97] if options.all else [0] if first % 2 else [1]):
            fault = {"call": call, "first": first, "every": every}
            what = "%s %d%s" % (call, first, "" if not every else ", one in %d" % every)
            judge("check, " + what, run([heddle, "check", model], **fault))
            if os.path.exists(out):
                os.unlink(out)
            done = run(compiled, **fault)
            judge("compile, " + what, done)
            if done.returncode == 0:
                check(digest(out) == good, "compile, %s: another program" % what)
            left = [f for f in os.listdir(os.path.join(work, "out")) if f != "program"]
            check(not left, "compile, %s: left %s" % (what, left))
            for name in left:
                shutil.rmtree(os.path.join(work, "out", name), ignore_errors=True)

if options.part == "memory":
    print("%d runs" % tried)
    sys.exit(finish())

# What a system may refuse as a whole.
limited = lambda kind, n: lambda: resource.setrlimit(kind, (n, n))
for what, preexec in [("a stack of %d KiB" % k, limited(resource.RLIMIT_STACK, k << 10)) for k in (32, 64, 256, 1024)] + \
                     [("%d open files" % n, limited(resource.RLIMIT_NOFILE, n)) for n in (4, 6, 8, 12)] + \
                     [("%d MiB of addresses" % m, limited(resource.RLIMIT_AS, m << 20)) for m in (150, 200, 260, 400)]:
    for words in ([heddle, "check", model], compiled):
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=preexec, timeout=60)
        judge("%s, %s" % (what, words[1]), done)
        enough = "stack" not in what or done.returncode == 0 or (words is compiled and b"ulimit -s" in done.stderr)
        check(enough, "%s, %s: exit %d, %s" % (what, words[1], done.returncode, done.stderr))
        left = [f for f in os.listdir(os.path.join(work, "out")) if f != "program"]
        check(not left, "%s, %s: left %s" % (what, words[1], left))

# No threads at all: the program is the same, and a note says that it took longer.
done = run(compiled, call="thread", first=1, every=1)
check(done.returncode == 0 and digest(out) == good and b"fewer threads" in done.stderr, "no threads: %s %s" % (done.returncode, done.stderr))
for limit in (["--timeout", "60"], ["--max-memory", "4000"]):
    done = run(compiled + limit, call="thread", first=1, every=1)
    check(done.returncode == 4 and b"no thread" in done.stderr, "no threads, %s: %s %s" % (limit[0], done.returncode, done.stderr))

# A runtime whose list of folders cannot be read.
home = os.path.join(work, "home")
os.makedirs(os.path.join(home, "lib"))
os.makedirs(os.path.join(home, "bin"))
shutil.copy(heddle, os.path.join(home, "bin"))
for path in glob.glob(os.path.join(os.path.dirname(heddle), os.pardir, "lib", "libheddle_*.a")):
    os.symlink(path, os.path.join(home, "lib", os.path.basename(path)))
done = run([os.path.join(home, "bin", "heddle")] + compiled[1:])
check(done.returncode == 5 and b"libheddle.dirs" in done.stderr, "no list of folders: %s %s" % (done.returncode, done.stderr))

# Ten megabytes of JSON.
big = os.path.join(work, "big.json")
with open(big, "w") as f:
    f.write('{"heddle": 1, "config": {"x": [' + "0," * 5000000 + "0]}}")
before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
done = run([heddle, "check", big])
check(done.returncode == 1 and b"H0326" in done.stderr + done.stdout, "10 MB of JSON: %s %s" % (done.returncode, done.stderr[:200]))
check(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < max(before, 512 << 10), "10 MB of JSON took %d MB" % (resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10))
print("%d runs" % tried)
sys.exit(finish())
