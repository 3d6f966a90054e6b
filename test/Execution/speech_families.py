#!/usr/bin/python3
"""Encoders of sound, and encoders with decoders, that were written from the published code alone, against numpy.

    speech_families.py --heddle BIN [--only NAME] [--families DIR]

Small models with random weights, as in encoder_families.py. Those with a decoder have three rows (whole, padded on the left, with a hole)
and also generate, by a cached step, what numpy says without one. One line a failure, then `N passed, N failed`."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import encoder_families
from encoder_families import CLASSES, LAYERS, LONGEST, heads_of, layer, weigh
from checks import check
from families import INNER, VOCABULARY, WIDTH
from random_weights import Weights
from reference import EPS, HEADS, Reference, attention, bucket, counted, gelu, gelu_tanh, layer_norm, relu, sinusoids, softmax
from suite import run


class Suite(encoder_families.Suite):
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
            x, length = r.convolved(n + "conv", x, strides[i]), (length - taps[i]) // strides[i] + 1
            if norm == "group" and i == 0:
                x = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + EPS) * r.named[n + "layer_norm.weight"] + r.named[n + "layer_norm.bias"]
            x = gelu(r.norm(n + "layer_norm", x) if norm == "layer" else x)
        heard = np.arange(x.shape[1]) < length[:, None]
        x = r.linear(at + "feature_projection.projection", r.norm(at + "feature_projection.layer_norm", x) if normed else x) * heard[:, :, None]
        p, same = x, lambda y: np.pad(y, ((0, 0), (reach // 2, reach // 2), (0, 0)))
        for i in range(stacked):
            p = gelu(layer_norm(r.convolved(place + "layers.%d.conv" % i, same(p), groups=groups)))
        if batched:
            b = {n: r.named[place + "batch_norm." + n] for n in ("weight", "bias", "running_mean", "running_var")}
            p = (p - b["running_mean"]) / np.sqrt(b["running_var"] + EPS) * b["weight"] + b["bias"]
        elif not stacked:
            d = r.named[place + "conv.parametrizations.weight.original1"]
            r.named[place + "conv.weight"] = d * r.named[place + "conv.parametrizations.weight.original0"] / np.sqrt((d ** 2).sum((0, 1), keepdims=True))
        p = p if stacked else gelu(r.convolved(place + "conv", same(p), groups=groups)[:, :x.shape[1]])
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
        training = self.extra(project_q=(5, 6), project_hid=(WIDTH, 5), quantizer__weight_proj=(8, 6)) if prefix.startswith("UniSpeech") else None  # parts that are left out
        for name, more, result in ((("ForPreTraining", training, {"last_hidden_state": x}),) if training else ()) + (("Model", {}, {"last_hidden_state": x}), ("ForCTC", letters, {"logits": Reference(letters).linear("lm_head", x)}),
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

    #--- encoders with decoders ---

    def translate(self, what, w, logits, start, given, **config):
        """Holds `logits(r, ids, real, target, visible)`, the encoder's part and the tokens that follow."""
        r, target, mine = Reference(w.named), self.random.integers(3, VOCABULARY, (3, 6)), np.ones((3, 6), np.int64)
        mine[1, :2] = 0
        mine[2, 3] = 0
        target = np.where(mine > 0, target, config["pad_token_id"])
        source = {"input_ids": given[0], "attention_mask": given[1]}
        binary = self.model(what, w.named, {**source, "decoder_input_ids": target, "decoder_attention_mask": mine}, {"logits": logits(r, *given, target, mine)}, rows=mine > 0, cached=True, vocab_size=VOCABULARY, id2label=None,
                            **{**dict.fromkeys(("hidden_size", "num_attention_heads", "intermediate_size", "layer_norm_eps", "num_hidden_layers")), **config})
        if not binary:
            return
        got = self.call(what, [binary, "generate", "--input", "IN", "--output", "OUT", "-n", "7", "--greedy", "--ignore-eos"], source)
        text = np.full((3, 1), start)
        for _ in range(7):
            text = np.concatenate([text, logits(r, *given, text, np.ones_like(text))[:, -1].argmax(-1)[:, None]], 1)
        check("ids" in got and (got["ids"] == text).all(), "%s, generated: %s, expected %s" % (what, got.get("ids"), text))

    def bart(self, kind, name, places, first=True, normed=None, scaled=True, bias=True, pad=1, tied=True, act=gelu, **config):
        """places: of ids, or the rows of a table; normed: whether embeddings are, and in the decoder before the positions are added"""
        names = {"q": "self_attn.q_proj", "k": "self_attn.k_proj", "v": "self_attn.v_proj", "o": "self_attn.out_proj", "up": "fc1", "down": "fc2", "norm1": "self_attn_layer_norm", "norm2": "final_layer_norm"}
        other = {n: names[n].replace("self_attn", "encoder_attn") for n in "qkvo"}
        w = Weights(self.work, 61)
        w.table("model.shared.weight", VOCABULARY, WIDTH)
        for side in ("encoder", "decoder"):
            at = "model.%s." % side
            weigh(w, at + "layers.%d.", names)
            for n in ["layernorm_embedding"] * bool(normed) + ["layer_norm"] * first:
                w.norm(at + n, WIDTH)
            if isinstance(places, int):
                w.table(at + "embed_positions.weight", places, WIDTH)
            for i in range(LAYERS if side == "decoder" else 0):
                w.attention(at + "layers.%d.encoder_attn" % i, WIDTH, ["q_proj", "k_proj", "v_proj", "out_proj"])
                w.norm(at + "layers.%d.encoder_attn_layer_norm" % i, WIDTH)
        if bias:
            w.table("final_logits_bias", 1, VOCABULARY)
        if not tied:
            w.linear("lm_head", VOCABULARY, WIDTH, bias=False)

        def stack(r, side, ids, mask, memory=None, seen=None):
            at = "model.%s." % side
            place = r.named[at + "embed_positions.weight"][:ids.shape[1]] if isinstance(places, int) else places(ids)
            x = r.named["model.shared.weight"][ids] * (WIDTH ** 0.5 if scaled else 1)
            x = r.norm(at + "layernorm_embedding", x) + place if normed and memory is not None else x + place
            x = r.norm(at + "layernorm_embedding", x) if normed and memory is None else x
            for i in range(LAYERS):
                l = at + "layers.%d." % i
                if memory is None:
                    x = layer(r, l, names, x, mask, first=first, act=act)
                    continue
                n = lambda which, y: r.norm(l + which, y)
                before, after = (n, lambda which, y: y) if first else (lambda which, y: y, n)
                x = after(names["norm1"], x + heads_of(r, l, names, before(names["norm1"], x), mask))
                h = before("encoder_attn_layer_norm", x)
                h = attention(r.linear(l + other["q"], h), r.linear(l + other["k"], memory), r.linear(l + other["v"], memory), seen)
                x = after("encoder_attn_layer_norm", x + r.linear(l + other["o"], h))
                x = after(names["norm2"], x + r.linear(l + "fc2", act(r.linear(l + "fc1", before(names["norm2"], x)))))
            return r.norm(at + "layer_norm", x) if first else x

        def logits(r, ids, real, target, mine):
            seen = real[:, None, None] > 0
            causal = np.tril(np.ones((target.shape[1],) * 2, bool)) & (mine[:, None, None] > 0)
            x = stack(r, "decoder", target, causal, stack(r, "encoder", ids, seen), seen)
            return x @ r.named["model.shared.weight" if tied else "lm_head.weight"].T + r.named.get("final_logits_bias", 0)

        config = {"model_type": kind, "architectures": [name], "d_model": WIDTH, "scale_embedding": scaled, "max_position_embeddings": LONGEST, "pad_token_id": pad, "eos_token_id": 2, "decoder_start_token_id": 2, "is_encoder_decoder": True,
                  "activation_function": "gelu" if act is gelu else "relu", "tie_word_embeddings": tied, **{"%s_%s" % (s, n): v for s in ("encoder", "decoder") for n, v in (("layers", LAYERS), ("attention_heads", HEADS), ("ffn_dim", INNER))}, **config}
        self.translate(kind + ("" if tied and scaled else ", other options"), w, logits, 2, self.batch(pad), **config)

    def test_pegasus(self):
        place = lambda ids: sinusoids(np.arange(ids.shape[1]), 10000.0 ** (-np.arange(WIDTH // 2) / (WIDTH // 2)))
        for options in ({}, {"tied": False, "scaled": False}):
            self.bart("pegasus", "PegasusForConditionalGeneration", place, pad=0, act=relu, normalize_before=True, static_position_embeddings=True, **options)

    def test_m2m_100(self):
        place = lambda ids: sinusoids(counted(ids, 1), np.exp(-np.arange(WIDTH // 2) * np.log(10000.0) / (WIDTH // 2 - 1))) * (ids != 1)[:, :, None]
        for options in ({"act": relu}, {"scaled": False}):
            self.bart("m2m_100", "M2M100ForConditionalGeneration", place, bias=False, **options)

    def test_blenderbot(self):
        self.bart("blenderbot", "BlenderbotForConditionalGeneration", LONGEST, pad=0)
        self.bart("blenderbot-small", "BlenderbotSmallForConditionalGeneration", LONGEST, pad=0, first=False, normed=True)

    def t5(self, kind, name, tied, gated=False, everywhere=True, experts=0, room=64, **config):
        """everywhere: whether each layer has relative positions of its own; experts: of every second layer"""
        w, wide, mlp = Weights(self.work, 62), 32, "mlp" if experts else "DenseReluDense"
        w.table("shared.weight", VOCABULARY, WIDTH)
        norms = ["encoder.final_layer_norm", "decoder.final_layer_norm"]
        for side, parts in (("encoder", ("SelfAttention",)), ("decoder", ("SelfAttention", "EncDecAttention"))):
            for i in range(LAYERS):
                at = "%s.block.%d.layer." % (side, i)
                for j, part in enumerate(parts):
                    for n in "qkv":
                        w.linear("%s%d.%s.%s" % (at, j, part, n), wide, WIDTH, bias=False)
                    w.linear("%s%d.%s.o" % (at, j, part), WIDTH, wide, bias=False)
                if everywhere or i == 0:
                    w.table(at + "0.SelfAttention.relative_attention_bias.weight", 8, HEADS)
                sparse = experts and i % 2 == 1
                if sparse:
                    w.linear("%s%d.mlp.router.classifier" % (at, len(parts)), experts, WIDTH, bias=False)
                for where in ["%s.experts.expert_%d" % (mlp, j) for j in range(experts)] if sparse else [mlp]:
                    for n, out, inner in ((("wi_0", INNER, WIDTH), ("wi_1", INNER, WIDTH)) if gated else (("wi", INNER, WIDTH),)) + (("wo", WIDTH, INNER),):
                        w.linear("%s%d.%s.%s" % (at, len(parts), where, n), out, inner, bias=False)
                norms += ["%s%d.layer_norm" % (at, j) for j in range(len(parts) + 1)]
        for n in norms:
            w.table(n + ".weight", WIDTH, scale=0.1, mean=1.0)
        if not tied:
            w.linear("lm_head", VOCABULARY, WIDTH, bias=False)

        def stack(r, side, ids, mask, memory=None, seen=None):
            x, rms = r.named["shared.weight"][ids], lambda n, y: r.rms(n, y, 1e-6)
            distance = np.arange(ids.shape[1])[None] - np.arange(ids.shape[1])[:, None]
            for i in range(LAYERS):
                at = "%s.block.%d.layer." % (side, i)
                near = r.named[(at if everywhere else side + ".block.0.layer.") + "0.SelfAttention.relative_attention_bias.weight"][bucket(distance, memory is None)].transpose(2, 0, 1)
                for j, (part, m, b) in enumerate((("SelfAttention", mask, near), ("EncDecAttention", seen, 0.0))[:1 if memory is None else 2]):
                    l, h = "%s%d.%s." % (at, j, part), rms("%s%d.layer_norm" % (at, j), x)
                    k = memory if j else h
                    x = x + r.linear(l + "o", attention(r.linear(l + "q", h) * (wide // HEADS) ** 0.5, r.linear(l + "k", k), r.linear(l + "v", k), m, b))
                l = "%s%d." % (at, 1 if memory is None else 2)
                h, l = rms(l + "layer_norm", x), l + mlp + "."
                plain = lambda l: r.linear(l + "wo", gelu_tanh(r.linear(l + "wi_0", h)) * r.linear(l + "wi_1", h) if gated else relu(r.linear(l + "wi", h)))
                if experts and i % 2 == 1:
                    odds = softmax(r.linear(l + "router.classifier", h))
                    chosen = odds.argmax(-1)[:, :, None] == np.arange(experts)
                    chosen = chosen & (np.cumsum(chosen, 1) <= room)
                    x = x + odds.max(-1, keepdims=True) * sum(chosen[:, :, j, None] * plain("%sexperts.expert_%d." % (l, j)) for j in range(experts))
                else:
                    x = x + plain(l)
            return rms(side + ".final_layer_norm", x)

        def logits(r, ids, real, target, mine):
            seen = real[:, None, None] > 0
            causal = np.tril(np.ones((target.shape[1],) * 2, bool)) & (mine[:, None, None] > 0)
            x = stack(r, "decoder", target, causal, stack(r, "encoder", ids, seen), seen)
            return x @ r.named["shared.weight"].T * WIDTH ** -0.5 if tied else r.linear("lm_head", x)

        self.translate(kind + ", other options" * (tied), w, logits, 0, self.batch(0), model_type=kind, architectures=[name], d_model=WIDTH, d_kv=wide // HEADS, d_ff=INNER, num_heads=HEADS,
                       num_layers=LAYERS, relative_attention_num_buckets=8, relative_attention_max_distance=6, tie_word_embeddings=tied, pad_token_id=0, eos_token_id=1, decoder_start_token_id=0, is_encoder_decoder=True,
                       **({"feed_forward_proj": "gated-gelu" if gated else "relu"} if not experts else {"num_experts": experts, "expert_capacity": room, "num_sparse_encoder_layers": 1, "num_sparse_decoder_layers": 1}), **config)

    def test_umt5(self):
        for tied, gated in ((False, True), (True, False)):
            self.t5("umt5", "UMT5ForConditionalGeneration", tied, gated)

    def test_switch_transformers(self):
        for tied, room in ((False, 64), (True, 2)):
            self.t5("switch_transformers", "SwitchTransformersForConditionalGeneration", tied, everywhere=False, experts=3, room=room)


if __name__ == "__main__":
    sys.exit(run(Suite, __doc__))
