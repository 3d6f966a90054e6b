"""What tests of families share: small models with random weights are interpreted, compiled and run, and compared with numpy."""
import argparse
import json
import os
import subprocess
import tempfile

import numpy as np

import cached
import sparse
from checks import check, finish
from random_weights import tensors
from reference import Reference

# What a config.json has of every model. A test that gives one of them as None has no such key in its file; None of any other
# is null there.
USUAL = {"vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "intermediate_size", "layer_norm_eps", "rms_norm_eps", "head_dim", "max_position_embeddings",
         "tie_word_embeddings", "attention_bias", "eos_token_id"}


def write(folder, named, **config):
    """A directory of config.json and model.safetensors."""
    os.makedirs(folder)
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as f:
        json.dump({k: v for k, v in config.items() if v is not None or k not in USUAL}, f)
    tensors.write(os.path.join(folder, "model.safetensors"), named)
    return folder


class Suite:
    """A test is a method test_NAME; `run` calls them."""
    most = None  # models of a type that are compiled, for all None; the others are interpreted only
    usual = {}   # keys of config.json that all models of these tests have

    def __init__(self, heddle, work, families=None, errors=False):
        """families: a folder of family files that heddle asks before its own; errors: the largest difference of each output is said"""
        self.heddle, self.work, self.errors, self.count, self.times = heddle, work, errors, 0, {}
        self.more = ["--families=" + os.path.abspath(families)] if families else []  # flags of interpret, compile and weights
        self.random = np.random.default_rng(3)

    #--- models ---

    def file(self):
        self.count += 1
        return os.path.join(self.work, "%d" % self.count)

    def write(self, what, named, **config):
        """The directory of a model called `what`."""
        return write(os.path.join(self.work, what.replace(" ", "-").replace("/", "-").replace(",", "")), named, **{**self.usual, **config})

    def drawn(self, what, **config):
        """Weights at random for the model of a config.json, as `heddle weights` lists them."""
        path = os.path.join(self.work, what.replace(" ", "-") + ".json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(config, f)
        return {w["name"]: (self.random.standard_normal(w["shape"]) * 0.3).astype(np.float32) for w in sparse.listed(self.heddle, path, *self.more)}

    #--- runs ---

    def call(self, what, command, given):
        """The tensors that a command gives for these; IN and OUT in it are their files."""
        source, result = self.file(), self.file()
        tensors.write(source, given)
        r = subprocess.run([source if c == "IN" else result if c == "OUT" else c for c in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        check(r.returncode == 0, "%s: exit status %d, %s" % (what, r.returncode, r.stderr[-300:]))
        return tensors.read(result) if r.returncode == 0 else {}

    def interpreted(self, what, folder, given, *more):
        return self.call(what, [self.heddle, "interpret", folder, "-i", "IN", "-o", "OUT", "--outputs=all", *self.more, *more], given)

    def compiled(self, what, folder, *more):
        """The binary; None where there is none, or the type's turn is over."""
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as f:
            kind = json.load(f)["model_type"]
        self.times[kind] = self.times.get(kind, 0) + 1
        if self.most is not None and self.times[kind] > self.most:
            return None
        binary = self.file()
        r = subprocess.run([self.heddle, "compile", folder, "-o", binary, *cached.quick(self.heddle), *self.more, *more], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        check(r.returncode == 0, "%s: compile: exit status %d, %s" % (what, r.returncode, r.stderr[-300:]))
        return binary if r.returncode == 0 else None

    def ran(self, what, binary, given):
        return self.call(what, [binary, "run", "--input", "IN", "--output", "OUT"], given)

    #--- comparisons ---

    def same(self, what, got, rows=None, **expected):
        """rows: [B, T], which of them are compared, of outputs that have such rows"""
        for name, e in expected.items():
            a = got.get(name)
            if a is not None and rows is not None and a.shape == e.shape and e.shape[:2] == rows.shape:
                e, a = e[rows], a[rows]
            wrong = "not there" if a is None else tensors.differs(e.astype(np.float32), a, 2e-4, 2e-4)
            check(not wrong, "%s, %s: %s" % (what, name, wrong))
            if self.errors and a is not None and a.shape == e.shape:
                print("%s, %s: largest difference %.1e of %.1f" % (what, name, np.abs(a - e).max(), np.abs(e).max()))

    def differs(self, what, a, b, name):
        check(name in a and name in b and np.abs(a[name] - b[name]).max() > 1e-3, "%s: %s does not change" % (what, name))

    def agrees(self, what, folder, given, expected, rows=None, cached=False, compile=True):
        """What `heddle interpret` gives of the model in a folder and, where it is compiled, its binary, which is returned."""
        binary = self.compiled(what, folder, *["--cache=require"] * cached) if compile else None
        self.same(what, self.interpreted(what, folder, given), rows=rows, **expected)
        if binary:
            self.same(what + ", compiled", self.ran(what, binary, given), rows=rows, **expected)
        return binary

    def model(self, what, named, given, expected, rows=None, cached=False, compile=True, **config):
        return self.agrees(what, self.write(what, named, **config), given, expected, rows, cached, compile)

    def over_body(self, what, classes, given, head, flat=lambda t: t, more=None, **config):
        """A class over a body that other tests hold: what `heddle interpret` gives for the class, and head(r, what it gives for the body), on the same weights.
        classes: the one and the other; flat: an input of the one to that of the other; more: inputs of the body alone"""
        named, body = (self.drawn("%s %d" % (what, i), architectures=[c], **config) for i, c in enumerate(classes))
        body = {n: named.get(n, t) for n, t in body.items()}
        folders = [self.write("%s-%d" % (what, i), t, **{**config, "architectures": [c]}) for i, (c, t) in enumerate(zip(classes, (named, body)))]
        states = self.interpreted(what + ", its body", folders[1], {**{n: flat(t) for n, t in given.items()}, **(more or {})})
        self.same(what, self.interpreted(what, folders[0], given), **head(Reference(named), states))

    def generates(self, what, binary, text, logits, steps=8, **given):
        """The tokens that follow a text by the cached step, and those that follow from `logits(text)` of the whole text, one after the other.
        Where there is no binary nothing is done."""
        if binary is None:
            return
        got = self.call(what, [binary, "generate", "--input", "IN", "--output", "OUT", "-n", str(steps), "--greedy", "--ignore-eos"], {"input_ids": text, **given})
        for _ in range(steps):
            text = np.concatenate([text, logits(text)[:, -1].argmax(-1)[:, None]], 1)
        check("ids" in got and (got["ids"] == text).all(), "%s, generated: %s, expected %s" % (what, got.get("ids"), text))


def run(suite_class, about, also=()):
    """The command line of a file of tests: those that its class has, and of those that it inherits the ones named in `also`."""
    names = [n[5:] for n in vars(suite_class) if n.startswith("test_")] + list(also)
    p = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--heddle", required=True)
    p.add_argument("--only", choices=names)
    p.add_argument("--families", help="a folder of family files that heddle asks before its own")
    p.add_argument("--errors", action="store_true", help="say the largest difference of each output")
    o = p.parse_args()
    with tempfile.TemporaryDirectory(prefix="heddle-families-") as work:
        suite = suite_class(os.path.abspath(o.heddle), work, o.families, o.errors)
        for name in names:
            if o.only in (None, name):
                getattr(suite, "test_" + name)()
    return finish()
