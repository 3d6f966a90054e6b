"""save_temps.py HEDDLE MODEL WORK STAGES [OPTIONS...]: --save-temps changes nothing, and what it keeps makes the same program:
from the texts of STAGES (joined by commas; all), and from the objects."""
import os
import shutil
import subprocess
import sys


def main():
    heddle, model, work, tried, *options = sys.argv[1:]
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(os.path.join(work, "plain"))
    failed = passed = 0

    def same(what, file):
        nonlocal failed, passed
        with open(os.path.join(work, "plain", "program"), "rb") as a, open(file, "rb") as b:
            equal = a.read() == b.read()
        passed, failed = passed + equal, failed + (not equal)
        if not equal:
            print("%s makes another program" % what)

    def compile(output, *more):
        subprocess.run([heddle, "compile", model, "--quick", "-o", output, *options, *more], check=True)

    compile(os.path.join(work, "plain", "program"))
    compile(os.path.join(work, "program"), "--save-temps")
    same("--save-temps", os.path.join(work, "program"))
    temps = os.path.join(work, "program.temps")
    there = set(os.listdir(temps))
    stages = sorted(name[:-5] for name in there if name.endswith(".mlir"))
    for stage in stages if tried == "all" else tried.split(","):
        again = os.path.join(work, "from-" + stage, "program")
        os.makedirs(os.path.dirname(again))
        subprocess.run([os.path.join(temps, "repeat.sh"), stage, again], check=True)
        same("repeat.sh " + stage, again)
    subprocess.run([os.path.join(temps, "link.sh"), os.path.join(work, "linked")], check=True)
    same("link.sh", os.path.join(work, "linked"))

    code = os.listdir(os.path.join(temps, "code"))
    parts = {ending: {name[:-len(ending)] for name in code if name.endswith(ending)} for ending in (".ll", ".s", ".o")}
    wrong = there - {s + ".mlir" for s in stages} - {"code", "card.txt", "data.o", "digests.o", "link.sh", "repeat.sh", "kernels.ll", "kernels.ptx"}
    with open(os.path.join(temps, "card.txt")) as card:
        ok = not wrong and "constants" in parts[".o"] and parts[".ll"] == parts[".s"] == parts[".o"] and "entry" in card.read()
    passed, failed = passed + ok, failed + (not ok)
    if not ok:
        print("other files than promised: %s %s" % (sorted(there), parts))
    print("%s; %d passed, %d failed" % (" ".join(stages), passed, failed))
    return failed


if __name__ == "__main__":
    sys.exit(main())
