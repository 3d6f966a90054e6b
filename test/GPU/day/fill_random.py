#!/usr/bin/env python3
"""Fills the weights of a program that was compiled from zeros: `fill_random.py PROGRAM...`.

Such a program travels as less than a megabyte, and a program's seal does not cover its weights.
Every run of zeros of 64 KiB and more becomes bf16 numbers between -1/32 and 1/32, the same each
time. (As f32 the same bytes are numbers of that size, too.) Needs Python alone."""
import random
import sys

PAGE = 1 << 16


def high_bytes():
    """A table from a random byte to the upper byte of a bf16: sign and 7 of 8 bits of exponent.

    The lower byte is random as it is. An upper byte spans two octaves, from 2^-7 on for 0x3c, so a
    quarter as many numbers take each byte below as would in a uniform distribution."""
    table = bytearray(256)
    for i in range(128):
        below = 0 if i < 96 else 1 if i < 120 else 2 if i < 126 else 3
        table[i] = 0x3C - below
        table[i + 128] = 0xBC - below
    return bytes(table)


def numbers(source, size, table):
    """`size` bytes of random bf16."""
    data = bytearray(source.randbytes(size))
    data[1::2] = data[1::2].translate(table)
    return data


def fill(path):
    """Fills the file `path` in place; returns how many bytes were filled, and the file's size."""
    source, table, zeros = random.Random(1), high_bytes(), bytes(PAGE)
    filled = size = 0
    with open(path, "r+b") as f:
        while page := f.read(PAGE):
            if page == zeros:
                f.seek(size)
                f.write(numbers(source, PAGE, table))
                filled += PAGE
            size += len(page)
    return filled, size


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print("usage: fill_random.py PROGRAM...", file=sys.stderr)
        return 2
    for path in sys.argv[1:]:
        try:
            filled, size = fill(path)
        except OSError as e:
            print("fill_random.py: %s" % e, file=sys.stderr)
            return 2
        print("%s: %.1f of %.1f MB filled" % (path, filled / 1e6, size / 1e6))
    return 0


if __name__ == "__main__":
    sys.exit(main())
