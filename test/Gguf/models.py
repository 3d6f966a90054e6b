#!/usr/bin/python3
"""GGUF files alone against the directories that say the same.

    models.py --heddle BIN [--all] [SHARED]          (default: ../shared beside the tree)

Each model of ../shared/gguf-cases/models is imported as a file and as the directory that ../shared/reference/gguf/to_hf.py makes of it: the text of the
stage `model` must be the same but for names of files. Some are compiled and run (../shared/gguf-cases/check.py), and damaged files are refused; with --all
all of them, and each under --math=wide must give the bytes of its directory. Also checks what the commands do with a file: the list for make, the
name of the output, parts of a split file. Without SHARED it says so and ends well. Ends in `N passed, N failed`."""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "test", "support"))
import checks

# One of each kind of change: turned rows, experts, norms, joined and transposed matrices, positions.
SAMPLE = ["llama-yarn", "mixtral", "gemma2", "gpt2"]


def check(good, what, more=""):
    checks.check(good, what if good else "%s: %s" % (what, more))


def run(*command, cwd=None):
    p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd, timeout=900)
    return p.returncode, p.stdout.decode("utf-8", "replace"), p.stderr.decode("utf-8", "replace")


def module(heddle, subject):
    """The text of the stage `model` without names of files, and of what only a directory or only a file has."""
    status, out, err = run(heddle, "compile", subject, "--emit=model")
    for key in ("weights", "tokenizer"):
        out = re.sub(r'model\.%s = (\[[^]]*\]|"[^"]*")(, )?' % key, "", out)
    return status, out, err


def cases(shared, name):
    return os.path.join(shared, "gguf-cases", name)


def modules(heddle, shared, work):
    for name in sorted(n for n in os.listdir(cases(shared, "models")) if n.endswith(".gguf")):
        file, folder = os.path.join(cases(shared, "models"), name), os.path.join(work, "hf")
        shutil.rmtree(folder, ignore_errors=True)
        status, out, err = run(sys.executable, "-B", os.path.join(shared, "reference", "gguf", "to_hf.py"), file, folder)
        check(status == 0, "to_hf.py reads " + name, out + err)
        want, got = module(heddle, folder), module(heddle, file)
        check(want[0] == 0 and got[0] == 0 and want[1] == got[1], "the module of %s is that of its directory" % name, got[2] or "other texts")


def commands(heddle, shared, work):
    file = os.path.join(work, "tale.gguf")
    shutil.copy(os.path.join(cases(shared, "models"), "stories260k-q8_0.gguf"), file)
    status, out, err = run(heddle, "compile", "tale.gguf", "--depfile=list", "-o", "x", cwd=work)
    check(status == 0, "a file alone becomes a program", err)
    with open(os.path.join(work, "list")) as f:
        listed = [os.path.basename(w) for w in f.read().replace("\\\n", " ").split()[1:]]
    check(listed == ["tale.gguf"], "the file is all that the program is made of", listed)
    status, out, err = run(heddle, "compile", "tale.gguf", cwd=work)
    check(status == 0 and os.path.exists(os.path.join(work, "tale")), "the program gets the name of the file", err)
    status, out, err = run(heddle, "check", "tale.gguf", cwd=work)
    check(status == 0 and "tale.gguf: accepted" in out, "check accepts it", out + err)
    status, out, err = run(heddle, "compile", "tale.gguf", "--emit=fused", "-o", "stage.mlir", cwd=work)
    status, out, err = run(heddle, "compile", "stage.mlir", "-o", "later", cwd=work)
    check(status == 0, "a later stage finds weights and tokenizer in the file", err)
    run(os.path.join(work, "x"), "Once upon a time", "-n", "5", "--greedy")
    texts = [run(os.path.join(work, b), "Once upon a time", "-n", "8", "--greedy")[1] for b in ("x", "later")]
    check(texts[0] and texts[0] == texts[1], "both tell the same", texts)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--heddle", required=True)
    p.add_argument("--all", action="store_true")
    p.add_argument("shared", nargs="?", default=os.path.join(ROOT, os.pardir, "shared"))
    a = p.parse_args()
    if not os.path.isdir(cases(a.shared, "models")):
        print("%s is not there: skipped\n1 passed, 0 failed" % cases(a.shared, "models"))
        return 0
    heddle = os.path.abspath(a.heddle)
    with tempfile.TemporaryDirectory() as work:
        modules(heddle, a.shared, work)
        commands(heddle, a.shared, work)
    some = [] if a.all else ["--only", *SAMPLE]
    for part, words in (("models", ["--same"] if a.all else []), ("hostile", [])):
        status, out, err = run(sys.executable, "-B", cases(a.shared, "check.py"), heddle, "--parts", part, *words, *(some if part == "models" else []))
        check(status == 0, "the cases of " + part, out + err)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
