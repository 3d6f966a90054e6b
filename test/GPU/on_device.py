#!/usr/bin/env python3
"""Runs a pack of `on-device.sh --pack` on a GPU. Needs Python alone, no numpy.

    on_device.py FILE [--device N|emulator] [--jobs N] [--keep-going]

The pack's manifest lists the steps in their order and the cases of each. A line says that a case
is run, another how it ended and after how many seconds. The first difference ends the run, or
with --keep-going none does: then all are printed once more at the end, in the order of steps. A
difference in f32 names the first kernel whose result is not the emulator's. Exit status 0, 1 (a
difference), 2 (wrong arguments or no pack), 77 (no device)."""
import argparse
import concurrent.futures
import ctypes
import json
import math
import os
import struct
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "day"))
import digests  # noqa: E402
import fill_random  # noqa: E402

ELEMENT = {"F32": ("f", 4), "I64": ("q", 8), "BOOL": ("?", 1)}
SECONDS = 120
# Newer Pythons want to be told what an archive may hold.
FILTER = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}


def read(path):
    """A safetensors file -> {name: (type, shape, bytes)}"""
    with open(path, "rb") as f:
        raw = f.read()
    size = int.from_bytes(raw[:8], "little")
    head = json.loads(raw[8:8 + size].decode())
    head.pop("__metadata__", None)
    return {n: (t["dtype"], t["shape"], raw[slice(*(8 + size + o for o in t["data_offsets"]))])
            for n, t in head.items()}


