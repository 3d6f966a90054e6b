"""nightly.py ROOT: what test/nightly.sh lists can be run: each script is in the tree and knows the options it is given, and each
script that plants faults (support/plant.py) has a part. Ends in `N passed, N failed`."""
import glob
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
from checks import check, finish

ROOT = sys.argv[1]


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


parts = subprocess.run([os.path.join(ROOT, "test/nightly.sh"), "--list"], capture_output=True, text=True, check=True).stdout.splitlines()
names = [line[:36].strip() for line in parts]
check(len(set(names)) == len(names), "two parts have the same name")
for line in parts:
    check(re.match(r".{36} +[1-9]\d* +\S", line), "expected a name, a limit in seconds and a command, got " + line)
    for script, words in re.findall(r"(test/[\w/]+\.(?:py|sh))\b([^|;&]*)", line):
        if not check(os.path.exists(os.path.join(ROOT, script)), "there is no " + script):
            continue
        for option in re.findall(r" (--[a-z-]+)", words):
            check(re.search(r"%s\b" % option, read(script)), "%s has no option %s" % (script, option))
for path in glob.glob(os.path.join(ROOT, "test/**/*.py"), recursive=True):
    script = os.path.relpath(path, ROOT)
    if re.search(r"^from plant import .*\bcampaign\b", read(script), re.M):
        check(any(script + " " in line for line in parts), "no part runs " + script)
sys.exit(finish())
