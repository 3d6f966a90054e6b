"""A binary for a processor that this machine is not says so and ends with 3; it never dies of an illegal instruction.

    processor.py HEDDLE MODEL

Takes two processors out of `--mcpu=help`: the one that has most that this machine lacks, and the widest that it can run."""
import subprocess
import sys


def main():
    heddle, model = sys.argv[1:]
    table = subprocess.run([heddle, "compile", "--mcpu=help"], check=True, capture_output=True, text=True).stdout.split("\n\n")[0].splitlines()[2:]
    lacking, running = {}, {}
    for line in table:
        name, lanes, rest = line.split(maxsplit=2)
        if rest.startswith("lacks "):
            lacking[name] = rest
        else:
            running[name] = int(lanes)
    wrong = 0
    # A machine that has all that LLVM knows of has only the second to try.
    for name in sorted(lacking, key=lambda n: len(lacking[n].split()))[-1:] + [max(running, key=running.get)]:
        binary = "%s.%s" % (model, name)
        subprocess.run([heddle, "compile", model, "--mcpu=" + name, "-o", binary], check=True)
        run = subprocess.run([binary, "generate", "--ids", "1", "-n", "2"], capture_output=True, text=True)
        if run.returncode != (3 if name in lacking else 0) or lacking.get(name, "") not in run.stderr:
            print("%s: exit %d, expected that it %s: %s" % (name, run.returncode, lacking.get(name, "runs"), run.stderr))
            wrong += 1
    return wrong


sys.exit(main())
