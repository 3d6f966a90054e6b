#!/usr/bin/python3
"""Families of long texts, and of texts in several languages, that were written from the published code alone, against numpy.

    longer_families.py --heddle BIN [--only NAME] [--families DIR]

Small models with random weights and three rows (whole, padded on the left, with a hole). All are interpreted; one of longt5, one of
modernbert-decoder and a causal xlm are compiled too, and generate with the cached step what numpy says without one. --errors
says the largest difference of each. One line a failure, then `N passed, N failed`."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import speech_families
from encoder_families import CLASSES, LAYERS, LONGEST, heads_of, layer, weigh
from families import INNER, VOCABULARY, WIDTH
from random_weights import Weights
from reference import EPS, HEADS, Reference, attention, bucket, causal, counted, gelu, gelu_tanh, relu, rotary, sinusoids
from suite import run

COMPILED = ("longt5, pieces", "modernbert-decoder ForCausalLM", "xlm WithLMHeadModel, causal")


def pieces(real, size):
    """of each row the piece in which a token lies, -1 for padding; a piece counts when its last token is there, and has what follows it"""
    whole = (real[:, size - 1::size] > 0).sum(1)
    return np.where(real > 0, np.minimum(np.arange(real.shape[1]) // size, whole[:, None] - 1), -1)


class Suite(speech_families.Suite):
    def model(self, what, *given, **config):
        """As other suites have it; what is not in COMPILED is only interpreted."""
        return super().model(what, *given, compile=what in COMPILED, **config)

    def longt5(self, what, name, summed, gated, tied, radius=2, size=4):
        """summed: whether the encoder sees the sums of pieces of `size` tokens too"""
        w, wide, part = Weights(self.work, 71), 32, "TransientGlobalSelfAttention" if summed else "LocalSelfAttention"
        w.table("shared.weight", VOCABULARY, WIDTH)
        norms, near = ["encoder.final_layer_norm", "decoder.final_layer_norm"], ["encoder.block.0.layer.0.%s.relative_attention_bias" % part, "decoder.block.0.layer.0.SelfAttention.relative_attention_bias"]
        near += ["encoder.block.0.layer.0.%s.global_relative_attention_bias" % part] * summed
        for side, parts in (("encoder", (part,)), ("decoder", ("SelfAttention", "EncDecAttention"))):
            for i in range(LAYERS):
                at = "%s.block.%d.layer." % (side, i)
                for j, p in enumerate(parts):
                    for n in "qkv":
                        w.linear("%s%d.%s.%s" % (at, j, p, n), wide, WIDTH, bias=False)
                    w.linear("%s%d.%s.o" % (at, j, p), WIDTH, wide, bias=False)
                for n in ("wi_0", "wi_1") if gated else ("wi",):
                    w.linear("%s%d.DenseReluDense.%s" % (at, len(parts), n), INNER, WIDTH, bias=False)
                w.linear("%s%d.DenseReluDense.wo" % (at, len(parts)), WIDTH, INNER, bias=False)
                norms += ["%s%d.layer_norm" % (at, j) for j in range(len(parts) + 1)]
                norms += [at + "0.%s.global_input_layer_norm" % part] * (summed and side == "encoder")
        for n in near:
            w.table(n + ".weight", 8, HEADS)
        for n in norms:
            w.table(n + ".weight", WIDTH, scale=0.1, mean=1.0)
        if not tied:
            w.linear("lm_head", VOCABULARY, WIDTH, bias=False)
        r = Reference(w.named)
        rms = lambda n, y: r.rms(n, y, 1e-6)
        biased = lambda n, distance, both: np.moveaxis(r.named[n + ".weight"][bucket(distance, both)], -1, -3)

        def seeing(l, h, y, mask, bias):
            return r.linear(l + "o", attention(r.linear(l + "q", h) * (wide // HEADS) ** 0.5, r.linear(l + "k", y), r.linear(l + "v", y), mask, bias))

        def forward(l, x):
            h = rms(l + "layer_norm", x)
            l += "DenseReluDense."
            return x + r.linear(l + "wo", gelu_tanh(r.linear(l + "wi_0", h)) * r.linear(l + "wi_1", h) if gated else relu(r.linear(l + "wi", h)))

        def encoder(ids, real):
            x, t = r.named["shared.weight"][ids], np.arange(ids.shape[1])
            mask = (np.abs(t[None] - t[:, None]) <= radius) & (real[:, None] > 0)
            bias = np.repeat(biased(near[0], t[None] - t[:, None], True)[None], len(ids), 0)
            if summed:
                at, count = pieces(real, size), ids.shape[1] // size
                beside = np.arange(count) <= at.max(1)[:, None]
                mask = np.concatenate([mask, np.repeat(beside[:, None], len(t), 1)], 2)
                bias = np.concatenate([bias, biased(near[2], np.arange(count) - at[:, :, None], True)], 3)
            for i in range(LAYERS):
                l = "encoder.block.%d.layer." % i
                h = y = rms(l + "0.layer_norm", x)
                if summed:
                    sums = (at[:, None] == np.arange(count)[:, None]) @ h
                    y = np.concatenate([h, rms(l + "0.%s.global_input_layer_norm" % part, sums)], 1)
                x = forward(l + "1.", x + seeing(l + "0.%s." % part, h, y, mask[:, None], bias))
            return rms("encoder.final_layer_norm", x)

        def decoder(memory, real, target, mine):
            x, t = r.named["shared.weight"][target], np.arange(target.shape[1])
            bias, causal = biased(near[1], t[None] - t[:, None], False), np.tril(np.ones((len(t),) * 2, bool)) & (mine[:, None, None] > 0)
            for i in range(LAYERS):
                l = "decoder.block.%d.layer." % i
                h = rms(l + "0.layer_norm", x)
                x = x + seeing(l + "0.SelfAttention.", h, h, causal, bias)
                x = x + seeing(l + "1.EncDecAttention.", rms(l + "1.layer_norm", x), memory, real[:, None, None] > 0, 0.0)
                x = forward(l + "2.", x)
            return rms("decoder.final_layer_norm", x)

        def logits(_, ids, real, target, mine):
            x = decoder(encoder(ids, real), real, target, mine)
            return x @ r.named["shared.weight"].T * WIDTH ** -0.5 if tied else r.linear("lm_head", x)

        ids, real = self.random.integers(3, VOCABULARY, (3, 14)), np.ones((3, 14), np.int64)
        real[1, :5] = 0
        real[2, 7] = 0
        ids = np.where(real > 0, ids, 0)
        config = dict(model_type="longt5", architectures=[name], d_model=WIDTH, d_kv=wide // HEADS, d_ff=INNER, num_heads=HEADS, num_layers=LAYERS, relative_attention_num_buckets=8, relative_attention_max_distance=6,
                      encoder_attention_type="transient-global" if summed else "local", local_radius=radius, global_block_size=size, feed_forward_proj="gated-gelu" if gated else "relu",
                      tie_word_embeddings=tied, pad_token_id=0, eos_token_id=1, decoder_start_token_id=0, is_encoder_decoder=True)
        if name == "LongT5ForConditionalGeneration":
            return self.translate(what, w, logits, 0, (ids, real), **config)
        config = {**dict.fromkeys(("hidden_size", "num_attention_heads", "intermediate_size", "layer_norm_eps", "num_hidden_layers", "id2label")), "vocab_size": VOCABULARY, **config}
        given, memory = {"input_ids": ids, "attention_mask": real}, encoder(ids, real)
        if name == "LongT5EncoderModel":
            named = {n: t for n, t in w.named.items() if not n.startswith(("decoder.", "lm_head"))}
            return self.model(what, named, given, {"last_hidden_state": memory}, rows=real > 0, **config)
        target, mine = self.random.integers(3, VOCABULARY, (3, 6)), np.ones((3, 6), np.int64)
        mine[1, :2] = mine[2, 3] = 0
        named = {n: t for n, t in w.named.items() if n != "lm_head.weight"}
        self.model(what, named, {**given, "decoder_input_ids": target, "decoder_attention_mask": mine}, {"last_hidden_state": decoder(memory, real, target, mine)}, rows=mine > 0, **config)

    def test_longt5(self):
        self.longt5("longt5, pieces", "LongT5ForConditionalGeneration", True, True, False)
        self.longt5("longt5", "LongT5ForConditionalGeneration", False, False, True)
        self.longt5("longt5 Model", "LongT5Model", False, True, False)
        self.longt5("longt5 EncoderModel", "LongT5EncoderModel", True, False, False, radius=3, size=2)
        self.longt5("longt5 EncoderModel, no whole piece", "LongT5EncoderModel", True, True, False, radius=1, size=16)

    #--- modernbert-decoder ---

    def modernbert_decoder(self, classes, biased, window, apart=None, kinds=None, **more):
        """kinds: of the layers, where every `apart`-th is not the one that sees all"""
        layers, w = 3, Weights(self.work, 72)
        far = [k == "full_attention" for k in kinds] if kinds else [i % apart == 0 for i in range(layers)]

        def norm(n):
            w.norm(n, WIDTH)
            if not biased:
                del w.named[n + ".bias"]

        w.table("model.embeddings.tok_embeddings.weight", VOCABULARY, WIDTH)
        norm("model.embeddings.norm")
        norm("model.final_norm")
        for i in range(layers):
            at = "model.layers.%d." % i
            for n in ("attn.q_proj", "attn.k_proj", "attn.v_proj", "attn.Wo"):
                w.linear(at + n, WIDTH, WIDTH, bias=biased)
            w.linear(at + "mlp.Wi", 2 * INNER, WIDTH, bias=biased)
            w.linear(at + "mlp.Wo", WIDTH, INNER, bias=biased)
            for n in ("attn_norm",) * (i > 0) + ("mlp_norm",):
                norm(at + n)
        base = dict(w.named)
        for n in ("lm_head", "head"):
            w.linear(n + ".dense", WIDTH, WIDTH, bias=biased)
            norm(n + ".norm")
        w.linear("classifier", CLASSES, WIDTH, bias=biased)
        w.table("decoder.bias", VOCABULARY, scale=0.1)
        r = Reference(w.named)
        head = lambda n, x: r.norm(n + ".norm", gelu(r.linear(n + ".dense", x)))

        def states(ids, real):
            x, t = r.norm("model.embeddings.norm", r.named["model.embeddings.tok_embeddings.weight"][ids]), np.arange(ids.shape[1])
            back = (t[:, None] - t[None])[None]
            for i in range(layers):
                at, theta = "model.layers.%d." % i, 160000.0 if far[i] else 500.0
                h = r.norm(at + "attn_norm", x) if i else x
                q, k, v = (r.linear(at + "attn.%s_proj" % n, h) for n in "qkv")
                mask = (back >= 0) & (real[:, None] > 0) & (far[i] | (back < window))
                x = x + r.linear(at + "attn.Wo", attention(rotary(q, HEADS, theta), rotary(k, HEADS, theta), v, mask[:, None]))
                h, gate = np.split(r.linear(at + "mlp.Wi", r.norm(at + "mlp_norm", x)), 2, -1)
                x = x + r.linear(at + "mlp.Wo", gelu(h) * gate)
            return r.norm("model.final_norm", x)

        def logits(ids, real):
            return head("lm_head", states(ids, real)) @ r.named["model.embeddings.tok_embeddings.weight"].T + r.named["decoder.bias"]

        ids, real = self.batch(0)
        ids[0, 7:] = 0  # the class of a text is at its last token that is no padding, whatever the mask says
        x = states(ids, real)
        results = {"ForCausalLM": (("lm_head", "decoder"), {"logits": logits(ids, real)}), "Model": ((), {"last_hidden_state": x}),
                   "ForSequenceClassification": (("head", "classifier"), {"logits": r.linear("classifier", head("head", x[[0, 1, 2], [6, 8, 8]]))})}
        for name in classes:
            own, expected = results[name]
            what = "modernbert-decoder %s%s" % (name, ", biases" * biased)
            binary = self.model(what, {**base, **{n: t for n, t in w.named.items() if n.startswith(tuple(o + "." for o in own))}}, {"input_ids": ids, "attention_mask": real}, expected, rows=real > 0, cached=name == "ForCausalLM",
                                model_type="modernbert-decoder", architectures=["ModernBertDecoder" + name], vocab_size=VOCABULARY, max_position_embeddings=64, pad_token_id=0, eos_token_id=1, norm_eps=EPS, num_hidden_layers=layers,
                                layer_norm_eps=None, norm_bias=biased, attention_bias=biased, mlp_bias=biased, classifier_bias=biased, local_attention=2 * window, **({} if apart is None else {"global_attn_every_n_layers": apart}), **({} if kinds is None else {"layer_types": kinds}), **more)
            self.generates(what, binary, ids[:1, :7], lambda text: logits(text, np.ones_like(text)))

    def test_modernbert_decoder(self):
        self.modernbert_decoder(("ForCausalLM", "Model", "ForSequenceClassification"), False, 3, apart=2, global_rope_theta=160000.0, local_rope_theta=500.0)
        turns = {"full_attention": {"rope_type": "default", "rope_theta": 160000.0}, "sliding_attention": {"rope_type": "default", "rope_theta": 500.0}}
        self.modernbert_decoder(("ForCausalLM", "ForSequenceClassification"), True, 2, kinds=["sliding_attention", "full_attention", "sliding_attention"], rope_parameters=turns)

    #--- xlm, flaubert ---

    def xlm(self, kind, prefix, heads, first=False, act=gelu, spoken=1, causal=False, tied=True, summary="first", **config):
        """spoken: languages; where there are several, those of the tokens and their kinds are given"""
        at, w = "transformer.", Weights(self.work, 73)
        names = lambda i: {**{n: "attentions.%d.%s_lin" % (i, n) for n in "qkv"}, "o": "attentions.%d.out_lin" % i, "up": "ffns.%d.lin1" % i, "down": "ffns.%d.lin2" % i, "norm1": "layer_norm1.%d" % i, "norm2": "layer_norm2.%d" % i}
        for n, rows in (("embeddings", VOCABULARY), ("position_embeddings", LONGEST), ("lang_embeddings", spoken if spoken > 1 else 0)):
            if rows:
                w.table(at + n + ".weight", rows, WIDTH)
        w.norm(at + "layer_norm_emb", WIDTH)
        for i in range(LAYERS):
            for n, (out, inner) in {**dict.fromkeys("qkvo", (WIDTH, WIDTH)), "up": (4 * WIDTH, WIDTH), "down": (WIDTH, 4 * WIDTH)}.items():
                w.linear(at + names(i)[n], out, inner)
            for n in ("norm1", "norm2"):
                w.norm(at + names(i)[n], WIDTH)

        def states(r, ids, real, langs=None, token_type_ids=None):
            x = r.named[at + "embeddings.weight"][ids] + r.named[at + "position_embeddings.weight"][:ids.shape[1]]
            x = x if langs is None else x + r.named[at + "lang_embeddings.weight"][langs]
            x = x if token_type_ids is None else x + r.named[at + "embeddings.weight"][token_type_ids]
            x = r.norm(at + "layer_norm_emb", x) * real[:, :, None]
            for i in range(LAYERS):
                x = layer(r, at, names(i), x, np.tril(np.ones((ids.shape[1],) * 2, bool)) if causal else real[:, None, None] > 0, first=first, act=act) * real[:, :, None]
            return x

        def words(r, x):
            return x @ r.named[at + "embeddings.weight" if tied else "pred_layer.proj.weight"].T + r.named["pred_layer.proj.bias"]

        def sequence(r, x):
            return {"logits": np.tanh(r.linear("sequence_summary.summary", {"first": x[:, 0], "last": x[:, -1], "mean": x.mean(1)}[summary]))}

        ids, real = self.batch(2)
        more = {"langs": self.random.integers(0, spoken, ids.shape), "token_type_ids": self.random.integers(0, 2, ids.shape)} if spoken > 1 else {}
        own = {"Model": {}, "WithLMHeadModel": self.extra(**({"pred_layer__proj.bias!": (VOCABULARY,)} if tied else {"pred_layer__proj": (VOCABULARY, WIDTH)})), "ForSequenceClassification": self.extra(sequence_summary__summary=(CLASSES, WIDTH)),
               "ForTokenClassification": self.extra(classifier=(CLASSES, WIDTH)), "ForQuestionAnsweringSimple": self.extra(qa_outputs=(2, WIDTH))}
        results = {"Model": lambda r, x: {"last_hidden_state": x}, "WithLMHeadModel": lambda r, x: {"logits": words(r, x)}, "ForSequenceClassification": sequence, "ForTokenClassification": lambda r, x: {"logits": r.linear("classifier", x)},
                   "ForQuestionAnsweringSimple": lambda r, x: dict(zip(("start_logits", "end_logits"), np.moveaxis(r.linear("qa_outputs", x), -1, 0)))}
        for name in heads:
            named = {**w.named, **own[name]}
            what, r = "%s %s%s" % (kind, name, ", causal" * causal), Reference(named)
            settings = {**dict.fromkeys(("hidden_size", "num_attention_heads", "intermediate_size", "num_hidden_layers")), "model_type": kind, "architectures": [prefix + name], "emb_dim": WIDTH, "n_heads": HEADS, "n_layers": LAYERS, "n_langs": spoken, "vocab_size": VOCABULARY,
                        "max_position_embeddings": LONGEST, "pad_index": 2, "causal": causal, "gelu_activation": act is gelu, "tie_word_embeddings": tied, "summary_type": summary, "summary_activation": "tanh", **config}
            given = {"input_ids": ids, "attention_mask": real, **more}
            binary = self.model(what, named, given, results[name](r, states(r, ids, real, **more)), rows=real > 0 if what in COMPILED else None, cached=True, **settings)
            self.generates(what, binary, ids[:1], lambda text: words(r, states(r, text, np.ones_like(text))))
            if name == "Model":
                short = np.where(np.arange(9) < [[9], [6], [4]], ids[:1], 2)
                self.model(what + ", no mask", named, {"input_ids": short}, results[name](r, states(r, short, (short != 2).astype(np.int64))), **settings)

    def test_xlm(self):
        self.xlm("xlm", "XLM", ("Model", "WithLMHeadModel", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnsweringSimple"), spoken=3)
        self.xlm("xlm", "XLM", ("Model", "WithLMHeadModel", "ForSequenceClassification"), act=relu, causal=True, tied=False, summary="last", sinusoidal_embeddings=True)

    def test_flaubert(self):
        self.xlm("flaubert", "Flaubert", ("Model", "WithLMHeadModel"), pre_norm=False, layerdrop=0.1)
        self.xlm("flaubert", "Flaubert", ("ForSequenceClassification", "ForQuestionAnsweringSimple"), first=True, summary="mean", pre_norm=True)

    #--- fsmt ---

    def fsmt(self, what, name, shared, scaled, act):
        """shared: whether there is one vocabulary, and one table for all"""
        names = {"q": "self_attn.q_proj", "k": "self_attn.k_proj", "v": "self_attn.v_proj", "o": "self_attn.out_proj", "up": "fc1", "down": "fc2", "norm1": "self_attn_layer_norm", "norm2": "final_layer_norm"}
        other, w, target_words = {n: names[n].replace("self_attn", "encoder_attn") for n in "qkvo"}, Weights(self.work, 74), VOCABULARY + (0 if shared else 3)
        for side, rows in (("encoder", VOCABULARY), ("decoder", 0 if shared else target_words)):
            if rows:
                w.table("model.%s.embed_tokens.weight" % side, rows, WIDTH)
            weigh(w, "model.%s.layers.%%d." % side, names)
        for i in range(LAYERS):
            w.attention("model.decoder.layers.%d.encoder_attn" % i, WIDTH, ["q_proj", "k_proj", "v_proj", "out_proj"])
            w.norm("model.decoder.layers.%d.encoder_attn_layer_norm" % i, WIDTH)
        table = "model.%s.embed_tokens.weight" % ("encoder" if shared else "decoder")

        def embedded(r, table, ids):
            place = sinusoids(counted(ids, 1), np.exp(-np.arange(WIDTH // 2) * np.log(10000.0) / (WIDTH // 2 - 1))) * (ids != 1)[:, :, None]
            return r.named[table][ids] * (WIDTH ** 0.5 if scaled else 1) + place

        def logits(r, ids, real, target, mine):
            seen, x = real[:, None, None] > 0, embedded(r, "model.encoder.embed_tokens.weight", ids)
            for i in range(LAYERS):
                x = layer(r, "model.encoder.layers.%d." % i, names, x, seen, act=act)
            memory, x = x, embedded(r, table, target)
            causal = np.tril(np.ones((target.shape[1],) * 2, bool)) & (mine[:, None, None] > 0)
            for i in range(LAYERS):
                l = "model.decoder.layers.%d." % i
                x = r.norm(l + names["norm1"], x + heads_of(r, l, names, x, causal))
                a = attention(r.linear(l + other["q"], x), r.linear(l + other["k"], memory), r.linear(l + other["v"], memory), seen)
                x = r.norm(l + "encoder_attn_layer_norm", x + r.linear(l + other["o"], a))
                x = r.norm(l + names["norm2"], x + r.linear(l + "fc2", act(r.linear(l + "fc1", x))))
            return x @ r.named[table].T

        config = {"model_type": "fsmt", "architectures": [name], "d_model": WIDTH, "scale_embedding": scaled, "src_vocab_size": VOCABULARY, "tgt_vocab_size": target_words, "pad_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2,
                  "is_encoder_decoder": True, "activation_function": "relu" if act is relu else "gelu", "tie_word_embeddings": shared, "langs": ["en", "ru"], "decoder": {"model_type": "fsmt_decoder", "vocab_size": target_words, "bos_token_id": 2},
                  **{"%s_%s" % (s, n): v for s in ("encoder", "decoder") for n, v in (("layers", LAYERS), ("attention_heads", HEADS), ("ffn_dim", INNER))}}
        if name == "FSMTForConditionalGeneration":
            return self.translate(what, w, logits, 2, self.batch(1), **config)
        (ids, real), target, r = self.batch(1), np.where(np.arange(6) < [[6], [4], [5]], self.random.integers(3, VOCABULARY, (3, 6)), 1), Reference(w.named)
        target[2, 2] = 1
        config = {**dict.fromkeys(("hidden_size", "num_attention_heads", "intermediate_size", "layer_norm_eps", "num_hidden_layers", "id2label")), **config}
        for which, source, mine, given in (("no mask of the target", real, target != 1, {"attention_mask": real}), ("padding that is seen", np.ones_like(ids), np.ones_like(target), {"decoder_attention_mask": np.ones_like(target)})):
            expected = logits(r, ids, source, target, mine)
            self.model("%s, %s" % (what, which), w.named, {"input_ids": ids, "decoder_input_ids": target, **given}, {"last_hidden_state": expected}, rows=mine > 0, **config)

    def test_fsmt(self):
        self.fsmt("fsmt", "FSMTForConditionalGeneration", False, True, relu)
        self.fsmt("fsmt, one vocabulary", "FSMTForConditionalGeneration", True, False, gelu)
        self.fsmt("fsmt Model", "FSMTModel", False, True, relu)


if __name__ == "__main__":
    sys.exit(run(Suite, __doc__))
