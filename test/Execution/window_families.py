#!/usr/bin/python3
"""Encoders of pictures in windows, of films and of pictures under rotary positions, written from the published code alone, against numpy.

    window_families.py --heddle BIN [--only NAME] [--families DIR]

Small models with random weights, as in picture_families.py. Each is interpreted; three are compiled too. One line a failure, then
`N passed, N failed`."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import encoder_families
import reference
from encoder_families import CLASSES, LAYERS, layer, weigh
from families import INNER, WIDTH, write
from picture_families import VIT
from random_weights import Weights
from reference import attention, by_heads, cubic, gelu, joined, rotary, sigmoid, silu, softmax
from suite import run


class Reference(reference.Reference):
    """eps is the model's own, but 1e-5 in norms whose names end like one of others"""

    def __init__(self, named, eps=0.02, others=()):
        super().__init__(named, eps)
        self.others = others

    def norm(self, name, x, eps=None):
        return super().norm(name, x, 1e-5 if name.endswith(self.others) else eps)


def in_windows(x, side, shift, attend):
    """x [B, rows, columns, d]: what attend gives for the squares of each window; the windows begin at shift, and at 0 what is left"""
    row, column, y = (np.arange(x.shape[1]) - shift) // side, (np.arange(x.shape[2]) - shift) // side, np.zeros_like(x)
    for i in np.unique(row):
        for j in np.unique(column):
            r, c = np.ix_(np.flatnonzero(row == i), np.flatnonzero(column == j))
            cut = x[:, r, c]
            places = np.stack(np.broadcast_arrays(r, c), -1).reshape(-1, 2)
            y[:, r, c] = attend(cut.reshape(len(x), -1, x.shape[-1]), places[:, None] - places[None]).reshape(cut.shape)
    return y


def scored(q, k, v, heads, score):
    """score: of q and k by heads, with what is added"""
    s = score(by_heads(q, heads), by_heads(k, heads))
    return joined(softmax(s) @ by_heads(v, heads))


def filled(x, multiple):
    """zeros below and on the right, up to whole multiples"""
    return np.pad(x, ((0, 0), (0, -x.shape[1] % multiple), (0, -x.shape[2] % multiple), (0, 0)))


