"""other_kinds.py HEDDLE MODEL WORK: what is said of files that are no description. One line a failure, then `N passed, N failed`."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
from checks import check, finish

heddle, model, work = sys.argv[1:]
os.makedirs(work)


def file(name, data):
    path = os.path.join(work, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)
    return path


def refused(what, path, *says):
    for command in ("compile", "check"):
        done = subprocess.run([heddle, command, path] + (["-o", os.path.join(work, "x")] if command == "compile" else []), capture_output=True)
        said = done.stdout + done.stderr
        text = said.decode(errors="replace")
        good = done.returncode == 1 and len(said) < 900 and all(b == 10 or b >= 32 for b in said) and all(s in text for s in says)
        check(good, "%s, %s: exit %d: %s" % (command, what, done.returncode, text))


noise = bytes(range(256)) * 8
kinds = {
    "model.gguf": (b"GGUF\3\0\0\0" + noise, "506097522914230528", "fetch it again"),
    "model.pt": (b"PK\3\4\x14\0 archive/data.pkl" + noise, "a PyTorch checkpoint", "save_file"),
    "old.bin": (b"\x80\2}q\0." + noise, "a pickle", "save_file"),
    "x.npy": (b"\x93NUMPY\1\0" + noise, "a NumPy array (.npy), not JSON", "name a description"),
    "x.npz": (b"PK\3\4\x14\0 weights.npy" + noise, "a NumPy archive (.npz), not JSON"),
    "a.out": (b"\x7fELF\2\1\1" + noise, "a program (ELF), not JSON", "--help"),
    "page.html": (b"<!DOCTYPE html>\n<html>" + b"<p>404</p>" * 200, "an HTML page, not JSON", "/resolve/"),
    "pointer.json": (b"version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 5\n", "a Git LFS pointer, not JSON", "git lfs pull"),
    "config.json.gz": (b"\x1f\x8b\x08\0" + noise, "a gzip file, not JSON", "gunzip"),
    "model.tar": (b"\0" * 257 + b"ustar" + noise, "a tar archive", "tar xf"),
    "noise": (b"abc\0" + noise, "this is no text", "byte 3"),
    "wide.json": ("\ufeff{}".encode("utf-16-le"), "text in UTF-16", "iconv"),
}
for name, (data, *says) in kinds.items():
    refused(name, file(name, data), *says)
    if name == "model.gguf": # however large it is
        with open(os.path.join(work, name), "r+b") as f:
            f.truncate(1 << 32)
        refused("a GGUF of 4 GB", os.path.join(work, name), *says)
    refused("config.json that is " + name, os.path.dirname(file(name + ".d/config.json", data)),
            "a GGUF file (llama.cpp), not JSON" if name == "model.gguf" else says[0])

weights = os.path.join(model, "model.safetensors")
refused("weights beside their model", weights, "this is a safetensors file", "name its directory: " + model)
with open(weights, "rb") as f:
    refused("weights alone", file("alone/model.safetensors", f.read()), "this is a safetensors file", "config.json", "--weights=")

file("gguf/a-Q4_K.gguf", b"GGUF")
refused("a directory with a GGUF alone", os.path.join(work, "gguf"), "neither config.json nor model.json in this directory; it holds a-Q4_K.gguf",
        "name the GGUF file itself")
refused("a directory with weights alone", os.path.join(work, "alone"), "it holds model.safetensors", "put the config.json")
os.makedirs(os.path.join(work, "empty"))
refused("an empty directory", os.path.join(work, "empty"), "neither config.json nor model.json", "name the directory of a model")
with open(os.path.join(model, "config.json"), "rb") as f:
    file("half/config.json", f.read())
file("half/model.gguf", b"GGUF")
done = subprocess.run([heddle, "compile", os.path.join(work, "half"), "-o", os.path.join(work, "x")], capture_output=True, text=True)
check(done.returncode == 1 and "it holds model.gguf" in done.stderr and "made from" in done.stderr, "config.json and a GGUF: " + done.stderr)
sys.exit(finish())
