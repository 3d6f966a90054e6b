#!/usr/bin/python3
"""Encoders of pictures and of spectrograms, alone and beside a text, that were written from the published code alone, against numpy.

    picture_families.py --heddle BIN [--only NAME] [--families DIR]

Small models with random weights, as in encoder_families.py; pictures of the size of training and of others, where the published code takes
them. One line a failure, then `N passed, N failed`."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import encoder_families
from encoder_families import CLASSES, LAYERS, heads_of, layer, weigh
from families import INNER, VOCABULARY, WIDTH
from random_weights import Weights
from reference import EPS, HEADS, Reference, attention, cubic, gelu, gelu_tanh, sigmoid, silu
from suite import run


VIT = {"q": "attention.attention.query", "k": "attention.attention.key", "v": "attention.attention.value", "o": "attention.output.dense", "up": "intermediate.dense", "down": "output.dense",
       "norm1": "layernorm_before", "norm2": "layernorm_after"}


def smooth(new, old):
    """[new, old]: what torch's bicubic interpolation with antialias does: a = -1/2, a bell as wide as the grid shrinks, normed"""
    matrix, scale = np.zeros((new, old)), old / new
    for i in range(new):
        for j in range(old):
            d = abs((i + 0.5) * scale - j - 0.5) / max(scale, 1)
            matrix[i, j] = 1.5 * d ** 3 - 2.5 * d ** 2 + 1 if d <= 1 else -0.5 * d ** 3 + 2.5 * d ** 2 - 4 * d + 2 if d < 2 else 0
    return matrix / matrix.sum(1, keepdims=True)


