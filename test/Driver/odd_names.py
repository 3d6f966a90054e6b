"""odd_names.py HEDDLE MODEL WORK: models in folders whose names no terminal could show. One line a failure, then `N passed, N failed`."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
from checks import check, finish

heddle, model, work = [os.fsencode(word) for word in sys.argv[1:]]
NAMES = [b"caf\xe9", b"\xff\xfe", b"a\nb", b"a\x1b[2Jb", b"back`tick", "a\u202eb".encode(), b"100%", b"\xed\xa0\x80", b"-dash"]
QUICK = [os.fsencode(word) for word in cached.quick(sys.argv[1])]
RAW = ["\x1b".encode(), b"\xff", b"\xe9b", "\u202e".encode(), b"\xed\xa0\x80"]


def run(*words, cwd=work):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd, timeout=120)


def shown(what, done):
    for raw in RAW + [b"\x00", b"\t", b"\r"]:
        check(raw not in done.stdout + done.stderr, "%s: raw %r in %r" % (what, raw, done.stdout + done.stderr))


shutil.rmtree(work, ignore_errors=True)
os.makedirs(work)
plain = None
for name in NAMES:
    folder = os.path.join(work, name)
    shutil.copytree(model, folder)
    # Beside a plain folder, since a program is named like its file.
    path = b"./" + name
    checked, compiled = run(heddle, b"check", path), run(heddle, b"compile", path, b"-o", b"program", *QUICK)
    check(checked.returncode == compiled.returncode == 0, "%r: check %d, compile %d, %r" % (name, checked.returncode, compiled.returncode, compiled.stderr))
    shown("%r, check" % name, checked)
    shown("%r, compile" % name, compiled)
    if compiled.returncode == 0:
        with open(os.path.join(work, b"program"), "rb") as f:
            made = f.read()
        plain = plain or made
        check(made == plain, "%r: another program" % name)
    named = run(heddle, b"compile", path, *QUICK)  # the output is called like the folder
    check(named.returncode == 0 or (named.returncode == 2 and b"-o FILE" in named.stderr), "%r: without -o: %d %r" % (name, named.returncode, named.stderr))
    shown("%r, compile without -o" % name, named)
    gone = run(heddle, b"compile", path + b"/none")
    check(gone.returncode in (1, 5), "%r: a missing file ends with %d" % (name, gone.returncode))
    shown("%r, missing" % name, gone)
    os.rename(os.path.join(folder, b"model.safetensors"), os.path.join(folder, b"away"))
    checked, compiled = run(heddle, b"check", path), run(heddle, b"compile", path, b"-o", b"program", *QUICK)
    check(compiled.returncode == 1, "%r: without weights: compile %d, %r" % (name, compiled.returncode, compiled.stderr))
    shown("%r, check without weights" % name, checked)
    shown("%r, compile without weights" % name, compiled)
sys.exit(finish())
