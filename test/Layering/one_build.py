"""Whoever builds with README, examples/quickstart.sh, test/run.sh or test/nightly.sh has one build: all configure it alike.

Another flag, such as -Werror, would compile everything a second time. One line for each command that differs; exit status 1."""
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir)
COMMAND = re.compile(r"cmake -S \. -B \S+ -G Ninja((?: -D[^\s;]+)*)")

found = {}
for name in sys.argv[1:] or ("README.md", "examples/quickstart.sh", "test/run.sh", "test/nightly.sh"):
    with open(os.path.join(ROOT, name), encoding="utf-8") as f:
        flags = COMMAND.findall(f.read())
    found[name] = flags or ["no cmake command"]
first, *others = found.items()
wrong = ["%s configures with '%s', %s with '%s'" % (name, flags, first[0], first[1][0]) for name, all in found.items() for flags in all if flags != first[1][0]]
print("\n".join(wrong), end="\n" if wrong else "")
sys.exit(bool(wrong))
