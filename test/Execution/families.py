#!/usr/bin/python3
"""Options of published models that few checkpoints use, against numpy: small models with random weights.

    families.py --heddle BIN [--only NAME]

Pictures that are not square (vit, deit, vilt), masks by query and positions that are given (bert and its kin), global tokens that are
given (longformer), kinds of tokens that are given (big_bird), norms of single heads (stablelm), texts shorter than the distances
that a table has (deberta). All are interpreted; vit, stablelm and deberta are compiled too. One line a failure, then `N passed, N failed`."""
import json
import math
import os
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
from checks import check
from random_weights import Weights
from reference import EPS, HEADS, Reference, attention, by_heads, causal, corners, cubic, gelu, layer_norm, rotary, silu
import suite

WIDTH, INNER, VOCABULARY = 24, 40, 30


SIZES = {"hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": HEADS, "intermediate_size": INNER, "layer_norm_eps": EPS}


#--- models ------------------------------------------------------------------


def write(folder, named, **config):
    return suite.write(folder, named, **{**SIZES, **config})


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


class Suite(suite.Suite):
    usual = SIZES

    def test_vit(self):
        w, e = Weights(self.work, 1), "vit.embeddings."
        w.table(e + "cls_token", 1, 1, WIDTH)
        w.table(e + "position_embeddings", 1, 3 * 4 + 1, WIDTH)
        w.linear(e + "patch_embeddings.projection", WIDTH, 3, 4, 5)
        layers(w, "vit.encoder.layer.", SEEING, ["layernorm_before", "layernorm_after"])
        w.norm("vit.layernorm", WIDTH)
        w.linear("classifier", 3, WIDTH)
        folder = self.write("vit", w.named, model_type="vit", architectures=["ViTForImageClassification"], image_size=[12, 20], patch_size=[4, 5],
                            id2label={str(i): "c%d" % i for i in range(3)})
        r = Reference(w.named)

        def expected(pixels):
            rows, columns = pixels.shape[2] // 4, pixels.shape[3] // 5
            place = r.named[e + "position_embeddings"]
            if (rows, columns) != (3, 4):
                grid = place[0, 1:].reshape(3, 4, WIDTH)
                grid = np.einsum("ri,sj,ijc->rsc", cubic(rows, 3, (rows + 0.1) / 3), cubic(columns, 4, (columns + 0.1) / 4), grid)
                place = np.concatenate([place[:, :1], grid.reshape(1, -1, WIDTH)], 1)
            x = r.patches(e + "patch_embeddings.projection", pixels, 4, 5)
            x = np.concatenate([np.repeat(r.named[e + "cls_token"], len(x), 0), x], 1) + place
            x = r.norm("vit.layernorm", seen(r, "vit.encoder.layer.", x))
            return {"last_hidden_state": x, "logits": r.linear("classifier", x[:, 0])}

        pixels, other = self.random.standard_normal((2, 3, 12, 20)).astype(np.float32), self.random.standard_normal((2, 3, 17, 30)).astype(np.float32)
        self.same("vit, 12 by 20", self.interpreted("vit", folder, {"pixel_values": pixels}), **expected(pixels))
        for picture in (pixels, other):
            self.same("vit, resized", self.interpreted("vit, resized", folder, {"pixel_values": picture}, "--set", "resized=true"), **expected(picture))
        binary = self.compiled("vit", folder)
        if binary:
            self.same("vit, compiled", self.ran("vit", binary, {"pixel_values": pixels}), logits=expected(pixels)["logits"])
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
        folder = self.write("deit", w.named, model_type="deit", architectures=["DeiTForImageClassificationWithTeacher"], image_size=[8, 12], patch_size=4,
                            id2label={str(i): "c%d" % i for i in range(3)})
        r, pixels = Reference(w.named), self.random.standard_normal((2, 3, 8, 12)).astype(np.float32)
        x = r.patches(e + "patch_embeddings.projection", pixels, 4, 4)
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
        folder = self.write("vilt", w.named, model_type="vilt", architectures=["ViltModel"], image_size=[8, 18], patch_size=[4, 6], vocab_size=VOCABULARY,
                            type_vocab_size=2, max_position_embeddings=12, modality_type_vocab_size=2, max_image_length=-1)
        r = Reference(w.named)
        pixels, ids = self.random.standard_normal((2, 3, 12, 24)).astype(np.float32), self.random.integers(0, VOCABULARY, (2, 5))
        real = np.zeros((2, 12, 24), np.int64)
        real[0], real[1, :8, :18] = 1, 1
        text = embedded(r, e + "text_", ids, np.arange(5), np.zeros_like(ids))
        grid, places = r.named[e + "position_embeddings"][0, 1:].reshape(2, 3, WIDTH), []
        for h, v in ((3, 4), (2, 3)):
            places.append(np.einsum("ri,sj,ijc->rsc", corners(h, 2, 3), corners(v, 3, 4), grid).reshape(-1, WIDTH))
        x = r.patches(e + "patch_embeddings.projection", pixels, 4, 6) + np.stack(places)
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
        return self.write(kind, w.named, **config), Reference(w.named)

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
        self.by_query("roformer", self.write("roformer", w.named, model_type="roformer", architectures=["RoFormerModel"], vocab_size=VOCABULARY, embedding_size=WIDTH,
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
        self.by_query("albert", self.write("albert", w.named, model_type="albert", architectures=["AlbertModel"], vocab_size=VOCABULARY, embedding_size=WIDTH,
                                           max_position_embeddings=14, type_vocab_size=2), ids, keys)

    def test_longformer(self):
        names = READING[:3] + [n + "_global" for n in READING[:3]] + READING[3:]

        def more(w):
            w.linear("qa_outputs", 2, WIDTH)

        w = Weights(self.work, 8)
        embeddings(w, "longformer.", 20)
        layers(w, "longformer.encoder.layer.", names, READING_NORMS)
        more(w)
        folder = self.write("longformer", w.named, model_type="longformer", architectures=["LongformerForQuestionAnswering"], vocab_size=VOCABULARY,
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
        plain = self.write("big_bird", w.named, **config)
        swapped = self.write("big_bird_swapped", {**w.named, kinds: w.named[kinds][::-1].copy()}, **config)
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
        folder = self.write("stablelm", w.named, model_type="stablelm", architectures=["StableLmForCausalLM"], vocab_size=VOCABULARY, hidden_size=width,
                            num_key_value_heads=kv, qk_layernorm=True, use_parallel_residual=True, partial_rotary_factor=0.5, max_position_embeddings=64, tie_word_embeddings=False, eos_token_id=0)
        r = Reference(w.named)

        def turned(x, heads, at, name):
            weights = np.stack([r.named["%sself_attn.%s_layernorm.norms.%d.weight" % (at, name, h)] for h in range(heads)])
            return rotary(layer_norm(x.reshape(*x.shape[:2], heads, head), weights).reshape(x.shape), heads, part=0.5)

        def logits(ids):
            x = r.named["model.embed_tokens.weight"][ids]
            for i in range(2):
                at = "model.layers.%d." % i
                h = r.norm(at + "input_layernorm", x)
                q, k, v = (r.linear("%sself_attn.%s_proj" % (at, n), h) for n in "qkv")
                a = attention(turned(q, HEADS, at, "q"), turned(k, kv, at, "k"), v, causal(np.ones_like(ids)))
                f = silu(r.linear(at + "mlp.gate_proj", h)) * r.linear(at + "mlp.up_proj", h)
                x = x + r.linear(at + "self_attn.o_proj", a) + r.linear(at + "mlp.down_proj", f)
            return r.linear("lm_head", r.norm("model.norm", x))

        ids = self.random.integers(1, VOCABULARY, (2, 7))
        self.same("stablelm", self.interpreted("stablelm", folder, {"input_ids": ids}), logits=logits(ids))
        binary = self.compiled("stablelm", folder, "--cache=require")
        self.generates("stablelm", binary, ids, logits)

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
            folder, r = self.write("deberta " + what, w.named, **config), Reference(w.named)

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
                    self.same(case + ", compiled", self.ran(case, binary, given), rows=real > 0, last_hidden_state=x)


if __name__ == "__main__":
    sys.exit(suite.run(Suite, __doc__))
