#!/usr/bin/python3
"""Options of published models that few checkpoints use, against numpy: small models with random weights.

    families.py --heddle BIN [--only NAME]

Pictures that are not square (vit, deit, vilt), masks by query and positions that are given (bert and its kin), global tokens that are
given (longformer), kinds of tokens that are given (big_bird), norms of single heads (stablelm), texts shorter than the distances
that a table has (deberta). All are interpreted; vit, stablelm and deberta are compiled too. One line a failure, then `N passed, N failed`."""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(os.path.dirname(HERE)), "examples"), os.path.join(HERE, os.pardir, "support")]
from checks import check, finish
import sparse
from random_weights import Weights, tensors

WIDTH, HEADS, INNER, VOCABULARY, EPS = 24, 4, 40, 30, 1e-5


#--- numpy -------------------------------------------------------------------


class Reference:
    """The weights by name, and what layers do with them."""

    def __init__(self, named):
        self.named = {k: v.astype(np.float64) for k, v in named.items()}

    def linear(self, name, x):
        y = x @ self.named[name + ".weight"].T
        return y + self.named[name + ".bias"] if name + ".bias" in self.named else y

    def norm(self, name, x):
        return normed(x) * self.named[name + ".weight"] + self.named[name + ".bias"]

    def attend(self, x, names, mask=None, bias=0.0):
        q, k, v = (self.linear(n, x) for n in names)
        return attention(q, k, v, mask, bias)


def normed(x):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + EPS)


def gelu(x):
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def silu(x):
    return x / (1 + np.exp(-x))


def by_heads(x, heads):
    return x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)


