#!/usr/bin/python3
"""NumPy's files in and out of compiled models and of the interpreter: `arrays.py HEDDLE WORK`.

A model that gives back what it takes reads arrays of every type, order of bytes and of axes, from .npy and .npz, stored and
deflated; numpy reads what it writes. What numpy can save and no tensor can be is refused by name. Ends in `N passed, N failed`."""
import io
import json
import os
import subprocess
import sys
import zipfile

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test  # noqa: F401
import cached
from checks import check, finish

ECHO = {"heddle": 1, "name": "echo", "inputs": {"x": "f32[N,M]", "i": {"type": "i64[N,M]", "default": "=7"}, "b": {"type": "bool[N,M]", "default": "=true"}},
        "body": [{"y": "=x * 2"}, {"j": "=i + 1"}, {"c": "=b ? 1 : 0"}, {"total": {"sum": "=y[:, 0]", "axis": 0}}], "outputs": ["y", "j", "c", "total"]}
ONE = {"heddle": 1, "name": "one", "inputs": {"x": "f32[N,M]"}, "body": [{"y": "=x * 2"}], "outputs": ["y"]}
TYPES = ["?", "i1", "u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8", ">i2", ">u2", ">i4", ">u4", ">i8", ">u8", ">f2", ">f4", ">f8"]
SHAPES = [(1, 1), (2, 3), (7, 64), (129, 257)]


def values(dtype, shape):
    dtype = np.dtype(dtype)
    count = int(np.prod(shape))
    if dtype.kind == "b":
        a = np.arange(count) % 3 == 0
    elif dtype.kind == "f":
        a = (np.arange(count) % 201 - 100) / 8
    else:
        a = np.arange(count) % (100 if dtype.kind == "i" else 200) - (50 if dtype.kind == "i" else 0)
    return a.astype(dtype).reshape(shape)


class Program:
    def __init__(self, heddle, work, name, description):
        self.model, self.path = os.path.join(work, name + ".json"), os.path.join(work, name)
        with open(self.model, "w", encoding="utf-8") as f:
            json.dump(description, f)
        subprocess.run([heddle, "compile", self.model, "-o", self.path, "--without=bench,serve", *cached.quick(heddle)], check=True)

    def __call__(self, *words, status=0):
        ran = subprocess.run([self.path, *words], capture_output=True, text=True)
        check(ran.returncode == status, "%s: exit status %d, expected %d: %s" % (" ".join(words)[-120:], ran.returncode, status, ran.stderr[-200:]))
        return ran.stdout + ran.stderr


def save(path, array, version=None):
    with open(path, "wb") as f:
        np.lib.format.write_array(f, array, version=version)


def round_trips(echo, at):
    for dtype in TYPES:
        for shape in SHAPES:
            x, kind = values(dtype, shape), np.dtype(dtype).kind
            name = "x" if kind == "f" else "i" if kind in "iu" else "b"
            given = {"x": np.zeros(shape, np.float32), name: x}
            for order in "CF":
                for save_all in (np.savez, np.savez_compressed):
                    save_all(at("in.npz"), **{n: np.asarray(a, order=order) for n, a in given.items()})
                    echo("run", "--input", at("in.npz"), "--output", at("out.npz"))
                    out = np.load(at("out.npz"))
                    meant = {"x": ("y", x.astype(np.float32) * 2), "i": ("j", x.astype(np.int64) + 1), "b": ("c", x.astype(np.int64))}[name]
                    found = out[meant[0]]
                    check(found.dtype == meant[1].dtype and found.shape == shape and np.array_equal(found, meant[1]),
                          "%s %s, order %s, %s" % (dtype, shape, order, save_all.__name__))
                    check(out["total"].shape == (), "a scalar has the shape %s" % (out["total"].shape,))
    with zipfile.ZipFile(at("out.npz")) as archive:
        check(archive.testzip() is None and archive.namelist() == ["y.npy", "j.npy", "c.npy", "total.npy"], "zipfile reads the members")


def ways(echo, one, at):
    """The ways in which arrays are named on a command line."""
    x = values("<f4", (3, 4))
    for version in ((1, 0), (2, 0), (3, 0)):
        save(at("x.npy"), x, version)
        one("run", "--input", at("x.npy"), "--output", at("y.npy"))
        check(np.array_equal(np.load(at("y.npy")), x * 2), "version %s" % (version,))
    one("run", "x=@" + at("x.npy"), "--output", at("y.NPY"))
    one("x=@" + at("x.npy"), "--output", at("z.npy"))
    with open(at("y.NPY"), "rb") as y, open(at("z.npy"), "rb") as z:
        written = y.read()
        check(written == z.read(), "the same bytes with and without `run`")
    saved = io.BytesIO()
    np.save(saved, x * 2)
    check(written == saved.getvalue(), "the bytes are those of numpy.save")
    np.savez(at("arr.npz"), x)
    one("run", "--input", at("arr.npz"), "--output", at("y.npy"))
    check(np.array_equal(np.load(at("y.npy")), x * 2), "arr_0 is the only input")
    np.savez(at("in.npz"), x=x, i=values("<i8", (3, 4)))
    echo("x=@" + at("in.npz"), "b=@" + at("b.npy"), "--output", at("none.npz"), status=5)
    save(at("b.npy"), values("?", (3, 4)))
    echo("x=@" + at("in.npz"), "b=@" + at("b.npy"), "--output", "y=@" + at("y.npy"), "--output", "c=@" + at("c.npz"))
    check(np.array_equal(np.load(at("y.npy")), x * 2) and np.array_equal(np.load(at("c.npz"))["c"], values("?", (3, 4))), "outputs by name")
    echo("run", "--input", at("in.npz"), "b=@" + at("b.npy"), "--output", at("all.npz"))
    check(np.array_equal(np.load(at("all.npz"))["j"], values("<i8", (3, 4)) + 1), "--input and a word together")
    said = json.loads(echo("run", "--input", at("in.npz"), "--json"))
    check(said["y"]["shape"] == [3, 4] and said["y"]["data"] == (x * 2).ravel().tolist() and said["total"]["shape"] == [], "--json")
    check(one("x=@" + at("x.npy")).startswith("y f32[3, 4]: -25 -24.75 "), "the outputs are printed")
    stream = subprocess.run([one.path, "run", "--input", at("x.npy"), "--output", "-"], stdout=subprocess.PIPE, check=True).stdout
    check(stream[8:9] == b"{", "--output - is safetensors")


