#!/usr/bin/python3
"""Encoders, towers and encoder-decoders that were written from the published code alone, against numpy: small models with random weights.

    encoder_families.py --heddle BIN [--only NAME] [--families DIR]

Three rows where there is a mask: whole, padded on the left, with a hole. Each model is interpreted and compiled; those with a decoder also
generate what numpy says without a cached step. --families hands a folder of family files on to heddle. One line a failure, then
`N passed, N failed`."""
import argparse
import os
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import families
from checks import check, finish
from families import EPS, HEADS, INNER, VOCABULARY, WIDTH, Reference, attention, gelu, patches, silu, write
from random_weights import Weights

LAYERS, HEAD, CLASSES, LONGEST = 2, WIDTH // HEADS, 3, 20
BERT = {"q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value", "o": "attention.output.dense", "up": "intermediate.dense", "down": "output.dense",
        "norm1": "attention.output.LayerNorm", "norm2": "output.LayerNorm"}


#--- numpy -------------------------------------------------------------------


def weigh(w, at, names, layers=LAYERS, inner=INNER, width=WIDTH):
    for i in range(layers):
        for n in "qkvo":
            w.linear(at % i + names[n], width, width)
        for n in ("norm1", "norm2"):
            w.norm(at % i + names[n], width)
        w.linear(at % i + names["up"], inner, width)
        w.linear(at % i + names["down"], width, inner)


def heads_of(r, at, names, x, mask=None, turn=lambda t: t, bias=0.0):
    q, k, v = (r.linear(at + names[n], x) for n in "qkv")
    return r.linear(at + names["o"], attention(turn(q), turn(k), v, mask, bias))


def layer(r, at, names, x, mask=None, first=False, act=gelu, **more):
    """first: whether the norms come before attention and feed-forward"""
    forward = lambda h: r.linear(at + names["down"], act(r.linear(at + names["up"], h)))
    if first:
        x = x + heads_of(r, at, names, r.norm(at + names["norm1"], x), mask, **more)
        return x + forward(r.norm(at + names["norm2"], x))
    x = r.norm(at + names["norm1"], x + heads_of(r, at, names, x, mask, **more))
    return r.norm(at + names["norm2"], x + forward(x))


