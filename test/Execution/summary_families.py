#!/usr/bin/python3
"""Encoders with decoders for long texts and for programs, written from the published code alone, against numpy.

    summary_families.py --heddle BIN [--only NAME] [--families DIR]

Small models with random weights, as in speech_families.py: three rows (whole, padded on the left, with a hole), every class of LED, PLBart and
BigBird-Pegasus, and the decoders of BART's kind by themselves. One model of each is compiled, and generates by a cached step what numpy says
without one; the interpreter runs the others. One line a failure, then `N passed, N failed`."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import speech_families
from checks import check
from encoder_families import CLASSES, LAYERS, LONGEST, heads_of, layer, weigh
from families import INNER, VOCABULARY, WIDTH, write
from random_weights import Weights
from reference import HEADS, Reference, attention, frequencies, gelu, gelu_tanh, sinusoids
from suite import run

NAMES = {"q": "self_attn.q_proj", "k": "self_attn.k_proj", "v": "self_attn.v_proj", "o": "self_attn.out_proj", "up": "fc1", "down": "fc2", "norm1": "self_attn_layer_norm", "norm2": "final_layer_norm"}
LED = {**NAMES, **{n: "self_attn.longformer_self_attn." + p for n, p in zip("qkv", ("query", "key", "value"))}, "o": "self_attn.output"}
BIG_BIRD = {**LED, **{n: LED[n].replace("longformer_self_attn", "self") for n in "qkv"}}
SPELT = {"%s_%s" % (s, n): v for s in ("encoder", "decoder") for n, v in (("layers", LAYERS), ("attention_heads", HEADS), ("ffn_dim", INNER))}
UNUSED = dict.fromkeys(("hidden_size", "num_attention_heads", "intermediate_size", "layer_norm_eps", "num_hidden_layers"))


def decoded(r, at, x, mask, memory, seen, first, act):
    """The layers of a decoder; first: whether norms come before attention and feed-forward."""
    for i in range(LAYERS):
        l, cross = "%slayers.%d." % (at, i), "%slayers.%d.encoder_attn." % (at, i)
        part = lambda name, f, y: y + f(r.norm(l + name, y)) if first else r.norm(l + name, y + f(y))
        x = part("self_attn_layer_norm", lambda h: heads_of(r, l, NAMES, h, mask), x)
        x = part("encoder_attn_layer_norm", lambda h: r.linear(cross + "out_proj", attention(r.linear(cross + "q_proj", h), *(r.linear(cross + n, memory) for n in ("k_proj", "v_proj")), seen)), x)
        x = part("final_layer_norm", lambda h: r.linear(l + "fc2", act(r.linear(l + "fc1", h))), x)
    return x


def near_and_far(r, at, x, real, far, windows):
    """LED's encoder: a window around each token, and global tokens, which have projections of their own"""
    apart = np.abs(np.arange(x.shape[1])[:, None] - np.arange(x.shape[1]))
    for i in range(LAYERS):
        l = "%slayers.%d." % (at, i)
        mask = ((apart <= windows[i] // 2) | far[:, None, None]) & real[:, None, None]
        a = attention(*(r.linear(l + LED[n], x) for n in "qkv"), mask)
        g = attention(*(r.linear(l + LED[n] + "_global", x) for n in "qkv"), real[:, None, None])
        x = r.norm(l + LED["norm1"], x + r.linear(l + LED["o"], np.where(far[:, :, None], g, a)))
        x = r.norm(l + LED["norm2"], x + r.linear(l + "fc2", gelu(r.linear(l + "fc1", x))))
    return x


def in_blocks(r, at, x, real, block, lists):
    """BigBird's encoder, a block of queries after the other; lists: of each layer, the blocks at random [blocks - 2, n]. A block named twice counts twice."""
    length, count = x.shape[1], -(-x.shape[1] // block)
    real = np.pad(real, ((0, 0), (0, count * block - length)))
    x = np.pad(x, ((0, 0), (0, count * block - length), (0, 0)))
    for i in range(LAYERS):
        l = "%slayers.%d." % (at, i)
        h = r.norm(l + BIG_BIRD["norm1"], x)
        q, k, v = (r.linear(l + BIG_BIRD[n], h) for n in "qkv")
        rows = []
        for b in range(count):
            blocks = range(count) if b in (0, count - 1) else sorted({0, b - 1, b, b + 1, count - 1}) + list(lists[i][b - 1])
            seen = np.concatenate([np.arange(n * block, (n + 1) * block) for n in blocks])
            rows.append(attention(q[:, b * block:(b + 1) * block], k[:, seen], v[:, seen], real[:, None, None, seen]))
        x = x + r.linear(l + BIG_BIRD["o"], np.concatenate(rows, 1))
        x = x + r.linear(l + "fc2", gelu_tanh(r.linear(l + "fc1", r.norm(l + BIG_BIRD["norm2"], x))))
    return x[:, :length]


class Suite(speech_families.Suite):
    def __init__(self, *more):
        super().__init__(*more)
        self.also = {}  # given to each call, besides what a test gives

    def call(self, what, command, given):
        return super().call(what, command, {**given, **self.also})

    def interprets(self, what, named, given, expected, rows=None, **config):
        """in double precision, so that gelu and gelu_new differ"""
        folder = write(os.path.join(self.work, what.replace(" ", "-")), named, **UNUSED, **config)
        got = self.interpreted(what, folder, given)
        for n, e in expected.items():
            there = n in got and got[n].shape == e.shape
            most = np.abs(got[n] - e)[... if rows is None else rows].max() if there else np.inf
            check(most < 1e-5, "%s, %s: differs by %g" % (what, n, most))

    def weights(self, at, names, **places):
        """places: rows of a table of positions, for each of encoder and decoder that there is"""
        w = Weights(self.work, 71)
        w.table(at + ("shared.weight" if "encoder" in places else "decoder.embed_tokens.weight"), VOCABULARY, WIDTH)
        for side, rows in places.items():
            weigh(w, "%s%s.layers.%%d." % (at, side), names if side == "encoder" else NAMES)
            w.norm("%s%s.layernorm_embedding" % (at, side), WIDTH)
            w.table("%s%s.embed_positions.weight" % (at, side), rows, WIDTH)
        for i in range(LAYERS):
            w.attention("%sdecoder.layers.%d.encoder_attn" % (at, i), WIDTH, ["q_proj", "k_proj", "v_proj", "out_proj"])
            w.norm("%sdecoder.layers.%d.encoder_attn_layer_norm" % (at, i), WIDTH)
        return w

    def classes(self, what, name, w, at, encoder, given, only=("Model", "ForConditionalGeneration", "ForSequenceClassification", "ForQuestionAnswering"), first=False, act=gelu, skip=0, scaled=False, turned=False, start=2, **config):
        """encoder(r, x, real): its layers; turned: whether a classifier's decoder begins with the last token that is no padding"""
        if "final_logits_bias" not in w.named:
            w.table("final_logits_bias", 1, VOCABULARY)
        pad, eos = config["pad_token_id"], config["eos_token_id"]
        (ids, real), norm = given, lambda r, side, now, x: r.norm("%s%s.layernorm_embedding" % (at, side), x) if now else x

        def words(r, side, tokens):
            x = r.named[at + "shared.weight"][tokens] * (WIDTH ** 0.5 if scaled else 1) + r.named["%s%s.embed_positions.weight" % (at, side)][skip:skip + tokens.shape[1]]
            return norm(r, side, not first, x)

        def states(r, ids, real, target, mine):
            memory = norm(r, "encoder", first, encoder(r, words(r, "encoder", ids), real > 0))
            mask = np.tril(np.ones((target.shape[1],) * 2, bool)) & (mine[:, None, None] > 0)
            return memory, norm(r, "decoder", first, decoded(r, at + "decoder.", words(r, "decoder", target), mask, memory, real[:, None, None] > 0, first, act))

        def logits(r, *tokens):
            return states(r, *tokens)[1] @ r.named[at + "shared.weight"].T + r.named["final_logits_bias"]

        config = {"d_model": WIDTH, "scale_embedding": scaled, "decoder_start_token_id": start, "is_encoder_decoder": True, **SPELT, **config}
        if "ForConditionalGeneration" in only:
            self.translate(what + " ForConditionalGeneration", w, logits, start, given, architectures=[name + "ForConditionalGeneration"], **config)
        config["vocab_size"] = VOCABULARY
        source, r = {"input_ids": ids, "attention_mask": real}, Reference(w.named)
        if "Model" in only:
            target = self.random.integers(3, VOCABULARY, ids.shape)
            memory, x = states(r, ids, real, target, real)
            self.interprets(what + " Model", w.named, {**source, "decoder_input_ids": target, "decoder_attention_mask": real}, {"last_hidden_state": x, "encoder_last_hidden_state": memory}, rows=real > 0,
                            architectures=[name + "Model"], **config)
        ids = source["input_ids"] = np.where(np.isin(np.arange(ids.shape[1]), (5, 7)), eos, ids)
        begin = np.take_along_axis(ids, (ids != pad).sum(1)[:, None] - 1, 1) if turned else np.full((3, 1), start)
        x = states(r, ids, real, np.concatenate([begin, ids[:, :-1]], 1), np.ones_like(ids))[1]
        if "ForSequenceClassification" in only:
            more = self.extra(classification_head__dense=(WIDTH, WIDTH), classification_head__out_proj=(CLASSES, WIDTH))
            h = Reference(more)
            self.interprets(what + " ForSequenceClassification", {**w.named, **more}, source, {"logits": h.linear("classification_head.out_proj", np.tanh(h.linear("classification_head.dense", x[:, 7])))},
                            architectures=[name + "ForSequenceClassification"], id2label={str(i): "c%d" % i for i in range(CLASSES)}, **config)
        if "ForQuestionAnswering" in only:
            more = self.extra(qa_outputs=(2, WIDTH))
            s = Reference(more).linear("qa_outputs", x)
            self.interprets(what + " ForQuestionAnswering", {**w.named, **more}, source, {"start_logits": s[:, :, 0], "end_logits": s[:, :, 1]}, architectures=[name + "ForQuestionAnswering"], **config)

    def test_led(self):
        at = "led."
        w = self.weights(at, LED, encoder=LONGEST, decoder=LONGEST - 2)
        for i in range(LAYERS):
            for n in "qkv":
                w.linear("%sencoder.layers.%d.%s_global" % (at, i, LED[n]), WIDTH, WIDTH)
        ids, real = self.batch(1)
        wanted = np.zeros_like(ids)
        wanted[0, [0, 6]] = wanted[1, [1, 3]] = wanted[2, [4, 8]] = 1
        config = dict(model_type="led", pad_token_id=1, eos_token_id=2, max_encoder_position_embeddings=LONGEST, max_decoder_position_embeddings=LONGEST - 2, scale_embedding=None)
        for what, windows, given in (("led", [2, 4], wanted), ("led without global tokens", 4, None)):
            far, each = wanted * real > 0 if given is not None else np.zeros(ids.shape, bool), windows if given is not None else [windows] * LAYERS
            self.also = {"global_attention_mask": wanted} if given is not None else {}
            self.classes(what, "LED", w, at, lambda r, x, real: near_and_far(r, at + "encoder.", x, real, far, each), (ids, real), attention_window=windows, **({} if given is not None else {"only": ["Model"]}), **config)
        self.also = {}

    def test_plbart(self):
        w = self.weights("model.", NAMES, encoder=LONGEST + 2, decoder=LONGEST + 2)

        def encoder(r, x, real):
            for i in range(LAYERS):
                x = layer(r, "model.encoder.layers.%d." % i, NAMES, x, real[:, None, None])
            return x

        self.classes("plbart", "PLBart", w, "model.", encoder, self.batch(1), only=["Model", "ForConditionalGeneration", "ForSequenceClassification"], skip=2, scaled=True, turned=True, start=3, model_type="plbart",
                     pad_token_id=1, eos_token_id=2, max_position_embeddings=LONGEST)

    def test_bigbird_pegasus(self):
        at, block, short = "model.", 2, self.batch(0)
        long = [np.concatenate([a, b], 1) for a, b in zip(short, (self.random.integers(3, VOCABULARY, (3, 8)), np.ones((3, 8), np.int64)))]
        for what, given, biased, lists, only in (("bigbird_pegasus", long, False, None, ["ForConditionalGeneration", "Model", "ForSequenceClassification", "ForQuestionAnswering"]),
                                                 ("bigbird_pegasus, blocks given", long, True, self.random.integers(1, 8, (LAYERS, 7, 1)), ["Model"]),
                                                 ("bigbird_pegasus, a short text", short, False, None, ["Model"]), ("bigbird_pegasus, whole", short, True, "whole", ["Model"])):
            w = self.weights(at, BIG_BIRD, encoder=LONGEST, decoder=LONGEST)
            if not biased:
                w.named = {n: t for n, t in w.named.items() if "attn." not in n or not n.endswith(".bias")}

            def encoder(r, x, real):
                if given is long:
                    return in_blocks(r, at + "encoder.", x, real, block, np.zeros((LAYERS, 7, 1), int) if lists is None else lists)
                for i in range(LAYERS):
                    x = layer(r, at + "encoder.layers.%d." % i, BIG_BIRD, x, real[:, None, None], first=True, act=gelu_tanh)
                return x

            self.also = {"rand_attn.%d" % i: np.repeat(lists[i][None], HEADS, 0) for i in range(LAYERS)} if isinstance(lists, np.ndarray) else {}
            self.classes(what, "BigBirdPegasus", w, at, encoder, given, only=only, first=True, act=gelu_tanh, scaled=True, model_type="bigbird_pegasus", pad_token_id=0, eos_token_id=1, max_position_embeddings=LONGEST,
                         attention_type="original_full" if isinstance(lists, str) else "block_sparse", block_size=block, num_random_blocks=1, use_bias=biased)
        self.also = {}

    #--- decoders by themselves ---

    def alone(self, kind, name, first=False, scaled=False, tied=True, compiled=False, skip=2, normed="sum", waves=False, act=gelu, **more):
        """skip: rows of the positions that are never read; normed: sum, words, before the positions are added, last, after the layers, or nothing; waves: positions are sines, then cosines"""
        what, at = "%s%s" % (name, "" if tied else ", its own head"), "model.decoder."
        w = self.weights("model.", NAMES, decoder=LONGEST + skip)
        if waves:
            del w.named[at + "embed_positions.weight"]
        if not normed:
            del w.named[at + "layernorm_embedding.weight"], w.named[at + "layernorm_embedding.bias"]
        if first and normed != "last":
            w.norm(at + "layer_norm", WIDTH)
        if not tied:
            w.linear("lm_head", VOCABULARY, WIDTH, bias=False)
        r, (ids, real) = Reference(w.named), self.batch(1)

        def logits(ids, real):
            x, norm = r.named[at + "embed_tokens.weight"][ids] * (WIDTH ** 0.5 if scaled else 1), lambda x, now: r.norm(at + "layernorm_embedding", x) if now else x
            x = norm(norm(x, normed == "words") + (sinusoids(np.arange(ids.shape[1]), frequencies(WIDTH)) if waves else r.named[at + "embed_positions.weight"][skip:skip + ids.shape[1]]), normed == "sum")
            for i in range(LAYERS):
                x = layer(r, "%slayers.%d." % (at, i), NAMES, x, np.tril(np.ones((ids.shape[1],) * 2, bool)) & (real[:, None, None] > 0), first=first, act=act)
            x = norm(x, normed == "last")
            x = r.norm(at + "layer_norm", x) if first and normed != "last" else x
            return x @ r.named[at + "embed_tokens.weight" if tied else "lm_head.weight"].T

        given = {"input_ids": ids, "attention_mask": real}
        config = {**SPELT, "model_type": kind, "architectures": [name], "vocab_size": VOCABULARY, "d_model": WIDTH, "scale_embedding": scaled, "max_position_embeddings": LONGEST, "pad_token_id": 1, "eos_token_id": 2,
                  "tie_word_embeddings": tied, "is_decoder": True, "is_encoder_decoder": False, "add_cross_attention": False, **more}
        if not compiled:
            return self.interprets(what, w.named, given, {"logits": logits(ids, real)}, rows=real > 0, **config)
        binary = self.model(what, w.named, given, {"logits": logits(ids, real)}, rows=real > 0, cached=True, id2label=None, **UNUSED, **config)
        if not binary:
            return
        got = self.call(what, [binary, "generate", "--input", "IN", "--output", "OUT", "-n", "6", "--greedy", "--ignore-eos"], given)
        for _ in range(6):
            ids, real = np.concatenate([ids, logits(ids, real)[:, -1].argmax(-1)[:, None]], 1), np.pad(real, ((0, 0), (0, 1)), constant_values=1)
        check("ids" in got and (got["ids"] == ids).all(), "%s, generated: %s, expected %s" % (what, got.get("ids"), ids))

    def test_alone(self):
        self.alone("bart", "BartForCausalLM", compiled=True)
        self.alone("bart", "BartForCausalLM", tied=False)
        self.alone("mbart", "MBartForCausalLM", first=True, scaled=True, normalize_before=True, add_final_layer_norm=True)
        self.alone("plbart", "PLBartForCausalLM", scaled=True)
        self.alone("blenderbot", "BlenderbotForCausalLM", first=True, scaled=True, skip=0, normed=None)
        self.alone("blenderbot-small", "BlenderbotSmallForCausalLM", scaled=True, skip=0, normed="words")
        self.alone("marian", "MarianForCausalLM", scaled=True, skip=0, normed=None, waves=True, compiled=True)
        self.alone("marian", "MarianForCausalLM", skip=0, normed=None, waves=True, tied=False)
        self.alone("pegasus", "PegasusForCausalLM", first=True, scaled=True, skip=0, normed=None, waves=True, compiled=True)
        self.alone("bigbird_pegasus", "BigBirdPegasusForCausalLM", first=True, scaled=True, skip=0, normed="last", act=gelu_tanh, compiled=True, use_bias=True)


if __name__ == "__main__":
    sys.exit(run(Suite, __doc__))
