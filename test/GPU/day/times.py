#!/usr/bin/env python3
"""A line for each kernel that `ncu --csv --metrics gpu__time_duration.sum` timed: `times.py FILE`.

Printed are the launches, the median in us and the share of all time, longest first. Exit status
0, 1 (the file holds no times), 2 (wrong arguments)."""
import csv
import statistics
import sys

MICROSECONDS = {"ns": 1e-3, "nsecond": 1e-3, "us": 1, "usecond": 1, "ms": 1e3, "msecond": 1e3,
                "s": 1e6, "second": 1e6}
MOST = 40


def times(lines):
    """{(kernel, grid, block): [us]} of the CSV rows among `lines`, with which ncu mixes others."""
    kernels = {}
    for row in csv.DictReader(line for line in lines if line.startswith('"')):
        try:
            value = float(row["Metric Value"].replace(",", "")) * MICROSECONDS[row["Metric Unit"]]
        except (KeyError, ValueError, AttributeError):
            continue  # the row of another metric, or a broken one
        key = (row.get("Kernel Name"), row.get("Grid Size"), row.get("Block Size"))
        kernels.setdefault(key, []).append(value)
    return kernels


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print("usage: times.py FILE", file=sys.stderr)
        return 2
    try:
        with open(sys.argv[1], errors="replace") as f:
            kernels = times(f)
    except OSError as e:
        print("times.py: %s" % e, file=sys.stderr)
        return 2
    if not kernels:
        print("times.py: %s: expected times of ncu, found none" % sys.argv[1])
        return 1
    whole = sum(sum(v) for v in kernels.values())
    for (name, grid, block), v in sorted(kernels.items(), key=lambda k: -sum(k[1]))[:MOST]:
        print("%-16s grid %-16s block %-14s %5d launches, median %9.2f us, %4.1f%%" % (
            name, grid, block, len(v), statistics.median(v), 100 * sum(v) / whole if whole else 0))
    return 0


if __name__ == "__main__":
    sys.exit(main())
