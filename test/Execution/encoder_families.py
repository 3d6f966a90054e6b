#!/usr/bin/python3
"""Encoders that were written from the published code alone, against numpy: small models with random weights.

    encoder_families.py --heddle BIN [--only NAME] [--families DIR]

Encoders of texts; pictures are in picture_families.py, sound and translation in speech_families.py, which share what is here. Three rows:
whole, padded on the left, with a hole. Each model is interpreted, and two of a type are compiled. --families hands a folder of family files on to heddle.
One line a failure, then `N passed, N failed`."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import families
from families import INNER, READING_NORMS, VOCABULARY, WIDTH
from random_weights import Weights
from reference import HEADS, Reference, attention, counted, gelu, rotary
import suite

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


#--- the tests ---------------------------------------------------------------


class Suite(suite.Suite):
    most = 2
    usual = {**families.Suite.usual, "id2label": {str(i): "c%d" % i for i in range(CLASSES)}}

    def batch(self, pad=None):
        ids, real = self.random.integers(3, VOCABULARY, (3, 9)), np.ones((3, 9), np.int64)
        real[1, :3] = 0
        real[2, 4] = 0
        return (ids if pad is None else np.where(real > 0, ids, pad)), real

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

    def embedded(self, r, at, ids, places, kinds=None):
        e = at + "embeddings."
        x = r.named[e + "word_embeddings.weight"][ids] + r.named[e + "position_embeddings.weight"][places]
        return x if kinds is None else x + r.named[e + "token_type_embeddings.weight"][kinds]

    def tables(self, w, at, width=WIDTH, kinds=2, norm=True, **more):
        for n, rows in {"word": VOCABULARY, "position": LONGEST, "token_type": kinds, **more}.items():
            w.table("%sembeddings.%s_embeddings.weight" % (at, n), rows, width)
        if norm:
            w.norm(at + "embeddings.LayerNorm", width)

    def generator(self, at, thin):
        def words(r, x):
            h = r.norm("generator_predictions.LayerNorm", gelu(r.linear("generator_predictions.dense", x)))
            return {"logits": h @ r.named[at + "embeddings.word_embeddings.weight"].T + r.named["generator_lm_head.bias"]}

        return self.extra(generator_predictions__dense=(thin, WIDTH), generator_predictions__LayerNorm=(thin,), **{"generator_lm_head.bias!": (VOCABULARY,)}), words

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

            def exchanged(r, x):
                h = gelu(r.linear("discriminator_predictions.dense", x))
                return {"logits": r.linear("discriminator_predictions.dense_prediction", h)[:, :, 0]}

            heads = {"Model": ({}, lambda r, x: {"last_hidden_state": x}), "ForPreTraining": (self.extra(discriminator_predictions__dense=(WIDTH, WIDTH), discriminator_predictions__dense_prediction=(1, WIDTH)), exchanged),
                     "ForMaskedLM": self.generator("electra.", thin), "ForSequenceClassification": (self.extra(classifier__dense=(WIDTH, WIDTH), classifier__out_proj=(CLASSES, WIDTH)), sequence),
                     "ForTokenClassification": (self.extra(classifier=(CLASSES, WIDTH)), lambda r, x: {"logits": r.linear("classifier", x)})}
            self.heads("electra %d" % thin, "Electra", w, heads, states, given, real, model_type="electra", embedding_size=thin)

    def heads(self, what, prefix, w, heads, states, given, real, only=None, compiling=None, **config):
        """compiling: the ends of the names of the classes that are compiled; all of them without"""
        config = {"vocab_size": VOCABULARY, "max_position_embeddings": LONGEST, "type_vocab_size": 2, **config}
        for name, (more, results) in heads.items():
            if only is None or name in only:
                r = Reference({**w.named, **more})
                inputs = {n: t[None] for n, t in given.items()} if name == "ForMultipleChoice" else given  # the rows are the choices of one question
                self.model("%s %s" % (what, name), {**w.named, **more}, inputs, results(r, states(r)), rows=real > 0, architectures=[prefix + name],
                           compile=compiling is None or name.endswith(tuple(compiling)), **config)

    def choice(self, vector, **shapes):
        """a head of multiple choice; vector(r, x): what its linear reads of each row, with weights of these shapes"""
        return self.extra(classifier=(1, WIDTH), **shapes), lambda r, x: {"logits": r.linear("classifier", vector(r, x)).reshape(1, -1)}

    def pooled_choice(self, at):
        return self.choice(lambda r, x: np.tanh(r.linear(at + "pooler.dense", x[:, 0])), **{at + "pooler.dense": (WIDTH, WIDTH)})

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
                "ForMaskedLM": (self.extra(**{dense: (WIDTH, WIDTH), norm: (WIDTH,), out + ".bias!": (VOCABULARY,)}), mlm),
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

        self.heads("megatron-bert", "MegatronBert", w, {**self.bert_heads("bert."), "ForMultipleChoice": self.pooled_choice("bert.")}, states, {"input_ids": ids, "attention_mask": real, "token_type_ids": kinds}, real, model_type="megatron-bert")

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

    def test_roberta(self):
        self.roberta("data2vec-text", "Data2VecText", "data2vec_text.", False)
        self.roberta("xlm-roberta-xl", "XLMRobertaXL", "roberta.", True)

    def test_esm(self):
        names = {**BERT, "norm1": "attention.LayerNorm", "norm2": "LayerNorm"}
        ids, real = self.batch(pad=1)
        ids[0, 3] = ids[1, 4] = ids[1, 6] = 2
        for turns, dropped, normed in ((True, True, False), (False, False, True), (False, True, False)):
            w = Weights(self.work, 35)
            w.table("esm.embeddings.word_embeddings.weight", VOCABULARY, WIDTH)
            if not turns:
                w.table("esm.embeddings.position_embeddings.weight", LONGEST, WIDTH)
            weigh(w, "esm.encoder.layer.%d.", names)
            for n in ["esm.encoder.emb_layer_norm_after"] + ["esm.embeddings.layer_norm"] * normed:
                w.norm(n, WIDTH)

            def states(r):
                x = r.named["esm.embeddings.word_embeddings.weight"][ids]
                if dropped:
                    x = np.where((ids == 2)[:, :, None], 0, x) * 0.88 / (1 - (ids == 2).sum(1) / real.sum(1))[:, None, None]
                if not turns:
                    x = x + r.named["esm.embeddings.position_embeddings.weight"][counted(ids, 1)]
                x = (r.norm("esm.embeddings.layer_norm", x) if normed else x) * real[:, :, None]
                for i in range(LAYERS):
                    x = layer(r, "esm.encoder.layer.%d." % i, names, x, real[:, None, None] > 0, first=True, turn=rotary if turns else lambda t: t)
                return r.norm("esm.encoder.emb_layer_norm_after", x)

            self.heads("esm %d%d%d" % (turns, dropped, normed), "Esm", w, self.bert_heads("esm.", "lm_head"), states, {"input_ids": ids, "attention_mask": real}, real, only=None if turns else ["ForMaskedLM"], model_type="esm",
                       type_vocab_size=None, pad_token_id=1, mask_token_id=2, token_dropout=dropped, emb_layer_norm_before=normed, position_embedding_type="rotary" if turns else "absolute")

    def test_rembert(self):
        ids, real = self.batch()
        kinds, thin, broad = self.random.integers(0, 2, ids.shape), 16, 36
        w = Weights(self.work, 36)
        self.tables(w, "rembert.", thin)
        w.linear("rembert.encoder.embedding_hidden_mapping_in", WIDTH, thin)
        weigh(w, "rembert.encoder.layer.%d.", BERT)

        def states(r):
            x = r.linear("rembert.encoder.embedding_hidden_mapping_in", r.norm("rembert.embeddings.LayerNorm", self.embedded(r, "rembert.", ids, np.arange(9), kinds)))
            for i in range(LAYERS):
                x = layer(r, "rembert.encoder.layer.%d." % i, BERT, x, real[:, None, None] > 0)
            return x

        heads, c = {**self.bert_heads("rembert."), "ForMultipleChoice": self.pooled_choice("rembert.")}, "cls.predictions."
        heads["ForMaskedLM"] = (self.extra(**{c + "dense": (broad, WIDTH), c + "LayerNorm": (broad,), c + "decoder": (VOCABULARY, broad)}),
                                lambda r, x: {"logits": r.linear(c + "decoder", r.norm(c + "LayerNorm", gelu(r.linear(c + "dense", x))))})
        self.heads("rembert", "RemBert", w, heads, states, {"input_ids": ids, "attention_mask": real, "token_type_ids": kinds}, real, model_type="rembert", input_embedding_size=thin, output_embedding_size=broad)

    def test_squeezebert(self):
        ids, real = self.batch()
        kinds = self.random.integers(0, 2, ids.shape)
        w, t = Weights(self.work, 37), "transformer."
        parts = {"attention.query": (WIDTH, WIDTH, 2), "attention.key": (WIDTH, WIDTH, 3), "attention.value": (WIDTH, WIDTH, 4), "post_attention.conv1d": (WIDTH, WIDTH, 1), "intermediate.conv1d": (INNER, WIDTH, 4),
                 "output.conv1d": (WIDTH, INNER, 2)}
        self.tables(w, t)
        for i in range(LAYERS):
            at = t + "encoder.layers.%d." % i
            for n, (out, inner, groups) in parts.items():
                w.linear(at + n, out, inner // groups, 1)
            for n in ("post_attention", "output"):
                w.norm(at + n + ".layernorm", WIDTH)

        def states(r):
            x = r.norm(t + "embeddings.LayerNorm", self.embedded(r, t, ids, np.arange(9), kinds))
            for i in range(LAYERS):
                def grouped(n, y):
                    kernels, cuts = np.split(r.named[at + n + ".weight"][:, :, 0], parts[n][2]), np.split(y, parts[n][2], -1)
                    return np.concatenate([c @ k.T for c, k in zip(cuts, kernels)], -1) + r.named[at + n + ".bias"]

                at = t + "encoder.layers.%d." % i
                a = attention(*(grouped("attention." + n, x) for n in ("query", "key", "value")), real[:, None, None] > 0)
                x = r.norm(at + "post_attention.layernorm", x + grouped("post_attention.conv1d", a), 1e-12)
                x = r.norm(at + "output.layernorm", x + grouped("output.conv1d", gelu(grouped("intermediate.conv1d", x))), 1e-12)
            return x

        groups = dict(zip(("q_groups", "k_groups", "v_groups", "post_attention_groups", "intermediate_groups", "output_groups"), (g for _, _, g in parts.values())))
        self.heads("squeezebert", "SqueezeBert", w, {**self.bert_heads(t), "ForMultipleChoice": self.pooled_choice(t)}, states, {"input_ids": ids, "attention_mask": real, "token_type_ids": kinds}, real, model_type="squeezebert", embedding_size=WIDTH, **groups)

    def test_convbert(self):
        ids, real = self.batch()
        kinds, taps, half = self.random.integers(0, 2, ids.shape), 3, WIDTH // 2
        given = {"input_ids": ids, "attention_mask": real, "token_type_ids": kinds}
        for thin, groups in ((16, 2), (WIDTH, 1)):
            w = Weights(self.work, 38)
            self.tables(w, "convbert.", thin)
            if thin != WIDTH:
                w.linear("convbert.embeddings_project", WIDTH, thin)
            for i in range(LAYERS):
                at = "convbert.encoder.layer.%d." % i
                for n in ("query", "key", "value", "conv_out_layer"):
                    w.linear(at + "attention.self." + n, half, WIDTH)
                w.table(at + "attention.self.key_conv_attn_layer.depthwise.weight", WIDTH, 1, taps, scale=0.5)
                w.table(at + "attention.self.key_conv_attn_layer.pointwise.weight", half, WIDTH, 1, scale=0.3)
                w.table(at + "attention.self.key_conv_attn_layer.bias", half, 1)
                w.linear(at + "attention.self.conv_kernel_layer", HEADS // 2 * taps, half)
                w.linear(at + "attention.output.dense", WIDTH, WIDTH)
                for n in READING_NORMS:
                    w.norm(at + n, WIDTH)
                for n, out, inner in (("intermediate.dense", INNER, WIDTH), ("output.dense", WIDTH, INNER)):
                    w.linear(at + n, out, inner)
                    if groups > 1:
                        w.table(at + n + ".weight", groups, inner // groups, out // groups, scale=0.3)

            def grouped(r, n, x):
                if groups == 1:
                    return r.linear(n, x)
                return np.concatenate([c @ k for c, k in zip(np.split(x, groups, -1), r.named[n + ".weight"])], -1) + r.named[n + ".bias"]

            def states(r):
                x = r.norm("convbert.embeddings.LayerNorm", self.embedded(r, "convbert.", ids, np.arange(9), kinds))
                x = r.linear("convbert.embeddings_project", x) if thin != WIDTH else x
                for i in range(LAYERS):
                    at = "convbert.encoder.layer.%d." % i
                    own, conv = at + "attention.self.", at + "attention.self.key_conv_attn_layer."
                    q, k, v, u = (r.linear(own + n, x) for n in ("query", "key", "value", "conv_out_layer"))
                    around = lambda y: np.stack([np.pad(y, ((0, 0), (1, 1), (0, 0)))[:, t:t + 9] for t in range(taps)], -1)
                    near = (around(x) * r.named[conv + "depthwise.weight"][:, 0]).sum(-1) @ r.named[conv + "pointwise.weight"][:, :, 0].T + r.named[conv + "bias"][:, 0]
                    kernel = np.exp(r.linear(own + "conv_kernel_layer", near * q).reshape(3, 9, HEADS // 2, 1, taps))
                    y = (around(u).reshape(3, 9, HEADS // 2, HEAD, taps) * kernel / kernel.sum(-1, keepdims=True)).sum(-1).reshape(3, 9, half)
                    a = attention(q, k, v, real[:, None, None] > 0, heads=HEADS // 2)
                    x = r.norm(at + READING_NORMS[0], x + r.linear(at + "attention.output.dense", np.concatenate([a, y], -1)))
                    x = r.norm(at + READING_NORMS[1], x + grouped(r, at + "output.dense", gelu(grouped(r, at + "intermediate.dense", x))))
                return x

            heads = {"Model": ({}, lambda r, x: {"last_hidden_state": x}),
                     "ForMaskedLM": self.generator("convbert.", thin),
                     "ForSequenceClassification": (self.extra(classifier__dense=(WIDTH, WIDTH), classifier__out_proj=(CLASSES, WIDTH)),
                                                   lambda r, x: {"logits": r.linear("classifier.out_proj", gelu(r.linear("classifier.dense", x[:, 0])))})}
            heads["ForMultipleChoice"] = self.choice(lambda r, x: x[:, -1]) if thin == WIDTH else self.choice(lambda r, x: np.tanh(r.linear("sequence_summary.summary", x[:, 0])), sequence_summary__summary=(WIDTH, WIDTH))
            summary = {} if thin == WIDTH else {"summary_type": "first", "summary_use_proj": True, "summary_activation": "tanh"}
            self.heads("convbert %d" % thin, "ConvBert", w, heads, states, given, real, **summary, model_type="convbert", embedding_size=thin, conv_kernel_size=taps, num_groups=groups, head_ratio=2)


if __name__ == "__main__":
    sys.exit(suite.run(Suite, __doc__))
