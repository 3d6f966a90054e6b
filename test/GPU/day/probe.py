#!/usr/bin/env python3
"""Runs the kernels of probes.ptx on a GPU: one instruction at a time, as Heddle's kernels use it.

    probe.py [--driver LIBRARY]

Prints a line a probe: ok, or what was found instead. Numbers are small integers, so that results
are exact. Exit status 0, 1 (a probe failed), 77 (no driver, or no device of capability 9.0).
Needs numpy."""
import argparse
import ctypes as C
import os
import sys

import numpy as np

PTX = os.path.join(os.path.dirname(os.path.abspath(__file__)), "probes.ptx")
THREADS, COLUMNS = 128, 32  # of a block; of the products, whose sums are 16 a thread
STREAM = C.c_void_p()  # the default one
LOG = 1 << 16
# Options of cuModuleLoadDataEx: log and its size, log of errors and its size, verbose.
LOG_OPTIONS = (3, 4, 5, 6, 12)
ATTRIBUTES = {"sm": (75, 76), "multiprocessors": (16,), "L2 bytes": (38,), "kHz": (13,),
              "shared bytes a block": (97,), "shared bytes a multiprocessor": (81,)}


class NoDevice(Exception):
    pass


class Gpu:
    """The first device, its primary context and the probes' kernels."""

    def __init__(self, driver):
        try:
            self.lib = C.CDLL(driver)
        except OSError as e:
            raise NoDevice("no driver (%s)" % e)
        if error := self.lib.cuInit(C.c_uint(0)):
            raise NoDevice("no GPU (cuInit: error %d)" % error)
        self.device, context = C.c_int(), C.c_void_p()
        self.call("cuDeviceGet", C.byref(self.device), C.c_int(0))
        self.call("cuDevicePrimaryCtxRetain", C.byref(context), self.device)
        self.call("cuCtxSetCurrent", context)
        self.module = C.c_void_p()

    def call(self, name, *arguments):
        if error := getattr(self.lib, name)(*arguments):
            raise RuntimeError("%s: error %d" % (name, error))

    def attribute(self, number):
        value = C.c_int()
        self.call("cuDeviceGetAttribute", C.byref(value), C.c_int(number), self.device)
        return value.value

    def described(self):
        version, name = C.c_int(), C.create_string_buffer(100)
        self.call("cuDriverGetVersion", C.byref(version))
        self.call("cuDeviceGetName", name, C.c_int(100), self.device)
        said = ["%s, driver API %d" % (name.value.decode(), version.value)]
        for what, numbers in ATTRIBUTES.items():
            said.append("%s %s" % (what, ".".join(str(self.attribute(n)) for n in numbers)))
        return ", ".join(said)

    def load(self, text):
        """Loads the module; returns what the driver's assembler says."""
        log, errors = C.create_string_buffer(LOG), C.create_string_buffer(LOG)
        values = (C.c_void_p * 5)(C.addressof(log), LOG, C.addressof(errors), LOG, 1)
        options = (C.c_int * 5)(*LOG_OPTIONS)
        try:
            self.call("cuModuleLoadDataEx", C.byref(self.module), C.c_char_p(text), C.c_uint(5),
                      options, values)
        except RuntimeError as e:
            raise RuntimeError("%s: %s" % (e, errors.value.decode()[:600]))
        return log.value.decode()

    def memory(self, data):
        """The address of a copy of an array."""
        address, size = C.c_uint64(), C.c_size_t(data.nbytes)
        self.call("cuMemAlloc_v2", C.byref(address), size)
        self.call("cuMemcpyHtoDAsync_v2", address, C.c_void_p(data.ctypes.data), size, STREAM)
        self.call("cuStreamSynchronize", STREAM)
        return address

    def run(self, name, out, p0=0, p1=0, p3=0, p4=0):
        """Launches one block; `out` is given as p2, and what the kernel left there is returned.
        Arrays are given as addresses of copies, numbers as they are."""
        function, there = C.c_void_p(), self.memory(out)
        self.call("cuModuleGetFunction", C.byref(function), self.module, C.c_char_p(name.encode()))
        given = [self.memory(a) if isinstance(a, np.ndarray) else C.c_uint64(a) for a in (p0, p1)]
        given += [there, C.c_uint64(p3), C.c_uint64(p4)]
        places = (C.c_void_p * 5)(*[C.addressof(a) for a in given])
        sizes = [C.c_uint(n) for n in (1, 1, 1, THREADS, 1, 1, 0)]
        self.call("cuLaunchKernel", function, *sizes, STREAM, places, C.c_void_p())
        size = C.c_size_t(out.nbytes)
        self.call("cuMemcpyDtoHAsync_v2", C.c_void_p(out.ctypes.data), there, size, STREAM)
        self.call("cuStreamSynchronize", STREAM)
        return out


def half(x):
    """f32 -> the bits of bf16; the numbers here are exact."""
    return (np.ascontiguousarray(x, np.float32).view(np.uint32) >> 16).astype(np.uint16)


def grouped(x, side):
    """[rows, 8 * side] -> [side][rows][8]: groups of 8 columns, as tiles stand in shared memory."""
    return np.ascontiguousarray(x.reshape(x.shape[0], side, 8).transpose(1, 0, 2))


def gathered(sums):
    """Sums by thread [128, 16] -> [64, COLUMNS]."""
    result = np.zeros((64, COLUMNS), np.float32)
    for thread in range(THREADS):
        lane, warp = thread % 32, thread // 32
        for i in range(16):
            row, column = warp * 16 + lane // 4 + (i & 2) * 4, i // 4 * 8 + lane % 4 * 2 + i % 2
            result[row, column] = sums[thread, i]
    return result