def turned(x):
    """[B, T, heads * HEAD], row t at position t, by halves"""
    y = x.reshape(*x.shape[:2], HEADS, HEAD)
    angle = np.arange(x.shape[1])[:, None] * 10000.0 ** (-2.0 * np.arange(HEAD // 2) / HEAD)
    c, s = np.cos(angle)[None, :, None], np.sin(angle)[None, :, None]
    a, b = y[..., :HEAD // 2], y[..., HEAD // 2:]
    return np.concatenate([a * c - b * s, b * c + a * s], -1).reshape(x.shape)


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))


def smooth(new, old):
    """[new, old]: what torch's bicubic interpolation with antialias does: a = -1/2, a bell as wide as the grid shrinks, normed"""
    matrix, scale = np.zeros((new, old)), old / new
    for i in range(new):
        for j in range(old):
            d = abs((i + 0.5) * scale - j - 0.5) / max(scale, 1)
            matrix[i, j] = 1.5 * d ** 3 - 2.5 * d ** 2 + 1 if d <= 1 else -0.5 * d ** 3 + 2.5 * d ** 2 - 4 * d + 2 if d < 2 else 0
    return matrix / matrix.sum(1, keepdims=True)


def convolved(r, name, x, stride=1, groups=1):
    """[B, T, c] under a kernel [out, c / groups, taps]"""
    kernel, c = r.named[name + ".weight"], x.shape[2] // groups
    m, taps = len(kernel) // groups, kernel.shape[2]
    windows = np.stack([x[:, t:x.shape[1] - taps + 1 + t:stride] for t in range(taps)], -1)
    y = np.concatenate([np.einsum("btcu,ocu->bto", windows[:, :, g * c:(g + 1) * c], kernel[g * m:(g + 1) * m]) for g in range(groups)], -1)
    return y + r.named.get(name + ".bias", 0)


def counted(ids, pad):
    """positions of what is no padding, from pad + 1"""
    real = (ids != pad).astype(np.int64)
    return np.cumsum(real, 1) * real + pad


#--- the tests ---------------------------------------------------------------


class Suite(families.Suite):
    def __init__(self, heddle, work, folder):
        super().__init__(heddle, work)
        self.more = ["--families=" + os.path.abspath(folder)] if folder else []

    def interpreted(self, what, folder, given, *more):
        return super().interpreted(what, folder, given, *self.more, *more)

    def compiled(self, what, folder, *more):
        return super().compiled(what, folder, *self.more, *more)

    def batch(self, pad=None):
        ids, real = self.random.integers(3, VOCABULARY, (3, 9)), np.ones((3, 9), np.int64)
        real[1, :3] = 0
        real[2, 4] = 0
        return (ids if pad is None else np.where(real > 0, ids, pad)), real

    def model(self, what, named, given, expected, rows=None, **config):
        """expected: of each output; rows: of those that have the rows of the mask"""
        folder = write(os.path.join(self.work, what.replace(" ", "-").replace("/", "-")), named, **{"id2label": {str(i): "c%d" % i for i in range(CLASSES)}, **config})
        by_row = {n: rows if rows is not None and e.shape[:2] == rows.shape else None for n, e in expected.items()}
        binary = self.compiled(what, folder)
        compiled = self.call(what, [binary, "run", "--input", "IN", "--output", "OUT"], given) if binary else {}
        for kind, got in (("", self.interpreted(what, folder, given)), (", compiled", compiled)):
            for n, e in expected.items():
                self.same(what + kind, got, rows=by_row[n], **{n: e})
        return binary

    def extra(self, **shapes):
        """more weights: name of a linear (with __ for a dot) -> its shape"""
        w = Weights(self.work, 77)
        for n, shape in shapes.items():
            n = n.replace("__", ".")
            if n.endswith("norm") or n.endswith("Norm"):
                w.norm(n, *shape)
            elif n.endswith("!"):
                w.table(n[:-1], *shape, scale=0.3)
            else:
                w.linear(n, *shape)
        return w.named

    #--- encoders of text ---

    def embedded(self, r, at, ids, places, kinds=None):
        e = at + "embeddings."
        x = r.named[e + "word_embeddings.weight"][ids] + r.named[e + "position_embeddings.weight"][places]
        return x if kinds is None else x + r.named[e + "token_type_embeddings.weight"][kinds]

    def tables(self, w, at, width=WIDTH, kinds=2, norm=True, **more):
        for n, rows in {"word": VOCABULARY, "position": LONGEST, "token_type": kinds, **more}.items():
            w.table("%sembeddings.%s_embeddings.weight" % (at, n), rows, width)
        if norm:
            w.norm(at + "embeddings.LayerNorm", width)

    def test_electra(self):
        ids, real = self.batch()
        kinds = self.random.integers(0, 2, ids.shape)
        given = {"input_ids": ids, "attention_mask": real, "token_type_ids": kinds}
        for thin in (16, WIDTH):
            w = Weights(self.work, 31)
            self.tables(w, "electra.", thin)
            if thin != WIDTH:
                w.linear("electra.embeddings_project", WIDTH, thin)
            weigh(w, "electra.encoder.layer.%d.", BERT)

            def states(r):
                x = r.norm("electra.embeddings.LayerNorm", self.embedded(r, "electra.", ids, np.arange(9), kinds))
                x = r.linear("electra.embeddings_project", x) if thin != WIDTH else x
                for i in range(LAYERS):
                    x = layer(r, "electra.encoder.layer.%d." % i, BERT, x, real[:, None, None] > 0)
                return x

            def sequence(r, x):
                return {"logits": r.linear("classifier.out_proj", gelu(r.linear("classifier.dense", x[:, 0])))}

            def words(r, x):
                h = r.norm("generator_predictions.LayerNorm", gelu(r.linear("generator_predictions.dense", x)))
                return {"logits": h @ r.named["electra.embeddings.word_embeddings.weight"].T + r.named["generator_lm_head.bias"]}

            def exchanged(r, x):
                h = gelu(r.linear("discriminator_predictions.dense", x))
                return {"logits": r.linear("discriminator_predictions.dense_prediction", h)[:, :, 0]}

            heads = {"Model": ({}, lambda r, x: {"last_hidden_state": x}), "ForPreTraining": (self.extra(discriminator_predictions__dense=(WIDTH, WIDTH), discriminator_predictions__dense_prediction=(1, WIDTH)), exchanged),
                     "ForMaskedLM": (self.extra(generator_predictions__dense=(thin, WIDTH), generator_predictions__LayerNorm=(thin,), **{"generator_lm_head.bias!": (VOCABULARY,)}), words),
                     "ForSequenceClassification": (self.extra(classifier__dense=(WIDTH, WIDTH), classifier__out_proj=(CLASSES, WIDTH)), sequence),
                     "ForTokenClassification": (self.extra(classifier=(CLASSES, WIDTH)), lambda r, x: {"logits": r.linear("classifier", x)})}
            self.heads("electra %d" % thin, "Electra", w, heads, states, given, real, model_type="electra", embedding_size=thin)

    def heads(self, what, prefix, w, heads, states, given, real, only=None, **config):
        config = {"vocab_size": VOCABULARY, "max_position_embeddings": LONGEST, "type_vocab_size": 2, **config}
        for name, (more, results) in heads.items():
            if only is None or name in only:
                r = Reference({**w.named, **more})
                self.model("%s %s" % (what, name), {**w.named, **more}, given, results(r, states(r)), rows=real > 0, architectures=[prefix + name], **config)

    def bert_heads(self, at, words="cls.predictions.transform"):
        """as BERT has them, and RoBERTa (words: lm_head); at: the prefix"""
        roberta = words == "lm_head"
        dense, norm, out = (words + ".dense", words + ".layer_norm", "lm_head") if roberta else (words + ".dense", words + ".LayerNorm", "cls.predictions")

        def mlm(r, x):
            return {"logits": r.norm(norm, gelu(r.linear(dense, x))) @ r.named[at + "embeddings.word_embeddings.weight"].T + r.named[out + ".bias"]}

        def sequence(r, x):
            p = np.tanh(r.linear("classifier.dense" if roberta else at + "pooler.dense", x[:, 0]))
            return {"logits": r.linear("classifier.out_proj" if roberta else "classifier", p)}

        pooler = self.extra(**{at + "pooler.dense": (WIDTH, WIDTH)})
        one = self.extra(classifier__dense=(WIDTH, WIDTH), classifier__out_proj=(CLASSES, WIDTH)) if roberta else {**pooler, **self.extra(classifier=(CLASSES, WIDTH))}
        return {"Model": (pooler, lambda r, x: {"last_hidden_state": x, "pooler_output": np.tanh(r.linear(at + "pooler.dense", x[:, 0]))}), "ForSequenceClassification": (one, sequence),
                "ForMaskedLM": (self.extra(**{dense: (WIDTH, WIDTH), norm.replace("layer_norm", "layer_norm"): (WIDTH,), out + ".bias!": (VOCABULARY,)}), mlm),
                "ForTokenClassification": (self.extra(classifier=(CLASSES, WIDTH)), lambda r, x: {"logits": r.linear("classifier", x)})}

    def test_megatron_bert(self):
        names = {**BERT, "norm1": "attention.ln", "norm2": "ln"}
        w = Weights(self.work, 32)
        self.tables(w, "bert.", norm=False)
        weigh(w, "bert.encoder.layer.%d.", names)
        w.norm("bert.encoder.ln", WIDTH)
        ids, real = self.batch()
        kinds = self.random.integers(0, 2, ids.shape)

        def states(r):
            x = self.embedded(r, "bert.", ids, np.arange(9), kinds)
            for i in range(LAYERS):
                x = layer(r, "bert.encoder.layer.%d." % i, names, x, real[:, None, None] > 0, first=True)
            return r.norm("bert.encoder.ln", x)

        self.heads("megatron-bert", "MegatronBert", w, self.bert_heads("bert."), states, {"input_ids": ids, "attention_mask": real, "token_type_ids": kinds}, real, model_type="megatron-bert")

    def test_ernie(self):
        ids, real = self.batch()
        kinds, tasks = self.random.integers(0, 4, ids.shape), self.random.integers(0, 3, ids.shape)
        for used in (True, False):
            w = Weights(self.work, 33)
            self.tables(w, "ernie.", kinds=4, **({"task_type": 3} if used else {}))
            weigh(w, "ernie.encoder.layer.%d.", BERT)

            def states(r):
                x = self.embedded(r, "ernie.", ids, np.arange(9), kinds)
                x = r.norm("ernie.embeddings.LayerNorm", x + r.named["ernie.embeddings.task_type_embeddings.weight"][tasks] if used else x)
                for i in range(LAYERS):
                    x = layer(r, "ernie.encoder.layer.%d." % i, BERT, x, real[:, None, None] > 0)
                return x

            given = {"input_ids": ids, "attention_mask": real, "token_type_ids": kinds, **({"task_type_ids": tasks} if used else {})}
            self.heads("ernie%s" % ("" if used else " without tasks"), "Ernie", w, self.bert_heads("ernie."), states, given, real, only=None if used else ["Model"], model_type="ernie", type_vocab_size=4, use_task_id=used,
                       task_type_vocab_size=3)

    def roberta(self, kind, prefix, at, first):
        names = {**BERT, "norm1": "attention.self_attn_layer_norm", "norm2": "LayerNorm"} if first else BERT
        w = Weights(self.work, 34)
        self.tables(w, at, kinds=1, norm=not first)
        weigh(w, at + "encoder.layer.%d.", names)
        if first:
            w.norm(at + "encoder.LayerNorm", WIDTH)
        ids, real = self.batch(pad=1)

        def states(r):
            x = self.embedded(r, at, ids, counted(ids, 1), 0)
            x = x if first else r.norm(at + "embeddings.LayerNorm", x)
            for i in range(LAYERS):
                x = layer(r, at + "encoder.layer.%d." % i, names, x, real[:, None, None] > 0, first=first)
            return r.norm(at + "encoder.LayerNorm", x) if first else x

        self.heads(kind, prefix, w, self.bert_heads(at, "lm_head"), states, {"input_ids": ids, "attention_mask": real}, real, model_type=kind, type_vocab_size=1, pad_token_id=1)

    def test_data2vec_text(self):
        self.roberta("data2vec-text", "Data2VecText", "data2vec_text.", False)

    def test_xlm_roberta_xl(self):
        self.roberta("xlm-roberta-xl", "XLMRobertaXL", "roberta.", True)

    def test_esm(self):
        names = {**BERT, "norm1": "attention.LayerNorm", "norm2": "LayerNorm"}
        ids, real = self.batch(pad=1)
        ids[0, 3] = ids[1, 4] = ids[1, 6] = 2
        for rotary, dropped, normed in ((True, True, False), (False, False, True), (False, True, False)):
            w = Weights(self.work, 35)
            w.table("esm.embeddings.word_embeddings.weight", VOCABULARY, WIDTH)
            if not rotary:
                w.table("esm.embeddings.position_embeddings.weight", LONGEST, WIDTH)
            weigh(w, "esm.encoder.layer.%d.", names)
            for n in ["esm.encoder.emb_layer_norm_after"] + ["esm.embeddings.layer_norm"] * normed:
                w.norm(n, WIDTH)

            def states(r):
                x = r.named["esm.embeddings.word_embeddings.weight"][ids]
                if dropped:
                    x = np.where((ids == 2)[:, :, None], 0, x) * 0.88 / (1 - (ids == 2).sum(1) / real.sum(1))[:, None, None]
                if not rotary:
                    x = x + r.named["esm.embeddings.position_embeddings.weight"][counted(ids, 1)]
                x = (r.norm("esm.embeddings.layer_norm", x) if normed else x) * real[:, :, None]
                for i in range(LAYERS):
                    x = layer(r, "esm.encoder.layer.%d." % i, names, x, real[:, None, None] > 0, first=True, turn=turned if rotary else lambda t: t)
                return r.norm("esm.encoder.emb_layer_norm_after", x)

            self.heads("esm %d%d%d" % (rotary, dropped, normed), "Esm", w, self.bert_heads("esm.", "lm_head"), states, {"input_ids": ids, "attention_mask": real}, real, only=None if rotary else ["ForMaskedLM"], model_type="esm",
                       type_vocab_size=None, pad_token_id=1, mask_token_id=2, token_dropout=dropped, emb_layer_norm_before=normed, position_embedding_type="rotary" if rotary else "absolute")

    #--- towers of pictures ---

    def test_siglip(self):
        names = {"q": "self_attn.q_proj", "k": "self_attn.k_proj", "v": "self_attn.v_proj", "o": "self_attn.out_proj", "up": "mlp.fc1", "down": "mlp.fc2", "norm1": "layer_norm1", "norm2": "layer_norm2"}
        w, t, v = Weights(self.work, 41), "text_model.", "vision_model."
        w.table(t + "embeddings.token_embedding.weight", VOCABULARY, WIDTH)
        w.table(t + "embeddings.position_embedding.weight", 9, WIDTH)
        w.table(v + "embeddings.position_embedding.weight", 9, WIDTH)
        w.linear(v + "embeddings.patch_embedding", WIDTH, 3, 4, 4)
        for at in (t, v):
            weigh(w, at + "encoder.layers.%d.", names)
        for n in (t + "final_layer_norm", v + "post_layernorm", v + "head.layernorm"):
            w.norm(n, WIDTH)
        w.linear(t + "head", WIDTH, WIDTH)
        w.table(v + "head.probe", 1, 1, WIDTH)
        w.table(v + "head.attention.in_proj_weight", 3 * WIDTH, WIDTH, scale=0.2)
        w.table(v + "head.attention.in_proj_bias", 3 * WIDTH, scale=0.1)
        for n, out, inner in (("attention.out_proj", WIDTH, WIDTH), ("mlp.fc1", INNER, WIDTH), ("mlp.fc2", WIDTH, INNER)):
            w.linear(v + "head." + n, out, inner)
        both = {**w.named, **self.extra(**{"logit_scale!": (1,), "logit_bias!": (1,)})}
        r = Reference(both)
        ids, real = self.batch()
        pixels = self.random.standard_normal((2, 3, 14, 14)).astype(np.float32)

        x = r.named[t + "embeddings.token_embedding.weight"][ids] + r.named[t + "embeddings.position_embedding.weight"]
        for i in range(LAYERS):
            x = layer(r, t + "encoder.layers.%d." % i, names, x, real[:, None, None] > 0, first=True, act=gelu_tanh)
        text = r.norm(t + "final_layer_norm", x)
        text = {"last_hidden_state": text, "pooler_output": r.linear(t + "head", text[:, -1])}
        x = patches(r, v + "embeddings.patch_embedding", pixels, 4, 4) + r.named[v + "embeddings.position_embedding.weight"]
        for i in range(LAYERS):
            x = layer(r, v + "encoder.layers.%d." % i, names, x, first=True, act=gelu_tanh)
        x = r.norm(v + "post_layernorm", x)
        q, k, u = (np.split(r.named[v + "head.attention.in_proj_weight"], 3)[j] for j in range(3))
        bq, bk, bu = np.split(r.named[v + "head.attention.in_proj_bias"], 3)
        a = r.linear(v + "head.attention.out_proj", attention(np.repeat(r.named[v + "head.probe"], 2, 0) @ q.T + bq, x @ k.T + bk, x @ u.T + bu))
        a = a + r.linear(v + "head.mlp.fc2", gelu_tanh(r.linear(v + "head.mlp.fc1", r.norm(v + "head.layernorm", a))))
        picture = {"last_hidden_state": x, "pooler_output": a[:, 0]}

        config = dict(layer_norm_eps=EPS, hidden_size=WIDTH, num_attention_heads=HEADS, num_hidden_layers=LAYERS, intermediate_size=INNER)
        texts, pictures = {**config, "vocab_size": VOCABULARY, "max_position_embeddings": 9}, {**config, "image_size": 14, "patch_size": 4}
        given, only = {"input_ids": ids, "attention_mask": real}, {n: m for n, m in w.named.items() if n.startswith(v)}
        self.model("siglip, text", {n: m for n, m in w.named.items() if n.startswith(t)}, given, text, rows=real > 0, model_type="siglip_text_model", architectures=["SiglipTextModel"], id2label=None, **texts)
        self.model("siglip, picture", only, {"pixel_values": pixels}, picture, model_type="siglip_vision_model", architectures=["SiglipVisionModel"], id2label=None, **pictures)
        headless = {n: m for n, m in only.items() if ".head." not in n}
        self.model("siglip, squares", headless, {"pixel_values": pixels}, {"last_hidden_state": x}, model_type="siglip_vision_model", architectures=["SiglipVisionModel"], id2label=None, vision_use_head=False, **pictures)
        e, f = (y / np.sqrt((y ** 2).sum(-1, keepdims=True)) for y in (text["pooler_output"], picture["pooler_output"]))
        pairs = e @ f.T * np.exp(r.named["logit_scale"]) + r.named["logit_bias"]
        none = dict.fromkeys(config)
        self.model("siglip", both, {**given, "pixel_values": pixels}, {"logits_per_text": pairs, "logits_per_image": pairs.T, "text_embeds": e, "image_embeds": f}, model_type="siglip", architectures=["SiglipModel"],
                   text_config=texts, vision_config=pictures, id2label=None, **none)
        more = self.extra(classifier=(CLASSES, WIDTH))
        self.model("siglip, classes", {**only, **more}, {"pixel_values": pixels}, {"logits": Reference(more).linear("classifier", x.mean(1))}, model_type="siglip", architectures=["SiglipForImageClassification"],
                   text_config=texts, vision_config=pictures, **none)

    def dinov2(self, kind, prefix, registers, gated, pixels):
        at, e = kind + ".encoder.layer.%d.", kind + ".embeddings."
        names = {"q": "attention.attention.query", "k": "attention.attention.key", "v": "attention.attention.value", "o": "attention.output.dense"}
        w, inner = Weights(self.work, 42), 64 if gated else 96
        w.table(e + "cls_token", 1, 1, WIDTH)
        w.table(e + "position_embeddings", 1, 3 * 3 + 1, WIDTH)
        w.table(e + "mask_token", 1, WIDTH)
        w.linear(e + "patch_embeddings.projection", WIDTH, 3, 4, 4)
        if registers:
            w.table(e + "register_tokens", 1, registers, WIDTH)
        for i in range(LAYERS):
            for n in "qkvo":
                w.linear(at % i + names[n], WIDTH, WIDTH)
            for n in ("1", "2"):
                w.norm(at % i + "norm" + n, WIDTH)
                w.table(at % i + "layer_scale%s.lambda1" % n, WIDTH)
            w.linear(at % i + ("mlp.weights_in" if gated else "mlp.fc1"), 2 * inner if gated else inner, WIDTH)
            w.linear(at % i + ("mlp.weights_out" if gated else "mlp.fc2"), WIDTH, inner)
        w.norm(kind + ".layernorm", WIDTH)
        w.linear("classifier", CLASSES, 2 * WIDTH)
        r = Reference(w.named)

        rows, columns = pixels.shape[2] // 4, pixels.shape[3] // 4
        place = r.named[e + "position_embeddings"]
        stretch = smooth if registers else lambda new, old: families.cubic(new, old, new / old)
        grid = np.einsum("ri,sj,ijc->rsc", stretch(rows, 3), stretch(columns, 3), place[0, 1:].reshape(3, 3, WIDTH)).reshape(1, -1, WIDTH)
        x = patches(r, e + "patch_embeddings.projection", pixels, 4, 4) + grid
        first = np.repeat(r.named[e + "cls_token"] + place[:, :1], len(x), 0)
        x = np.concatenate([first] + ([np.repeat(r.named[e + "register_tokens"], len(x), 0)] if registers else []) + [x], 1)
        for i in range(LAYERS):
            scale = [r.named[at % i + "layer_scale%d.lambda1" % j] for j in (1, 2)]
            x = x + heads_of(r, at % i, names, r.norm(at % i + "norm1", x)) * scale[0]
            h = r.norm(at % i + "norm2", x)
            if gated:
                g, u = np.split(r.linear(at % i + "mlp.weights_in", h), 2, -1)
                h = r.linear(at % i + "mlp.weights_out", silu(g) * u)
            else:
                h = r.linear(at % i + "mlp.fc2", gelu(r.linear(at % i + "mlp.fc1", h)))
            x = x + h * scale[1]
        x = r.norm(kind + ".layernorm", x)
        logits = r.linear("classifier", np.concatenate([x[:, 0], x[:, 1 + registers:].mean(1)], -1))
        what = "%s%s, %d by %d" % (kind, ", gated" if gated else "", rows, columns)
        config = dict(model_type=kind, image_size=12, patch_size=4, mlp_ratio=4, use_swiglu_ffn=gated, intermediate_size=None, **({"num_register_tokens": registers} if registers else {}))
        self.model(what, w.named, {"pixel_values": pixels}, {"logits": logits, "last_hidden_state": x}, architectures=[prefix + "ForImageClassification"], **config)
        if not gated:
            bare = {n: m for n, m in w.named.items() if n.startswith(kind)}
            self.model(what + ", bare", bare, {"pixel_values": pixels}, {"pooler_output": x[:, 0], "last_hidden_state": x}, architectures=[prefix + "Model"], **config)

    def test_dinov2(self):
        for gated, size in ((False, (12, 12)), (True, (20, 9)), (False, (8, 24))):
            pixels = self.random.standard_normal((2, 3, *size)).astype(np.float32)
            self.dinov2("dinov2", "Dinov2", 0, gated, pixels)
            self.dinov2("dinov2_with_registers", "Dinov2WithRegisters", 2, gated, pixels)

    def test_audio_spectrogram_transformer(self):
        names = {"q": "attention.attention.query", "k": "attention.attention.key", "v": "attention.attention.value", "o": "attention.output.dense", "up": "intermediate.dense", "down": "output.dense",
                 "norm1": "layernorm_before", "norm2": "layernorm_after"}
        w, at = Weights(self.work, 43), "audio_spectrogram_transformer."
        e = at + "embeddings."
        for n, rows in (("cls_token", 1), ("distillation_token", 1), ("position_embeddings", 4 * 3 + 2)):
            w.table(e + n, 1, rows, WIDTH)
        w.linear(e + "patch_embeddings.projection", WIDTH, 1, 4, 4)
        weigh(w, at + "encoder.layer.%d.", names)
        w.norm(at + "layernorm", WIDTH)
        wave = self.random.standard_normal((2, 12, 10)).astype(np.float32)
        r = Reference(w.named)
        kernel = r.named[e + "patch_embeddings.projection.weight"][:, 0]
        cut = [[wave[:, 3 * j:3 * j + 4, 2 * i:2 * i + 4] for j in range(3)] for i in range(4)]
        x = np.stack([np.einsum("btf,cft->bc", c, kernel) for row in cut for c in row], 1) + r.named[e + "patch_embeddings.projection.bias"]
        x = np.concatenate([np.repeat(r.named[e + n], 2, 0) for n in ("cls_token", "distillation_token")] + [x], 1) + r.named[e + "position_embeddings"]
        for i in range(LAYERS):
            x = layer(r, at + "encoder.layer.%d." % i, names, x, first=True)
        x = r.norm(at + "layernorm", x)
        pooled, more = (x[:, 0] + x[:, 1]) / 2, self.extra(classifier__layernorm=(WIDTH,), classifier__dense=(CLASSES, WIDTH))
        head = Reference(more)
        config = dict(model_type="audio-spectrogram-transformer", patch_size=4, frequency_stride=2, time_stride=3, max_length=12, num_mel_bins=10)
        self.model("ast", w.named, {"input_values": wave}, {"last_hidden_state": x, "pooler_output": pooled}, architectures=["ASTModel"], **config)
        self.model("ast, classes", {**w.named, **more}, {"input_values": wave}, {"logits": head.linear("classifier.dense", head.norm("classifier.layernorm", pooled))}, architectures=["ASTForAudioClassification"], **config)

    #--- sound ---

    def sound(self, kind, prefix, norm="group", first=False, normed=True, batched=False, stacked=0):
        names = {"q": "attention.q_proj", "k": "attention.k_proj", "v": "attention.v_proj", "o": "attention.out_proj", "up": "feed_forward.intermediate_dense", "down": "feed_forward.output_dense",
                 "norm1": "layer_norm", "norm2": "final_layer_norm"}
        at, taps, strides, channels, groups, reach = kind.replace("-", "_") + ".", (5, 3), (3, 2), (6, 8), 2, 5 if stacked else 4
        w, place = Weights(self.work, 51), at + "encoder.pos_conv_embed."
        for i in range(2):
            w.linear(at + "feature_extractor.conv_layers.%d.conv" % i, channels[i], channels[i - 1] if i else 1, taps[i], bias=norm == "layer")
            if norm == "layer" or i == 0:
                w.norm(at + "feature_extractor.conv_layers.%d.layer_norm" % i, channels[i])
        if normed:
            w.norm(at + "feature_projection.layer_norm", channels[1])
        w.linear(at + "feature_projection.projection", WIDTH, channels[1])
        for i in range(stacked):
            w.linear(place + "layers.%d.conv" % i, WIDTH, WIDTH // groups, reach)
        if not stacked:
            w.linear(place + "conv", WIDTH, WIDTH // groups, reach)
            if batched:
                w.norm(place + "batch_norm", WIDTH)
                w.table(place + "batch_norm.running_mean", WIDTH)
                w.named[place + "batch_norm.running_var"] = (0.5 + w.random.random(WIDTH)).astype(np.float32)
            else:
                w.table(place + "conv.parametrizations.weight.original0", 1, 1, reach)
                w.named[place + "conv.parametrizations.weight.original1"] = w.named.pop(place + "conv.weight")
        weigh(w, at + "encoder.layers.%d.", names)
        w.norm(at + "encoder.layer_norm", WIDTH)
        r = Reference(w.named)

        wave, real = self.random.standard_normal((2, 40)).astype(np.float32), np.ones((2, 40), np.int64)
        real[1, 29:] = 0
        x, length = wave[:, :, None].astype(np.float64), real.sum(1)
        for i in range(2):
            n = at + "feature_extractor.conv_layers.%d." % i
            x, length = convolved(r, n + "conv", x, strides[i]), (length - taps[i]) // strides[i] + 1
            if norm == "group" and i == 0:
                x = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + EPS) * r.named[n + "layer_norm.weight"] + r.named[n + "layer_norm.bias"]
            x = gelu(r.norm(n + "layer_norm", x) if norm == "layer" else x)
        heard = np.arange(x.shape[1]) < length[:, None]
        x = r.linear(at + "feature_projection.projection", r.norm(at + "feature_projection.layer_norm", x) if normed else x) * heard[:, :, None]
        p, same = x, lambda y: np.pad(y, ((0, 0), (reach // 2, reach // 2), (0, 0)))
        for i in range(stacked):
            p = gelu(families.normed(convolved(r, place + "layers.%d.conv" % i, same(p), groups=groups)))
        if batched:
            b = {n: r.named[place + "batch_norm." + n] for n in ("weight", "bias", "running_mean", "running_var")}
            p = (p - b["running_mean"]) / np.sqrt(b["running_var"] + EPS) * b["weight"] + b["bias"]
        elif not stacked:
            d = r.named[place + "conv.parametrizations.weight.original1"]
            r.named[place + "conv.weight"] = d * r.named[place + "conv.parametrizations.weight.original0"] / np.sqrt((d ** 2).sum((0, 1), keepdims=True))
        p = p if stacked else gelu(convolved(r, place + "conv", same(p), groups=groups)[:, :x.shape[1]])
        x = x + p if first else r.norm(at + "encoder.layer_norm", x + p)
        for i in range(LAYERS):
            x = layer(r, at + "encoder.layers.%d." % i, names, x, heard[:, None, None], first=first)
        x = r.norm(at + "encoder.layer_norm", x) if first else x

        given = {"input_values": wave, "attention_mask": real}
        config = dict(model_type=kind, feat_extract_norm=norm, do_stable_layer_norm=first, conv_dim=channels, conv_kernel=taps, conv_stride=strides, conv_bias=norm == "layer", num_conv_pos_embeddings=stacked or reach,
                      num_conv_pos_embedding_groups=groups, vocab_size=7, classifier_proj_size=5, **({"conv_pos_kernel_size": reach} if stacked else {}),
                      **({"feat_proj_layer_norm": normed, "conv_pos_batch_norm": batched} if kind == "hubert" else {}))
        letters, kinds = self.extra(lm_head=(7, WIDTH)), self.extra(projector=(5, WIDTH), classifier=(CLASSES, 5))
        mean = (Reference(kinds).linear("projector", x) * heard[:, :, None]).sum(1) / length[:, None]
        for name, more, result in (("Model", {}, {"last_hidden_state": x}), ("ForCTC", letters, {"logits": Reference(letters).linear("lm_head", x)}),
                                   ("ForSequenceClassification", kinds, {"logits": Reference(kinds).linear("classifier", mean)})):
            what = "%s %s%s%s" % (kind, name, ", stable" * first, ", other options" * (batched or not normed))
            self.model(what, {**w.named, **more}, given, result, rows=heard, architectures=[prefix + name], **{"id2label": {str(i): str(i) for i in range(CLASSES)}, **config})

    def test_hubert(self):
        self.sound("hubert", "Hubert")
        self.sound("hubert", "Hubert", norm="layer", first=True)
        self.sound("hubert", "Hubert", normed=False, batched=True)

    def test_data2vec_audio(self):
        self.sound("data2vec-audio", "Data2VecAudio", norm="layer", stacked=3)

    def test_unispeech(self):
        self.sound("unispeech-sat", "UniSpeechSat")
        self.sound("unispeech", "UniSpeech", norm="layer", first=True)


def main():
    names = [n[5:] for n in vars(Suite) if n.startswith("test_")]
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--heddle", required=True)
    p.add_argument("--only", help=", ".join(names))
    p.add_argument("--families", help="a folder of family files that heddle asks before its own")
    o = p.parse_args()
    with tempfile.TemporaryDirectory(prefix="heddle-encoders-") as work:
        suite = Suite(os.path.abspath(o.heddle), work, o.families)
        for name in names:
            if o.only in (None, name):
                getattr(suite, "test_" + name)()
    return finish()


if __name__ == "__main__":
    sys.exit(main())
