#!/usr/bin/python3
"""Families that were written from the published code alone, against numpy: small models with random weights.

    newer_families.py --heddle BIN [--only NAME]

Three rows: whole, padded on the left, with a hole. Each model is interpreted and compiled; decoders also generate with the cached
step what numpy says without one. One line a failure, then `N passed, N failed`."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
from random_weights import Weights
from reference import EPS, HEADS, Reference, attention, causal, gelu, layer_norm, rms_norm, rotary, silu
import suite

VOCABULARY, WIDTH, KV, INNER, LAYERS = 40, 32, 2, 48, 4
HEAD = WIDTH // HEADS


class Suite(suite.Suite):
    usual = {"num_attention_heads": HEADS}

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
        folder = self.write(kind, w.named, **{
            "model_type": kind, "vocab_size": VOCABULARY, "hidden_size": WIDTH, "num_hidden_layers": LAYERS, "num_key_value_heads": KV, "intermediate_size": INNER,
            "max_position_embeddings": 64, "tie_word_embeddings": False, "attention_bias": False, "eos_token_id": 0, **({} if "layer_norm_eps" in config else {"rms_norm_eps": EPS}), **config})
        ids, real = self.batch()
        given = {"input_ids": ids, "attention_mask": real}
        binary = self.agrees(kind, folder, given, {"logits": logits(r, ids, causal(real))}, rows=real > 0, cached=True)
        self.generates(kind, binary, ids[:1], lambda text: logits(r, text, causal(np.ones_like(text))))

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
                q, k = rotary(rms_norm(q, w("self_attn.q_norm")), HEADS, 500000.0), rotary(rms_norm(k, w("self_attn.k_norm")), KV, 500000.0)
                x = x + rms_norm(r.linear(at + "self_attn.o_proj", attention(q, k, v, mask)), w("post_attention_layernorm"))
                x = x + rms_norm(self.gated(r, at, x), w("post_feedforward_layernorm"))
            return r.linear("lm_head", rms_norm(x, r.named["model.norm.weight"]))

        self.decoder("olmo2", 21, ["post_attention_layernorm", "post_feedforward_layernorm"], logits, rope_theta=500000.0, architectures=["Olmo2ForCausalLM"],
                     extra={"self_attn.q_norm": (WIDTH,), "self_attn.k_norm": (KV * HEAD,)})

    def test_granite(self):
        def logits(r, ids, mask):
            x = r.named["model.embed_tokens.weight"][ids] * 3.0
            for i in range(LAYERS):
                at = "model.layers.%d." % i
                q, k, v = self.projected(r, at, rms_norm(x, r.named[at + "input_layernorm.weight"]))
                a = attention(rotary(q, HEADS, 10000.0), rotary(k, KV, 10000.0), v, mask, scale=0.2)
                x = x + r.linear(at + "self_attn.o_proj", a) * 0.22
                x = x + self.gated(r, at, rms_norm(x, r.named[at + "post_attention_layernorm.weight"])) * 0.22
            return r.linear("lm_head", rms_norm(x, r.named["model.norm.weight"])) / 8.0

        self.decoder("granite", 22, ["input_layernorm", "post_attention_layernorm"], logits, embedding_multiplier=3.0, attention_multiplier=0.2, residual_multiplier=0.22,
                     logits_scaling=8.0, tie_word_embeddings=True, architectures=["GraniteForCausalLM"])

    def test_cohere(self):
        def logits(r, ids, mask):
            x = r.named["model.embed_tokens.weight"][ids]
            for i in range(LAYERS):
                at = "model.layers.%d." % i
                h = layer_norm(x, r.named[at + "input_layernorm.weight"])
                q, k, v = self.projected(r, at, h)
                normed = lambda y, heads, n: layer_norm(y.reshape(*y.shape[:2], heads, HEAD), r.named["%sself_attn.%s_norm.weight" % (at, n)]).reshape(y.shape)
                if "model.layers.0.self_attn.q_norm.weight" in r.named:
                    q, k = normed(q, HEADS, "q"), normed(k, KV, "k")
                a = attention(rotary(q, HEADS, 10000.0, pairs=True), rotary(k, KV, 10000.0, pairs=True), v, mask)
                x = x + r.linear(at + "self_attn.o_proj", a) + self.gated(r, at, h)
            return r.linear("lm_head", layer_norm(x, r.named["model.norm.weight"])) * 0.25

        config = dict(layer_norm_eps=EPS, logit_scale=0.25, tie_word_embeddings=True, architectures=["CohereForCausalLM"])
        self.decoder("cohere", 23, ["input_layernorm"], logits, use_qk_norm=True, extra={"self_attn.q_norm": (HEADS, HEAD), "self_attn.k_norm": (KV, HEAD)}, **config)

    def test_smollm3(self):
        def logits(r, ids, mask):
            x = r.named["model.embed_tokens.weight"][ids]
            for i in range(LAYERS):
                at = "model.layers.%d." % i
                q, k, v = self.projected(r, at, rms_norm(x, r.named[at + "input_layernorm.weight"]))
                if (i + 1) % 4:
                    q, k = rotary(q, HEADS, 2000000.0), rotary(k, KV, 2000000.0)
                x = x + r.linear(at + "self_attn.o_proj", attention(q, k, v, mask))
                x = x + self.gated(r, at, rms_norm(x, r.named[at + "post_attention_layernorm.weight"]))
            return r.linear("lm_head", rms_norm(x, r.named["model.norm.weight"]))

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
            x = layer_norm(r.named["model.embeddings.tok_embeddings.weight"][ids], r.named["model.embeddings.norm.weight"])
            d = np.abs(np.arange(11)[None] - np.arange(11)[:, None])
            for i in range(LAYERS):
                at, far = "model.layers.%d." % i, i % 3 == 0
                h = layer_norm(x, r.named[at + "attn_norm.weight"]) if i else x
                q, k, v = np.split(r.linear(at + "attn.Wqkv", h), 3, -1)
                theta = 160000.0 if far else 10000.0
                mask = (real > 0)[:, None, None] & (d <= (99 if far else 3))
                x = x + r.linear(at + "attn.Wo", attention(rotary(q, HEADS, theta), rotary(k, HEADS, theta), v, mask))
                h, g = np.split(r.linear(at + "mlp.Wi", layer_norm(x, r.named[at + "mlp_norm.weight"])), 2, -1)
                x = x + r.linear(at + "mlp.Wo", gelu(h) * g)
            return layer_norm(x, r.named["model.final_norm.weight"])

        def head(x):
            return layer_norm(gelu(r.linear("head.dense", x)), r.named["head.norm.weight"])

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
            self.model(what, {**base, **more}, given, {"logits": logits}, rows=rows, compile="Masked" in name, architectures=[name], **config, **options)


if __name__ == "__main__":
    sys.exit(suite.run(Suite, __doc__))
