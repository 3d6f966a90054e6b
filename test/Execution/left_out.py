#!/usr/bin/python3
"""Inputs with a default that nobody gives: in a run, and in generations where `extend` continues them.

    left_out.py --heddle BIN

The prompt has the default, what follows has the number of `extend`: what a text becomes when the same values are given. Binary and
interpreter, with a cached step and without, in a batch with padding, by beams, in a conversation; then `verify`. A dim that only inputs have
that are left out is 0. Ends in `N passed, N failed`."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
from checks import check, finish
from random_weights import Weights, tensors

WORDS, WIDTH, PROMPT, NEW = 12, 8, 4, 5


def description(default, kind="i64", mask=False, extend="=3"):
    """A decoder that adds a row of `kind` to each word, or a number to all of its features."""
    inputs = {"ids": "i64[B,T]"}
    generate = {"tokens": "ids", "logits": "logits", "extend": {"kind": extend}}
    if mask:
        inputs["mask"] = {"type": "i64[B,T]", "default": "=1"}
        generate["mask"] = "mask"
    inputs["kind"] = {"type": kind + "[B,T]", "default": default}
    added = {"k": {"embedding": "kind", "rows": "=words", "width": "=width", "weights": "kinds"}} if kind == "i64" else {"k": "=kind[:, :, null]"}
    return {"heddle": 1, "name": "left_out", "config": {"words": WORDS, "width": WIDTH}, "inputs": inputs, "weights": "model.safetensors", "body": [
        {"x": {"embedding": "ids", "rows": "=words", "width": "=width", "weights": "words"}}, added, {"h": "=x + k"},
        {"q,k,v": {"linear": "h", "split": 3, "out": "=3 * width", "weights": "qkv"}},
        {"a": {"attention": ["q", "k", "v"], "heads": 1, "mask": "=causal and keys(mask)" if mask else "=causal"}},
        {"logits": {"linear": "a", "out": "=words", "weights": "out"}}], "outputs": ["logits"], "generate": generate}


class Case:
    def __init__(self, heddle, work, name, model):
        self.heddle, self.work, self.name = heddle, work, name
        w = Weights(work, 5)
        for table in ("words", "kinds"):
            w.table(table + ".weight", WORDS, WIDTH)
        w.linear("qkv", 3 * WIDTH, WIDTH)
        w.linear("out", WORDS, WIDTH)
        w.named = {n: t for n, t in w.named.items() if n != "kinds.weight" or "kinds" in json.dumps(model)}
        w.write({})
        self.model = os.path.join(work, "model.json")
        with open(self.model, "w") as f:
            json.dump(model, f)

    def path(self, name):
        return os.path.join(self.work, name + ".safetensors")

    def call(self, *words):
        p = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        check(p.returncode == 0, "%s: %s: status %d %r" % (self.name, " ".join(words[1:3]), p.returncode, p.stderr[-400:]))
        return p.returncode == 0

    def ids(self, given, *command):
        tensors.write(self.path("in"), given)
        good = self.call(*command[:-1], "-i" if command[1] == "interpret" else "--input", self.path("in"), "-o" if command[1] == "interpret" else "--output", self.path("out"), *command[-1])
        return tensors.read(self.path("out"))["ids"].tolist() if good else None

    def generation(self, given, default):
        """`given` without the input, and the same with `default` as its values: one text"""
        explicit = dict(given, kind=np.array(default))
        wanted = None
        for cache in ("auto", "none"):
            binary = os.path.join(self.work, "program")
            if not self.call(self.heddle, "compile", self.model, "-o", binary, "--cache=" + cache, *cached.quick(self.heddle)):
                return
            ways = {"program": (binary, "generate", ["-n", str(NEW)]), "interpreter": (self.heddle, "interpret", self.model, "--cache=" + cache, ["-n", str(NEW)])}
            for way, command in ways.items():
                for what, inputs in (("given", explicit), ("left out", given)):
                    got = self.ids(inputs, *command)
                    wanted = wanted or got
                    check(got == wanted, "%s, %s, --cache=%s, %s: %s, expected %s" % (self.name, way, cache, what, got, wanted))
            beams = [self.ids(inputs, binary, "generate", ["-n", str(NEW), "--num-beams", "3"]) for inputs in (explicit, given)]
            check(beams[0] == beams[1], "%s, beams, --cache=%s: %s" % (self.name, cache, beams))
        tensors.write(self.path("in"), given)
        self.call(self.heddle, "verify", self.model, "-i", self.path("in"), "-n", "3")

    def conversation(self):
        """A second question goes on as the whole conversation does."""
        letters = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None, "pre_tokenizer": None, "post_processor": None, "decoder": {"type": "Fuse"},
                   "model": {"type": "BPE", "dropout": None, "unk_token": None, "vocab": {chr(97 + i): i for i in range(WORDS)}, "merges": []}}
        for name, text in (("tokenizer.json", json.dumps(letters)), ("template", "{% for m in messages %}{{ m['content'] }}{% endfor %}")):
            with open(os.path.join(self.work, name), "w") as f:
                f.write(text)
        binary = os.path.join(self.work, "talk")
        if not self.call(self.heddle, "compile", self.model, "-o", binary, "--template", os.path.join(self.work, "template")):
            return
        said = subprocess.run([binary, "chat", "-n", "3", "--greedy"], input=b"abc\nde\n", stdout=subprocess.PIPE).stdout.decode().split()
        text = "abc"
        for answer, question in zip(said, ("", "de")):
            text += question
            alone = subprocess.run([binary, text, "--raw", "-n", "3", "--greedy"], stdout=subprocess.PIPE).stdout.decode().strip()
            check(alone == text + answer, "%s: a conversation says %r behind %r, alone %r" % (self.name, answer, text, alone))
            text += answer
        check(len(said) == 2, "%s: two answers: %s" % (self.name, said))


def nothing_there(heddle, work):
    """A dim that only a left-out input has is 0, in the binary and in the interpreter."""
    case = Case(heddle, work, "a dim of one input", {"heddle": 1, "name": "more", "inputs": {"x": "f32[B,T,4]", "more": {"type": "f32[B,K,4]", "default": "=0.5"}}, "body": [
        {"y": {"concat": ["x", "more"], "axis": 1}}, {"s": {"sum": "y", "axis": 1}}, {"a": {"attention": ["x", "y", "y"], "heads": 1}}], "outputs": ["y", "s", "a"]})
    x = np.random.default_rng(3).standard_normal((2, 3, 4)).astype(np.float32)
    binary = os.path.join(work, "more")
    if not case.call(heddle, "compile", case.model, "-o", binary, *cached.quick(heddle)):
        return
    weights = np.exp(x @ x.transpose(0, 2, 1) / 2)
    wanted = {"y": x, "s": x.sum(1), "a": weights / weights.sum(-1, keepdims=True) @ x}
    tensors.write(case.path("in"), {"x": x})
    for way in ([binary, "run", "--input", case.path("in"), "--output", case.path("out")], [heddle, "interpret", case.model, "-i", case.path("in"), "-o", case.path("out")]):
        if not case.call(*way):
            continue
        got = tensors.read(case.path("out"))
        for name, want in wanted.items():
            check(got[name].shape == want.shape and np.abs(got[name] - want).max() < 1e-5, "%s of %s" % (name, way[1]))
    case.call(heddle, "verify", case.model, "-i", case.path("in"))


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True)
    heddle = os.path.abspath(p.parse_args().heddle)
    ids = np.random.default_rng(2).integers(4, WORDS, (2, PROMPT))
    mask = np.array([[1] * PROMPT, [1] * (PROMPT - 2) + [0] * 2], np.int64)
    left = np.array([[1] * PROMPT, [0] * 2 + [1] * (PROMPT - 2)], np.int64)
    row = np.arange(PROMPT)
    cases = [("a range", description("=range(T)"), {"ids": ids}, np.array([row, row])),
             ("one number", description("=1"), {"ids": ids}, np.ones((2, PROMPT), np.int64)),
             ("the number of extend", description("=3"), {"ids": ids}, np.full((2, PROMPT), 3)),
             ("of the words", description("=ids - 4"), {"ids": ids}, ids - 4),
             ("a real number", description("=0.25", kind="f32", extend="=2"), {"ids": ids}, np.full((2, PROMPT), 0.25, np.float32)),
             ("of the mask, padded on the left", description("=mask + 5", mask=True), {"ids": ids, "mask": left}, left + 5),
             ("of the mask, padded on the right", description("=mask + 5", mask=True), {"ids": ids, "mask": mask}, mask + 5)]
    for name, model, given, default in cases:
        with tempfile.TemporaryDirectory() as work:
            case = Case(heddle, work, "a default that is " + name, model)
            case.generation(given, default)
            if name == "one number":
                case.conversation()
    with tempfile.TemporaryDirectory() as work:
        nothing_there(heddle, work)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
