#!/usr/bin/python3
"""Encoders of pictures or texts before decoders of other families (vision-encoder-decoder, encoder-decoder), against numpy.

    caption_families.py --heddle BIN [--only NAME] [--families DIR]

Small models with random weights, as in encoder_families.py. Three rows: whole, padded on the left, with a hole. All are interpreted, also to
generate what numpy says; of all a cached step is derived, and two are compiled and generate with it. --families hands a folder of family
files on to heddle; --errors says the largest differences. One line a failure, then `N passed, N failed`."""
import os
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import bert_families
import reference
from bert_families import decoded
from checks import check
from encoder_families import BERT, LAYERS, LONGEST, layer, weigh
from families import INNER, VOCABULARY, WIDTH, write
from picture_families import VIT
from random_weights import Weights
from reference import EPS, HEADS, attention, causal, counted, gelu, gelu_tanh, relu, sinusoids
from suite import run

THIN, SIDES, PATCH, TOKENS, LARGE = 16, (8, 12), 4, 5, 0.01
TROCR = {"q": "self_attn.q_proj", "k": "self_attn.k_proj", "v": "self_attn.v_proj", "o": "self_attn.out_proj", "up": "fc1", "down": "fc2", "norm1": "self_attn_layer_norm", "norm2": "final_layer_norm"}


#--- numpy -------------------------------------------------------------------


class Side(reference.Reference):
    """The weights under `at`, by the names behind it; norms have an eps of their own."""

    def __init__(self, named, at, eps=EPS):
        super().__init__({n[len(at):]: v for n, v in named.items() if n.startswith(at)}, eps)


