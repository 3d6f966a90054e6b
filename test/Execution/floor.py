#!/usr/bin/env python3
"""What a program asks of the machine it runs on: `floor.py PROGRAM...`.

Reads each program with llvm-readelf: the shared libraries that it needs (libc, libm and the loader) and the
versions of glibc's symbols (2.34 at most; the README states it). Ends in `N passed, N failed`."""
import re
import subprocess
import sys

FLOOR = (2, 34)
LIBRARIES = {"libc.so.6", "libm.so.6"}
LOADER = re.compile(r"ld-linux-[\w-]+\.so\.\d")


def read(program, flag):
    return subprocess.run(["llvm-readelf", flag, program], check=True, capture_output=True, text=True).stdout


def complaints(program):
    said = read(program, "--dynamic-table")
    needed = set(re.findall(r"NEEDED\).*\[(.*)\]", said))
    versions = {tuple(map(int, v.split("."))) for v in re.findall(r"Name: GLIBC_([\d.]+)", read(program, "--version-info"))}
    if not needed or not versions:
        yield "llvm-readelf names no library or no version"
    for library in sorted(needed - LIBRARIES):
        if not LOADER.fullmatch(library):
            yield "needs %s; expected libc and libm alone" % library
    for version in sorted(v for v in versions if v > FLOOR):
        yield "needs glibc %d.%d; expected at most %d.%d" % (*version[:2], *FLOOR)


def main():
    passed = failed = 0
    for program in sys.argv[1:]:
        bad = list(complaints(program))
        passed, failed = passed + (not bad), failed + bool(bad)
        for what in bad:
            print("FAIL %s: %s" % (program, what))
    print("%d passed, %d failed" % (passed, failed))
    return int(failed > 0 or passed == 0)


if __name__ == "__main__":
    sys.exit(main())
