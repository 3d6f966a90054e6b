#!/usr/bin/python3
"""Families that were written from the published code alone, against numpy: small models with random weights.

    newer_families.py --heddle BIN [--only NAME]

Three rows: whole, padded on the left, with a hole. Each model is interpreted and compiled; decoders also generate with the cached
step what numpy says without one. One line a failure, then `N passed, N failed`."""
import argparse
import json
import os
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import families
from checks import check, finish
from families import Reference, by_heads, gelu, silu
from random_weights import Weights, tensors

VOCABULARY, WIDTH, HEADS, KV, INNER, LAYERS, EPS = 40, 32, 4, 2, 48, 4, 1e-5
HEAD = WIDTH // HEADS


def write(folder, named, **config):
    os.makedirs(folder)
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as f:
        json.dump(families.stated({"num_attention_heads": HEADS, **config}), f)
    tensors.write(os.path.join(folder, "model.safetensors"), named)
    return folder


def rms(x, weight=1.0):
    return x / np.sqrt((x ** 2).mean(-1, keepdims=True) + EPS) * weight


def centred(x, weight=1.0):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + EPS) * weight


def turned(x, heads, theta, pairs=False):
    """[B, T, heads * HEAD], row t at position t"""
    x = x.reshape(*x.shape[:2], heads, HEAD)
    angle = np.arange(x.shape[1])[:, None] * theta ** (-2.0 * np.arange(HEAD // 2) / HEAD)
    c, s = np.cos(angle)[None, :, None], np.sin(angle)[None, :, None]
    a, b = (x[..., ::2], x[..., 1::2]) if pairs else (x[..., :HEAD // 2], x[..., HEAD // 2:])
    a, b = a * c - b * s, b * c + a * s
    y = np.stack([a, b], -1) if pairs else np.concatenate([a, b], -1)
    return y.reshape(*x.shape[:2], heads * HEAD)


def attention(q, k, v, mask, scale=HEAD ** -0.5, kv=KV):
    """A row that sees nothing is 0."""
    q, k, v = by_heads(q, HEADS), by_heads(k, kv), by_heads(v, kv)
    k, v = (np.repeat(t, HEADS // kv, axis=1) for t in (k, v))
    scores = np.where(mask[:, None], q @ k.swapaxes(2, 3) * scale, -np.inf)
    most = scores.max(-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isfinite(most), most, 0))
    weights = weights / np.maximum(weights.sum(-1, keepdims=True), 1e-300)
    return (weights @ v).transpose(0, 2, 1, 3).reshape(q.shape[0], q.shape[2], -1)


class Suite(families.Suite):
    def decoder(self, kind, seed, norms, logits, extra=None, **config):
        """Holds a decoder's logits, and the tokens that follow from them, against `logits(r, ids, mask)`."""
        w = Weights(self.work, seed)
        w.table("model.embed_tokens.weight", VOCABULARY, WIDTH)
        for i in range(LAYERS):
            at = "model.layers.%d." % i
            for n, out, inner in (("q", WIDTH, WIDTH), ("k", KV * HEAD, WIDTH), ("v", KV * HEAD, WIDTH), ("o", WIDTH, WIDTH)):
                w.linear("%sself_attn.%s_proj" % (at, n), out, inner, bias=False)
            for n, out, inner in (("gate", INNER, WIDTH), ("up", INNER, WIDTH), ("down", WIDTH, INNER)):
                w.linear("%smlp.%s_proj" % (at, n), out, inner, bias=False)
            for n in norms:
                w.table("%s%s.weight" % (at, n), WIDTH, scale=0.1, mean=1.0)
            for n, shape in (extra or {}).items():
                w.table("%s%s.weight" % (at, n), *shape, scale=0.3, mean=1.0)
        w.table("model.norm.weight", WIDTH, scale=0.1, mean=1.0)
        tied = config.get("tie_word_embeddings", False)
        if not tied:
            w.linear("lm_head", VOCABULARY, WIDTH, bias=False)
        r = Reference(w.named)
        if tied:
            r.named["lm_head.weight"] = r.named["model.embed_tokens.weight"]
        folder = write(os.path.join(self.work, kind), w.named, **{
            "model_type": kind, "vocab_size": VOCABULARY, "hidden_size": WIDTH, "num_hidden_layers": LAYERS, "num_key_value_heads": KV, "intermediate_size": INNER,
            "max_position_embeddings": 64, "tie_word_embeddings": False, "attention_bias": False, "eos_token_id": 0, **({} if "layer_norm_eps" in config else {"rms_norm_eps": EPS}), **config})
        ids, real = self.batch()
        mask = np.tril(np.ones((ids.shape[1],) * 2, bool))[None] & (real > 0)[:, None]
        given = {"input_ids": ids, "attention_mask": real}
        expected = logits(r, ids, mask)
        self.same(kind, self.interpreted(kind, folder, given), rows=real > 0, logits=expected)
        binary = self.compiled(kind, folder, "--cache=require")
        if not binary:
            return
        got = self.call(kind, [binary, "run", "--input", "IN", "--output", "OUT"], given)
        self.same(kind + ", compiled", got, rows=real > 0, logits=expected)
        text = ids[:1]
        got = self.call(kind, [binary, "generate", "--input", "IN", "--output", "OUT", "-n", "8", "--greedy", "--ignore-eos"], {"input_ids": text})
        for _ in range(8):
            causal = np.tril(np.ones((text.shape[1],) * 2, bool))[None]
            text = np.concatenate([text, logits(r, text, causal)[:, -1].argmax(-1)[:, None]], 1)
        check("ids" in got and (got["ids"] == text).all(), "%s, generated: %s, expected %s" % (kind, got.get("ids"), text))

    def batch(self):
        ids, real = self.random.integers(1, VOCABULARY, (3, 11)), np.ones((3, 11), np.int64)
        real[1, :4] = 0
        real[2, 5] = 0
        return ids, real

    @staticmethod
    def gated(r, at, h):
        return r.linear(at + "mlp.down_proj", silu(r.linear(at + "mlp.gate_proj", h)) * r.linear(at + "mlp.up_proj", h))

    @staticmethod
    def projected(r, at, h):
        return (r.linear("%sself_attn.%s_proj" % (at, n), h) for n in "qkv")

    def test_olmo2(self):
        def logits(r, ids, mask):
            x = r.named["model.embed_tokens.weight"][ids]
            for i in range(LAYERS):
                at = "model.layers.%d." % i
                w = lambda n: r.named[at + n + ".weight"]
                q, k, v = self.projected(r, at, x)
                q, k = turned(rms(q, w("self_attn.q_norm")), HEADS, 500000.0), turned(rms(k, w("self_attn.k_norm")), KV, 500000.0)
                x = x + rms(r.linear(at + "self_attn.o_proj", attention(q, k, v, mask)), w("post_attention_layernorm"))
                x = x + rms(self.gated(r, at, x), w("post_feedforward_layernorm"))
            return r.linear("lm_head", rms(x, r.named["model.norm.weight"]))

        self.decoder("olmo2", 21, ["post_attention_layernorm", "post_feedforward_layernorm"], logits, rope_theta=500000.0, architectures=["Olmo2ForCausalLM"],
                     extra={"self_attn.q_norm": (WIDTH,), "self_attn.k_norm": (KV * HEAD,)})

    def test_granite(self):
        def logits(r, ids, mask):
            x = r.named["model.embed_tokens.weight"][ids] * 3.0
            for i in range(LAYERS):
                at = "model.layers.%d." % i
                q, k, v = self.projected(r, at, rms(x, r.named[at + "input_layernorm.weight"]))
                a = attention(turned(q, HEADS, 10000.0), turned(k, KV, 10000.0), v, mask, scale=0.2)
                x = x + r.linear(at + "self_attn.o_proj", a) * 0.22
                x = x + self.gated(r, at, rms(x, r.named[at + "post_attention_layernorm.weight"])) * 0.22
            return r.linear("lm_head", rms(x, r.named["model.norm.weight"])) / 8.0

        self.decoder("granite", 22, ["input_layernorm", "post_attention_layernorm"], logits, embedding_multiplier=3.0, attention_multiplier=0.2, residual_multiplier=0.22,
                     logits_scaling=8.0, tie_word_embeddings=True, architectures=["GraniteForCausalLM"])

    def test_cohere(self):
        def logits(r, ids, mask):
            x = r.named["model.embed_tokens.weight"][ids]
            for i in range(LAYERS):
                at = "model.layers.%d." % i
                h = centred(x, r.named[at + "input_layernorm.weight"])
                q, k, v = self.projected(r, at, h)
                normed = lambda y, heads, n: centred(y.reshape(*y.shape[:2], heads, HEAD), r.named["%sself_attn.%s_norm.weight" % (at, n)]).reshape(y.shape)
                if "model.layers.0.self_attn.q_norm.weight" in r.named:
                    q, k = normed(q, HEADS, "q"), normed(k, KV, "k")
                a = attention(turned(q, HEADS, 10000.0, pairs=True), turned(k, KV, 10000.0, pairs=True), v, mask)
                x = x + r.linear(at + "self_attn.o_proj", a) + self.gated(r, at, h)
            return r.linear("lm_head", centred(x, r.named["model.norm.weight"])) * 0.25

        config = dict(layer_norm_eps=EPS, logit_scale=0.25, tie_word_embeddings=True, architectures=["CohereForCausalLM"])
        self.decoder("cohere", 23, ["input_layernorm"], logits, use_qk_norm=True, extra={"self_attn.q_norm": (HEADS, HEAD), "self_attn.k_norm": (KV, HEAD)}, **config)

    def test_smollm3(self):
        def logits(r, ids, mask):
            x = r.named["model.embed_tokens.weight"][ids]
            for i in range(LAYERS):
                at = "model.layers.%d." % i
                q, k, v = self.projected(r, at, rms(x, r.named[at + "input_layernorm.weight"]))
                if (i + 1) % 4:
                    q, k = turned(q, HEADS, 2000000.0), turned(k, KV, 2000000.0)
                x = x + r.linear(at + "self_attn.o_proj", attention(q, k, v, mask))
                x = x + self.gated(r, at, rms(x, r.named[at + "post_attention_layernorm.weight"]))
            return r.linear("lm_head", rms(x, r.named["model.norm.weight"]))

        self.decoder("smollm3", 24, ["input_layernorm", "post_attention_layernorm"], logits, tie_word_embeddings=True, architectures=["SmolLM3ForCausalLM"])

    def test_modernbert(self):
        w = Weights(self.work, 25)
        w.table("model.embeddings.tok_embeddings.weight", VOCABULARY, WIDTH)
        norms = ["model.embeddings.norm", "model.final_norm", "head.norm"]
        for i in range(LAYERS):
            at = "model.layers.%d." % i
            for n, out, inner in (("attn.Wqkv", 3 * WIDTH, WIDTH), ("attn.Wo", WIDTH, WIDTH), ("mlp.Wi", 2 * INNER, WIDTH), ("mlp.Wo", WIDTH, INNER)):
                w.linear(at + n, out, inner, bias=False)
            norms += [at + "mlp_norm"] + [at + "attn_norm"] * (i > 0)
        for n in norms:
            w.table(n + ".weight", WIDTH, scale=0.1, mean=1.0)
        w.linear("head.dense", WIDTH, WIDTH, bias=False)
        r, base = Reference(w.named), dict(w.named)
        ids, real = self.batch()

        def hidden():
            x = centred(r.named["model.embeddings.tok_embeddings.weight"][ids], r.named["model.embeddings.norm.weight"])
            d = np.abs(np.arange(11)[None] - np.arange(11)[:, None])
            for i in range(LAYERS):
                at, far = "model.layers.%d." % i, i % 3 == 0
                h = centred(x, r.named[at + "attn_norm.weight"]) if i else x
                q, k, v = np.split(r.linear(at + "attn.Wqkv", h), 3, -1)
                theta = 160000.0 if far else 10000.0
                mask = (real > 0)[:, None] & ((d <= (99 if far else 3))[None])
                x = x + r.linear(at + "attn.Wo", attention(turned(q, HEADS, theta), turned(k, HEADS, theta), v, mask, kv=HEADS))
                h, g = np.split(r.linear(at + "mlp.Wi", centred(x, r.named[at + "mlp_norm.weight"])), 2, -1)
                x = x + r.linear(at + "mlp.Wo", gelu(h) * g)
            return centred(x, r.named["model.final_norm.weight"])

        def head(x):
            return centred(gelu(r.linear("head.dense", x)), r.named["head.norm.weight"])

        config = dict(model_type="modernbert", vocab_size=VOCABULARY, hidden_size=WIDTH, num_hidden_layers=LAYERS, intermediate_size=INNER, max_position_embeddings=64, norm_eps=EPS,
                      local_attention=6, id2label={"0": "a", "1": "b", "2": "c"})
        given, x = {"input_ids": ids, "attention_mask": real}, hidden()
        classes = (0.3 * self.random.standard_normal((3, WIDTH))).astype(np.float32)
        marks = (0.1 * self.random.standard_normal(3)).astype(np.float32)
        bias = (0.1 * self.random.standard_normal(VOCABULARY)).astype(np.float32)
        mean = (x * real[:, :, None]).sum(1) / real.sum(1)[:, None]
        for name, more, options, rows, logits in (
                ("ModernBertForMaskedLM", {"decoder.bias": bias}, {}, real > 0, head(x) @ r.named["model.embeddings.tok_embeddings.weight"].T + bias),
                ("ModernBertForTokenClassification", {"classifier.weight": classes, "classifier.bias": marks}, {}, real > 0, head(x) @ classes.T + marks),
                ("ModernBertForSequenceClassification", {"classifier.weight": classes, "classifier.bias": marks}, {"classifier_pooling": "mean"}, None, head(mean) @ classes.T + marks),
                ("ModernBertForSequenceClassification", {"classifier.weight": classes, "classifier.bias": marks}, {}, None, head(x[:, 0]) @ classes.T + marks)):
            what = "modernbert, %s%s" % (name, ", mean" if options else "")
            folder = write(os.path.join(self.work, what.replace(" ", "-")), {**base, **more}, architectures=[name], **config, **options)
            self.same(what, self.interpreted(what, folder, given), rows=rows, logits=logits)
            if rows is not None and "Masked" in name:
                binary = self.compiled(what, folder)
                if binary:
                    self.same(what + ", compiled", self.call(what, [binary, "run", "--input", "IN", "--output", "OUT"], given), rows=rows, logits=logits)


def main():
    names = ("olmo2", "granite", "cohere", "smollm3", "modernbert")
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--heddle", required=True)
    p.add_argument("--only", help=", ".join(names))
    o = p.parse_args()
    with tempfile.TemporaryDirectory(prefix="heddle-newer-") as work:
        suite = Suite(os.path.abspath(o.heddle), work)
        for name in names:
            if o.only in (None, name):
                getattr(suite, "test_" + name)()
    return finish()


if __name__ == "__main__":
    sys.exit(main())
