"""Flags of `heddle compile` for the many small models of the suite: they share most functions, which run.sh has kept.

test/run.sh makes the folder; without it there is no cache, as in lit, whose tests are of compiling itself."""
import os


def flags(heddle):
    folder = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(heddle))), "code-cache")
    return ["--code-cache=" + folder] if os.path.isdir(folder) else []
