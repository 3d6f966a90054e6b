"""limits.py HEDDLE WORK: a compilation and a binary under limits of memory, of the size of files, of open files and of stack.
Whatever the limit: done (0) or a message and 4, never a signal, never 70; the older output as it was, nothing beside it. One line
a failure, then `N passed, N failed`."""
import os
import resource
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
from checks import check, finish

heddle, work = sys.argv[1:]
model = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "examples", "sentiment")
MIB = 1 << 20
QUICK = ["--quick"] if cached.flags(heddle) else []


def run(limit, words, **how):
    """`limit` is (resource, value) or None; the one of signals is as the system gives it."""
    def before():
        if limit:
            resource.setrlimit(limit[0], (limit[1], limit[1]))
    return subprocess.run(words, stdout=how.get("stdout", subprocess.PIPE), stderr=subprocess.PIPE, timeout=100, preexec_fn=before, restore_signals=True)


def compiled(what, limit):
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    out = os.path.join(work, "model")
    with open(out, "w") as f:
        f.write("old")
    said = run(limit, [heddle, "compile", model, "-o", out, *QUICK])
    text = said.stderr.decode("utf-8", "replace")
    check(said.returncode in (0, 4), "%s: exit status %s: %s" % (what, said.returncode, text[-600:]))
    check(os.listdir(work) == ["model"], "%s left %s" % (what, os.listdir(work)))
    if said.returncode:
        check("error" in text, "%s without a word" % what)
        check(open(out, "rb").read() == b"old", "%s: the older output is gone" % what)
    return said.returncode


check(compiled("no limit", None) == 0, "without a limit")
size = os.path.getsize(os.path.join(work, "model"))
binary = work + ".limited"
shutil.copy(os.path.join(work, "model"), binary)

# The size of a file: from nothing over each of the objects to the linked binary.
for bytes_ in [0, size // 3, size - 1]:
    check(compiled("files of %d bytes" % bytes_, (resource.RLIMIT_FSIZE, bytes_)) == 4, "files of %d bytes: done" % bytes_)

# Memory: what the program needs to be loaded at all, then half way to where it is done, again and again.
low = next(m for m in range(100, 4000, 50) if run((resource.RLIMIT_AS, m * MIB), [heddle, "stages"]).returncode == 0)
high = low + 512
for _ in range(5):
    middle = (low + high) // 2
    if compiled("%d MiB of memory" % middle, (resource.RLIMIT_AS, middle * MIB)):
        low = middle
    else:
        high = middle
for files in (5, 6):
    compiled("%d open files" % files, (resource.RLIMIT_NOFILE, files))

# Standard output that takes nothing.
for words in [[heddle, "stages"], [heddle, "--help"], [heddle, "schema"], [heddle, "compile", model, "--emit=model"],
              [binary, "info"], [binary, "--help"], [binary, "--verify"]]:
    with open("/dev/full", "w") as full:
        said = run(None, words, stdout=full)
    check(said.returncode == 4 and b"No space left on device" in said.stderr, "%s > /dev/full: %s" % (words[-1], said))
    with open(os.path.join(work, "printed"), "w") as f:
        said = run((resource.RLIMIT_FSIZE, 10), words, stdout=f)
    check(said.returncode == 4 and b"File too large" in said.stderr, "%s into 10 bytes: %s" % (words[-1], said))

# Little stack, for the first thread and for those of the team.
wanted = run(None, [binary, "a good story"]).stdout
for stack in [64 << 10, 256 << 10]:
    for threads in ["1", "3"]:
        said = run((resource.RLIMIT_STACK, stack), [binary, "a good story", "--threads", threads])
        check(said.returncode == 0 and said.stdout == wanted != b"", "%d KiB of stack, %s threads: %s" % (stack >> 10, threads, said))
os.unlink(binary)
sys.exit(finish())
