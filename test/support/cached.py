"""Flags of `heddle compile` for the many small models of the suite, most of which share functions.

test/run.sh makes the folder `code-cache` in the build. Without it there are no flags, and models are compiled as users compile
them: so does test/nightly.sh, which removes it."""
import os
import shutil


def flags(heddle):
    """The machine code of functions is kept for the next model."""
    folder = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(shutil.which(heddle) or heddle))), "code-cache")
    return ["--code-cache=" + folder] if os.path.isdir(folder) else []


def quick(heddle):
    """Also, LLVM does not optimise: a third of the time, for programs that run for milliseconds. Numbers keep their bits."""
    found = flags(heddle)
    return found + ["--quick"] if found else []