def attention(q, k, v, mask=None, bias=0.0, kv_heads=HEADS):
    q, k, v = by_heads(q, HEADS), by_heads(k, kv_heads), by_heads(v, kv_heads)
    k, v = (np.repeat(t, HEADS // kv_heads, axis=1) for t in (k, v))
    scores = q @ k.swapaxes(2, 3) / math.sqrt(q.shape[-1]) + bias
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    most = scores.max(-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isfinite(most), most, 0))
    weights = weights / np.maximum(weights.sum(-1, keepdims=True), 1e-300)
    return (weights @ v).transpose(0, 2, 1, 3).reshape(q.shape[0], q.shape[2], -1)


def cubic(new, old, scale):
    """[new, old]: row i reads old at (i + 1/2) / scale - 1/2, four taps, a = -3/4, the edge beyond the edge"""
    matrix = np.zeros((new, old))
    for i in range(new):
        at = (i + 0.5) / scale - 0.5
        for tap in range(math.floor(at) - 1, math.floor(at) + 3):
            d = abs(at - tap)
            w = 1.25 * d ** 3 - 2.25 * d ** 2 + 1 if d <= 1 else -0.75 * d ** 3 + 3.75 * d ** 2 - 6 * d + 3
            matrix[i, min(max(tap, 0), old - 1)] += w
    return matrix


def corners(new, old, longest):
    """[longest, old]: linear, corner on corner, nothing past the new ones"""
    matrix = np.zeros((longest, old))
    for i in range(new):
        at = i * (old - 1) / max(new - 1, 1)
        matrix[i] = np.maximum(0, 1 - np.abs(at - np.arange(old)))
    return matrix


#--- models ------------------------------------------------------------------


# What the tests of families write of every model. A test that gives one of them as None has no such key in its file; None of any other
# is null there.
USUAL = {"vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "intermediate_size", "layer_norm_eps", "rms_norm_eps", "head_dim", "max_position_embeddings",
         "tie_word_embeddings", "attention_bias", "eos_token_id"}


def stated(config):
    """the keys that a config.json has"""
    return {k: v for k, v in config.items() if v is not None or k not in USUAL}


def write(folder, named, **config):
    os.makedirs(folder)
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as f:
        whole = {"hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": HEADS, "intermediate_size": INNER, "layer_norm_eps": EPS, **config}
        json.dump(stated(whole), f)
    tensors.write(os.path.join(folder, "model.safetensors"), named)
    return folder


def layers(w, at, names, norms, up="intermediate.dense", down="output.dense"):
    for i in range(2):
        for n in names:
            w.linear("%s%d.%s" % (at, i, n), WIDTH, WIDTH)
        for n in norms:
            w.norm("%s%d.%s" % (at, i, n), WIDTH)
        w.linear("%s%d.%s" % (at, i, up), INNER, WIDTH)
        w.linear("%s%d.%s" % (at, i, down), WIDTH, INNER)


SEEING = ["attention.attention." + n for n in ("query", "key", "value")] + ["attention.output.dense"]


def seen(r, at, x, mask=None):
    """vit's layers: norms first"""
    for i in range(2):
        layer = "%s%d." % (at, i)
        a = r.attend(r.norm(layer + "layernorm_before", x), [layer + n for n in SEEING[:3]], mask)
        x = x + r.linear(layer + SEEING[3], a)
        h = gelu(r.linear(layer + "intermediate.dense", r.norm(layer + "layernorm_after", x)))
        x = x + r.linear(layer + "output.dense", h)
    return x


def patches(r, name, pixels, high, wide):
    b, c, height, width = pixels.shape
    cut = pixels[:, :, :height // high * high, :width // wide * wide].reshape(b, c, height // high, high, width // wide, wide)
    kernel = r.named[name + ".weight"]
    return np.einsum("bciyjx,mcyx->bijm", cut, kernel).reshape(b, -1, len(kernel)) + r.named[name + ".bias"]


READING = ["attention.self." + n for n in ("query", "key", "value")] + ["attention.output.dense"]
READING_NORMS = ["attention.output.LayerNorm", "output.LayerNorm"]


def embeddings(w, at, places, kinds=2):
    for name, rows in (("word", VOCABULARY), ("position", places), ("token_type", kinds)):
        if rows:
            w.table("%sembeddings.%s_embeddings.weight" % (at, name), rows, WIDTH)
    w.norm(at + "embeddings.LayerNorm", WIDTH)


def embedded(r, at, ids, places, kinds=None):
    e = at + "embeddings."
    x = r.named[e + "word_embeddings.weight"][ids] + r.named[e + "position_embeddings.weight"][places]
    if kinds is not None:
        x = x + r.named[e + "token_type_embeddings.weight"][kinds]
    return r.norm(e + "LayerNorm", x)


def read(r, at, x, a, names, norms):
    """what follows attention in bert's layers: norms last"""
    x = r.norm(at + norms[0], x + r.linear(at + names[3], a))
    return r.norm(at + norms[1], x + r.linear(at + "output.dense", gelu(r.linear(at + "intermediate.dense", x))))


#--- the tests ---------------------------------------------------------------


class Suite:
    more = ()  # flags of interpret, compile and weights
    most = None  # models of a type that are compiled, for all None; the others are interpreted only

    def __init__(self, heddle, work):
        self.heddle, self.work, self.count, self.times = heddle, work, 0, {}
        self.random = np.random.default_rng(3)

    def file(self):
        self.count += 1
        return os.path.join(self.work, "%d" % self.count)

    def call(self, what, command, given):
        source, result = self.file(), self.file()
        tensors.write(source, given)
        r = subprocess.run([source if c == "IN" else result if c == "OUT" else c for c in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        check(r.returncode == 0, "%s: exit status %d, %s" % (what, r.returncode, r.stderr[-300:]))
        return tensors.read(result) if r.returncode == 0 else {}

    def interpreted(self, what, folder, given, *more):
        return self.call(what, [self.heddle, "interpret", folder, "-i", "IN", "-o", "OUT", "--outputs=all", *more], given)

    def drawn(self, what, **config):
        """weights at random for the model of a config.json, as `heddle weights` lists them"""
        path = os.path.join(self.work, what.replace(" ", "-") + ".json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(config, f)
        return {w["name"]: (self.random.standard_normal(w["shape"]) * 0.3).astype(np.float32) for w in sparse.listed(self.heddle, path, *self.more)}

    def over_body(self, what, classes, given, head, flat=lambda t: t, more=None, **config):
        """A class over a body that other tests hold: what `heddle interpret` gives for the class, and head(r, what it gives for the body), on the same weights.
        classes: the one and the other; flat: an input of the one to that of the other; more: inputs of the body alone"""
        named, body = (self.drawn("%s %d" % (what, i), architectures=[c], **config) for i, c in enumerate(classes))
        body = {n: named.get(n, t) for n, t in body.items()}
        folders = [write(os.path.join(self.work, "%s-%d" % (what.replace(" ", "-"), i)), t, **{**config, "architectures": [c]}) for i, (c, t) in enumerate(zip(classes, (named, body)))]
        states = self.interpreted(what + ", its body", folders[1], {**{n: flat(t) for n, t in given.items()}, **(more or {})})
        self.same(what, self.interpreted(what, folders[0], given), **head(Reference(named), states))

    def compiled(self, what, folder, *more):
        """-> the binary; None where there is none, or the type's turn is over"""
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as f:
            kind = json.load(f)["model_type"]
        self.times[kind] = self.times.get(kind, 0) + 1
        if self.most is not None and self.times[kind] > self.most:
            return None
        binary = self.file()
        r = subprocess.run([self.heddle, "compile", folder, "-o", binary, *more], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        check(r.returncode == 0, "%s: compile: exit status %d, %s" % (what, r.returncode, r.stderr[-300:]))
        return binary if r.returncode == 0 else None

    def same(self, what, got, rows=None, **expected):
        for name, e in expected.items():
            a = got.get(name)
            if a is not None and rows is not None and a.shape == e.shape:
                e, a = e[rows], a[rows]
            wrong = "not there" if a is None else tensors.differs(e.astype(np.float32), a, 2e-4, 2e-4)
            check(not wrong, "%s, %s: %s" % (what, name, wrong))

    def differs(self, what, a, b, name):
        check(name in a and name in b and np.abs(a[name] - b[name]).max() > 1e-3, "%s: %s does not change" % (what, name))

    def test_vit(self):
        w, e = Weights(self.work, 1), "vit.embeddings."
        w.table(e + "cls_token", 1, 1, WIDTH)
        w.table(e + "position_embeddings", 1, 3 * 4 + 1, WIDTH)
        w.linear(e + "patch_embeddings.projection", WIDTH, 3, 4, 5)
        layers(w, "vit.encoder.layer.", SEEING, ["layernorm_before", "layernorm_after"])
        w.norm("vit.layernorm", WIDTH)
        w.linear("classifier", 3, WIDTH)
        folder = write(os.path.join(self.work, "vit"), w.named, model_type="vit", architectures=["ViTForImageClassification"], image_size=[12, 20], patch_size=[4, 5],
                       id2label={str(i): "c%d" % i for i in range(3)})
        r = Reference(w.named)

        def expected(pixels):
            rows, columns = pixels.shape[2] // 4, pixels.shape[3] // 5
            place = r.named[e + "position_embeddings"]
            if (rows, columns) != (3, 4):
                grid = place[0, 1:].reshape(3, 4, WIDTH)
                grid = np.einsum("ri,sj,ijc->rsc", cubic(rows, 3, (rows + 0.1) / 3), cubic(columns, 4, (columns + 0.1) / 4), grid)
                place = np.concatenate([place[:, :1], grid.reshape(1, -1, WIDTH)], 1)
            x = patches(r, e + "patch_embeddings.projection", pixels, 4, 5)
            x = np.concatenate([np.repeat(r.named[e + "cls_token"], len(x), 0), x], 1) + place
            x = r.norm("vit.layernorm", seen(r, "vit.encoder.layer.", x))
            return {"last_hidden_state": x, "logits": r.linear("classifier", x[:, 0])}

        pixels, other = self.random.standard_normal((2, 3, 12, 20)).astype(np.float32), self.random.standard_normal((2, 3, 17, 30)).astype(np.float32)
        self.same("vit, 12 by 20", self.interpreted("vit", folder, {"pixel_values": pixels}), **expected(pixels))
        for picture in (pixels, other):
            self.same("vit, resized", self.interpreted("vit, resized", folder, {"pixel_values": picture}, "--set", "resized=true"), **expected(picture))
        binary = self.compiled("vit", folder)
        if binary:
            self.same("vit, compiled", self.call("vit", [binary, "run", "--input", "IN", "--output", "OUT"], {"pixel_values": pixels}), logits=expected(pixels)["logits"])
        # What a user sees where the numbers do not fit.
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as f:
            config = json.load(f)
        for key, value, says in (("image_size", [12, 20, 3], ("list of 2", "[12, 20, 3]")), ("patch_size", [4, 4], ("position_embeddings", "16")), ("image_size", "big", ("big", "number"))):
            with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as f:
                json.dump({**config, key: value}, f)
            said = subprocess.run([self.heddle, "check", folder], capture_output=True, text=True)
            check(said.returncode in (1, 3) and all(s in said.stderr for s in says), "vit with %s %r: %s" % (key, value, said.stderr[:400]))

    def test_deit(self):
        w, e = Weights(self.work, 2), "deit.embeddings."
        for name in ("cls_token", "distillation_token"):
            w.table(e + name, 1, 1, WIDTH)
        w.table(e + "position_embeddings", 1, 2 * 3 + 2, WIDTH)
        w.linear(e + "patch_embeddings.projection", WIDTH, 3, 4, 4)
        layers(w, "deit.encoder.layer.", SEEING, ["layernorm_before", "layernorm_after"])
        w.norm("deit.layernorm", WIDTH)
        w.linear("cls_classifier", 3, WIDTH)
        w.linear("distillation_classifier", 3, WIDTH)
        folder = write(os.path.join(self.work, "deit"), w.named, model_type="deit", architectures=["DeiTForImageClassificationWithTeacher"], image_size=[8, 12], patch_size=4,
                       id2label={str(i): "c%d" % i for i in range(3)})
        r, pixels = Reference(w.named), self.random.standard_normal((2, 3, 8, 12)).astype(np.float32)
        x = patches(r, e + "patch_embeddings.projection", pixels, 4, 4)
        x = np.concatenate([np.repeat(r.named[e + n], 2, 0) for n in ("cls_token", "distillation_token")] + [x], 1) + r.named[e + "position_embeddings"]
        x = r.norm("deit.layernorm", seen(r, "deit.encoder.layer.", x))
        self.same("deit, 8 by 12", self.interpreted("deit", folder, {"pixel_values": pixels}), logits=(r.linear("cls_classifier", x[:, 0]) + r.linear("distillation_classifier", x[:, 1])) / 2)

    def test_vilt(self):
        w, e = Weights(self.work, 4), "vilt.embeddings."
        w.table(e + "cls_token", 1, 1, WIDTH)
        w.table(e + "position_embeddings", 1, 2 * 3 + 1, WIDTH)
        w.linear(e + "patch_embeddings.projection", WIDTH, 3, 4, 6)
        w.table(e + "token_type_embeddings.weight", 2, WIDTH)
        embeddings(w, e + "text_", 12)
        layers(w, "vilt.encoder.layer.", SEEING, ["layernorm_before", "layernorm_after"])
        w.norm("vilt.layernorm", WIDTH)
        w.linear("vilt.pooler.dense", WIDTH, WIDTH)
        folder = write(os.path.join(self.work, "vilt"), w.named, model_type="vilt", architectures=["ViltModel"], image_size=[8, 18], patch_size=[4, 6], vocab_size=VOCABULARY,
                       type_vocab_size=2, max_position_embeddings=12, modality_type_vocab_size=2, max_image_length=-1)
        r = Reference(w.named)
        pixels, ids = self.random.standard_normal((2, 3, 12, 24)).astype(np.float32), self.random.integers(0, VOCABULARY, (2, 5))
        real = np.zeros((2, 12, 24), np.int64)
        real[0], real[1, :8, :18] = 1, 1
        text = embedded(r, e + "text_", ids, np.arange(5), np.zeros_like(ids))
        grid, places = r.named[e + "position_embeddings"][0, 1:].reshape(2, 3, WIDTH), []
        for h, v in ((3, 4), (2, 3)):
            places.append(np.einsum("ri,sj,ijc->rsc", corners(h, 2, 3), corners(v, 3, 4), grid).reshape(-1, WIDTH))
        x = patches(r, e + "patch_embeddings.projection", pixels, 4, 6) + np.stack(places)
        first = np.repeat(r.named[e + "cls_token"] + r.named[e + "position_embeddings"][:, :1], 2, 0)
        kinds = r.named[e + "token_type_embeddings.weight"]
        x = np.concatenate([text + kinds[0], np.concatenate([first, x], 1) + kinds[1]], 1)
        mask = np.concatenate([np.ones((2, 6), bool), real[:, ::4, ::6].reshape(2, -1) > 0], 1)
        x = r.norm("vilt.layernorm", seen(r, "vilt.encoder.layer.", x, mask[:, None, None]))
        got = self.interpreted("vilt", folder, {"input_ids": ids, "pixel_values": pixels, "pixel_mask": real})
        self.same("vilt, 12 by 24 on a grid of 2 by 3", got, last_hidden_state=x, rows=mask)
        self.same("vilt, 12 by 24 on a grid of 2 by 3", got, pooler_output=np.tanh(r.linear("vilt.pooler.dense", x[:, 0])))

    def bert(self, kind, prefix, names, norms, places, more=lambda w: None, kinds=2, **config):
        w = Weights(self.work, 5)
        embeddings(w, prefix, places, kinds)
        layers(w, prefix + "encoder.layer.", names, norms)
        more(w)
        config = dict(model_type=kind, vocab_size=VOCABULARY, max_position_embeddings=places, pad_token_id=1, **({"type_vocab_size": kinds} if kinds else {}), **config)
        return write(os.path.join(self.work, kind), w.named, **config), Reference(w.named)

    def masks(self, ids):
        """by key, with padding on the right, and by query, every row another"""
        b, t = ids.shape
        keys = np.ones((b, t), np.int64)
        keys[1, t - 2:] = 0
        queries = (self.random.random((b, t, t)) < 0.6).astype(np.int64)
        queries[:, :, 0] = 1
        return keys, queries

    def by_query(self, what, folder, ids, keys):
        """rows that are all alike are the mask by key"""
        rows = np.repeat(keys[:, None], ids.shape[1], 1)
        a = self.interpreted(what, folder, {"input_ids": ids, "attention_mask": keys})
        b = self.interpreted(what, folder, {"input_ids": ids, "attention_mask": rows}, "--set", "mask_by_query=true")
        self.same(what + ", a mask of equal rows", b, rows=keys > 0, last_hidden_state=a.get("last_hidden_state", np.zeros(1)))

    def positions(self, what, folder, r, prefix, names, norms, ids, kinds, bias):
        """given ones, the counted ones where none are given, and a mask by query"""
        keys, queries = self.masks(ids)
        counted = np.cumsum(ids != 1, 1) * (ids != 1) + 1
        given = self.random.integers(0, 14, ids.shape)
        for name, places, mask, more in (("counted", counted, keys, ()), ("given", given, keys, ()), ("a mask by query", given, queries, ("--set", "mask_by_query=true"))):
            x = embedded(r, prefix, ids, places, kinds)
            for i in range(2):
                at = "%sencoder.layer.%d." % (prefix, i)
                a = r.attend(x, [at + n for n in names[:3]], mask[:, None] > 0 if mask.ndim == 3 else mask[:, None, None] > 0, bias)
                x = read(r, at, x, a, names, norms)
            inputs = {"input_ids": ids, "attention_mask": mask}
            if name != "counted":
                inputs["position_ids"] = places
            self.same("%s, positions %s" % (what, name), self.interpreted(what, folder, inputs, *more), rows=keys > 0, last_hidden_state=x)

    def ids(self, t=9):
        ids = self.random.integers(2, VOCABULARY, (2, t))
        ids[0, 3] = ids[1, t - 2:] = 1  # padding, one of it in the middle
        return ids

    def test_roberta(self):
        folder, r = self.bert("roberta", "roberta.", READING, READING_NORMS, 14, lambda w: w.linear("roberta.pooler.dense", WIDTH, WIDTH), architectures=["RobertaModel"])
        ids = self.ids()
        self.positions("roberta", folder, r, "roberta.", READING, READING_NORMS, ids, np.zeros_like(ids), 0.0)

    def test_mpnet(self):
        names, norms = ["attention.attn." + n for n in "qkvo"], ["attention.LayerNorm", "output.LayerNorm"]

        def more(w):
            w.table("mpnet.encoder.relative_attention_bias.weight", 8, HEADS)
            w.linear("mpnet.pooler.dense", WIDTH, WIDTH)

        folder, r = self.bert("mpnet", "mpnet.", names, norms, 14, more, kinds=0, architectures=["MPNetModel"], relative_attention_num_buckets=8)
        ids = self.ids()
        d = np.arange(9)[None] - np.arange(9)[:, None]  # j - i
        far = np.minimum(2 + np.floor(np.log(np.maximum(np.abs(d), 1) / 2) / math.log(128 / 2) * 2).astype(int), 3)
        bucket = np.where(np.abs(d) < 2, np.abs(d), far) + 4 * (d > 0)
        bias = r.named["mpnet.encoder.relative_attention_bias.weight"][bucket].transpose(2, 0, 1)[None]
        self.positions("mpnet", folder, r, "mpnet.", names, norms, ids, None, bias)

    def test_masks(self):
        def pooler(at):
            return lambda w: w.linear(at, WIDTH, WIDTH)

        ids = self.random.integers(2, VOCABULARY, (2, 9))
        keys, _ = self.masks(ids)
        self.by_query("bert", self.bert("bert", "bert.", READING, READING_NORMS, 14, pooler("bert.pooler.dense"), architectures=["BertModel"])[0], ids, keys)
        w = Weights(self.work, 6)
        embeddings(w, "roformer.", 0)
        layers(w, "roformer.encoder.layer.", READING, READING_NORMS)
        self.by_query("roformer", write(os.path.join(self.work, "roformer"), w.named, model_type="roformer", architectures=["RoFormerModel"], vocab_size=VOCABULARY, embedding_size=WIDTH,
                                        max_position_embeddings=14, type_vocab_size=2), ids, keys)
        w, group = Weights(self.work, 7), "albert.encoder.albert_layer_groups.0.albert_layers.0."
        embeddings(w, "albert.", 14)
        w.linear("albert.encoder.embedding_hidden_mapping_in", WIDTH, WIDTH)
        for n in ("attention.query", "attention.key", "attention.value", "attention.dense"):
            w.linear(group + n, WIDTH, WIDTH)
        w.linear(group + "ffn", INNER, WIDTH)
        w.linear(group + "ffn_output", WIDTH, INNER)
        w.norm(group + "attention.LayerNorm", WIDTH)
        w.norm(group + "full_layer_layer_norm", WIDTH)
        w.linear("albert.pooler", WIDTH, WIDTH)
        self.by_query("albert", write(os.path.join(self.work, "albert"), w.named, model_type="albert", architectures=["AlbertModel"], vocab_size=VOCABULARY, embedding_size=WIDTH,
                                      max_position_embeddings=14, type_vocab_size=2), ids, keys)

    def test_longformer(self):
        names = READING[:3] + [n + "_global" for n in READING[:3]] + READING[3:]

        def more(w):
            w.linear("qa_outputs", 2, WIDTH)

        w = Weights(self.work, 8)
        embeddings(w, "longformer.", 20)
        layers(w, "longformer.encoder.layer.", names, READING_NORMS)
        more(w)
        folder = write(os.path.join(self.work, "longformer"), w.named, model_type="longformer", architectures=["LongformerForQuestionAnswering"], vocab_size=VOCABULARY,
                       max_position_embeddings=20, type_vocab_size=2, pad_token_id=1, sep_token_id=2, attention_window=4)
        r, ids = Reference(w.named), self.random.integers(3, VOCABULARY, (2, 13))
        ids[0, [4, 5, 12]] = ids[1, [2, 3, 10]] = 2
        ids[1, 11:] = 1
        real = (ids != 1).astype(np.int64)
        asked = (np.cumsum(ids == 2, 1) == 0).astype(np.int64)
        given = (self.random.random(ids.shape) < 0.3).astype(np.int64)
        places = np.cumsum(ids != 1, 1) * (ids != 1) + 1
        for name, far, inputs in (("from the separators", asked, {}), ("given", given, {"global_attention_mask": given})):
            far = far * real > 0
            d = np.abs(np.arange(13)[None] - np.arange(13)[:, None])
            near = ((d <= 2)[None] | far[:, None, :]) & (real > 0)[:, None, :]
            x = embedded(r, "longformer.", ids, places, np.zeros_like(ids))
            for i in range(2):
                at = "longformer.encoder.layer.%d." % i
                a = r.attend(x, [at + n for n in names[:3]], near[:, None])
                g = r.attend(x, [at + n for n in names[3:6]], (real > 0)[:, None, None])
                x = read(r, at, x, np.where(far[:, :, None], g, a), READING, READING_NORMS)
            logits = r.linear("qa_outputs", x)
            got = self.interpreted("longformer", folder, {"input_ids": ids, "attention_mask": real, **inputs})
            self.same("longformer, global tokens " + name, got, rows=real > 0, start_logits=logits[..., 0], end_logits=logits[..., 1])

    def test_big_bird(self):
        w = Weights(self.work, 9)
        embeddings(w, "bert.", 20)
        layers(w, "bert.encoder.layer.", READING, READING_NORMS)
        q = "qa_classifier."
        w.linear(q + "intermediate.dense", INNER, WIDTH)
        w.linear(q + "output.dense", WIDTH, INNER)
        w.norm(q + "output.LayerNorm", WIDTH)
        w.linear(q + "qa_outputs", 2, WIDTH)
        kinds = "bert.embeddings.token_type_embeddings.weight"
        config = dict(model_type="big_bird", architectures=["BigBirdForQuestionAnswering"], vocab_size=VOCABULARY, max_position_embeddings=20, type_vocab_size=2, attention_type="original_full", sep_token_id=2)
        plain = write(os.path.join(self.work, "big_bird"), w.named, **config)
        swapped = write(os.path.join(self.work, "big_bird_swapped"), {**w.named, kinds: w.named[kinds][::-1].copy()}, **config)
        ids = self.random.integers(3, VOCABULARY, (2, 9))
        ids[0, 3] = ids[1, 5] = 2
        told = (np.arange(9) > np.array([[3], [5]])).astype(np.int64)
        absent = self.interpreted("big_bird", plain, {"input_ids": ids})
        self.same("big_bird, kinds given as they are told", self.interpreted("big_bird", plain, {"input_ids": ids, "token_type_ids": told}), **absent)
        self.same("big_bird, kinds given the other way round", self.interpreted("big_bird", swapped, {"input_ids": ids, "token_type_ids": 1 - told}), **absent)
        self.differs("big_bird, other kinds", absent, self.interpreted("big_bird", plain, {"input_ids": ids, "token_type_ids": 1 - told}), "start_logits")

    def test_stablelm(self):
        w, kv, head = Weights(self.work, 10), 2, 8
        width = HEADS * head
        w.table("model.embed_tokens.weight", VOCABULARY, width)
        for i in range(2):
            at = "model.layers.%d." % i
            for n, out in (("q", width), ("k", kv * head), ("v", kv * head), ("o", width)):
                w.linear("%sself_attn.%s_proj" % (at, n), out, width, bias=False)
            for n, heads in (("q", HEADS), ("k", kv)):
                for h in range(heads):
                    w.table("%sself_attn.%s_layernorm.norms.%d.weight" % (at, n, h), head, scale=0.5, mean=1.0)
            w.norm(at + "input_layernorm", width)
            for n, out, inner in (("gate", INNER, width), ("up", INNER, width), ("down", width, INNER)):
                w.linear("%smlp.%s_proj" % (at, n), out, inner, bias=False)
        w.norm("model.norm", width)
        w.linear("lm_head", VOCABULARY, width, bias=False)
        folder = write(os.path.join(self.work, "stablelm"), w.named, model_type="stablelm", architectures=["StableLmForCausalLM"], vocab_size=VOCABULARY, hidden_size=width,
                       num_key_value_heads=kv, qk_layernorm=True, use_parallel_residual=True, partial_rotary_factor=0.5, max_position_embeddings=64, tie_word_embeddings=False, eos_token_id=0)
        r = Reference(w.named)

        def turned(x, heads, at, name):
            x = normed(x.reshape(*x.shape[:2], heads, head)) * np.stack([r.named["%sself_attn.%s_layernorm.norms.%d.weight" % (at, name, h)] for h in range(heads)])
            angle = np.arange(x.shape[1])[:, None] * 10000.0 ** (-2 * np.arange(2) / 4)
            c, s = np.cos(angle)[None, :, None], np.sin(angle)[None, :, None]
            a, b, rest = x[..., :2], x[..., 2:4], x[..., 4:]
            return np.concatenate([a * c - b * s, b * c + a * s, rest], -1).reshape(*x.shape[:2], -1)

        def logits(ids):
            x, t = r.named["model.embed_tokens.weight"][ids], ids.shape[1]
            for i in range(2):
                at = "model.layers.%d." % i
                h = r.norm(at + "input_layernorm", x)
                q, k, v = (r.linear("%sself_attn.%s_proj" % (at, n), h) for n in "qkv")
                a = attention(turned(q, HEADS, at, "q"), turned(k, kv, at, "k"), v, np.tril(np.ones((t, t), bool)), kv_heads=kv)
                f = silu(r.linear(at + "mlp.gate_proj", h)) * r.linear(at + "mlp.up_proj", h)
                x = x + r.linear(at + "self_attn.o_proj", a) + r.linear(at + "mlp.down_proj", f)
            return r.linear("lm_head", r.norm("model.norm", x))

        ids = self.random.integers(1, VOCABULARY, (2, 7))
        self.same("stablelm", self.interpreted("stablelm", folder, {"input_ids": ids}), logits=logits(ids))
        binary = self.compiled("stablelm", folder, "--cache=require")
        if binary:
            got = self.call("stablelm", [binary, "generate", "--input", "IN", "--output", "OUT", "-n", "8", "--greedy", "--ignore-eos"], {"input_ids": ids})
            for _ in range(8):
                ids = np.concatenate([ids, logits(ids)[:, -1].argmax(-1)[:, None]], 1)
            check("ids" in got and (got["ids"] == ids).all(), "stablelm, generated: %s, expected %s" % (got.get("ids"), ids))

    def test_deberta(self):
        """Texts shorter and longer than the table of distances, with buckets that grow slower than distances, and faster; and no table, where
        places are added to the words, and terms that are named still count in the scale."""
        names = ["attention.self." + n for n in ("query_proj", "key_proj", "value_proj")] + ["attention.output.dense"]
        terms = ["c2p", "p2c"]
        for what, buckets, far, named in (("v2", 8, 24, terms), ("v2, buckets that reach further", 8, 7, terms), ("v2, no buckets", -1, 6, terms), ("v1", None, 6, terms),
                                          ("v2, absolute", None, None, None), ("v2, absolute, terms named", None, None, terms), ("v1, absolute", None, None, None), ("v1, absolute, terms named", None, None, ["p2p"] + terms)):
            kind, relative = what[:2], far is not None
            span = buckets if buckets and buckets > 0 else far
            w = Weights(self.work, 7)
            w.table("embeddings.word_embeddings.weight", VOCABULARY, WIDTH)
            w.norm("embeddings.LayerNorm", WIDTH)
            if relative:
                w.table("encoder.rel_embeddings.weight", 2 * span, WIDTH)
            else:
                w.table("embeddings.position_embeddings.weight", 64, WIDTH)
                if kind == "v2":  # the class makes it, and does not use it
                    w.norm("encoder.LayerNorm", WIDTH)
            layers(w, "encoder.layer.", names[3:] if kind == "v1" else names, READING_NORMS)
            for at in ("encoder.layer.%d.attention.self." % i for i in range(2) if kind == "v1"):
                w.linear(at + "in_proj", 3 * WIDTH, WIDTH, bias=False)
                for n in ("q_bias", "v_bias"):
                    w.table(at + n, WIDTH)
                if relative:
                    w.linear(at + "pos_proj", WIDTH, WIDTH, bias=False)
                    w.linear(at + "pos_q_proj", WIDTH, WIDTH)
            config = dict(vocab_size=VOCABULARY, max_position_embeddings=64, max_relative_positions=far if relative else -1, relative_attention=relative, pos_att_type=named,
                          position_biased_input=not relative, type_vocab_size=0, hidden_act="gelu")
            config.update(dict(model_type="deberta", architectures=["DebertaModel"]) if kind == "v1" else
                          dict(model_type="deberta-v2", architectures=["DebertaV2Model"], position_buckets=buckets or -1, share_att_key=True, norm_rel_ebd="none" if relative else "layer_norm"))
            if not relative and not named:  # as the class has it where a file says nothing
                for key in ("relative_attention", "pos_att_type", "position_biased_input"):
                    del config[key]
            folder, r = write(os.path.join(self.work, "deberta " + what), w.named, **config), Reference(w.named)

            def distance(d):
                if not buckets or buckets < 0 or abs(d) <= buckets // 2:
                    return d
                half = buckets // 2
                return int(np.sign(d)) * (math.ceil(math.log(abs(d) / half) / math.log((far - 1) / half) * (half - 1)) + half)

            def projected(at, x, places):
                if kind != "v1":
                    return [r.linear(at + n, x) for n in names[:3]] + [r.linear(at + n, places) for n in (names[1], names[0]) if relative]
                at += "attention.self."
                parts = r.linear(at + "in_proj", x).reshape(*x.shape[:2], HEADS, 3, -1)
                q, k, v = (parts[..., i, :].reshape(x.shape) for i in range(3))
                return [q + r.named[at + "q_bias"], k, v + r.named[at + "v_bias"]] + [r.linear(at + n, places) for n in ("pos_proj", "pos_q_proj") if relative]

            binary = self.compiled("deberta " + what, folder)
            for length in (1, 3, 4, 5, 6, 9, 17):
                ids, real = self.random.integers(3, VOCABULARY, (2, length)), np.ones((2, length), np.int64)
                real[1, :length // 3] = 0
                x = r.named["embeddings.word_embeddings.weight"][ids]
                if not relative:
                    x = x + r.named["embeddings.position_embeddings.weight"][:length]
                x = r.norm("embeddings.LayerNorm", x) * real[:, :, None]
                index = relative and np.array([[min(max(span + distance(i - j), 0), 2 * span - 1) for j in range(length)] for i in range(length)])
                for i in range(2):
                    at = "encoder.layer.%d." % i
                    q, k, v, *places = projected(at, x, r.named.get("encoder.rel_embeddings.weight"))
                    bias = np.zeros((2, HEADS, length, length))
                    if relative:
                        pk, pq = (p.reshape(2 * span, HEADS, -1).transpose(1, 0, 2)[:, index] for p in places)
                        bias = np.einsum("bhiw,hijw->bhij", by_heads(q, HEADS), pk) + np.einsum("bhjw,hijw->bhij", by_heads(k, HEADS), pq)
                    scale = math.sqrt((1 + len(named or [])) * WIDTH // HEADS)
                    a = attention(q * math.sqrt(WIDTH // HEADS) / scale, k, v, real[:, None, None] > 0, bias / scale)
                    x = read(r, at, x, a, names, READING_NORMS)
                given = {"input_ids": ids, "attention_mask": real}
                case = "deberta %s, %d tokens" % (what, length)
                self.same(case, self.interpreted(case, folder, given), rows=real > 0, last_hidden_state=x)
                if binary:
                    self.same(case + ", compiled", self.call(case, [binary, "run", "--input", "IN", "--output", "OUT"], given), rows=real > 0, last_hidden_state=x)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--heddle", required=True)
    p.add_argument("--only", help="vit, deit, vilt, roberta, mpnet, masks, longformer, big_bird, stablelm, deberta")
    o = p.parse_args()
    with tempfile.TemporaryDirectory(prefix="heddle-families-") as work:
        suite = Suite(os.path.abspath(o.heddle), work)
        for name in ("vit", "deit", "vilt", "roberta", "mpnet", "masks", "longformer", "big_bird", "stablelm", "deberta"):
            if o.only in (None, name):
                getattr(suite, "test_" + name)()
    return finish()


if __name__ == "__main__":
    sys.exit(main())