class Suite(encoder_families.Suite):
    def tried(self, what, named, given, expected, states=(), compiled=False, options=(), **config):
        """states: the hidden states, which a compiled model is not asked for"""
        folder = write(os.path.join(self.work, what.replace(" ", "-")), named, **{"id2label": {str(i): "c%d" % i for i in range(CLASSES)}, "layer_norm_eps": 0.02, **config})
        self.same(what, self.interpreted(what, folder, given, *options), **expected, **{"hidden_states.%d" % i: h for i, h in enumerate(states)})
        binary = self.compiled(what, folder) if compiled else None
        if binary:
            self.same(what + ", compiled", self.call(what, [binary, "run", "--input", "IN", "--output", "OUT"], given), **expected)

    def swin(self, what, second, size, side, depths=(2, 2, 2), biased=True, act=gelu, trained=(0, 0, 0), masked=False, compiled=False):
        width, heads, top = 8, (2, 4, 2), "swinv2." if second else "swin."
        w, own = Weights(self.work, 51), "attention.self."
        w.linear(top + "embeddings.patch_embeddings.projection", width, 3, 2, 2)
        w.norm(top + "embeddings.norm", width)
        for s, depth in enumerate(depths):
            d, at = width * 2 ** s, top + "encoder.layers.%d." % s
            for i in range(depth):
                block = at + "blocks.%d." % i
                for n in ("query", "key", "value"):
                    w.linear(block + own + n, d, d, bias=biased and not (second and n == "key"))
                w.linear(block + "attention.output.dense", d, d)
                w.linear(block + "intermediate.dense", int(2.5 * d), d)
                w.linear(block + "output.dense", d, int(2.5 * d))
                for n in ("layernorm_before", "layernorm_after"):
                    w.norm(block + n, d)
                if second:
                    w.table(block + own + "logit_scale", heads[s], 1, 1, scale=2.0, mean=3.5)
                    w.linear(block + own + "continuous_position_bias_mlp.0", 512, 2)
                    w.linear(block + own + "continuous_position_bias_mlp.2", heads[s], 512, bias=False)
                else:
                    w.table(block + own + "relative_position_bias_table", (2 * side - 1) ** 2, heads[s])
            if s < len(depths) - 1:
                w.linear(at + "downsample.reduction", 2 * d, 4 * d, bias=False)
                w.norm(at + "downsample.norm", 2 * d if second else 4 * d)
        last = width * 2 ** (len(depths) - 1)
        w.norm(top + "layernorm", last)
        r = Reference(w.named, others=("embeddings.norm", "downsample.norm"))
        pixels = self.random.standard_normal((2, 3, *size)).astype(np.float32)

        x = np.pad(pixels, ((0, 0), (0, 0), (0, size[0] % 2), (0, size[1] % 2)))
        high, wide = x.shape[2] // 2, x.shape[3] // 2
        x = r.norm(top + "embeddings.norm", r.patches(top + "embeddings.patch_embeddings.projection", x, 2, 2)).reshape(2, high, wide, width)
        hidden = self.random.random((2, high * wide)) < (0.4 if masked else 0)
        if masked:
            w.table(top + "embeddings.mask_token", 1, 1, width)
            x = np.where(hidden.reshape(2, high, wide, 1), w.named[top + "embeddings.mask_token"], x)
        states = [x.reshape(2, -1, width)]
        for s, depth in enumerate(depths):
            at, coarse = top + "encoder.layers.%d." % s, size[0] // 2 // 2 ** s
            n = min(side, coarse) if second else side
            for i in range(depth):
                block = at + "blocks.%d." % i

                def attend(h, far):
                    q, k, v = (r.linear(block + own + m, h) for m in ("query", "key", "value"))
                    if second:
                        t = 8 * far / max((trained[s] or n) - 1, 1)
                        t = np.sign(t) * np.log2(np.abs(t) + 1) / 3
                        t = r.linear(block + own + "continuous_position_bias_mlp.2", np.maximum(r.linear(block + own + "continuous_position_bias_mlp.0", t), 0))
                        bias, unit = 16 * sigmoid(t), lambda y: y / np.maximum(np.sqrt((y ** 2).sum(-1, keepdims=True)), 1e-12)
                        scale = np.minimum(np.exp(r.named[block + own + "logit_scale"]), 100)
                        score = lambda q, k: unit(q) @ unit(k).swapaxes(2, 3) * scale + bias.transpose(2, 0, 1)
                    else:
                        bias = r.named[block + own + "relative_position_bias_table"].reshape(2 * side - 1, 2 * side - 1, -1)[far[..., 0] + side - 1, far[..., 1] + side - 1]
                        score = lambda q, k: q @ k.swapaxes(2, 3) / np.sqrt(q.shape[-1]) + bias.transpose(2, 0, 1)
                    return r.linear(block + "attention.output.dense", scored(q, k, v, heads[s], score))

                shift = 0 if i % 2 == 0 or (coarse if second else min(x.shape[1:3])) <= n else side // 2
                before, after = lambda h: r.norm(block + "layernorm_before", h), lambda h: r.norm(block + "layernorm_after", h)
                h = in_windows(filled(x if second else before(x), n), n, shift, attend)[:, :x.shape[1], :x.shape[2]]
                x = x + (before(h) if second else h)
                h = r.linear(block + "output.dense", act(r.linear(block + "intermediate.dense", x if second else after(x))))
                x = x + (after(h) if second else h)
            if s < len(depths) - 1:
                x = filled(x, 2)
                x = np.concatenate([x[:, i::2, j::2] for j in (0, 1) for i in (0, 1)], -1)
                norm, merged = lambda h: r.norm(at + "downsample.norm", h), lambda h: r.linear(at + "downsample.reduction", h)
                x = norm(merged(x)) if second else merged(norm(x))
            states.append(x.reshape(2, -1, x.shape[-1]))
        x = r.norm(top + "layernorm", states[-1])
        more = self.extra(classifier=(CLASSES, last))
        config = dict(model_type=top[:-1], image_size=list(size), patch_size=2, embed_dim=width, depths=list(depths), num_heads=list(heads), window_size=side, mlp_ratio=2.5, qkv_bias=biased, hidden_act="gelu" if act is gelu else "silu",
                      **({"pretrained_window_sizes": list(trained)} if second else {}), **dict.fromkeys(("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")))
        prefix = "Swinv2" if second else "Swin"
        if masked:
            coarse = 2 ** len(depths)
            more = self.extra(decoder__0=(3 * coarse ** 2, last, 1, 1))
            y = x @ more["decoder.0.weight"][:, :, 0, 0].T.astype(np.float64) + more["decoder.0.bias"]
            picture = y.reshape(2, high * 2 // coarse, -1, 3, coarse, coarse).transpose(0, 3, 1, 4, 2, 5).reshape(2, 3, high * 2, -1)
            self.tried(what, {**w.named, **more}, {"pixel_values": pixels, "bool_masked_pos": hidden}, {"reconstruction": picture}, states, architectures=[prefix + "ForMaskedImageModeling"], encoder_stride=coarse, **config)
            return
        self.tried(what, w.named, {"pixel_values": pixels}, {"last_hidden_state": x, "pooler_output": x.mean(1)}, states, architectures=[prefix + "Model"], **config)
        self.tried(what + ", classes", {**w.named, **more}, {"pixel_values": pixels}, {"logits": Reference(more).linear("classifier", x.mean(1)), "last_hidden_state": x}, compiled=compiled,
                   architectures=[prefix + "ForImageClassification"], **config)

    def test_swin(self):
        self.swin("swin", False, (24, 24), 3, compiled=True)
        self.swin("swin, filled up", False, (19, 24), 3, biased=False, act=silu)
        self.swin("swin, windows of 4", False, (32, 48), 4, depths=(3, 2))
        self.swin("swin, masked", False, (24, 24), 3, depths=(2, 1), masked=True)

    def test_swinv2(self):
        self.swin("swinv2", True, (16, 16), 4, trained=(3, 3, 2))
        self.swin("swinv2, filled up", True, (20, 26), 4, depths=(2, 1), biased=False, act=silu)
        self.swin("swinv2, masked", True, (16, 16), 4, depths=(2, 1), masked=True)

    def test_ijepa(self):
        w, e = Weights(self.work, 52), "ijepa.embeddings."
        w.table(e + "position_embeddings", 1, 9, WIDTH)
        w.linear(e + "patch_embeddings.projection", WIDTH, 3, 4, 4)
        weigh(w, "ijepa.encoder.layer.%d.", VIT)
        w.norm("ijepa.layernorm", WIDTH)
        r, more = Reference(w.named), self.extra(classifier=(CLASSES, WIDTH))
        for size, options in (((12, 12), ()), ((20, 8), ("--set", "resized=true"))):
            pixels, rows, columns = self.random.standard_normal((2, 3, *size)).astype(np.float32), size[0] // 4, size[1] // 4
            grid = np.einsum("ri,sj,ijc->rsc", cubic(rows, 3, rows / 3), cubic(columns, 3, columns / 3), r.named[e + "position_embeddings"].reshape(3, 3, WIDTH))
            states = [r.patches(e + "patch_embeddings.projection", pixels, 4, 4) + grid.reshape(1, -1, WIDTH)]
            for i in range(LAYERS):
                states.append(layer(r, "ijepa.encoder.layer.%d." % i, VIT, states[-1], first=True))
            x, what = r.norm("ijepa.layernorm", states[-1]), "ijepa, %d by %d" % (rows, columns)
            config = dict(model_type="ijepa", image_size=12, patch_size=4, options=options)
            bare = {n[len("ijepa."):]: m for n, m in w.named.items()}
            self.tried(what, bare, {"pixel_values": pixels}, {"last_hidden_state": x}, states, architectures=["IJepaModel"], **config)
            self.tried(what + ", classes", {**w.named, **more}, {"pixel_values": pixels}, {"logits": Reference(more).linear("classifier", x.mean(1))}, architectures=["IJepaForImageClassification"], **config)

    def test_videomae(self):
        for averaged, biased in ((True, True), (False, False)):
            w, e = Weights(self.work, 53), "videomae.embeddings."
            w.linear(e + "patch_embeddings.projection", WIDTH, 3, 2, 4, 3)
            weigh(w, "videomae.encoder.layer.%d.", VIT)
            if not averaged:
                w.norm("videomae.layernorm", WIDTH)
            film = self.random.standard_normal((2, 6, 3, 8, 12)).astype(np.float32)
            aside = {}
            for n in list(w.named):
                if n.endswith(tuple(VIT[m] + ".bias" for m in "qkv")):
                    aside[n] = w.named.pop(n)
            kept = {n: b for n, b in aside.items() if biased and ".key." not in n}
            r = Reference({**w.named, **kept}, others=("fc_norm",))
            named = {**w.named, **{n.replace("query.bias", "q_bias").replace("value.bias", "v_bias"): b for n, b in kept.items()}}

            cut = film.reshape(2, 3, 2, 3, 2, 4, 4, 3)
            x = np.einsum("btaciyjx,mcayx->btijm", cut, r.named[e + "patch_embeddings.projection.weight"]).reshape(2, -1, WIDTH) + r.named[e + "patch_embeddings.projection.bias"]
            j = np.arange(WIDTH)
            angle = np.arange(x.shape[1])[:, None] / 10000.0 ** (j // 2 * 2 / WIDTH)
            states = [x + np.where(j % 2 == 0, np.sin(angle), np.cos(angle))]
            for i in range(LAYERS):
                states.append(layer(r, "videomae.encoder.layer.%d." % i, VIT, states[-1], first=True))
            x = states[-1] if averaged else r.norm("videomae.layernorm", states[-1])
            more = self.extra(classifier=(CLASSES, WIDTH), **({"fc_norm": (WIDTH,)} if averaged else {}))
            h = Reference(more, others=("fc_norm",))
            logits = h.linear("classifier", h.norm("fc_norm", x.mean(1)) if averaged else x[:, 0])
            config = dict(model_type="videomae", image_size=[8, 12], patch_size=[4, 3], num_frames=6, tubelet_size=2, qkv_bias=biased, use_mean_pooling=averaged)
            what = "videomae" if averaged else "videomae, first row"
            self.tried(what, named, {"pixel_values": film}, {"last_hidden_state": x}, states, architectures=["VideoMAEModel"], **config)
            training = self.extra(encoder_to_decoder=(8, WIDTH), decoder__head=(6, 8), **{"mask_token!": (1, 1, 8)})  # parts that are left out
            self.tried(what + ", its training", {**named, **training}, {"pixel_values": film}, {"last_hidden_state": x}, states, architectures=["VideoMAEForPreTraining"], **config)
            self.tried(what + ", classes", {**named, **more}, {"pixel_values": film}, {"logits": logits, "last_hidden_state": x}, compiled=averaged, architectures=["VideoMAEForVideoClassification"], **config)

    def test_dinov3_vit(self):
        width, half = 48, 6
        for registers, gated, biased, size in ((2, False, {"q", "v", "o"}, (12, 20)), (0, True, {"k"}, (16, 8))):
            w = Weights(self.work, 54)
            for n, count in (("cls_token", 1), ("register_tokens", registers), ("mask_token", 1)):
                w.table("embeddings." + n, 1, count, width)
            w.linear("embeddings.patch_embeddings", width, 3, 4, 4)
            for i in range(LAYERS):
                at = "layer.%d." % i
                for n in "qkvo":
                    w.linear(at + "attention.%s_proj" % n, width, width, bias=n in biased)
                for n in ("up", "gate") if gated else ("up",):
                    w.linear(at + "mlp.%s_proj" % n, INNER, width, bias=not gated)
                w.linear(at + "mlp.down_proj", width, INNER, bias=not gated)
                for n in "12":
                    w.norm(at + "norm" + n, width)
                    w.table(at + "layer_scale%s.lambda1" % n, width)
            w.norm("norm", width)
            r, rows, columns = Reference(w.named), size[0] // 4, size[1] // 4
            pixels = self.random.standard_normal((2, 3, *size)).astype(np.float32)

            at = np.stack(np.meshgrid((np.arange(rows) + 0.5) / rows * 2 - 1, (np.arange(columns) + 0.5) / columns * 2 - 1, indexing="ij"), -1).reshape(-1, 2, 1)
            angle = (2 * np.pi * at * 30.0 ** (-np.arange(half // 2) * 2.0 / half)).reshape(-1, half)
            angle = np.concatenate([np.zeros((1 + registers, half)), angle])

            x = r.patches("embeddings.patch_embeddings", pixels, 4, 4)
            states = [np.concatenate([np.repeat(r.named["embeddings." + n], 2, 0) for n in ("cls_token", "register_tokens")] + [x], 1)]
            for i in range(LAYERS):
                at, x = "layer.%d." % i, states[-1]
                h = r.norm(at + "norm1", x)
                q, k, v = (r.linear(at + "attention.%s_proj" % n, h) for n in "qkv")
                x = x + r.linear(at + "attention.o_proj", attention(rotary(q, angle=angle), rotary(k, angle=angle), v)) * r.named[at + "layer_scale1.lambda1"]
                h = r.norm(at + "norm2", x)
                u = r.linear(at + "mlp.up_proj", h)
                u = silu(r.linear(at + "mlp.gate_proj", h)) * u if gated else gelu(u)
                states.append(x + r.linear(at + "mlp.down_proj", u) * r.named[at + "layer_scale2.lambda1"])
            x = r.norm("norm", states[-1])
            config = dict(model_type="dinov3_vit", architectures=["DINOv3ViTModel"], image_size=16, patch_size=4, hidden_size=width, num_register_tokens=registers, use_gated_mlp=gated, hidden_act="silu" if gated else "gelu", rope_theta=30.0,
                          mlp_bias=not gated, **{n + "_bias": n[0] in biased for n in ("query", "key", "value")}, proj_bias="o" in biased)
            self.tried("dinov3_vit, %d by %d" % (rows, columns), w.named, {"pixel_values": pixels}, {"last_hidden_state": x, "pooler_output": x[:, 0]}, states, compiled=not gated, **config)


if __name__ == "__main__":
    sys.exit(run(Suite, __doc__))
