"""What --code-cache keeps: `code_cache.py HEDDLE MODEL WORK`. One line a failure, then `N passed, N failed`.

A program is the same bytes without a cache, with an empty one, with a full one and with a damaged one; code for another processor and
of another compiler is not taken; a folder that cannot be made changes nothing. PTX, and kernels for the emulator, are kept likewise."""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
from checks import check, finish

heddle, model, work = shutil.which(sys.argv[1]), *sys.argv[2:]
shutil.rmtree(work, ignore_errors=True)
os.makedirs(work)
cache = os.path.join(work, "cache")
names = lambda: sorted(os.listdir(cache))


def program(*flags, tool=heddle, model=model):
    """The bytes of the program; None if there is none."""
    out = os.path.join(work, "program")
    if os.path.exists(out):
        os.unlink(out)
    subprocess.run([tool, "compile", model, "-o", out, *flags], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300)
    if not os.path.exists(out):
        return None
    with open(out, "rb") as f:
        return f.read()


def entry(name):
    with open(os.path.join(cache, name), "rb") as f:
        return f.read()


def put(name, data):
    with open(os.path.join(cache, name), "wb") as f:
        f.write(data)


plain, flag = program(), "--code-cache=" + cache
check(plain is not None, "no program")
check(program(flag) == plain, "an empty cache: another program")
full = {name: entry(name) for name in names()}
check(len(full) > 5 and all(name.endswith(".o") and len(name) == 66 for name in full), "what is kept: %s" % sorted(full))
check(program(flag) == plain and {name: entry(name) for name in names()} == full, "a full cache: another program, or other entries")

# Entries are taken: exchanged with one another they make another program, or none.
first, second = sorted(full, key=lambda name: len(full[name]))[-2:]
put(first, full[second])
put(second, full[first])
check(program(flag) != plain, "exchanged entries change nothing: they are not taken")
# Damaged ones are not: a bit, an end that is missing, nothing at all.
for what, damaged in (("a bit", full[first][:99] + bytes([full[first][99] ^ 1]) + full[first][100:]), ("its end", full[first][:-1]), ("all of it", b"")):
    put(second, full[second])
    put(first, damaged)
    check(program(flag) == plain and entry(first) == full[first], "an entry without %s: another program, or it stays so" % what)

before = set(names())
check(program(flag, "--mcpu=x86-64-v3") == program("--mcpu=x86-64-v3"), "another processor: another program")
check(len(set(names()) - before) >= len(full) - 1, "another processor takes code of the first: %d new of %d" % (len(set(names()) - before), len(full)))
before = set(names())
home = os.path.join(work, "home")
os.makedirs(os.path.join(home, "bin"))
shutil.copy(heddle, os.path.join(home, "bin"))
os.symlink(os.path.realpath(os.path.join(os.path.dirname(heddle), os.pardir, "lib")), os.path.join(home, "lib"))
check(program(flag, tool=os.path.join(home, "bin", "heddle")) == plain and len(set(names()) - before) == len(full), "another compiler takes code of the first")
put("file", b"")
check(program("--code-cache=" + os.path.join(cache, "file", "more")) == plain, "a folder that cannot be made: another program")

# Kernels of a device: a text for each chip, and the first chip's kernels for the emulator. Exchanged texts are another program.
shutil.rmtree(cache)
small = os.path.join(work, "small.json")
with open(small, "w") as f:
    json.dump({"heddle": 1, "inputs": {"x": "f32[n,32]"}, "body": [{"y": {"softmax": "=x + 1"}}], "outputs": ["y"]}, f)
device = ["--target=cuda", "--mcpu=sm_80+sm_90a", "--emulate"]
plain = program(*device, model=small)
check(plain is not None and program(flag, *device, model=small) == plain, "a device, an empty cache: another program")
full = {name: entry(name) for name in names()}
check(program(flag, *device, model=small) == plain and {name: entry(name) for name in names()} == full, "a device, a full cache: another program, or other entries")
texts = [name for name in full if b".visible .entry" in full[name] and not full[name].startswith(b"\x7fELF")]
check(len(texts) == 2, "a device: %d texts are kept" % len(texts))
first, second = texts
put(first, full[second])
put(second, full[first])
check(program(flag, *device, model=small) != plain, "a device: exchanged texts change nothing: they are not taken")
sys.exit(finish())
