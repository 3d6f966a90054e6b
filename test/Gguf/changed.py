#!/usr/bin/python3
"""Files of ../shared/gguf-cases/models, changed: `changed.py --heddle BIN [SHARED]`.

`pooling_type` makes a model of vectors, or a reranker: vectors and scores are held against numpy over hidden states. Divisors of frequencies that
are not Llama 3's, and vectors in blocks, are held against files that say the same in another way. Without SHARED it says so and ends well. Ends
in `N passed, N failed`."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

ROOT = os.path.abspath(__file__).rpartition("/test/")[0]
sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
import tensors
from checks import check, finish

TEXT = "the cat sat on the mat"


def run(*command, stdin=None):
    p = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=120)
    return p.returncode, p.stdout, p.stderr


class Files:
    """Writes changed copies of a file."""

    def __init__(self, container, models, work):
        self.container, self.models, self.work = container, models, work

    def changed(self, name, values={}, stored={}):
        """The path of a copy of `name` with other values and tensors; None takes one out."""
        old = self.container.Joined(os.path.join(self.models, name + ".gguf"))
        every = {n: (t.kind, t.shape, old.bytes(n)) for n, t in old.tensors.items()}
        pairs = [{k: v for k, v in {**was, **new}.items() if v is not None} for was, new in ((old.values, values), (every, stored))]
        path = os.path.join(self.work, "%s-%d.gguf" % (name, len(os.listdir(self.work))))
        self.container.write(path, *pairs, kinds={k: v for k, v in old.kinds.items() if k not in values})
        return path

    def array(self, name, tensor):
        return self.container.Joined(os.path.join(self.models, name + ".gguf")).array(tensor).astype(np.float32)


def f32(array):
    array = np.ascontiguousarray(array, np.float32)
    return "F32", array.shape, array.tobytes()


def q8(array):
    """A vector in blocks, and the numbers that it means."""
    scale = (np.abs(array.reshape(-1, 32)).max(1) / 127).astype(np.float16)
    codes = np.rint(array.reshape(-1, 32) / scale.astype(np.float32)[:, None]).clip(-127, 127).astype(np.int8)
    return ("Q8_0", array.shape, b"".join(s.tobytes() + c.tobytes() for s, c in zip(scale, codes))), (codes * scale.astype(np.float32)[:, None]).astype(np.float32).reshape(array.shape)


def pooling(heddle, files, work):
    states = ids = None
    for kind in (0, 1, 2, 3):
        file, binary = files.changed("bert-q8_0", {"bert.pooling_type": kind}), os.path.join(work, "bert")
        status, out, err = run(heddle, "compile", file, "-o", binary, "--math=wide", *cached.flags(heddle))
        check(status == 0, "pooling_type %d: %s" % (kind, err))
        facts = json.loads(run(binary, "info", "--json")[1])
        if states is None:
            ids = json.loads(run(heddle, "tokenize", "--json", file, stdin=json.dumps({"text": TEXT}) + "\n")[1].splitlines()[0])["ids"]
            given, made = os.path.join(work, "in.npz"), os.path.join(work, "out.npz")
            np.savez(given, input_ids=np.array([ids], np.int64))
            run(binary, "run", "--input", given, "--output", made)
            states = np.load(made)["last_hidden_state"][0].astype(np.float64)
        want = {0: None, 1: states.mean(0), 2: states[0], 3: states[-1]}[kind]
        check(facts.get("pooling") == {0: None, 1: "mean", 2: "cls", 3: "lasttoken"}[kind], "pooling_type %d: info says %s" % (kind, facts.get("pooling")))
        if kind:
            got = np.array(json.loads(run(binary, "--json", TEXT)[1])["embedding"])
            check(np.abs(got - want / np.linalg.norm(want)).max() < 1e-6, "pooling_type %d: the vector of %d tokens" % (kind, len(ids)))
    status, out, err = run(heddle, "check", files.changed("bert-q8_0", {"bert.pooling_type": 7}))
    check(status == 1 and "bert.pooling_type" in err, "pooling_type 7: %d, %s" % (status, err))
    status, out, err = run(heddle, "check", files.changed("modern-bert-q8_0", {"modern-bert.pooling_type": 4}))
    check(status == 3 and "modern-bert.pooling_type" in err and "reranker" in err, "a reranker that is not read: %d, %s" % (status, err))
    status, out, err = run(heddle, "compile", files.changed("qwen3-q3_k_m", {"qwen3.pooling_type": 3}), "--emit=model")
    check(status == 0 and 'pooling = ["lasttoken"]' in out and "model.generate" not in out, "a decoder of vectors: %s" % (err or out[:400]))
    return states


def reranker(heddle, files, work, states):
    r = np.random.default_rng(3)
    width = states.shape[1]
    dense, bias, score, last = (r.standard_normal(s).astype(np.float32) / np.sqrt(width) for s in ((width, width), (width,), (1, width), (1,)))
    file = files.changed("bert-q8_0", {"bert.pooling_type": 4}, {"cls.weight": f32(dense), "cls.bias": f32(bias), "cls.output.weight": f32(score), "cls.output.bias": f32(last)})
    binary = os.path.join(work, "rank")
    status, out, err = run(heddle, "compile", file, "-o", binary, "--math=wide", *cached.quick(heddle))
    check(status == 0, "a reranker: " + err)
    want = float((score.astype(np.float64) @ np.tanh(dense.astype(np.float64) @ states[0] + bias) + last)[0])
    for words, score in (((), 1 / (1 + np.exp(-want))), (("--activation", "none"), want)):
        status, out, err = run(binary, TEXT, "--json", *words)
        got = json.loads(out)["labels"][0]["score"] if status == 0 else None
        check(got is not None and abs(got - score) < 1e-5, "the score with %s: %s, wanted %.6f %s" % (words, got, score, err))


def every(heddle, file, inputs, work, *flags):
    """All outputs of the interpreter, by name."""
    given, made = os.path.join(work, "in.safetensors"), os.path.join(work, "out.safetensors")
    tensors.write(given, inputs)
    status, out, err = run(heddle, "interpret", file, "--math=wide", "-i", given, "-o", made, *flags)
    check(status == 0, "%s: %s" % (file, err))
    return tensors.read(made) if status == 0 else {}


def outputs(heddle, file, inputs, work):
    return every(heddle, file, inputs, work).get("logits")


def divisors(heddle, files, work):
    """Divisors by which the frequencies of one base become those of another."""
    name = "llama-freqs-q8_0"
    ids = {"input_ids": np.arange(5, 29, dtype=np.int64)[None]}
    count = files.array(name, "rope_freqs.weight").size
    by = (500000.0 / 10000.0) ** (np.arange(count) / count)
    wanted = outputs(heddle, files.changed(name, {"llama.rope.freq_base": 500000.0}, {"rope_freqs.weight": None}), ids, work)
    for what, stored in (("numbers", f32(by)), ("halves", ("F16", by.shape, by.astype(np.float16).tobytes()))):
        got = outputs(heddle, files.changed(name, {"llama.rope.freq_base": 10000.0}, {"rope_freqs.weight": stored}), ids, work)
        near = np.abs(got - wanted).max() / np.abs(wanted).max()
        check(near < (1e-5 if what == "numbers" else 1e-2), "divisors as %s: off by %.2g" % (what, near))
    other = outputs(heddle, files.changed(name, {"llama.rope.freq_base": 10000.0}, {"rope_freqs.weight": None}), ids, work)
    check(np.abs(other - wanted).max() / np.abs(wanted).max() > 1e-2, "the divisors change something")
    status, out, err = run(heddle, "check", files.changed(name, {}, {"rope_freqs.weight": f32(np.where(np.arange(count) == 2, 0, by))}))
    check(status == 1 and "rope_freqs.weight" in err and "number 2" in err, "a divisor of 0: %s" % err)
    status, out, err = run(heddle, "check", files.changed(name, {}, {"rope_freqs.weight": f32(by[:-1])}))
    check(status == 1 and "rope_freqs.weight" in err and "%d divisors" % (count - 1) in err, "too few divisors: %s" % err)


def vectors(heddle, files, work):
    """Norms and biases in blocks: the bits of the numbers that they mean."""
    for name, of in (("qwen2-q8_0", ("attn_norm.weight", "attn_q.bias", "attn_k.bias")), ("llama-q4_k_m", ("attn_norm.weight", "ffn_norm.weight"))):
        pairs = {"blk.0." + t: q8(files.array(name, "blk.0." + t)) for t in of}
        ids = {"input_ids": np.arange(3, 12, dtype=np.int64)[None]}
        coded, plain = (outputs(heddle, files.changed(name, {}, stored), ids, work) for stored in ({n: p[0] for n, p in pairs.items()}, {n: f32(p[1]) for n, p in pairs.items()}))
        check(coded is not None and np.array_equal(coded, plain), "%s: vectors in blocks" % name)


def collected(heddle, files, work):
    """Layers of several types are loops one after the other; what they collect is joined: all hidden states, bit for bit."""
    name, ids = "llama-q4_k_m", {"input_ids": np.arange(3, 12, dtype=np.int64)[None]}
    plain = {n: f32(files.array(name, n)) for n, t in files.container.Joined(os.path.join(files.models, name + ".gguf")).tensors.items() if len(t.shape) == 2}
    stage = run(heddle, "compile", os.path.join(files.models, name + ".gguf"), "--emit=model", "--outputs=all", "--no-locations")[1]
    check(stage.count("model.repeat") > 1 and "model.concat" in stage, "%s has loops one after the other: %d" % (name, stage.count("model.repeat")))
    mixed, one = (every(heddle, file, ids, work, "--outputs=all") for file in (os.path.join(files.models, name + ".gguf"), files.changed(name, {}, plain)))
    check(len(mixed) > 2 and mixed.keys() == one.keys() and all(np.array_equal(x, one[n]) for n, x in mixed.items()), "%s: what loops collect: %s" % (name, sorted(mixed)))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--heddle", required=True)
    p.add_argument("shared", nargs="?", default=os.path.join(ROOT, os.pardir, "shared"))
    a = p.parse_args()
    models = os.path.join(a.shared, "gguf-cases", "models")
    if not os.path.isdir(models):
        print("%s is not there: skipped\n1 passed, 0 failed" % models)
        return 0
    sys.path.insert(0, os.path.join(a.shared, "reference", "gguf"))
    sys.dont_write_bytecode = True
    import container
    heddle = os.path.abspath(a.heddle)
    with tempfile.TemporaryDirectory() as work:
        files = Files(container, models, work)
        reranker(heddle, files, work, pooling(heddle, files, work))
        divisors(heddle, files, work)
        vectors(heddle, files, work)
        collected(heddle, files, work)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
