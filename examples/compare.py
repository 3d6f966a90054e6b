#!/usr/bin/python3
"""compare.py EXPECTED.safetensors ACTUAL.safetensors: one line for each expected tensor; exit status 1 where they differ by more
than 1e-4 + 1e-4 |expected|."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "test", "Oracle"))
import tensors


def main():
    expected, actual = (tensors.read(f) for f in sys.argv[1:])
    failed = 0
    for name, e in sorted(expected.items()):
        wrong = "not there" if name not in actual else tensors.differs(e, actual[name], 1e-4, 1e-4)
        print("%s %s %s" % (name, list(e.shape), wrong or "as expected"))
        failed += bool(wrong)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
