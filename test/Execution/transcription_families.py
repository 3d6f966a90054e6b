#!/usr/bin/python3
"""Models that write down speech (Speech2Text, Moonshine), that were written from the published code alone, against numpy.

    transcription_families.py --heddle BIN [--only NAME] [--families DIR]

Small models with random weights, as in encoder_families.py. Three recordings: one whole, one padded, one padded or with a hole; three texts:
whole, padded on the left, with a hole. All are interpreted; one of each kind is compiled, and also generates, by a cached step, what numpy
says without one. One line a failure, then `N passed, N failed`."""
import os
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import encoder_families
from checks import check
from encoder_families import LAYERS, heads_of, layer, weigh
from families import INNER, VOCABULARY, WIDTH, write
from random_weights import Weights, tensors
from reference import EPS, HEADS, Reference, attention, counted, gelu, layer_norm, relu, rotary, sigmoid, silu, sinusoids
from suite import run

BART = {"q": "self_attn.q_proj", "k": "self_attn.k_proj", "v": "self_attn.v_proj", "o": "self_attn.out_proj", "up": "fc1", "down": "fc2", "norm1": "self_attn_layer_norm", "norm2": "final_layer_norm"}
STRIDE = 384  # samples from one frame of Moonshine to the next


#--- the tests ---------------------------------------------------------------


