"""remark_misuse.py BUILD WORK: a missed remark without a reason does not compile, nor does a kind that the table does not give a
name. Asks the compiler of BUILD, with the flags of dialects/Remarks/Remark.cpp."""
import json
import os
import re
import shlex
import subprocess
import sys

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test  # noqa: F401
from checks import check, finish

build, work = sys.argv[1:]
CALLS = [
    ('remarks::missed(op, remarks::FuseMap, "a reason");', ""),
    ('remarks::passed(op, remarks::FuseMap) << remarks::number("ops", 3);', ""),
    ("remarks::missed(op, remarks::FuseMap);", "no matching function for call to 'missed'"),
    ('remarks::missed(op, remarks::LinearSplit, "a reason");', "this is ever missed"),
    ("remarks::passed(op, remarks::MemoryPlace);", "this is ever done"),
    ("remarks::analysis(op, remarks::FuseMap);", "this is ever noted"),
]


def main():
    os.makedirs(work)
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        command = next(c for c in json.load(f) if "/dialects/Remarks/" in c["file"]) # perhaps a unity source
    words = shlex.split(command["command"])
    file = os.path.join(work, "calls.cpp")
    with open(file, "w", encoding="utf-8") as f:
        f.write('#include "dialects/Remarks/Remark.h"\nusing namespace heddle;\n')
        for number, (call, _) in enumerate(CALLS):
            f.write("void call%d(mlir::Operation *op) { %s }\n" % (number, call))
    output = words.index("-o")
    words = words[:output] + words[output + 2:words.index("-c")] + ["-fsyntax-only", "-ferror-limit=0", file]
    ran = subprocess.run(words, cwd=command["directory"], capture_output=True, text=True, timeout=120)
    check(ran.stderr.count("error: ") == sum(bool(error) for _, error in CALLS), "other errors than expected:\n" + ran.stderr)
    for line, (call, error) in enumerate(CALLS, 3):
        there = re.search(r"calls\.cpp:%d:\d+: (error|note: in instantiation)" % line, ran.stderr)
        check(bool(there) == bool(error) and error in ran.stderr, "%s: %s" % (call, "it compiles" if error else "it does not compile"))
    return finish()


if __name__ == "__main__":
    sys.exit(main())
