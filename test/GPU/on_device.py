#!/usr/bin/env python3
"""Runs a pack of `on-device.sh --pack` on a GPU: `on_device.py FILE [--device N|emulator]`. Python alone, no numpy.

The steps stand in the pack's manifest, in order; the first that differs ends the run. Exit status 0, 1 (a difference), 77 (no device)."""
import argparse
import ctypes
import json
import math
import os
import struct
import subprocess
import sys
import tarfile
import tempfile
import time

ELEMENT = {"F32": ("f", 4), "I64": ("q", 8), "BOOL": ("?", 1)}
SECONDS = 120


def read(path):
    """A safetensors file -> {name: (type, shape, bytes)}"""
    with open(path, "rb") as f:
        raw = f.read()
    size = int.from_bytes(raw[:8], "little")
    head = json.loads(raw[8:8 + size].decode())
    return {n: (t["dtype"], t["shape"], raw[8 + size + t["data_offsets"][0]:8 + size + t["data_offsets"][1]]) for n, t in head.items() if n != "__metadata__"}


def numbers(kind, data):
    letter, size = ELEMENT[kind]
    return struct.unpack("<%d%s" % (len(data) // size, letter), data)


def same_bits(expected, got):
    """None, or what differs first. A NaN is a NaN, whatever its sign."""
    for name, (kind, shape, data) in expected.items():
        if name not in got or got[name][:2] != (kind, shape):
            return "output %s: %s, expected %s %s" % (name, got.get(name, ("missing",))[:2], kind, shape)
        if got[name][2] == data:
            continue
        e, a = numbers(kind, data), numbers(kind, got[name][2])
        bad = [i for i, (x, y) in enumerate(zip(e, a)) if x != y and not (x != x and y != y)]
        if bad:
            return "output %s: %d of %d differ, the first at %d: %r, expected %r" % (name, len(bad), len(e), bad[0], a[bad[0]], e[bad[0]])
    return None


def close(expected, got, limit):
    """None, or the output whose difference is in the mean larger than `limit` times what is expected."""
    for name, (kind, shape, data) in expected.items():
        if name not in got or got[name][:2] != (kind, shape):
            return "output %s: %s, expected %s %s" % (name, got.get(name, ("missing",))[:2], kind, shape)
        if kind != "F32":
            continue
        pairs = list(zip(numbers(kind, data), numbers(kind, got[name][2])))
        if any(math.isfinite(x) != math.isfinite(y) for x, y in pairs):
            return "output %s: other elements are not finite" % name
        pairs = [(x, y) for x, y in pairs if math.isfinite(x)]
        far, size = (math.sqrt(sum(v) / max(len(v), 1)) for v in ([(x - y) ** 2 for x, y in pairs], [x * x for x, _ in pairs]))
        if not far <= limit * size:
            return "output %s: rms of the difference %.2e of %.2e" % (name, far, size)
    return None


def execute(command):
    p = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=SECONDS)
    if p.returncode:
        raise RuntimeError("exit status %d: %s" % (p.returncode, p.stderr.strip()[-600:]))
    return p.stdout


class Pack:
    def __init__(self, folder, device):
        self.folder, self.device = folder, device

    def path(self, name):
        return os.path.join(self.folder, name)

    def outputs(self, case):
        out = self.path("out.safetensors")
        execute([self.path(case["program"]), "run", "--input", self.path(case["input"]), "--output", out, "--device", self.device])
        return read(out)

    def bits(self, case):
        return same_bits(read(self.path(case["expected"])), self.outputs(case))

    def near(self, case):
        return close(read(self.path(case["expected"])), self.outputs(case), case["limit"])

    def again(self, case):
        first = self.outputs(case)
        for turn in range(1, case["runs"]):
            if what := same_bits(first, self.outputs(case)):
                return "run %d of %d: %s" % (turn + 1, case["runs"], what)
        return None

    def text(self, case):
        said = execute([self.path(case["program"]), "generate", *case["arguments"], "--device", self.device]).strip()
        return None if said == case["says"] else "the text is %s, expected %s" % (said[:200], case["says"][:200])

    def times(self, case):
        """A figure, no judgement: the bound of the report beside it."""
        print("     " + execute([self.path(case["program"]), "bench", *case["arguments"], "--device", self.device]).strip().replace("\n", "\n     "))
        print("     bounds of --report, not measurements: " + json.dumps(case["bounds"]))
        return None


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("pack")
    p.add_argument("--device", default="0")
    p.add_argument("--driver", default="libcuda.so.1", help="the library without which there is no GPU")
    o = p.parse_args()
    if not o.device.startswith("emulator"):
        try:
            ctypes.CDLL(o.driver)
        except OSError as e:
            print("on-device: no GPU here (%s)" % e)
            return 77
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="heddle-device-") as folder:
        with tarfile.open(o.pack) as archive:
            archive.extractall(folder)
        with open(os.path.join(folder, "manifest.json")) as f:
            manifest = json.load(f)
        pack = Pack(folder, o.device)
        for step in manifest["steps"]:
            if step["check"] == "times" and o.device.startswith("emulator"):
                print("skip %s: an emulator has no speed" % step["name"])
                continue
            for case in step["cases"]:
                try:
                    what = getattr(pack, step["check"])(case)
                except (RuntimeError, OSError, subprocess.TimeoutExpired) as e:
                    what = str(e)
                if what:
                    print("DIFFERS %s, %s: %s" % (step["name"], case["name"], what))
                    return 1
            print("ok   %s: %d cases (%.0f s)" % (step["name"], len(step["cases"]), time.monotonic() - start), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
