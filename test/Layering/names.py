"""No file name twice in two folders for two things.

What may stand twice: one thing seen from two sides (an op family in the interpreter and in the lowering, the interpreter's
and the runtime's generation), each listed here; tests, which are found by their folder; and names that a tool or a custom
gives. Prints a line for each other; exit status 1 if there is any."""
import os
import subprocess
import sys

from layering import CODE, ROOT

CUSTOM = {"CMakeLists.txt", "README.md", "Passes.h", "Passes.td"}
# The name, and the one thing that both files are about.
ONE_THING = {
    "Attention.cpp": "attention, interpreted and lowered", "Linear.cpp": "linears, likewise", "Moves.cpp": "elements to other places, likewise",
    "Norms.cpp": "norms, likewise", "Positions.cpp": "positions, likewise", "Reductions.cpp": "reductions, likewise",
    "Generate.cpp": "generation, interpreted and run", "Tensor.h": "a tensor, interpreted and run", "Tensor.cpp": "the same",
    "States.cpp": "states, derived and interpreted", "Scalars.cpp": "functions of numbers, as code and interpreted",
    "Card.h": "the card, as attributes and as it is read", "Entry.cpp": "an entry, lowered and interpreted",
    "Target.h": "a target, asked by plans and by the driver", "Target.cpp": "the same",
}
# Two things that still have one name.
KNOWN = {
    "Model.h": "the dialect, and a model that the runtime has loaded",
    "Evaluator.h": "of expressions, and of IR",
    "Arithmetic.h": "of expressions, and of kernels", "Arithmetic.cpp": "the same",
}


def main():
    files = subprocess.run(["git", "-C", ROOT, "ls-files", *CODE], capture_output=True, text=True, check=True).stdout.splitlines()
    places = {}
    for file in files:
        places.setdefault(os.path.basename(file), []).append(file)
    twice = {name: where for name, where in places.items() if len(where) > 1 and name not in CUSTOM}
    for name, where in sorted(twice.items()):
        if name not in ONE_THING and name not in KNOWN:
            print("%s: %s" % (name, " ".join(where)))
    return int(any(name not in ONE_THING and name not in KNOWN for name in twice))


if __name__ == "__main__":
    sys.exit(main())
