#!/usr/bin/env python3
"""Names the first kernel whose result differs between a device and the emulator.

    digests.py PROGRAM --input FILE [--device N] [--rounded]

Runs the program on both with `:digest` (--rounded: `:digest8`, for programs in bf16) and
compares the lines, one a launch. A digest is of the arena and the states: a kernel that writes
nothing but outputs leaves the digests as they are. PROGRAM was compiled with --emulate. Exit
status 0 (all lines are equal), 1 (one differs, or a launch never ended), 2 (wrong arguments, or
the emulator fails), 77 (the program has no emulator). Needs Python alone."""
import argparse
import os
import re
import subprocess
import sys
import tempfile

LINE = re.compile(r"^launch \d+ (.+) at (-?\d+, -?\d+): "
                  r"arena ([0-9a-f]{16}), states ([0-9a-f]{16})$", re.M)
NO_EMULATOR = "this program has no emulator in it"
SECONDS = 120


class NoDigests(Exception):
    """The program has no emulator, so there is nothing to compare with."""


def with_word(device, word):
    """A device and one more word of its options: `0` -> `0:digest`."""
    return device + ("," if ":" in device else ":") + word


def launches(command, device, word):
    """What each launch of `command` left: [(kernel and place, repeats, arena, states)], and the
    beginning of what a run that failed says ("" for a good one)."""
    p = subprocess.run([*command, "--device", with_word(device, word)], stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                       timeout=SECONDS)
    said = LINE.sub("", p.stderr).strip()[:300] if p.returncode else ""
    return [m.groups() for m in LINE.finditer(p.stderr)], said


def compared(command, device, word="digest"):
    """-> whether the digests of `command` (without --device) are the emulator's, and a text: the
    first launch that differs, or the last of all. Raises NoDigests, and RuntimeError, OSError,
    TimeoutExpired for an emulator that fails."""
    expected, failed = launches(command, "emulator", word)
    if NO_EMULATOR in failed:
        raise NoDigests(failed)
    if failed or not expected:
        raise RuntimeError("on the emulator: %s" % (failed or "no launch"))
    got, failed = launches(command, device, word)
    for number, (e, g) in enumerate(zip(expected, got), 1):
        where = "launch %d of %d, kernel %s" % (number, len(expected), e[0])
        if e[:2] != g[:2]:
            return False, "%s, is %s at %s" % (where, g[0], g[1])
        if e != g:
            parts = [n for n, a, b in (("arena", e[2], g[2]), ("states", e[3], g[3])) if a != b]
            return False, "%s, repeats at %s: other %s" % (where, e[1], " and ".join(parts))
    if len(got) < len(expected):
        return False, "launch %d of %d, kernel %s, never ended: %s" % (
            len(got) + 1, len(expected), expected[len(got)][0], failed)
    if len(got) > len(expected):
        return False, "expected %d launches, got %d" % (len(expected), len(got))
    if failed:
        return False, "behind the last of %d launches: %s" % (len(got), failed)
    return True, "launch %d of %d, kernel %s" % (len(got), len(got), got[-1][0])


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("program")
    p.add_argument("--input", required=True, help="a safetensors file, as `run` takes it")
    p.add_argument("--device", default="0")
    p.add_argument("--rounded", action="store_true", help="of 8 bits of significand, for bf16")
    o = p.parse_args()
    word = "digest8" if o.rounded else "digest"
    with tempfile.TemporaryDirectory(prefix="heddle-digests-") as folder:
        command = [os.path.abspath(o.program), "run", "--input", o.input,
                   "--output", os.path.join(folder, "out")]
        try:
            equal, launch = compared(command, o.device, word)
        except (RuntimeError, OSError, subprocess.TimeoutExpired) as e:
            print("digests.py: %s" % e, file=sys.stderr)
            return 2
        except NoDigests as e:
            print("digests.py: skipped: %s" % " ".join(str(e).split()))
            return 77
    print("all digests are the emulator's" if equal else "first difference: " + launch)
    return int(not equal)


if __name__ == "__main__":
    sys.exit(main())