class Suite(bert_families.Suite):
    #--- encoders: config and given inputs, and weights; the function gives the states and their mask ---

    def seen(self, w, kind="vit", width=WIDTH, biased=True, eps=2 * LARGE):
        e, at = "encoder.embeddings.", "encoder.encoder.layer.%d."
        first = ["cls_token"] + ["distillation_token"] * (kind == "deit")
        for n in first:
            w.table(e + n, 1, 1, width)
        w.table(e + "position_embeddings", 1, SIDES[0] * SIDES[1] // PATCH ** 2 + len(first), width)
        w.linear(e + "patch_embeddings.projection", width, 3, PATCH, PATCH)
        weigh(w, at, VIT, width=width)
        for i in range(0 if biased else LAYERS):
            for n in "qkv":
                del w.named[at % i + VIT[n] + ".bias"]
        w.norm("encoder.layernorm", width)
        w.linear("encoder.pooler.dense", width, width)
        given = {"pixel_values": self.random.standard_normal((3, 3, *SIDES)).astype(np.float32)}

        def states(named, given):
            r, e = Side(named, "encoder.", eps), "embeddings."
            x = r.patches(e + "patch_embeddings.projection", given["pixel_values"], PATCH, PATCH)
            x = np.concatenate([np.repeat(r.named[e + n], len(x), 0) for n in first] + [x], 1) + r.named[e + "position_embeddings"]
            for i in range(LAYERS):
                x = layer(r, "encoder.layer.%d." % i, VIT, x, first=True)
            return r.norm("layernorm", x), np.ones(x.shape[:2], np.int64)

        return given, states, dict(model_type=kind, hidden_size=width, num_hidden_layers=LAYERS, num_attention_heads=HEADS, intermediate_size=INNER, layer_norm_eps=eps, image_size=list(SIDES), patch_size=PATCH, qkv_bias=biased)

    def bert(self, kind, pad=1):
        return dict(model_type=kind, hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS, intermediate_size=INNER, vocab_size=VOCABULARY, max_position_embeddings=LONGEST, pad_token_id=pad)

    def read(self, w, kind="bert", eps=2 * LARGE):
        kinds = 0 if kind == "bert-generation" else 2
        self.tables(w, "encoder.", kinds=kinds)
        weigh(w, "encoder.encoder.layer.%d.", BERT)
        if kinds:
            w.linear("encoder.pooler.dense", WIDTH, WIDTH)
        else:
            del w.named["encoder.embeddings.token_type_embeddings.weight"]
        ids, real = self.batch(pad=1)
        given = {"input_ids": ids, "attention_mask": real, **({"token_type_ids": self.random.integers(0, 2, ids.shape)} if kinds else {})}

        def states(named, given):
            r, ids = Side(named, "encoder.", eps), given["input_ids"]
            x = self.embedded(r, "", ids, counted(ids, 1) if kind == "roberta" else np.arange(ids.shape[1]), given.get("token_type_ids"))
            x = r.norm("embeddings.LayerNorm", x)
            for i in range(LAYERS):
                x = layer(r, "encoder.layer.%d." % i, BERT, x, given["attention_mask"][:, None, None] > 0)
            return x, given["attention_mask"]

        return given, states, {**self.bert(kind), "layer_norm_eps": eps, **({"type_vocab_size": kinds} if kinds else {})}

    #--- decoders: weights and config; the function gives the logits ---

    def trocr(self, w, near=None, learned=True, scaled=False, normed=True, tied=False, act=gelu, pad=1):
        """near: the width of the states that are attended to, where they are not projected"""
        at = "decoder.model.decoder."
        w.table(at + "embed_tokens.weight", VOCABULARY, WIDTH)
        w.table(at + "embed_positions." + ("weight" if learned else "_float_tensor"), *((LONGEST + 2, WIDTH) if learned else (1,)))
        if normed:
            w.norm(at + "layernorm_embedding", WIDTH)
        weigh(w, at + "layers.%d.", TROCR)
        for i in range(LAYERS):
            for n in ("q_proj", "k_proj", "v_proj", "out_proj"):
                w.linear(at + "layers.%d.encoder_attn.%s" % (i, n), WIDTH, near or WIDTH if n[0] in "kv" else WIDTH)
            w.norm(at + "layers.%d.encoder_attn_layer_norm" % i, WIDTH)
        if not tied:
            w.linear("decoder.output_projection", VOCABULARY, WIDTH, bias=False)

        def logits(named, ids, real, memory, seen):
            r, waving = Side(named, at), np.exp(-np.arange(WIDTH // 2) * np.log(10000.0) / (WIDTH // 2 - 1))
            place = r.named["embed_positions.weight"][2:ids.shape[1] + 2] if learned else sinusoids(counted(ids, pad), waving) * (ids != pad)[:, :, None]
            x = r.named["embed_tokens.weight"][ids] * (WIDTH ** 0.5 if scaled else 1) + place
            x = r.norm("layernorm_embedding", x) if normed else x
            for i in range(LAYERS):
                l = "layers.%d." % i
                c = l + "encoder_attn."
                x = r.norm(l + TROCR["norm1"], x + r.linear(l + TROCR["o"], attention(*(r.linear(l + TROCR[n], x) for n in "qkv"), causal(real))))
                a = attention(r.linear(c + "q_proj", x), r.linear(c + "k_proj", memory), r.linear(c + "v_proj", memory), seen[:, None, None] > 0)
                x = r.norm(l + "encoder_attn_layer_norm", x + r.linear(c + "out_proj", a))
                x = r.norm(l + TROCR["norm2"], x + r.linear(l + "fc2", act(r.linear(l + "fc1", x))))
            return x @ (r.named["embed_tokens.weight"] if tied else named["decoder.output_projection.weight"].astype(np.float64)).T

        config = dict(model_type="trocr", d_model=WIDTH, decoder_layers=LAYERS, decoder_attention_heads=HEADS, decoder_ffn_dim=INNER, max_position_embeddings=LONGEST, vocab_size=VOCABULARY, activation_function="gelu" if act is gelu else "relu",
                      use_learned_position_embeddings=learned, scale_embedding=scaled, layernorm_embedding=normed, tie_word_embeddings=tied, cross_attention_hidden_size=near, pad_token_id=pad, is_decoder=True, add_cross_attention=True)
        return logits, config

    def gpt2(self, w, scaled=True, by_layer=False, tied=True):
        at = "decoder.transformer."
        for n, rows in (("wte", VOCABULARY), ("wpe", LONGEST)):
            w.table(at + n + ".weight", rows, WIDTH)
        for i in range(LAYERS):
            l = at + "h.%d." % i
            for n in ("ln_1", "ln_cross_attn", "ln_2"):
                w.norm(l + n, WIDTH)
            for n, out, inner in (("attn.c_attn", 3 * WIDTH, WIDTH), ("attn.c_proj", WIDTH, WIDTH), ("crossattention.q_attn", WIDTH, WIDTH), ("crossattention.c_attn", 2 * WIDTH, WIDTH), ("crossattention.c_proj", WIDTH, WIDTH),
                                  ("mlp.c_fc", INNER, WIDTH), ("mlp.c_proj", WIDTH, INNER)):
                w.linear(l + n, out, inner)
                w.named[l + n + ".weight"] = np.ascontiguousarray(w.named[l + n + ".weight"].T)
            w.named[l + "attn.bias"] = np.tril(np.ones((1, 1, LONGEST, LONGEST), np.float32))
        w.norm(at + "ln_f", WIDTH)
        if not tied:
            w.linear("decoder.lm_head", VOCABULARY, WIDTH, bias=False)

        def logits(named, ids, real, memory, seen):
            r = Side({n: v.T if ".c_" in n and n.endswith(".weight") or "q_attn.weight" in n else v for n, v in named.items()}, at, LARGE)
            x = r.named["wte.weight"][ids] + r.named["wpe.weight"][:ids.shape[1]]
            for i in range(LAYERS):
                l, c = "h.%d." % i, "h.%d.crossattention." % i
                by = ((WIDTH // HEADS) ** 0.5 if not scaled else 1) / (i + 1 if by_layer else 1)
                q, k, v = np.split(r.linear(l + "attn.c_attn", r.norm(l + "ln_1", x)), 3, -1)
                x = x + r.linear(l + "attn.c_proj", attention(q * by, k, v, causal(real)))
                k, v = np.split(r.linear(c + "c_attn", memory), 2, -1)
                x = x + r.linear(c + "c_proj", attention(r.linear(c + "q_attn", r.norm(l + "ln_cross_attn", x)) * by, k, v, seen[:, None, None] > 0))
                x = x + r.linear(l + "mlp.c_proj", gelu_tanh(r.linear(l + "mlp.c_fc", r.norm(l + "ln_2", x))))
            return r.norm("ln_f", x) @ (r.named["wte.weight"] if tied else named["decoder.lm_head.weight"].astype(np.float64)).T

        return logits, dict(model_type="gpt2", n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS, n_inner=INNER, n_positions=LONGEST, vocab_size=VOCABULARY, activation_function="gelu_new", layer_norm_epsilon=LARGE, tie_word_embeddings=tied,
                            scale_attn_weights=scaled, scale_attn_by_inverse_layer_idx=by_layer, is_decoder=True, add_cross_attention=True)

    def writes(self, w, kind, tied=True, pad=1):
        """a decoder of BERT's kin"""
        at = "decoder.roberta." if kind == "roberta" else "decoder.bert."
        kinds, head = 0 if kind == "bert-generation" else 2, "decoder.cls.predictions." if kind == "bert" else "decoder.lm_head."
        words, l, dense, norm = at + "embeddings.word_embeddings.weight", "encoder.layer.%d.", head + ("transform.dense" if kind == "bert" else "dense"), head + ("transform.LayerNorm" if kind == "bert" else "layer_norm")
        self.tables(w, at, kinds=kinds)
        weigh(w, at + l, BERT)
        self.memory(w, at + l + "crossattention.")
        if kinds:
            w.linear(dense, WIDTH, WIDTH)
            w.norm(norm, WIDTH)
        else:
            del w.named[at + "embeddings.token_type_embeddings.weight"]
        w.table(head + "bias", VOCABULARY)
        if not tied:
            w.table(head + "decoder.weight", VOCABULARY, WIDTH)

        def logits(named, ids, real, memory, seen):
            r, all = Side(named, at, LARGE), Side(named, "", LARGE)
            x = self.embedded(r, "", ids, counted(ids, pad) if kind == "roberta" else np.arange(ids.shape[1]), 0 if kinds else None)
            x = decoded(r, l, BERT, r.norm("embeddings.LayerNorm", x), real, {"encoder_hidden_states": memory, "encoder_attention_mask": seen})
            x = all.norm(norm, gelu(all.linear(dense, x))) if kinds else x
            return x @ all.named[words if tied else head + "decoder.weight"].T + all.named[head + "bias"]

        return logits, {**self.bert(kind, pad), "layer_norm_eps": LARGE, "tie_word_embeddings": tied, "is_decoder": True, "add_cross_attention": True, **({"type_vocab_size": kinds} if kinds else {})}

    #--- both ---

    def pair(self, what, w, encoder, decoder, compile=False, start=2, pad=1, shared=False, tops=None):
        """Holds the states of the encoder, the logits and the tokens that follow. shared: whether the file has the encoder's weights under the decoder's names alone; tops: keys of config.json"""
        (given, states, source), (logits, config) = encoder, decoder
        projected = source["hidden_size"] != WIDTH and not config.get("cross_attention_hidden_size")
        if projected:
            w.linear("enc_to_dec_proj", WIDTH, source["hidden_size"])
        text, mine = self.random.integers(3, VOCABULARY, (3, 6)), np.ones((3, 6), np.int64)
        mine[1, :2] = 0
        mine[2, 3] = 0
        text = np.where(mine > 0, text, pad)
        text[0, 3] = pad  # seen, unlike the others
        if shared:
            w.named.update({n: w.named["decoder.%s.%s" % (config["model_type"], n[8:])] for n in w.named if n.startswith("encoder.") and "pooler" not in n})
        memory, seen = states(w.named, given)
        attended = Side(w.named, "").linear("enc_to_dec_proj", memory) if projected else memory
        pictures = "pixel_values" in given
        folder = write(os.path.join(self.work, what.replace(" ", "-")), {n: v for n, v in w.named.items() if not shared or n[:8] != "encoder."}, encoder=source, decoder=config, is_encoder_decoder=True,
                       model_type="vision-encoder-decoder" if pictures else "encoder-decoder", architectures=["VisionEncoderDecoderModel" if pictures else "EncoderDecoderModel"], tie_encoder_decoder=shared,
                       **dict.fromkeys(("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "layer_norm_eps")),
                       **({"decoder_start_token_id": start} if tops is None else tops))
        expected = {"logits": logits(w.named, text, mine, attended, seen), "encoder_last_hidden_state": memory}
        by_row = {"logits": mine > 0, "encoder_last_hidden_state": seen > 0}
        everything = {**given, "decoder_input_ids": text, "decoder_attention_mask": mine}
        results = {"": self.interpreted(what, folder, everything)}
        said, end = np.full((3, 1), start), (tops or {}).get("eos_token_id", {"trocr": 2, "roberta": 2, "bert-generation": 1}.get(config["model_type"]))
        for _ in range(TOKENS):
            said = np.concatenate([said, logits(w.named, said, np.ones_like(said), attended, seen)[:, -1].argmax(-1)[:, None]], 1)
        ended = np.cumsum(said[:, 1:] == end, 1)
        said[:, 2:] = np.where(ended[:, :-1] > 0, pad, said[:, 2:])
        told = {"": self.interpreted(what + ", generated", folder, given, "-n", str(TOKENS))}
        if compile:
            binary = self.compiled(what, folder, "--cache=require")
            results[", compiled"] = self.call(what, [binary, "run", "--input", "IN", "--output", "OUT"], everything) if binary else {}
            told[", compiled"] = self.call(what, [binary, "generate", "--input", "IN", "--output", "OUT", "-n", str(TOKENS), "--greedy"], given) if binary else {}
        else:
            r = subprocess.run([self.heddle, "compile", folder, "--emit=entries", "-o", self.file(), "--cache=require", *self.more], stdin=subprocess.DEVNULL, capture_output=True, text=True)
            check(r.returncode == 0, "%s: no cached step: %s" % (what, r.stderr[-300:]))
        for how, got in results.items():
            for n, e in expected.items():
                self.same(what + how, got, rows=by_row[n], **{n: e})
        for how, got in told.items():
            check("ids" in got and (got["ids"] == said).all(), "%s%s, generated: %s, expected %s" % (what, how, got.get("ids"), said))

    def test_trocr(self):
        for what, kind, options, other in (("printed", "vit", {"learned": False, "scaled": True, "normed": False, "near": THIN, "act": relu}, {"width": THIN, "biased": False}),
                                           ("small", "deit", {"scaled": True, "near": THIN, "act": relu}, {"width": THIN}),
                                           ("handwritten", "vit", {"tied": True}, {"biased": False}), ("projected", "deit", {"learned": False}, {"width": THIN})):
            w = Weights(self.work, 81)
            encoder, (logits, config) = self.seen(w, kind, **other), self.trocr(w, **options)
            start = 2 if what == "handwritten" else 5  # of the published class, or of the decoder's configuration
            self.pair("trocr " + what, w, encoder, (logits, {**config, **({} if start == 2 else {"decoder_start_token_id": start})}), compile=what == "printed", start=start, tops={})

    def test_gpt2(self):
        for what, other, options in (("", {}, {}), (", other options", {"width": THIN}, {"scaled": False, "by_layer": True, "tied": False})):
            w = Weights(self.work, 82)
            self.pair("vit to gpt2" + what, w, self.seen(w, **other), self.gpt2(w, **options), start=7)

    def test_manga_ocr(self):
        w = Weights(self.work, 83)
        self.pair("vit to bert", w, self.seen(w), self.writes(w, "bert", pad=0), pad=0)

    def test_encoder_decoder(self):
        for first, second, tied, shared in (("bert", "bert", True, False), ("roberta", "roberta", False, False), ("bert-generation", "bert-generation", True, False), ("bert", "roberta", True, False), ("roberta", "gpt2", True, False),
                                            ("bert", "bert", False, False), ("roberta", "roberta", True, True)):
            w = Weights(self.work, 84)
            encoder, decoder = self.read(w, first), self.gpt2(w) if second == "gpt2" else self.writes(w, second, tied)
            self.pair("%s to %s%s%s" % (first, second, "" if tied else ", untied", ", shared" * shared), w, encoder, decoder, compile=(first, second) == ("bert", "roberta"), start=4, shared=shared,
                      tops={"decoder_start_token_id": 4, "pad_token_id": 1, "eos_token_id": 23, "vocab_size": VOCABULARY})


if __name__ == "__main__":
    sys.exit(run(Suite, __doc__))
