"""One way to import: a script of the suite finds modules of other folders as test/support/heddle_test.py says.

`imports.py [FILE...]` prints each line that names another path (all scripts of test/ without FILEs); exit status 1 if there is one.
Scripts that are copied to another machine, or that run under another Python, keep paths of their own."""
import os
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir)
HEADER = 'sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")'
OWN = ("test/Bench/llamacpp.py", "test/Bench/rivals.py", "test/Bench/attention/", "test/GPU/day/", "test/GPU/on_device.py", "test/Import/planted.py", "test/Layering/imports.py",
       "test/lit.cfg.py", "test/support/heddle_test.py")

files = sys.argv[1:] or [os.path.join(folder, name) for folder, _, names in os.walk(os.path.join(ROOT, "test")) for name in names if name.endswith(".py")]
wrong = 0
for path in files:
    if os.path.relpath(path, ROOT).startswith(OWN):
        continue
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            if line.startswith("sys.path") and line.rstrip("\n") != HEADER:
                print("%s:%d: %s" % (os.path.relpath(path, ROOT), number, line.rstrip("\n")))
                wrong += 1
sys.exit(wrong > 0)
