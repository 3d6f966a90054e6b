#!/usr/bin/python3
"""Vectors of texts: directories of sentence-transformers against numpy.

    vectors.py --heddle BIN [--long]

Small models with random weights. The hidden states are those of `run`, one text at a time; what follows them is written down here, in
f64. Every kind of pooling and pairs of them, modules, prompts, dimensions, a decoder, similarities, lines that fail, and the server,
whose vectors have the same bits. --long: also every similarity, other families, and 2,000 texts of 1 to 512 tokens, whose bits and
speed are compared with one text at a time. One line a failure, then `N passed, N failed`."""
import argparse
import base64
import itertools
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
import tensors
from checks import check, finish
from random_weights import Weights
from serving import Server
from texts import VOCABULARY, WIDTH, bert

KINDS = ("cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")
TYPES = "sentence_transformers.models."
# The model has no number for the position after 47 tokens.
TEXTS = ["cat", "a cat sat", "", "the cat sat on the mat ? where in the house is a cat", "all day long a cat saw it and the tree in the house . who", "a tree", "who is in the house"]
TOO_FAR = "cat " * 46


def said(*command, stdin=None):
    return subprocess.run(command, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300, stdin=None if stdin is not None else subprocess.DEVNULL)


def write(home, name, value):
    path = os.path.join(home, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        json.dump(value, f)


def modules(home, pooling, *rest, **config):
    """modules.json and the folders after it: (kind, config, tensors)."""
    lines = [("", "Transformer"), ("1_Pooling", "Pooling")]
    write(home, "1_Pooling/config.json", pooling)
    for i, (kind, settings, named) in enumerate(rest, 2):
        lines.append(("%d_%s" % (i, kind), kind))
        if settings is not None:
            write(home, "%d_%s/config.json" % (i, kind), settings)
        if named:
            tensors.write(os.path.join(home, "%d_%s" % (i, kind), "model.safetensors"), named)
    write(home, "modules.json", [{"idx": i, "name": str(i), "path": path, "type": TYPES + kind} for i, (path, kind) in enumerate(lines)])
    write(home, "config_sentence_transformers.json", config)


def keys(*kinds):
    """1_Pooling/config.json as older versions write it"""
    names = dict(cls="cls_token", max="max_tokens", mean="mean_tokens", mean_sqrt_len_tokens="mean_sqrt_len_tokens", weightedmean="weightedmean_tokens", lasttoken="lasttoken")
    return {"word_embedding_dimension": WIDTH, **{"pooling_mode_" + names[k]: k in kinds for k in KINDS}}


def compiled(heddle, home):
    binary = home + ".program"
    r = said(heddle, "compile", home, "-o", binary, *cached.flags(heddle))
    check(r.returncode == 0, "%s: %s" % (home, r.stderr))
    return binary


def ids_of(text, longest=48):
    ids = [VOCABULARY.index(w) if w in VOCABULARY else 1 for w in text.split()]
    return [2] + ids[:longest - 2] + [3]


class States:
    """Hidden states of a program, by ids."""

    def __init__(self, binary, work):
        self.binary, self.work, self.known = binary, work, {}

    def __call__(self, ids):
        if tuple(ids) not in self.known:
            given, made = os.path.join(self.work, "in.safetensors"), os.path.join(self.work, "out.safetensors")
            tensors.write(given, {"input_ids": np.array([ids], np.int64)})
            r = said(self.binary, "run", "--input", given, "--output", made)
            check(r.returncode == 0, "run: " + r.stderr)
            self.known[tuple(ids)] = tensors.read(made)["last_hidden_state"][0].astype(np.float64)
        return self.known[tuple(ids)]


def pooled(kinds, x, skip=0):
    seen, out = x[skip:], []
    place = np.arange(skip + 1, len(x) + 1.0)
    for kind in kinds:
        out.append({"cls": lambda: x[0], "max": lambda: seen.max(0) if len(seen) else np.full(x.shape[1], -1e9), "mean": lambda: seen.sum(0) / max(len(seen), 1e-9),
                    "mean_sqrt_len_tokens": lambda: seen.sum(0) / np.sqrt(max(len(seen), 1e-9)), "weightedmean": lambda: (seen * place[:, None]).sum(0) / max(place.sum(), 1e-9),
                    "lasttoken": lambda: x[-1] if len(seen) else np.zeros(x.shape[1])}[kind]())
    return np.concatenate(out)


def unit(x):
    return x / max(np.linalg.norm(x), 1e-12)


def near(got, want, what, most=1e-6):
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    gap = np.abs(got - want).max() / max(np.abs(want).max(), 1e-30) if got.shape == want.shape else np.inf
    check(gap <= most, "%s: relative error %.1e, %r and %r" % (what, gap, got[..., :3], want[..., :3]))


def by_lines(binary, work, texts, *flags):
    """Vectors of texts, one a line of a file."""
    path = os.path.join(work, "lines.txt")
    with open(path, "w", encoding="utf-8") as f:
        f.write("".join(t + "\n" for t in texts))
    r = said(binary, "--lines", path, "--json", *flags)
    check(r.returncode == 0, "%r: %s" % (flags, r.stderr))
    return [json.loads(line) for line in r.stdout.splitlines()]


#===-- the short test ---------------------------------------------------------===#


def poolings(heddle, work):
    """Each kind and each pair by --pooling, then what else is chosen when a program runs."""
    home = os.path.join(work, "plain")
    bert(home, "BertModel")
    modules(home, keys("mean"), ("Normalize", None, None), prompts={"query": "who is ", "none": ""}, similarity_fn_name="dot")
    binary = compiled(heddle, home)
    states = States(binary, work)
    hidden = [states(ids_of(t)) for t in TEXTS]
    for kinds in [(k,) for k in KINDS] + list(itertools.combinations(KINDS, 2)):
        got = by_lines(binary, work, TEXTS, "--pooling", "+".join(kinds), "--no-normalize")
        for text, x, one in zip(TEXTS, hidden, got):
            near(one["embedding"], pooled(kinds, x), "%s of %r" % ("+".join(kinds), text))
            check(one["tokens"] == len(x), "tokens of %r: %r" % (text, one["tokens"]))
    means = [pooled(["mean"], x) for x in hidden]
    usual = by_lines(binary, work, TEXTS)
    for text, mean, one in zip(TEXTS, means, usual):
        near(one["embedding"], unit(mean), "of length 1: %r" % text)
        alone = said(binary, "--json", "--", text)
        check(json.loads(alone.stdout) == one, "alone and in a batch: %r" % text)
    for flags, want in ((("--dimensions", "5"), lambda m: unit(m)[:5]), (("--dimensions", "5", "--normalize"), lambda m: unit(m[:5])), (("--dimensions", str(WIDTH)), unit),
                        (("--dimensions=3", "--no-normalize"), lambda m: m[:3])):
        for mean, one in zip(means, by_lines(binary, work, TEXTS[:3], *flags)):
            near(one["embedding"], want(mean), " ".join(flags))
    near(by_lines(binary, work, ["a cat"], "--prompt-name", "query")[0]["embedding"], unit(pooled(["mean"], states(ids_of("who is a cat")))), "--prompt-name")
    near(by_lines(binary, work, ["  a cat \t"], "--prompt", " in the ")[0]["embedding"], unit(pooled(["mean"], states(ids_of("in the a cat")))), "--prompt, stripped")
    numbers = said(binary, "a cat", "a tree").stdout.splitlines()
    near([float(x) for x in numbers[1].split()], unit(means[5]), "two texts, as numbers")
    made = os.path.join(work, "all.safetensors")
    check(said(binary, *TEXTS[3:5], "--output", made).returncode == 0 and tensors.read(made)["vectors"].shape == (2, WIDTH), "--output")
    check(said(binary, *TEXTS[3:5], "--output", made[:-11] + "npy").returncode == 0 and (np.load(made[:-11] + "npy") == tensors.read(made)["vectors"]).all(), "--output of NumPy")
    check((tensors.read(made)["vectors"] == np.array([u["embedding"] for u in usual[3:5]], np.float32)).all(), "--output: the same bits")
    r = said(binary, "--similarity", "--json", TEXTS[0], *TEXTS[3:6])
    scores = json.loads(r.stdout)
    near(scores["scores"], [unit(means[0]) @ unit(means[i]) for i in (3, 4, 5)], "--similarity")
    check(scores["similarity"] == "dot", "the name of the similarity: %r" % scores)
    refused(binary, work)
    return home, binary, usual, states


def refused(binary, work):
    """A line that fails is one error object, and others are answered."""
    lines = "a cat\n" + TOO_FAR + "\na tree\n"
    r = said(binary, "--lines", "-", stdin=lines)
    got = r.stdout.splitlines()
    check(r.returncode == 1 and len(got) == 3 and "1 of 3 lines" in r.stderr and "line 2" in r.stderr, "a line with a NaN: %r" % r)
    error = json.loads(got[1])["error"] if len(got) == 3 else {}
    check(error.get("line") == 2 and "NaN" in error.get("message", "") and got[0] == said(binary, "a cat").stdout.strip(), "the error object: %r" % error)
    made = os.path.join(work, "none.safetensors")
    r = said(binary, "--lines", "-", "--output", made, stdin=lines)
    check(r.returncode == 1 and not os.path.exists(made) and json.loads(r.stdout)["error"]["line"] == 2, "--output is whole or not there: %r" % r)
    check(said(binary, TOO_FAR).returncode == 1 and said(binary, "--lines", "-", stdin="").stdout == "", "one text; no lines")
    r = said(binary, "cat " * 90, "--no-truncate")
    check(r.returncode == 1 and "92 tokens" in r.stderr, "--no-truncate: %r" % r)
    for flags, words in ((("--prompt-name", "qury"), "did you mean query"), (("--dimensions", str(WIDTH + 1)), "%d dimensions" % WIDTH), (("--pooling", "avg"), "avg"), (("--prompt", "a", "--prompt-name", "query"), "exclude"),
                         (("--normalize", "--no-normalize"), "exclude"), (("--similarity",), "two or more"), (("--lines", "x"), "--lines"), (("--output", os.path.join(work, "nowhere", "x")), "nowhere")):
        r = said(binary, "a cat", *flags)
        check(r.returncode in (2, 5) and words in r.stderr, "%r: %r" % (flags, r))
    check(said(binary, "--lines", os.path.join(work, "no-file")).returncode == 5, "a file that is not there")


def served(binary, usual):
    """The server gives the same bits."""
    with Server(binary) as server:
        post = lambda **body: server.post("/v1/embeddings", body)
        status, got = post(input=TEXTS)
        check([d["embedding"] for d in got["data"]] == [u["embedding"] for u in usual], "served: the same bits")
        line = lambda *flags: json.loads(said(binary, "--json", *flags).stdout)["embedding"]
        for fields, flags in (({"dimensions": 5}, ["--dimensions", "5"]), ({"prompt_name": "query"}, ["--prompt-name", "query"]), ({"normalize": False}, ["--no-normalize"]),
                              ({"dimensions": 5, "normalize": True}, ["--dimensions", "5", "--normalize"]), ({"pooling": "weightedmean"}, ["--pooling", "weightedmean"]), ({"prompt_name": ""}, [])):
            check(post(input="a cat", **fields)[1]["data"][0]["embedding"] == line("a cat", *flags), "served with %r" % fields)
        packed = base64.b64decode(post(input="a cat", encoding_format="base64", dimensions=4)[1]["data"][0]["embedding"])
        check(list(struct.unpack("<4f", packed)) == [float(np.float32(x)) for x in line("a cat", "--dimensions", "4")], "base64")
        for body, field in (({"dimensions": WIDTH + 1}, "dimensions"), ({"prompt_name": "qury"}, "prompt_name"), ({"pooling": "avg"}, "pooling")):
            status, got = post(input="a cat", **body)
            check(status == 400 and got["error"]["param"] == field, "%r: %r" % (body, got))


def heads(heddle, work):
    """Three poolings, modules after them, prompts that do not count, a cut at 16 tokens, lower case."""
    rng, home = np.random.default_rng(5), os.path.join(work, "head")
    bert(home, "BertForMaskedLM")  # the class without a head is taken
    write(home, "tokenizer_config.json", {"tokenizer_class": "BertTokenizer", "do_lower_case": False})
    write(home, "sentence_bert_config.json", {"max_seq_length": 16, "do_lower_case": True})
    real = lambda *shape: rng.standard_normal(shape).astype(np.float32)
    first, second, norm = real(24, 3 * WIDTH), real(7, 24), (real(24), real(24))
    bias = real(24)
    modules(home, {"pooling_mode": "cls+max+mean", "include_prompt": False, "embedding_dimension": WIDTH},
            ("Dense", {"in_features": 3 * WIDTH, "out_features": 24, "bias": True, "activation_function": "torch.nn.modules.activation.Tanh"}, {"linear.weight": first, "linear.bias": bias}),
            ("LayerNorm", {"dimension": 24}, {"norm.weight": norm[0], "norm.bias": norm[1]}), ("Normalize", None, None),
            ("Dense", {"in_features": 24, "out_features": 7, "bias": False, "activation_function": "torch.nn.modules.linear.Identity"}, {"linear.weight": second}), ("Dropout", {"dropout": 0.1}, None),
            prompts={"query": "who is in ", "long": "the cat sat on the mat"}, default_prompt_name="query")
    binary = compiled(heddle, home)
    states = States(binary, work)

    def want(text, prompt):
        x = states(ids_of((prompt + text).strip().lower(), 16))
        x = pooled(["cls", "max", "mean"], x, min(len(prompt.split()) + 1, len(x)) if prompt else 0)
        x = np.tanh(first.astype(np.float64) @ x + bias)
        x = (x - x.mean()) / np.sqrt(x.var() + 1e-5) * norm[0] + norm[1]
        return second.astype(np.float64) @ unit(x)

    texts = ["The CAT sat", "", "[SEP] a", " ".join(["cat"] * 11), " ".join(["cat"] * 12), " ".join(["tree cat"] * 20), "who"]
    for flags, prompt in (((), "who is in "), (("--prompt", ""), ""), (("--prompt-name", "long"), "the cat sat on the mat")):
        for text, one in zip(texts, by_lines(binary, work, texts, *flags)):
            if "[" not in text:
                near(one["embedding"], want(text, prompt), "head: %r after %r" % (text, prompt))
    # Lower case comes first, so that the text holds no special token.
    check(by_lines(binary, work, ["[SEP] a"])[0]["tokens"] == 9, "a special token in lower case: %r" % by_lines(binary, work, ["[SEP] a"])[0]["tokens"])
    for count in (12, 13, 14):  # with the template 14, 15, 16 or more tokens
        r = said(binary, "--prompt", "", " ".join(["cat"] * (count + 1)), "--json")
        check(json.loads(r.stdout)["tokens"] == min(count + 3, 16) and ("cut" in r.stderr) == (count + 3 > 16), "%d tokens: %r" % (count + 3, r))
    alone = [json.loads(said(binary, "--json", "--", t).stdout) for t in texts]
    check(alone == by_lines(binary, work, texts), "head: alone and in company")
    info = json.loads(said(binary, "info", "--json").stdout)
    check(info["pooling"] == "cls+max+mean" and info["vectors"]["default_prompt"] == "query" and info["vectors"]["length"] == 16 and not info["vectors"]["normalize"], "info: %r" % info.get("vectors"))
    r = said(binary, "a cat", "--pooling", "mean")
    check(r.returncode == 2 and "head" in r.stderr, "another width than the head takes: %r" % r)


def decoder(heddle, work, name="decoder", **config):
    """The class without a head of a model that would make texts; the last token."""
    home = os.path.join(work, name)
    os.makedirs(home)
    write(home, "config.json", {"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "vocab_size": len(VOCABULARY), "hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1,
                                "head_dim": 8, "intermediate_size": 24, "max_position_embeddings": 64, "tie_word_embeddings": False, "rms_norm_eps": 1e-6, **config})
    with open(os.path.join(home, "vocab.txt"), "w", encoding="utf-8") as f:
        f.write("\n".join(VOCABULARY) + "\n")
    write(home, "tokenizer_config.json", {"tokenizer_class": "BertTokenizer"})
    w = Weights(home, 9)
    w.table("embed_tokens.weight", len(VOCABULARY), WIDTH)
    w.table("lm_head.weight", len(VOCABULARY), WIDTH)  # the class without a head does not read it
    for i in range(2):
        at = "layers.%d." % i
        for part, rows, columns in (("self_attn.q_proj", 16, WIDTH), ("self_attn.k_proj", 8, WIDTH), ("self_attn.v_proj", 8, WIDTH), ("self_attn.o_proj", WIDTH, 16), ("mlp.gate_proj", 24, WIDTH), ("mlp.up_proj", 24, WIDTH), ("mlp.down_proj", WIDTH, 24)):
            w.table(at + part + ".weight", rows, columns)
        for part, size in (("input_layernorm", WIDTH), ("post_attention_layernorm", WIDTH), ("self_attn.q_norm", 8), ("self_attn.k_norm", 8)):
            w.table(at + part + ".weight", size)
    w.table("norm.weight", WIDTH)
    w.write({})
    prompt = "who is in the house ?\nthe cat : "
    modules(home, keys("lasttoken"), ("Normalize", None, None), prompts={"query": prompt, "document": ""})
    binary = compiled(heddle, home)
    states = States(binary, work)
    texts = TEXTS[:2] + TEXTS[3:]
    for flags, before in (((), ""), (("--prompt-name", "query"), prompt)):
        for text, one in zip(texts, by_lines(binary, work, texts, *flags)):
            near(one["embedding"], unit(states(ids_of(before + text, 1000))[-1]), "%s: %r after %r" % (name, text, before))
    check("generate" not in json.loads(said(binary, "info", "--json").stdout), "%s makes no texts" % name)
    return home


def by_flag(heddle, home):
    """--pool instead of modules.json; none: the model as it is."""
    for flag, words, absent in (("--pool=max+last", 'pooling = ["max", "lasttoken"]', "model.generate"), ("--pool=none", "model.generate", "model.vectors")):
        r = said(heddle, "compile", home, "--emit=model", flag)
        check(r.returncode == 0 and words in r.stdout and absent not in r.stdout, "%s: %s" % (flag, r.stderr or r.stdout[:600]))
    r = said(heddle, "check", home, "--pool=average")
    check(r.returncode == 2 and "average" in r.stderr, "an unknown --pool: %r" % r)


#===-- the long one -----------------------------------------------------------===#


def similarities(heddle, home, binary, work):
    """Every function of the library, on vectors that are not of length 1."""
    texts = ["a cat", "a tree", "who is in the house", "a cat sat"]
    vectors = [np.array(v["embedding"]) for v in by_lines(binary, work, texts)]
    for name, of in (("cosine", lambda a, b: unit(a) @ unit(b)), ("dot", lambda a, b: a @ b), ("euclidean", lambda a, b: -np.linalg.norm(a - b)), ("manhattan", lambda a, b: -np.abs(a - b).sum())):
        with open(os.path.join(home, "config_sentence_transformers.json"), encoding="utf-8") as f:
            config = json.load(f)
        write(home, "config_sentence_transformers.json", dict(config, similarity_fn_name=name))
        got = json.loads(said(compiled(heddle, home), "--similarity", "--json", *texts).stdout)
        near(got["scores"], [of(vectors[0], v) for v in vectors[1:]], "similarity " + name)


def activations(heddle, work, home):
    """Every activation of a Dense."""
    rng = np.random.default_rng(6)
    weight = rng.standard_normal((9, WIDTH)).astype(np.float32)
    erf = np.vectorize(__import__("math").erf)
    for name, of in (("linear.Identity", lambda x: x), ("activation.Tanh", np.tanh), ("activation.ReLU", lambda x: np.maximum(x, 0)), ("activation.Sigmoid", lambda x: 1 / (1 + np.exp(-x))),
                     ("activation.GELU", lambda x: x * .5 * (1 + erf(x / np.sqrt(2)))), ("activation.SiLU", lambda x: x / (1 + np.exp(-x)))):
        copy = os.path.join(work, name.rsplit(".", 1)[1])
        shutil.copytree(home, copy)
        modules(copy, keys("mean"), ("Dense", {"activation_function": "torch.nn.modules." + name}, {"linear.weight": weight}))
        binary = compiled(heddle, copy)
        states = States(binary, work)
        for text, one in zip(TEXTS, by_lines(binary, work, TEXTS)):
            near(one["embedding"], of(weight.astype(np.float64) @ pooled(["mean"], states(ids_of(text)))), "%s of %r" % (name, text))


def fast(heddle, work, count=2000, longest=512):
    """Texts of 1 to `longest` tokens: the same bits as alone, and how much sooner together."""
    home, words = os.path.join(work, "longer"), VOCABULARY[5:]
    bert(home, "BertModel")
    with open(os.path.join(home, "config.json"), encoding="utf-8") as f:
        config = json.load(f)
    named = tensors.read(os.path.join(home, "model.safetensors"))
    named["bert.embeddings.position_embeddings.weight"] = np.random.default_rng(3).standard_normal((longest, WIDTH)).astype(np.float32)
    tensors.write(os.path.join(home, "model.safetensors"), named)
    write(home, "config.json", dict(config, max_position_embeddings=longest))
    modules(home, keys("mean"), ("Normalize", None, None))
    binary = compiled(heddle, home)
    rng = random.Random(4)
    texts = [" ".join(rng.choices(words, k=rng.randint(1, longest - 2))) for _ in range(count)]
    began = time.monotonic()
    together = by_lines(binary, work, texts)
    lines = time.monotonic() - began
    began, same = time.monotonic(), 0
    for text, one in zip(texts, together):
        same += json.loads(said(binary, "--json", "--", text).stdout) == one
    alone = time.monotonic() - began
    check(same == count, "%d of %d texts have the same bits alone" % (same, count))
    print("%d texts: %.0f texts/s together, %.0f one at a time, %.1f times" % (count, count / lines, count / alone, alone / lines))
    check(alone >= 3 * lines, "%.1f times as many texts a second" % (alone / lines))


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True)
    p.add_argument("--long", action="store_true")
    o = p.parse_args()
    heddle = os.path.abspath(o.heddle)
    with tempfile.TemporaryDirectory(prefix="heddle-vectors-") as work:
        home, binary, usual, _ = poolings(heddle, work)
        served(binary, usual)
        heads(heddle, work)
        by_flag(heddle, decoder(heddle, work))
        if o.long:
            activations(heddle, work, home)
            head = os.path.join(work, "head")
            similarities(heddle, head, head + ".program", work)
            fast(heddle, work)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