class Suite(encoder_families.Suite):
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
        x = r.patches(v + "embeddings.patch_embedding", pixels, 4, 4) + r.named[v + "embeddings.position_embedding.weight"]
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
        stretch = smooth if registers else lambda new, old: cubic(new, old, new / old)
        grid = np.einsum("ri,sj,ijc->rsc", stretch(rows, 3), stretch(columns, 3), place[0, 1:].reshape(3, 3, WIDTH)).reshape(1, -1, WIDTH)
        x = r.patches(e + "patch_embeddings.projection", pixels, 4, 4) + grid
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
        w, at = Weights(self.work, 43), "audio_spectrogram_transformer."
        e = at + "embeddings."
        for n, rows in (("cls_token", 1), ("distillation_token", 1), ("position_embeddings", 4 * 3 + 2)):
            w.table(e + n, 1, rows, WIDTH)
        w.linear(e + "patch_embeddings.projection", WIDTH, 1, 4, 4)
        weigh(w, at + "encoder.layer.%d.", VIT)
        w.norm(at + "layernorm", WIDTH)
        wave = self.random.standard_normal((2, 12, 10)).astype(np.float32)
        r = Reference(w.named)
        kernel = r.named[e + "patch_embeddings.projection.weight"][:, 0]
        cut = [[wave[:, 3 * j:3 * j + 4, 2 * i:2 * i + 4] for j in range(3)] for i in range(4)]
        x = np.stack([np.einsum("btf,cft->bc", c, kernel) for row in cut for c in row], 1) + r.named[e + "patch_embeddings.projection.bias"]
        x = np.concatenate([np.repeat(r.named[e + n], 2, 0) for n in ("cls_token", "distillation_token")] + [x], 1) + r.named[e + "position_embeddings"]
        for i in range(LAYERS):
            x = layer(r, at + "encoder.layer.%d." % i, VIT, x, first=True)
        x = r.norm(at + "layernorm", x)
        pooled, more = (x[:, 0] + x[:, 1]) / 2, self.extra(classifier__layernorm=(WIDTH,), classifier__dense=(CLASSES, WIDTH))
        head = Reference(more)
        config = dict(model_type="audio-spectrogram-transformer", patch_size=4, frequency_stride=2, time_stride=3, max_length=12, num_mel_bins=10)
        self.model("ast", w.named, {"input_values": wave}, {"last_hidden_state": x, "pooler_output": pooled}, architectures=["ASTModel"], **config)
        self.model("ast, classes", {**w.named, **more}, {"input_values": wave}, {"logits": head.linear("classifier.dense", head.norm("classifier.layernorm", pooled))}, architectures=["ASTForAudioClassification"], **config)

    def test_vit_msn(self):
        w, e = Weights(self.work, 44), "vit.embeddings."
        w.table(e + "cls_token", 1, 1, WIDTH)
        w.table(e + "position_embeddings", 1, 10, WIDTH)
        w.linear(e + "patch_embeddings.projection", WIDTH, 3, 4, 4)
        weigh(w, "vit.encoder.layer.%d.", VIT)
        w.norm("vit.layernorm", WIDTH)
        r, more = Reference(w.named), self.extra(classifier=(CLASSES, WIDTH))
        pixels = self.random.standard_normal((2, 3, 12, 12)).astype(np.float32)
        x = np.concatenate([np.repeat(r.named[e + "cls_token"], 2, 0), r.patches(e + "patch_embeddings.projection", pixels, 4, 4)], 1) + r.named[e + "position_embeddings"]
        for i in range(LAYERS):
            x = layer(r, "vit.encoder.layer.%d." % i, VIT, x, first=True)
        x, config = r.norm("vit.layernorm", x), dict(model_type="vit_msn", image_size=12, patch_size=4)
        self.model("vit_msn", w.named, {"pixel_values": pixels}, {"last_hidden_state": x}, architectures=["ViTMSNModel"], **config)
        self.model("vit_msn, classes", {**w.named, **more}, {"pixel_values": pixels}, {"logits": Reference(more).linear("classifier", x[:, 0])}, architectures=["ViTMSNForImageClassification"], **config)

    def beit(self, what, kind="beit", shared=False, near=True, placed=False, scaled=True, averaged=True, masked=False):
        top, prefix = ("beit.", "Beit") if kind == "beit" else ("data2vec_vision.", "Data2VecVision")
        w, e, n = Weights(self.work, 45), top + "embeddings.", 3
        table = "relative_position_bias.relative_position_bias_table"
        w.table(e + "cls_token", 1, 1, WIDTH)
        w.linear(e + "patch_embeddings.projection", WIDTH, 3, 4, 4)
        if placed:
            w.table(e + "position_embeddings", 1, n * n + 1, WIDTH)
        if masked:
            w.table(e + "mask_token", 1, 1, WIDTH)
        if shared:
            w.table(top + "encoder." + table, (2 * n - 1) ** 2 + 3, HEADS)
        weigh(w, top + "encoder.layer.%d.", VIT)
        for i in range(LAYERS):
            at = top + "encoder.layer.%d." % i
            del w.named[at + VIT["k"] + ".bias"]
            for l in ("lambda_1", "lambda_2") if scaled else ():
                w.table(at + l, WIDTH)
            if near and not shared:
                w.table(at + "attention.attention." + table, (2 * n - 1) ** 2 + 3, HEADS)
        if not masked:
            w.norm(top + "pooler.layernorm" if averaged else top + "layernorm", WIDTH)
        r = Reference(w.named)

        count, index = (2 * n - 1) ** 2 + 3, np.zeros((n * n + 1,) * 2, np.int64)
        for i in range(n * n):
            for j in range(n * n):
                index[i + 1, j + 1] = (i // n - j // n + n - 1) * (2 * n - 1) + i % n - j % n + n - 1
        index[0], index[:, 0], index[0, 0] = count - 3, count - 2, count - 1
        pixels, hidden = self.random.standard_normal((2, 3, 12, 12)).astype(np.float32), self.random.random((2, n * n)) < 0.4
        x = r.patches(e + "patch_embeddings.projection", pixels, 4, 4)
        x = np.where(hidden[:, :, None], r.named[e + "mask_token"], x) if masked else x
        x = np.concatenate([np.repeat(r.named[e + "cls_token"], 2, 0), x], 1) + (r.named[e + "position_embeddings"] if placed else 0)
        for i in range(LAYERS):
            at = top + "encoder.layer.%d." % i
            bias = r.named[top + "encoder." + table if shared else at + "attention.attention." + table][index].transpose(2, 0, 1) if near else 0.0
            scale = [r.named[at + l] if scaled else 1 for l in ("lambda_1", "lambda_2")]
            x = x + heads_of(r, at, VIT, r.norm(at + VIT["norm1"], x), bias=bias) * scale[0]
            x = x + r.linear(at + VIT["down"], gelu(r.linear(at + VIT["up"], r.norm(at + VIT["norm2"], x)))) * scale[1]
        config = dict(model_type=kind, image_size=12, patch_size=4, use_mask_token=masked, use_absolute_position_embeddings=placed, use_relative_position_bias=near and not shared, use_shared_relative_position_bias=shared,
                      layer_scale_init_value=0.1 if scaled else 0, use_mean_pooling=averaged, vocab_size=VOCABULARY)
        if masked:
            more = self.extra(layernorm=(WIDTH,), lm_head=(VOCABULARY, WIDTH))
            h = Reference(more)
            self.model(what, {**w.named, **more}, {"pixel_values": pixels, "bool_masked_pos": hidden}, {"logits": h.linear("lm_head", h.norm("layernorm", x[:, 1:]))}, architectures=["BeitForMaskedImageModeling"], **config)
            return
        x = x if averaged else r.norm(top + "layernorm", x)
        pooled, more = r.norm(top + "pooler.layernorm", x[:, 1:].mean(1)) if averaged else x[:, 0], self.extra(classifier=(CLASSES, WIDTH))
        bare = {"last_hidden_state": x, **({"pooler_output": pooled} if kind == "beit" else {})}
        self.model(what, {m: v for m, v in w.named.items() if kind == "beit" or ".pooler." not in m}, {"pixel_values": pixels}, bare, architectures=[prefix + "Model"], **config)
        self.model(what + ", classes", {**w.named, **more}, {"pixel_values": pixels}, {"logits": Reference(more).linear("classifier", pooled)}, architectures=[prefix + "ForImageClassification"], **config)

    def test_beit(self):
        self.beit("beit")
        self.beit("beit, other options", near=False, placed=True, scaled=False, averaged=False)
        self.beit("beit, masked", shared=True, masked=True)
        self.beit("data2vec-vision", "data2vec-vision")

    def test_yolos(self):
        for between, size in ((False, (8, 12)), (True, (16, 8))):
            w, e, things, rows, columns = Weights(self.work, 46), "vit.embeddings.", 3, 2, 3
            for n, count in (("cls_token", 1), ("detection_tokens", things), ("position_embeddings", rows * columns + things + 1)):
                w.table(e + n, 1, count, WIDTH)
            w.linear(e + "patch_embeddings.projection", WIDTH, 3, 4, 4)
            weigh(w, "vit.encoder.layer.%d.", VIT)
            if between:
                w.table("vit.encoder.mid_position_embeddings", LAYERS - 1, 1, rows * columns + things + 1, WIDTH)
            w.norm("vit.layernorm", WIDTH)
            r, high, wide = Reference(w.named), size[0] // 4, size[1] // 4

            def stretched(p):
                grid = np.einsum("ri,sj,ijc->rsc", cubic(high, rows, high / rows), cubic(wide, columns, wide / columns), p[0, 1:-things].reshape(rows, columns, WIDTH))
                return np.concatenate([p[:, :1], grid.reshape(1, -1, WIDTH), p[:, -things:]], 1)

            pixels = self.random.standard_normal((2, 3, *size)).astype(np.float32)
            x = np.concatenate([np.repeat(r.named[e + "cls_token"], 2, 0), r.patches(e + "patch_embeddings.projection", pixels, 4, 4), np.repeat(r.named[e + "detection_tokens"], 2, 0)], 1)
            x = x + stretched(r.named[e + "position_embeddings"])
            for i in range(LAYERS):
                x = layer(r, "vit.encoder.layer.%d." % i, VIT, x, first=True)
                x = x + stretched(r.named["vit.encoder.mid_position_embeddings"][i]) if between and i < LAYERS - 1 else x
            x = r.norm("vit.layernorm", x)
            more = self.extra(**{"%s.layers.%d" % (n, i): (out if i == 2 else WIDTH, WIDTH) for n, out in (("class_labels_classifier", CLASSES + 1), ("bbox_predictor", 4)) for i in range(3)})
            head, pooler = Reference(more), self.extra(vit__pooler__dense=(WIDTH, WIDTH))
            deep = lambda n: head.linear(n + "2", np.maximum(head.linear(n + "1", np.maximum(head.linear(n + "0", x[:, -things:]), 0)), 0))
            config = dict(model_type="yolos", image_size=[8, 12], patch_size=4, num_detection_tokens=things, use_mid_position_embeddings=between)
            what = "yolos %d by %d" % (high, wide)
            self.model(what, {**w.named, **more}, {"pixel_values": pixels}, {"logits": deep("class_labels_classifier.layers."), "pred_boxes": sigmoid(deep("bbox_predictor.layers."))},
                       architectures=["YolosForObjectDetection"], **config)
            self.model(what + ", bare", {**w.named, **pooler}, {"pixel_values": pixels}, {"last_hidden_state": x, "pooler_output": np.tanh(Reference(pooler).linear("vit.pooler.dense", x[:, 0]))}, architectures=["YolosModel"], **config)


if __name__ == "__main__":
    sys.exit(run(Suite, __doc__))