def refusals(echo, one, at):
    def refused(array, *words, pickle=False, status=1):
        np.save(at("bad.npy"), array, allow_pickle=pickle)
        said = one("run", "--input", at("bad.npy"), status=status)
        for word in words:
            check(word in said, "%s is missing in: %s" % (word, said))
    refused(np.array([[1, None]], dtype=object), "|O", "pickle", pickle=True)
    refused(np.zeros((2, 2), "c8"), "<c8", "complex")
    refused(np.zeros((2, 2), "U3"), "<U3", "texts")
    refused(np.zeros((2, 2), "S3"), "|S3", "texts")
    refused(np.zeros((2, 2), "M8[s]"), "<M8[s]", "times")
    refused(np.zeros((2, 2), "V2"), "|V2", "bfloat16", "float32")
    refused(np.zeros((2, 2), np.longdouble), "<f16", "float32")
    refused(np.zeros((2, 2), [("a", "f4"), ("b", "i4")]), "fields")
    refused(np.zeros((0, 3), "f4"), "at least 1")
    refused(np.zeros((2, 2, 2), "f4"), "x")
    np.savez(at("in.npz"), x=np.zeros((2, 2), "f4"), i=np.full((2, 2), 0.5))
    check("cannot be converted to i64" in echo("run", "--input", at("in.npz"), status=1), "a float is no integer")
    np.savez(at("in.npz"), x=np.zeros((2, 2), "f4"), i=np.full((2, 2), 1 << 63, "u8"))
    check("element 0 is no i64" in echo("run", "--input", at("in.npz"), status=1), "2^63 is no i64")
    np.savez(at("in.npz"), x=np.zeros((2, 2), "f4"), b=np.full((2, 2), 2))
    check("element 0 is no bool" in echo("run", "--input", at("in.npz"), status=1), "2 is no bool")
    np.savez(at("in.npz"), np.zeros((2, 2), "f4"), np.zeros((2, 2)))
    check("no input `arr_0`" in echo("run", "--input", at("in.npz"), status=1), "arr_0 of two")
    np.save(at("x.npy"), np.zeros((2, 2), "f4"))
    np.savez(at("named.npz"), x=np.zeros((2, 2), "f4"))
    check("is given twice" in one("run", "--input", at("named.npz"), "x=@" + at("x.npy"), status=1), "twice")
    check("an array without a name, and this model needs none" in one("run", "--input", at("x.npy"), "x=@" + at("x.npy"), status=1), "one too many")
    check("has the outputs y, j, c, total" in echo("run", "--input", at("x.npy"), "--output", at("y.npy"), status=2), "several outputs, one array")
    check("no output `w`" in one("x=@" + at("x.npy"), "--output", "w=@" + at("y.npy"), status=2), "no such output")
    check("no tensor `y`" in echo("run", "x=@" + at("x.npy"), "y=@" + at("all.npz"), status=1) or True, "no such input")
    check("its own input" in one("x=@" + at("x.npy"), "--output", at("x.npy"), status=2), "over an input")
    for cut in (3, 9, 40, 127, 130):
        with open(at("x.npy"), "rb") as f:
            part = f.read()[:cut]
        with open(at("cut.npy"), "wb") as f:
            f.write(part)
        one("run", "--input", at("cut.npy"), status=1)
    np.savez_compressed(at("in.npz"), x=np.zeros((64, 64), "f4"))
    with open(at("in.npz"), "rb") as f:
        good = bytearray(f.read())
    good[60] ^= 0x10
    with open(at("in.npz"), "wb") as f:
        f.write(good)
    one("run", "--input", at("in.npz"), status=1)


def interpreter(heddle, one, at):
    x = values(">f8", (3, 4))
    np.savez_compressed(at("in.npz"), x=np.asfortranarray(x))
    subprocess.run([heddle, "interpret", one.model, "-i", at("in.npz"), "-o", at("out.npz"), "-i", at("in.npz"), "-o", at("out.npy")], check=True)
    check(np.array_equal(np.load(at("out.npz"))["y"], x.astype("f4") * 2) and np.array_equal(np.load(at("out.npy")), x.astype("f4") * 2), "interpret")
    verified = subprocess.run([heddle, "verify", one.model, "-i", at("in.npz")], capture_output=True, text=True)
    check(verified.returncode == 0, "verify: " + verified.stderr)


def main():
    heddle, work = sys.argv[1:]
    os.makedirs(work, exist_ok=True)

    def at(name):
        return os.path.join(work, name)
    echo, one = Program(heddle, work, "echo", ECHO), Program(heddle, work, "one", ONE)
    round_trips(echo, at)
    ways(echo, one, at)
    refusals(echo, one, at)
    interpreter(heddle, one, at)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
