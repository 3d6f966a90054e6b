"""pipes.py HEDDLE WORK: what is no regular file, wherever a file is read: a FIFO that nobody writes to, a device without an end, a
directory, a link that leads nowhere. Nothing waits, nothing is left out in silence, nothing is read without end. One line a failure,
then `N passed, N failed`."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
from checks import check, finish

heddle, work = sys.argv[1:]
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "examples")
KINDS = {
    "fifo": (os.mkfifo, "found a pipe|got a device or a pipe"),
    "zero": (lambda path: os.symlink("/dev/zero", path), "found a device|got a device or a pipe"),
    "folder": (os.mkdir, "found a directory|got a directory|is a directory"),
    "dangling": (lambda path: os.symlink("nowhere", path), "No such file"),
}


def run(*words, **how):
    try:
        return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, **how)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, "it waits", b"", b"")


def refused(what, said, words, codes=(1, 5)):
    text = said.stderr.decode("utf-8", "replace")
    check(said.returncode in codes and any(word in text for word in words.split("|")), "%s: %s %s" % (what, said.returncode, text[:300]))


def copied(example):
    home = os.path.join(work, "model")
    shutil.rmtree(home, ignore_errors=True)
    os.makedirs(home)
    for name in os.listdir(os.path.join(EXAMPLES, example)):
        os.symlink(os.path.abspath(os.path.join(EXAMPLES, example, name)), os.path.join(home, name))
    return home


def replaced(home, name, make):
    path = os.path.join(home, name)
    if os.path.lexists(path):
        os.unlink(path)
    make(path)


shutil.rmtree(work, ignore_errors=True)
os.makedirs(work)
out = os.path.join(work, "out")
for kind, (make, words) in KINDS.items():
    # Every file of a model, one at a time. (A tokenizer of old files is complete without tokenizer.json.)
    for example, names in {"sentiment": ["config.json", "model.safetensors", "tokenizer.json", "generation_config.json", "preprocessor_config.json"],
                           "dates": ["model.json", "model.safetensors"]}.items():
        for name in names:
            home = copied(example)
            replaced(home, name, make)
            # The tokenizer is read last; its own command is quicker.
            quick = name == "tokenizer.json" and kind != "fifo"
            said = run(heddle, "tokenize", home, input=b"") if quick else run(heddle, "compile", home, "-o", out)
            refused("compile with %s as %s" % (name, kind), said, words + ("|holds neither" if kind == "folder" else ""))
            check(os.path.basename(name).encode() in said.stderr, "%s as %s is not named: %s" % (name, kind, said.stderr))
            check(not os.path.exists(out), "%s as %s: there is an output" % (name, kind))
    home = copied("sentiment")
    os.unlink(os.path.join(home, "tokenizer.json"))
    for name in ["vocab.txt", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"]:
        folder = os.path.join(work, "old")
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        with open(os.path.join(folder, "vocab.txt"), "w") as f:
            f.write("[UNK]\n[CLS]\n[SEP]\n[PAD]\n[MASK]\na\nb\n")
        replaced(folder, name, make)
        refused("tokenize with %s as %s" % (name, kind), run(heddle, "tokenize", folder, input=b""), words)
    odd = os.path.join(work, kind)
    make(odd)
    if kind != "folder":
        refused("tokenize %s" % kind, run(heddle, "tokenize", odd, input=b""), words)
        for command in ["compile", "check", "mask", "interpret"]:
            more = ["-o", out] if command == "compile" else ["-i", os.path.join(EXAMPLES, "seed000_encoder", "input.safetensors"), "-o", out] if command == "interpret" else []
            refused("%s %s" % (command, kind), run(heddle, command, odd, *more), words)
        make(odd + ".mlir")
        refused("an .mlir that is %s" % kind, run(heddle, "compile", odd + ".mlir", "-o", out), words)
    seed = os.path.join(EXAMPLES, "seed000_encoder", "model.json")
    refused("compile --weights %s" % kind, run(heddle, "compile", seed, "--weights", odd, "-o", out),
            words + "|neither model.safetensors", codes=(1, 5))
    refused("schema %s" % kind, run(heddle, "schema", odd), words)
    refused("mask --input %s" % kind, run(heddle, "mask", seed, "--input", odd), words)
    families = os.path.join(work, "families-" + kind)
    os.makedirs(families)
    make(os.path.join(families, "own.json"))
    refused("--families with %s" % kind, run(heddle, "check", copied("sentiment"), "--families", families), words)

# What a binary reads.
for example, what in {"shapes": "a picture", "sentiment": "tensors"}.items():
    binary = os.path.join(work, example)
    made = run(heddle, "compile", os.path.join(EXAMPLES, example), "--no-embed", "-o", binary, *cached.quick(heddle))
    check(made.returncode == 0, "compile %s: %s" % (example, made.stderr))
    for kind, (make, words) in KINDS.items():
        odd = os.path.join(work, kind)
        refused("%s from %s" % (what, kind), run(binary, odd) if example == "shapes" else run(binary, "run", "--input", odd, "--output", out), words)
    if example == "shapes":
        picture = os.path.join(EXAMPLES, example, "circle_32x32.png")
        with open(picture, "rb") as f:
            piped = run(binary, "/dev/stdin", input=f.read())
        check(piped.returncode == 0 and piped.stdout == run(binary, picture).stdout, "a picture through a pipe: %s" % piped.stderr)
    weights = binary + ".weights"
    os.rename(weights, weights + ".kept")
    for kind, (make, words) in KINDS.items():
        make(weights)
        refused("a side file that is %s" % kind, run(binary, os.path.join(EXAMPLES, "shapes", "circle_32x32.png")), words)
        (os.rmdir if kind == "folder" else os.unlink)(weights)
sys.exit(finish())
