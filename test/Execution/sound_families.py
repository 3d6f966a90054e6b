#!/usr/bin/python3
"""WavLM, and the classifiers and speaker vectors of its kin and of Whisper, that were written from the published code alone, against numpy.

    sound_families.py --heddle BIN [--only NAME] [--families DIR]

Small models with random weights, as in encoder_families.py. Three rows: one whole, two padded. All are interpreted; one of each kind is
compiled too. One line a failure, then `N passed, N failed`."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import encoder_families
from encoder_families import CLASSES, HEAD, LAYERS, layer, weigh
from families import INNER, WIDTH
from random_weights import Weights
from reference import EPS, HEADS, Reference, attention, bucket, by_heads, frequencies, gelu, layer_norm, rotary, sigmoid, silu
from suite import run

TAPS, STRIDES, CHANNELS = (5, 3), (3, 2), (6, 8)
LAYER = {"q": "attention.q_proj", "k": "attention.k_proj", "v": "attention.v_proj", "o": "attention.out_proj", "up": "feed_forward.intermediate_dense", "down": "feed_forward.output_dense",
         "norm1": "layer_norm", "norm2": "final_layer_norm"}
THIN, SPEAKER = 5, {"tdnn_dim": [6, 8], "tdnn_kernel": [3, 2], "tdnn_dilation": [2, 1], "xvector_output_dim": 7}


#--- numpy -------------------------------------------------------------------


def framed(w, at, norm):
    for i in range(2):
        w.linear(at + "feature_extractor.conv_layers.%d.conv" % i, CHANNELS[i], CHANNELS[i - 1] if i else 1, TAPS[i], bias=norm == "layer")
        if norm == "layer" or i == 0:
            w.norm(at + "feature_extractor.conv_layers.%d.layer_norm" % i, CHANNELS[i])
    w.norm(at + "feature_projection.layer_norm", CHANNELS[1])
    w.linear(at + "feature_projection.projection", WIDTH, CHANNELS[1])


def frames(r, at, norm, wave, length):
    """the frames of a wave, 0 where padded, and how many are real"""
    x = wave[:, :, None].astype(np.float64)
    for i in range(2):
        n = at + "feature_extractor.conv_layers.%d." % i
        x, length = r.convolved(n + "conv", x, STRIDES[i]), (length - TAPS[i]) // STRIDES[i] + 1
        if norm == "layer":
            x = r.norm(n + "layer_norm", x)
        elif i == 0:
            x = layer_norm(x.swapaxes(1, 2)).swapaxes(1, 2) * r.named[n + "layer_norm.weight"] + r.named[n + "layer_norm.bias"]
        x = gelu(x)
    x = r.linear(at + "feature_projection.projection", r.norm(at + "feature_projection.layer_norm", x))
    return np.where((np.arange(x.shape[1]) < length[:, None])[:, :, None], x, 0), length


def gated(r, at, x, table, far):
    """WavLM: what distances are worth, [B, heads, T, T], by each head of x"""
    distance = np.arange(x.shape[1])[None] - np.arange(x.shape[1])[:, None]
    gates = r.linear(at + "gru_rel_pos_linear", by_heads(x, HEADS)).reshape(len(x), HEADS, x.shape[1], 2, 4).sum(-1)
    a, b = np.moveaxis(sigmoid(gates), -1, 0)
    gate = a * (b * r.named[at + "gru_rel_pos_const"][:, :, :, 0] - 1) + 2
    return gate[..., None] * table[bucket(distance, True, len(table), far)].transpose(2, 0, 1)


def half_step(r, name, x, act):
    h = r.linear(name + ".intermediate_dense", r.norm(name + "_layer_norm", x))
    return x + 0.5 * r.linear(name + ".output_dense", act(h))


def conformed(r, at, x, attended, module, act):
    """a layer of a conformer"""
    x = half_step(r, at + "ffn1", x, act)
    x = x + r.linear(at + "self_attn.linear_out", attended(r.norm(at + "self_attn_layer_norm", x), at + "self_attn."))
    x = x + module(x, at + "conv_module.")
    return r.norm(at + "final_layer_norm", half_step(r, at + "ffn2", x, act))


def convolution_module(r, at, x, taps, norm, before, act):
    """x: already normed; before: rows of padding in front of the first"""
    h = x @ r.named[at + "pointwise_conv1.weight"][:, :, 0].T
    h = np.pad(h[..., :WIDTH] * sigmoid(h[..., WIDTH:]), ((0, 0), (before, taps - 1 - before), (0, 0)))
    h = r.convolved(at + "depthwise_conv", h, groups=WIDTH)
    return act(norm(h)) @ r.named[at + "pointwise_conv2.weight"][:, :, 0].T


def weigh_conformer(w, at, taps):
    for n in ("ffn1", "ffn2"):
        w.norm(at + n + "_layer_norm", WIDTH)
        w.linear(at + n + ".intermediate_dense", INNER, WIDTH)
        w.linear(at + n + ".output_dense", WIDTH, INNER)
    for n in ("self_attn_layer_norm", "conv_module.layer_norm", "final_layer_norm"):
        w.norm(at + n, WIDTH)
    w.attention(at + "self_attn", WIDTH, ["linear_q", "linear_k", "linear_v", "linear_out"])
    w.linear(at + "conv_module.pointwise_conv1", 2 * WIDTH, WIDTH, 1, bias=False)
    w.linear(at + "conv_module.depthwise_conv", WIDTH, 1, taps, bias=False)
    w.linear(at + "conv_module.pointwise_conv2", WIDTH, WIDTH, 1, bias=False)


def mixed(r, states):
    share = np.exp(r.named["layer_weights"])
    return sum(s * e for s, e in zip(states, share / share.sum()))


def speaker(r, x, length):
    """the vector of a speaker (Snyder et al. 2018) and what its classifier says"""
    x = r.linear("projector", x)
    for i, (taps, step) in enumerate(zip(SPEAKER["tdnn_kernel"], SPEAKER["tdnn_dilation"])):
        around = [x[:, t * step:x.shape[1] - (taps - 1 - t) * step] for t in range(taps)]
        x, length = np.maximum(r.linear("tdnn.%d.kernel" % i, np.concatenate(around, -1)), 0), length - (taps - 1)
    pooled = [np.concatenate([y[:n].mean(0), y[:n].std(0, ddof=1)]) for y, n in zip(x, length)]
    vector = r.linear("feature_extractor", np.stack(pooled))
    return {"embeddings": vector, "logits": r.linear("classifier", vector)}


#--- the tests ---------------------------------------------------------------


class Suite(encoder_families.Suite):
    def classes(self, what, prefix, w, given, states, length, only, **config):
        """states(r): those of all layers; length: how many frames are real; only: class -> whether layers are mixed, whether it is compiled"""
        heard = np.arange(states(Reference(w.named))[-1].shape[1]) < length[:, None]
        projector = {"projector": (THIN, WIDTH), "classifier": (CLASSES, THIN)}
        tdnn = {"projector": (6, WIDTH), "tdnn__0__kernel": (6, 18), "tdnn__1__kernel": (8, 12), "feature_extractor": (7, 16), "classifier": (7, 7), "objective.weight!": (7, CLASSES)}
        shapes = {"Model": {}, "ForCTC": {"lm_head": (7, WIDTH)}, "ForSequenceClassification": projector, "ForAudioFrameClassification": {"classifier": (CLASSES, WIDTH)}, "ForXVector": tdnn}
        for name, (mix, compiled) in only.items():
            named = {**w.named, **self.extra(**shapes[name], **({"layer_weights!": (LAYERS + 1,)} if mix else {}))}
            r = Reference(named)
            all_of = states(r)
            x = mixed(r, all_of) if mix else all_of[-1]
            result = {"Model": lambda: {"last_hidden_state": x}, "ForCTC": lambda: {"logits": r.linear("lm_head", x)}, "ForAudioFrameClassification": lambda: {"logits": r.linear("classifier", x)},
                      "ForSequenceClassification": lambda: {"logits": r.linear("classifier", np.stack([y[:n].mean(0) for y, n in zip(r.linear("projector", x), length)]))},
                      "ForXVector": lambda: speaker(r, x, length)}[name]()
            self.model("%s %s%s" % (what, name, ", mixed" * mix), named, given, result, rows=heard, compile=compiled, architectures=[prefix + name], use_weighted_layer_sum=mix, vocab_size=7, classifier_proj_size=THIN, **SPEAKER, **config)

    def waves(self):
        wave, real = self.random.standard_normal((3, 80)).astype(np.float32), np.ones((3, 80), np.int64)
        real[1, 55:] = 0
        real[2, 74:] = 0
        return {"input_values": wave, "attention_mask": real}

    def wave_config(self, kind, norm, **more):
        return {"model_type": kind, "feat_extract_norm": norm, "conv_dim": CHANNELS, "conv_kernel": TAPS, "conv_stride": STRIDES, "conv_bias": norm == "layer", **more}

    #--- wav2vec 2.0 and its kin ---

    def sound(self, kind, prefix, only, norm="group", first=False, stacked=0, buckets=0, far=0):
        at, groups, reach = kind.replace("-", "_") + ".", 2, 5 if stacked else 4
        w, place = Weights(self.work, 81), at + "encoder.pos_conv_embed."
        framed(w, at, norm)
        for n in ["layers.%d.conv" % i for i in range(stacked)] or ["conv"]:
            w.linear(place + n, WIDTH, WIDTH // groups, reach)
        if not stacked:
            w.table(place + "conv.weight_g", 1, 1, reach)
            w.named[place + "conv.weight_v"] = w.named.pop(place + "conv.weight")
        weigh(w, at + "encoder.layers.%d.", LAYER)
        w.norm(at + "encoder.layer_norm", WIDTH)
        if buckets:
            w.table(at + "encoder.layers.0.attention.rel_attn_embed.weight", buckets, HEADS)
            for i in range(LAYERS):
                w.linear(at + "encoder.layers.%d.attention.gru_rel_pos_linear" % i, 8, HEAD)
                w.table(at + "encoder.layers.%d.attention.gru_rel_pos_const" % i, 1, HEADS, 1, 1)
        given = self.waves()
        wave, length = given["input_values"], given["attention_mask"].sum(1)

        def states(r):
            x, n = frames(r, at, norm, wave, length)
            p, same = x, lambda y: np.pad(y, ((0, 0), (reach // 2, reach // 2), (0, 0)))
            for i in range(stacked):
                p = gelu(layer_norm(r.convolved(place + "layers.%d.conv" % i, same(p), groups=groups)))
            if not stacked:
                v = r.named[place + "conv.weight_v"]
                r.named[place + "conv.weight"] = v * r.named[place + "conv.weight_g"] / np.sqrt((v ** 2).sum((0, 1), keepdims=True))
                p = gelu(r.convolved(place + "conv", same(p), groups=groups)[:, :x.shape[1]])
            x = x + p if first else r.norm(at + "encoder.layer_norm", x + p)
            found, mask = [x], (np.arange(x.shape[1]) < n[:, None])[:, None, None]
            for i in range(LAYERS):
                l, bias = at + "encoder.layers.%d." % i, 0.0
                if buckets:
                    bias = gated(r, l + "attention.", r.norm(l + "layer_norm", x) if first else x, r.named[at + "encoder.layers.0.attention.rel_attn_embed.weight"], far)
                x = layer(r, l, LAYER, x, mask, first=first, bias=bias)
                found.append(x)
            return found[:-1] + [r.norm(at + "encoder.layer_norm", x)] if first else found

        real = frames(Reference(w.named), at, norm, wave, length)[1]
        self.classes(kind + ", stable" * first, prefix, w, given, states, real, only, do_stable_layer_norm=first, num_conv_pos_embeddings=stacked or reach, num_conv_pos_embedding_groups=groups,
                     **({"conv_pos_kernel_size": reach} if stacked else {}), **({"num_buckets": buckets, "max_bucket_distance": far} if buckets else {}), **self.wave_config(kind, norm))

    def test_wavlm(self):
        self.sound("wavlm", "WavLM", {"Model": (False, True), "ForCTC": (False, False), "ForAudioFrameClassification": (True, False), "ForXVector": (False, True)}, buckets=8, far=6)
        self.sound("wavlm", "WavLM", {"Model": (False, False), "ForSequenceClassification": (True, True), "ForXVector": (True, False)}, norm="layer", first=True, buckets=12, far=20)

    def test_wav2vec2(self):
        self.sound("wav2vec2", "Wav2Vec2", {"ForSequenceClassification": (False, False), "ForAudioFrameClassification": (True, False), "ForXVector": (False, False)})
        self.sound("wav2vec2", "Wav2Vec2", {"ForSequenceClassification": (True, False), "ForXVector": (True, False)}, norm="layer", first=True)
        self.sound("unispeech-sat", "UniSpeechSat", {"ForXVector": (False, False)})
        self.sound("data2vec-audio", "Data2VecAudio", {"ForXVector": (True, False)}, norm="layer", stacked=3)

    #--- conformers ---

    def conformer(self, places, only, norm):
        at, taps = "wav2vec2_conformer.", 5
        w = Weights(self.work, 82)
        framed(w, at, norm)
        for i in range(LAYERS):
            l = at + "encoder.layers.%d." % i
            weigh_conformer(w, l, taps)
            w.norm(l + "conv_module.batch_norm", WIDTH)
            w.table(l + "conv_module.batch_norm.running_mean", WIDTH)
            w.named[l + "conv_module.batch_norm.running_var"] = (0.5 + w.random.random(WIDTH)).astype(np.float32)
            if places == "relative":
                w.linear(l + "self_attn.linear_pos", WIDTH, WIDTH, bias=False)
                for n in "uv":
                    w.table(l + "self_attn.pos_bias_" + n, HEADS, HEAD)
        w.norm(at + "encoder.layer_norm", WIDTH)
        given = self.waves()
        wave, length = given["input_values"], given["attention_mask"].sum(1)

        def states(r):
            x, n = frames(r, at, norm, wave, length)
            mask = (np.arange(x.shape[1]) < n[:, None])[:, None, None]

            def attended(h, l):
                t = rotary(h) if places == "rotary" else h
                q, k, v = r.linear(l + "linear_q", t), r.linear(l + "linear_k", t), r.linear(l + "linear_v", h)
                if places == "rotary":
                    return attention(q, k, v, mask)
                angle = (np.arange(x.shape[1])[:, None] - np.arange(x.shape[1]))[:, :, None] * frequencies(WIDTH)
                far = r.linear(l + "linear_pos", np.stack([np.sin(angle), np.cos(angle)], -1).reshape(*angle.shape[:2], WIDTH)).reshape(*angle.shape[:2], HEADS, HEAD)
                with_v = by_heads(q, HEADS) + r.named[l + "pos_bias_v"][:, None]
                return attention(q + r.named[l + "pos_bias_u"].reshape(-1), k, v, mask, np.einsum("bhid,ijhd->bhij", with_v, far) / np.sqrt(HEAD))

            def module(x, l):
                b = {n: r.named[l + "batch_norm." + n] for n in ("weight", "bias", "running_mean", "running_var")}
                norm = lambda h: (h - b["running_mean"]) / np.sqrt(b["running_var"] + EPS) * b["weight"] + b["bias"]
                return convolution_module(r, l, r.norm(l + "layer_norm", x), taps, norm, taps // 2, silu)

            found = [x]
            for i in range(LAYERS):
                found.append(conformed(r, at + "encoder.layers.%d." % i, found[-1], attended, module, silu))
            return found[:-1] + [r.norm(at + "encoder.layer_norm", found[-1])]

        real = frames(Reference(w.named), at, norm, wave, length)[1]
        self.classes("wav2vec2-conformer, " + places, "Wav2Vec2Conformer", w, given, states, real, only, hidden_act="swish", position_embeddings_type=places, conv_depthwise_kernel_size=taps,
                     **self.wave_config("wav2vec2-conformer", norm))

    def test_wav2vec2_conformer(self):
        self.conformer("relative", {"ForSequenceClassification": (True, True), "ForAudioFrameClassification": (False, False), "ForXVector": (False, False)}, "layer")
        self.conformer("rotary", {"ForSequenceClassification": (False, False), "ForAudioFrameClassification": (True, False), "ForXVector": (True, False)}, "group")

    def test_wav2vec2_bert(self):
        at, taps, left, right, features = "wav2vec2_bert.", 3, 4, 2, 6
        w = Weights(self.work, 83)
        w.norm(at + "feature_projection.layer_norm", features)
        w.linear(at + "feature_projection.projection", WIDTH, features)
        for i in range(LAYERS):
            l = at + "encoder.layers.%d." % i
            weigh_conformer(w, l, taps)
            w.norm(l + "conv_module.depthwise_layer_norm", WIDTH)
            w.table(l + "self_attn.distance_embedding.weight", left + right + 1, HEAD)
        given = {"input_features": self.random.standard_normal((3, 12, features)).astype(np.float32), "attention_mask": np.ones((3, 12), np.int64)}
        given["attention_mask"][1, 8:] = 0
        given["attention_mask"][2, 11:] = 0
        real = given["attention_mask"] > 0

        def states(r):
            x = r.linear(at + "feature_projection.projection", r.norm(at + "feature_projection.layer_norm", given["input_features"].astype(np.float64))) * real[:, :, None]
            distance = np.clip(np.arange(12)[None] - np.arange(12)[:, None], -left, right) + left

            def attended(h, l):
                q, k, v = (r.linear(l + "linear_" + n, h) for n in "qkv")
                near = np.einsum("bhid,ijd->bhij", by_heads(q, HEADS), r.named[l + "distance_embedding.weight"][distance]) / np.sqrt(HEAD)
                return attention(q, k, v, real[:, None, None], near)

            def module(x, l):
                return convolution_module(r, l, r.norm(l + "layer_norm", x) * real[:, :, None], taps, lambda h: r.norm(l + "depthwise_layer_norm", h), taps - 1, silu)

            found = [x]
            for i in range(LAYERS):
                found.append(conformed(r, at + "encoder.layers.%d." % i, found[-1], attended, module, silu))
            return found

        for what, only in (("", {"ForSequenceClassification": (True, True), "ForAudioFrameClassification": (False, False), "ForXVector": (True, True)}),
                           (", plain", {"ForSequenceClassification": (False, False), "ForAudioFrameClassification": (True, False), "ForXVector": (False, False)})):
            self.classes("wav2vec2-bert" + what, "Wav2Vec2Bert", w, given, states, real.sum(1), only, model_type="wav2vec2-bert", hidden_act="swish", feature_projection_input_dim=features,
                         conv_depthwise_kernel_size=taps, left_max_position_embeddings=left, right_max_position_embeddings=right)

    #--- whisper ---

    def test_whisper(self):
        names = {"q": "self_attn.q_proj", "k": "self_attn.k_proj", "v": "self_attn.v_proj", "o": "self_attn.out_proj", "up": "fc1", "down": "fc2", "norm1": "self_attn_layer_norm", "norm2": "final_layer_norm"}
        w, mels, long = Weights(self.work, 84), 6, 10
        w.linear("encoder.conv1", WIDTH, mels, 3)
        w.linear("encoder.conv2", WIDTH, WIDTH, 3)
        w.table("encoder.embed_positions.weight", long, WIDTH)
        weigh(w, "encoder.layers.%d.", names)
        for i in range(LAYERS):
            w.named.pop("encoder.layers.%d.self_attn.k_proj.bias" % i)
        w.norm("encoder.layer_norm", WIDTH)
        sound = self.random.standard_normal((3, mels, 2 * long)).astype(np.float32)
        for mix in (True, False):
            named = {**w.named, **self.extra(projector=(THIN, WIDTH), classifier=(CLASSES, THIN), **({"layer_weights!": (LAYERS + 1,)} if mix else {}))}
            r, same = Reference(named), lambda y: np.pad(y, ((0, 0), (1, 1), (0, 0)))
            x = gelu(r.convolved("encoder.conv1", same(sound.swapaxes(1, 2).astype(np.float64))))
            states = [gelu(r.convolved("encoder.conv2", same(x), 2)) + r.named["encoder.embed_positions.weight"]]
            for i in range(LAYERS):
                states.append(layer(r, "encoder.layers.%d." % i, names, states[-1], first=True))
            states[-1] = r.norm("encoder.layer_norm", states[-1])
            h = r.linear("projector", mixed(r, states) if mix else states[-1]).mean(1)
            self.model("whisper, classes" + ", mixed" * mix, named, {"input_features": sound}, {"logits": r.linear("classifier", h)}, compile=mix, model_type="whisper", architectures=["WhisperForAudioClassification"],
                       is_encoder_decoder=True, num_mel_bins=mels, max_source_positions=long, max_target_positions=8, classifier_proj_size=THIN, use_weighted_layer_sum=mix, vocab_size=30, d_model=WIDTH,
                       decoder_start_token_id=2, eos_token_id=2, pad_token_id=0, hidden_size=None, intermediate_size=None, layer_norm_eps=None, num_attention_heads=None,
                       **{"%s_%s" % (s, n): v for s in ("encoder", "decoder") for n, v in (("layers", LAYERS), ("attention_heads", HEADS), ("ffn_dim", INNER))})


if __name__ == "__main__":
    sys.exit(run(Suite, __doc__))