def registers(x):
    """bf16 bits [64, 16] -> 4 words a thread, as a left side in registers has them."""
    words, bits = np.zeros((THREADS, 4), np.uint32), x.astype(np.uint32)
    for thread in range(THREADS):
        lane, row = thread % 32, thread // 32 * 16 + thread % 32 // 4
        for i in range(4):
            r, k = row + (i & 1) * 8, lane % 4 * 2 + i // 2 * 8
            words[thread, i] = bits[r, k] | bits[r, k + 1] << 16
    return words


def offsets(leading, stride):
    """Their fields of a descriptor, in units of 16 bytes."""
    return leading << 16 | stride << 32


class Probes:
    """Each public method: None, or what is wrong."""

    def __init__(self, gpu):
        self.gpu, self.rng = gpu, np.random.default_rng(7)
        shapes = (64, 16), (COLUMNS, 16)
        self.a, self.b = (self.rng.integers(-8, 9, s).astype(np.float32) for s in shapes)

    def product(self, run, right_offsets, swapped_offsets):
        """Compares `run(offsets)` with the product; if they differ, says whether others help."""
        expected = self.a @ self.b.T
        found = run(right_offsets)
        if (found == expected).all():
            return None
        helps = (run(swapped_offsets) == expected).all()
        return "WRONG in %d of %d; with leading and stride offsets exchanged: %s" % (
            (found != expected).sum(), found.size, "RIGHT" if helps else "wrong too")

    @staticmethod
    def sums():
        return np.full((THREADS, 16), np.nan, np.float32)

    def wgmma_of_shared_memory(self):
        left, right = grouped(half(self.a), 2), grouped(half(self.b), 2)

        def run(two):
            return gathered(self.gpu.run("ss", self.sums(), left, right, *two))
        return self.product(run, (offsets(64, 8), offsets(COLUMNS, 8)),
                            (offsets(8, 64), offsets(8, COLUMNS)))

    def wgmma_of_registers(self):
        left, right = registers(half(self.a)), grouped(half(self.b.T), COLUMNS // 8)

        def run(one):
            return gathered(self.gpu.run("rs", self.sums(), left, right, p4=one))
        return self.product(run, offsets(8, 16), offsets(16, 8))

    def bulk_copies(self):
        data = self.rng.integers(0, 2**32, 3 * 4096, dtype=np.uint32)
        bad = np.flatnonzero(self.gpu.run("bulk", np.zeros_like(data), data) != data)
        return "WRONG in %d words, the first at %d" % (len(bad), bad[0]) if len(bad) else None

    def copy_of_nothing(self):
        found = self.gpu.run("zfill", np.full((THREADS, 4), 7, np.uint32))
        return "expected zeros, got %#x" % found.max() if found.any() else None

    def rounding(self):
        x, y = (self.rng.standard_normal(THREADS) * 10.0 ** self.rng.integers(-18, 18, THREADS)
                for _ in range(2))
        x[:4], y[:4] = (np.nan, -0.0, 0.0, 1e-40), (1, 0.0, -0.0, 3)
        x, y = x.astype(np.float32), y.astype(np.float32)
        found = self.gpu.run("bits", np.zeros((THREADS, 8), np.float32), x, y)[:, :6]
        with np.errstate(all="ignore"):
            columns = {"division": x / y, "root": np.sqrt(np.abs(x)),
                       "reciprocal": np.float32(1) / x, "product": x * y,
                       "maximum": np.maximum(x, y), "subnormal": x * np.float32(1e-38)}
        wrong = [name for (name, e), a in zip(columns.items(), found.T)
                 if ((a != e) & ~(np.isnan(a) & np.isnan(e))).any()]
        return "other bits: " + ", ".join(wrong) if wrong else None


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--driver", default="libcuda.so.1")
    o = p.parse_args()
    try:
        gpu = Gpu(o.driver)
    except NoDevice as e:
        print("probe: skipped: %s" % e)
        return 77
    with open(PTX, "rb") as f:
        text = f.read()
    try:
        print("device: " + gpu.described(), flush=True)
        capability = tuple(gpu.attribute(n) for n in ATTRIBUTES["sm"])
        if capability != (9, 0):
            print("probe: skipped: expected a device of capability 9.0, got %d.%d" % capability)
            return 77
        log = gpu.load(text)
    except RuntimeError as e:
        print("probe: %s" % e)
        return 1
    warnings = [line for line in log.splitlines() if "C75" in line or "warning" in line.lower()]
    print("assembler: " + (" / ".join(warnings) or "no warnings"), flush=True)
    probes = Probes(gpu)
    # The copy from nowhere comes last: where it fails the context is lost.
    todo = {"rounding, NaN, subnormal numbers in f32": probes.rounding,
            "wgmma, both sides in shared memory": probes.wgmma_of_shared_memory,
            "wgmma, left side in registers, right turned": probes.wgmma_of_registers,
            "bulk copies of 8 lanes, bytes announced late": probes.bulk_copies,
            "cp.async of 0 bytes from nowhere": probes.copy_of_nothing}
    failed = 0
    for name, check in todo.items():
        try:
            what = check()
        except RuntimeError as e:
            what = str(e)
        print("%-46s %s" % (name, what or "ok"), flush=True)
        failed += bool(what)
    print("%d passed, %d failed" % (len(todo) - failed, failed))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