def numbers(kind, data):
    letter, size = ELEMENT[kind]
    return struct.unpack("<%d%s" % (len(data) // size, letter), data)


def other_shape(name, kind, shape, got):
    """None, or how an output differs from the expected type and shape."""
    if name in got and got[name][:2] == (kind, shape):
        return None
    found = "%s %s" % got[name][:2] if name in got else "missing"
    return "output %s: expected %s %s, got %s" % (name, kind, shape, found)


def same_bits(expected, got):
    """None, or what differs first. A NaN is a NaN, whatever its sign."""
    for name, (kind, shape, data) in expected.items():
        if what := other_shape(name, kind, shape, got):
            return what
        if got[name][2] == data:
            continue
        e, a = numbers(kind, data), numbers(kind, got[name][2])
        bad = [i for i, (x, y) in enumerate(zip(e, a)) if x != y and not (x != x and y != y)]
        if bad:
            return "output %s: %d of %d differ, the first at %d: %r, expected %r" % (
                name, len(bad), len(e), bad[0], a[bad[0]], e[bad[0]])
    return None


def close(expected, got, limit):
    """None, or the output whose rms difference is more than `limit` times what is expected."""
    for name, (kind, shape, data) in expected.items():
        if what := other_shape(name, kind, shape, got):
            return what
        if kind != "F32":
            continue
        pairs = list(zip(numbers(kind, data), numbers(kind, got[name][2])))
        if any(math.isfinite(x) != math.isfinite(y) for x, y in pairs):
            return "output %s: other elements are not finite" % name
        pairs = [(x, y) for x, y in pairs if math.isfinite(x)]
        count = max(len(pairs), 1)
        far = math.sqrt(sum((x - y) ** 2 for x, y in pairs) / count)
        size = math.sqrt(sum(x * x for x, _ in pairs) / count)
        if not far <= limit * size:
            return "output %s: rms of the difference %.2e of %.2e" % (name, far, size)
    return None


def execute(command):
    p = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, text=True, timeout=SECONDS)
    if p.returncode:
        raise RuntimeError("exit status %d: %s" % (p.returncode, p.stderr.strip()[-600:]))
    return p.stdout


class Pack:
    """An unpacked pack and the device. Checks of the manifest are methods: case -> None or text."""

    def __init__(self, folder, device):
        self.folder, self.device = folder, device

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_command(self, case, out):
        """`run` with the case's input, without --device; `out` is a file."""
        program, source = self.path(case["program"]), self.path(case["input"])
        return [program, "run", "--input", source, "--output", out]

    def generate_command(self, case):
        return [self.path(case["program"]), "generate", *case["arguments"]]

    def outputs(self, case):
        with tempfile.TemporaryDirectory(dir=self.folder) as work:  # cases run at the same time
            out = os.path.join(work, "out")
            execute([*self.run_command(case, out), "--device", self.device])
            return read(out)

    def named(self, what, command):
        """A difference in f32 and the kernel it comes from."""
        try:
            equal, launch = digests.compared(command, self.device)
        except (digests.NoDigests, RuntimeError, OSError, subprocess.TimeoutExpired) as e:
            return "%s; no kernel is named: %s" % (what, e)
        if equal:
            launch = ("the emulator's arena and states behind every launch: what differs is "
                      "written by the last (%s), or the expected file" % launch)
        return "%s; %s" % (what, launch)

    def bits(self, case):
        what = same_bits(read(self.path(case["expected"])), self.outputs(case))
        if not what:
            return None
        with tempfile.TemporaryDirectory(dir=self.folder) as work:
            return self.named(what, self.run_command(case, os.path.join(work, "out")))

    def near(self, case):
        return close(read(self.path(case["expected"])), self.outputs(case), case["limit"])

    def again(self, case):
        first = self.outputs(case)
        for turn in range(1, case["runs"]):
            if what := same_bits(first, self.outputs(case)):
                return "run %d of %d: %s" % (turn + 1, case["runs"], what)
        return None

    def text(self, case):
        command = self.generate_command(case)
        said = execute([*command, "--device", self.device]).strip()
        if said == case["says"]:
            return None
        return self.named("the text is %s, expected %s" % (said[:200], case["says"][:200]), command)

    def times(self, case):
        """A figure, no judgement: the bound of the report beside it. Weights are random numbers."""
        program = self.path(case["program"])
        fill_random.fill(program)
        said = execute([program, "bench", *case["arguments"], "--device", self.device]).strip()
        print("     " + said.replace("\n", "\n     "))
        bounds = json.dumps(case["bounds"])
        print("     bounds of --report, not measurements: " + bounds, flush=True)
        return None


class Steps:
    """Runs steps, prints what happens and keeps the differences."""

    def __init__(self, pack, jobs, keep_going):
        self.pack, self.jobs, self.keep_going = pack, jobs, keep_going
        self.differences = []
        self.ended = threading.Event()
        self.lock = threading.Lock()

    def say(self, text):
        with self.lock:
            print(text, flush=True)

    def case(self, step, case):
        """None, or a line for the difference."""
        if self.ended.is_set():
            return None
        name, start = "%s, %s" % (step["name"], case["name"]), time.monotonic()
        self.say("run  " + name)
        try:
            what = getattr(self.pack, step["check"])(case)
        except (RuntimeError, OSError, ValueError, subprocess.TimeoutExpired) as e:
            what = str(e)
        seconds = time.monotonic() - start
        if not what:
            self.say("done %s (%.1f s)" % (name, seconds))
            return None
        if not self.keep_going:
            self.ended.set()
        self.say("BAD  %s (%.1f s): %s" % (name, seconds, what))
        files = ", ".join(case[kind] for kind in ("program", "input") if kind in case)
        return "DIFFERS %s: %s (in the pack: %s)" % (name, what, files)

    def step(self, step):
        start, cases = time.monotonic(), step["cases"]
        jobs = 1 if step["check"] == "times" else self.jobs
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            found = [d for d in pool.map(lambda c: self.case(step, c), cases) if d]
        self.differences += found
        if found and self.keep_going:
            self.say("bad  %s: %d of %d cases differ" % (step["name"], len(found), len(cases)))
        elif not found:
            seconds = time.monotonic() - start
            self.say("ok   %s: %d cases (%.0f s)" % (step["name"], len(cases), seconds))

    def all(self, steps):
        for step in steps:
            if step["check"] == "times" and self.pack.device.startswith("emulator"):
                self.say("skip %s: an emulator has no speed" % step["name"])
                continue
            self.step(step)
            if self.ended.is_set():
                break
        for line in self.differences:
            print(line)
        return int(bool(self.differences))


def count(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("expected at least 1, got %d" % value)
    return value


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("pack")
    p.add_argument("--device", default="0", help="its number, or `emulator`, or `emulator:OPTIONS`")
    p.add_argument("--jobs", type=count, default=1, help="cases that run at the same time (1)")
    p.add_argument("--keep-going", action="store_true", help="a difference ends nothing")
    p.add_argument("--driver", default="libcuda.so.1", help="the library that a GPU needs")
    o = p.parse_args()
    if not o.device.startswith("emulator"):
        try:
            ctypes.CDLL(o.driver)
        except OSError as e:
            print("on-device: no GPU here (%s)" % e)
            return 77
    with tempfile.TemporaryDirectory(prefix="heddle-device-") as folder:
        try:
            with tarfile.open(o.pack) as archive:
                archive.extractall(folder, **FILTER)
            with open(os.path.join(folder, "manifest.json")) as f:
                steps = json.load(f)["steps"]
        except (OSError, tarfile.TarError, ValueError, KeyError) as e:
            print("on-device: %s: expected a pack of `on-device.sh --pack`: %s" % (o.pack, e),
                  file=sys.stderr)
            return 2
        return Steps(Pack(folder, o.device), o.jobs, o.keep_going).all(steps)


if __name__ == "__main__":
    sys.exit(main())