class Suite(encoder_families.Suite):
    def transcribe(self, what, name, w, head, given, memory, states, heard, start, compiled=True, **config):
        """memory: of the encoder, real where `heard`; states(text, mask): of the decoder. Holds both classes, interpreted, and one compiled with what it generates."""
        text, real = self.random.integers(3, VOCABULARY, (3, 6)), np.ones((3, 6), np.int64)
        real[1, :2] = 0
        real[2, 3] = 0
        text = np.where(real > 0, text, config["pad_token_id"])
        r, tied = Reference(w.named), config.get("tie_word_embeddings", True)
        logits = lambda x: x @ r.named["model.decoder.embed_tokens.weight" if tied else head + ".weight"].T
        x, whole = states(text, real), {**given, "decoder_input_ids": text, "decoder_attention_mask": real}
        config = {**dict.fromkeys(("hidden_size", "num_attention_heads", "intermediate_size", "layer_norm_eps", "num_hidden_layers")), "vocab_size": VOCABULARY, "is_encoder_decoder": True, "decoder_start_token_id": start, **config}
        for kind, expected in (("Model", {"last_hidden_state": x}), ("ForConditionalGeneration", {"logits": logits(x)})):
            named = w.named if kind != "Model" else {n[len("model."):]: t for n, t in w.named.items() if n.startswith("model.")}
            folder = write(os.path.join(self.work, (what + kind).replace(" ", "-")), named, architectures=[name + kind], **config)
            got = self.interpreted("%s %s" % (what, kind), folder, whole)
            self.same("%s %s" % (what, kind), got, encoder_last_hidden_state=memory)
            self.same("%s %s" % (what, kind), got, rows=real > 0, **expected)
        binary = self.compiled(what, folder, "--cache=require") if compiled else None
        if not binary:
            return
        got = self.call(what, [binary, "run", "--input", "IN", "--output", "OUT"], whole)
        self.same(what + ", compiled", got, rows=heard, encoder_last_hidden_state=memory)
        self.same(what + ", compiled", got, rows=real > 0, logits=logits(x))
        got = self.call(what, [binary, "generate", "--input", "IN", "--output", "OUT", "-n", "7", "--greedy", "--ignore-eos"], given)
        text = np.full((3, 1), start)
        for _ in range(7):
            text = np.concatenate([text, logits(states(text, np.ones_like(text)))[:, -1].argmax(-1)[:, None]], 1)
        check("ids" in got and (got["ids"] == text).all(), "%s, generated: %s, expected %s" % (what, got.get("ids"), text))
        if "input_values" in given:
            source = self.file()
            tensors.write(source, {n: t[:, :100] for n, t in given.items()})
            said = subprocess.run([binary, "generate", "--input", source, "--output", self.file(), "-n", "7"], capture_output=True, text=True)
            check(said.returncode == 1 and "these lengths do not fit the model" in said.stderr and " is 100" in said.stderr, "%s, 100 samples: exit status %d, %s" % (what, said.returncode, said.stderr[:300]))

    def speech_to_text(self, what, taps, scaled=True, tied=True, pad=1, act=gelu, **more):
        channels, features, length, inner = 10, (3, 2), 13, 32
        w, cross = Weights(self.work, 81), {n: BART[n].replace("self_attn", "encoder_attn") for n in "qkvo"}
        for i, k in enumerate(taps):
            last = i == len(taps) - 1
            w.linear("model.encoder.conv.conv_layers.%d" % i, 2 * WIDTH if last else channels, channels // 2 if i else features[0] * features[1], k)
        weigh(w, "model.encoder.layers.%d.", BART)
        weigh(w, "model.decoder.layers.%d.", BART, layers=1, inner=inner)
        w.attention("model.decoder.layers.0.encoder_attn", WIDTH, ["q_proj", "k_proj", "v_proj", "out_proj"])
        for n in ("encoder.layer_norm", "decoder.layer_norm", "decoder.layers.0.encoder_attn_layer_norm"):
            w.norm("model." + n, WIDTH)
        w.table("model.decoder.embed_tokens.weight", VOCABULARY, WIDTH, scale=0.3)
        if not tied:
            w.linear("lm_head", VOCABULARY, WIDTH, bias=False)
        r, scale = Reference(w.named), WIDTH ** 0.5 if scaled else 1.0
        frequencies = np.exp(-np.arange(WIDTH // 2) * np.log(10000.0) / (WIDTH // 2 - 1))
        place = lambda ids: sinusoids(counted(ids, pad), frequencies) * (ids != pad)[:, :, None]

        x, real = self.random.standard_normal((3, length, features[0] * features[1])).astype(np.float32), np.ones((3, length), np.int64)
        real[1, 8:] = 0
        real[2, 3:] = 0
        given, n, x = {"input_features": x, "attention_mask": real}, real.sum(1), x.astype(np.float64)
        for i, k in enumerate(taps):
            x = r.convolved("model.encoder.conv.conv_layers.%d" % i, np.pad(x, ((0, 0), (k // 2, k // 2), (0, 0))), 2)
            a, b = np.split(x, 2, -1)
            x, n = a * sigmoid(b), (n - 1) // 2 + 1
        heard = np.arange(x.shape[1]) < n[:, None]
        x = x * scale + place(1 - heard)
        for i in range(LAYERS):
            x = layer(r, "model.encoder.layers.%d." % i, BART, x, heard[:, None, None], first=True, act=act)
        memory, l = r.norm("model.encoder.layer_norm", x), "model.decoder.layers.0."

        def states(text, mask):
            x = r.named["model.decoder.embed_tokens.weight"][text] * scale + place(text)
            x = x + heads_of(r, l, BART, r.norm(l + "self_attn_layer_norm", x), np.tril(np.ones((text.shape[1],) * 2, bool)) & (mask[:, None, None] > 0))
            h = r.linear(l + cross["q"], r.norm(l + "encoder_attn_layer_norm", x))
            x = x + r.linear(l + cross["o"], attention(h, r.linear(l + cross["k"], memory), r.linear(l + cross["v"], memory), heard[:, None, None]))
            x = x + r.linear(l + "fc2", act(r.linear(l + "fc1", r.norm(l + "final_layer_norm", x))))
            return r.norm("model.decoder.layer_norm", x)

        self.transcribe("speech_to_text" + what, "Speech2Text", w, "lm_head", given, memory, states, heard, 2, model_type="speech_to_text", d_model=WIDTH, encoder_layers=LAYERS, decoder_layers=1,
                        encoder_attention_heads=HEADS, decoder_attention_heads=HEADS, encoder_ffn_dim=INNER, decoder_ffn_dim=inner, activation_function="gelu" if act is gelu else "relu", scale_embedding=scaled,
                        tie_word_embeddings=tied, pad_token_id=pad, eos_token_id=2, num_conv_layers=len(taps), conv_kernel_sizes=taps, conv_channels=channels, input_feat_per_channel=features[0], input_channels=features[1], **more)

    def test_speech_to_text(self):
        self.speech_to_text("", (5, 3), tied=False, act=relu)
        self.speech_to_text(", other options", (3,), scaled=False, pad=0, compiled=False)

    def moonshine(self, what, tied=True, kv=HEADS, biased=False, factor=0.8, **more):
        length, head, w = 5 * STRIDE + 600, WIDTH // HEADS, Weights(self.work, 82)
        part = int(head * factor)
        slower = 10000.0 ** (-2.0 * np.arange(part // 2) / part)
        w.linear("model.encoder.conv1", WIDTH, 1, 127, bias=False)
        w.linear("model.encoder.conv2", 2 * WIDTH, WIDTH, 7)
        w.linear("model.encoder.conv3", WIDTH, 2 * WIDTH, 3)
        w.norm("model.encoder.groupnorm", WIDTH)
        norms = ["encoder.layer_norm", "decoder.norm"]
        for side, count, names, wide in (("encoder", LAYERS, ["self_attn"], INNER), ("decoder", 1, ["self_attn", "encoder_attn"], 2 * INNER)):
            for l in ("%s.layers.%d." % (side, i) for i in range(count)):
                for a in names:
                    for n, out in (("q", WIDTH), ("k", kv * head), ("v", kv * head), ("o", WIDTH)):
                        w.linear("model.%s%s.%s_proj" % (l, a, n), out, WIDTH, bias=biased and n != "o")
                w.linear("model.%smlp.fc1" % l, wide, WIDTH)
                w.linear("model.%smlp.fc2" % l, WIDTH, INNER)
                norms += [l + n for n in ["input_layernorm", "post_attention_layernorm"] + ["final_layernorm"] * (side == "decoder")]
        for n in norms:
            w.table("model.%s.weight" % n, WIDTH, scale=0.1, mean=1.0)
        w.table("model.decoder.embed_tokens.weight", VOCABULARY, WIDTH, scale=0.3)
        if not tied:
            w.linear("proj_out", VOCABULARY, WIDTH, bias=False)
        r = Reference(w.named)
        norm = lambda n, x: layer_norm(x, r.named["model.%s.weight" % n])

        def attend(at, x, y, mask, turns=True):
            q, k, v = (r.linear("model.%s.%s_proj" % (at, n), t) for n, t in (("q", x), ("k", y), ("v", y)))
            q, k = (rotary(t, n, pairs=True, part=factor, frequencies=slower) for t, n in ((q, HEADS), (k, kv))) if turns else (q, k)
            return r.linear("model.%s.o_proj" % at, attention(q, k, v, mask))

        wave, real = self.random.standard_normal((3, length)).astype(np.float32), np.ones((3, length), np.int64)
        real[1, 2 * STRIDE + 1:] = 0
        real[2, STRIDE:STRIDE + 9] = 0
        x = np.tanh(r.convolved("model.encoder.conv1", wave[:, :, None].astype(np.float64), 64))
        x = (x - x.mean((1, 2), keepdims=True)) / np.sqrt(x.var((1, 2), keepdims=True) + EPS) * r.named["model.encoder.groupnorm.weight"] + r.named["model.encoder.groupnorm.bias"]
        x = gelu(r.convolved("model.encoder.conv3", gelu(r.convolved("model.encoder.conv2", x, 3)), 2))
        heard = real[:, ::STRIDE][:, :x.shape[1]] > 0
        for l in ("encoder.layers.%d." % i for i in range(LAYERS)):
            h = norm(l + "input_layernorm", x)
            x = x + attend(l + "self_attn", h, h, heard[:, None, None])
            x = x + r.linear("model.%smlp.fc2" % l, gelu(r.linear("model.%smlp.fc1" % l, norm(l + "post_attention_layernorm", x))))
        memory, l = norm("encoder.layer_norm", x), "decoder.layers.0."

        def states(text, mask):
            x = r.named["model.decoder.embed_tokens.weight"][text]
            h = norm(l + "input_layernorm", x)
            x = x + attend(l + "self_attn", h, h, np.tril(np.ones((text.shape[1],) * 2, bool)) & (mask[:, None, None] > 0))
            x = x + attend(l + "encoder_attn", norm(l + "post_attention_layernorm", x), memory, heard[:, None, None], turns=False)
            up, gate = np.split(r.linear("model.%smlp.fc1" % l, norm(l + "final_layernorm", x)), 2, -1)
            return norm("decoder.norm", x + r.linear("model.%smlp.fc2" % l, silu(gate) * up))

        sides = {"%s_num_%s" % (s, n): v for s, d in (("encoder", LAYERS), ("decoder", 1)) for n, v in (("hidden_layers", d), ("attention_heads", HEADS), ("key_value_heads", kv))}
        self.transcribe("moonshine" + what, "Moonshine", w, "proj_out", {"input_values": wave, "attention_mask": real}, memory, states, heard, 1, **{**dict(
            model_type="moonshine", hidden_size=WIDTH, intermediate_size=INNER, partial_rotary_factor=factor, attention_bias=biased, tie_word_embeddings=tied, pad_token_id=2, eos_token_id=2), **sides, **more})

    def test_moonshine(self):
        self.moonshine("", tied=False)
        self.moonshine(", other options", kv=2, biased=True, factor=1.0, compiled=False, pad_head_dim_to_multiple_of=4)


if __name__ == "__main__":
    sys.exit(run(Suite, __doc__))
