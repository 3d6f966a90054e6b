#!/usr/bin/python3
"""BERT's kin that were written from the published code alone, and heads of BERT's that few use, against numpy: small models with random weights.

    bert_families.py --heddle BIN [--only NAME] [--families DIR]

Three rows: whole, padded on the left, with a hole. Each model is interpreted, one or two of a family are compiled, and decoders generate
with the cached step what numpy says without one. --families hands a folder of family files on to heddle; --errors
says the largest differences. One line a failure, then `N passed, N failed`."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import encoder_families
from encoder_families import BERT, CLASSES, LAYERS, LONGEST, heads_of, layer, weigh
from families import INNER, VOCABULARY, WIDTH
from random_weights import Weights
from reference import HEADS, Reference, attention, by_heads, causal, counted, gelu, gelu_tanh, joined, layer_norm, relu, rotary, softmax
from suite import run

PRE = {**BERT, "norm1": "attention.LayerNorm", "norm2": "intermediate.LayerNorm"}


def span(r, x):
    y = r.linear("qa_outputs", x)
    return {"start_logits": y[..., 0], "end_logits": y[..., 1]}


def decoded(r, at, names, x, real, more, first=False, norm=None, act=gelu, turn=lambda t: t):
    """through causal layers, with attention to the states of an encoder where there are any; first: whether the norms come before; norm: that of this attention"""
    norm = norm or ("LayerNorm" if first else "output.LayerNorm")
    for i in range(LAYERS):
        def behind(norm, x, f):
            return x + f(r.norm(norm, x)) if first else r.norm(norm, x + f(x))

        def to_memory(y):
            m = more["encoder_hidden_states"]
            a = attention(r.linear(c + "self.query", y), r.linear(c + "self.key", m), r.linear(c + "self.value", m), more["encoder_attention_mask"][:, None, None] > 0)
            return r.linear(c + "output.dense", a)

        l, c = at % i, at % i + "crossattention."
        x = behind(l + names["norm1"], x, lambda y: heads_of(r, l, names, y, causal(real), turn=turn))
        x = behind(c + norm, x, to_memory) if more else x
        x = behind(l + names["norm2"], x, lambda y: r.linear(l + names["down"], act(r.linear(l + names["up"], y))))
    return x


class Suite(encoder_families.Suite):
    def heads(self, *given, compiling=("Model",), **more):
        super().heads(*given, compiling=compiling, **more)

    def all_heads(self, at, words="cls.predictions.transform"):
        return {**self.bert_heads(at, words), "ForQuestionAnswering": (self.extra(qa_outputs=(2, WIDTH)), span)}

    def test_roberta_prelayernorm(self):
        at = "roberta_prelayernorm."
        w = Weights(self.work, 41)
        self.tables(w, at)
        weigh(w, at + "encoder.layer.%d.", PRE)
        w.norm(at + "LayerNorm", WIDTH)
        ids, real = self.batch(pad=1)
        kinds = self.random.integers(0, 2, ids.shape)

        def states(r):
            x = r.norm(at + "embeddings.LayerNorm", self.embedded(r, at, ids, counted(ids, 1), kinds))
            for i in range(LAYERS):
                x = layer(r, at + "encoder.layer.%d." % i, PRE, x, real[:, None, None] > 0, first=True)
            return r.norm(at + "LayerNorm", x)

        self.heads("roberta-prelayernorm", "RobertaPreLayerNorm", w, self.all_heads(at, "lm_head"), states, {"input_ids": ids, "attention_mask": real, "token_type_ids": kinds}, real, compiling=(),
                   model_type="roberta-prelayernorm", pad_token_id=1)

    def decodes(self, what, w, logits, real, more=None, pad=None, **config):
        """A causal model: its logits, and the tokens that follow from them, the first row's by the cached step. logits: of ids and mask, for inputs `more`"""
        ids = self.random.integers(3, VOCABULARY, real.shape)
        ids = np.where(real > 0, ids, pad) if pad is not None else ids
        more = more or {}
        binary = self.model(what, w.named, {"input_ids": ids, "attention_mask": real, **more}, {"logits": logits(ids, real, more)}, rows=real > 0, cached=True, vocab_size=VOCABULARY,
                            max_position_embeddings=LONGEST, is_decoder=True, **config)
        if binary:
            text, first = ids[:1], {n: t[:1] for n, t in more.items()}
            self.generates(what, binary, text, lambda text: logits(text, np.ones_like(text), first), **first)

    def memory(self, w, at, norm="output.LayerNorm"):
        """weights of attention to an encoder, and states of one with a mask"""
        for i in range(LAYERS):
            for n in ("self.query", "self.key", "self.value", "output.dense"):
                w.linear(at % i + n, WIDTH, WIDTH)
            w.norm(at % i + norm, WIDTH)
        seen = np.ones((3, 7), np.int64)
        seen[1, 5:] = 0
        return {"encoder_hidden_states": self.random.standard_normal((3, 7, WIDTH)).astype(np.float32), "encoder_attention_mask": seen}

    def test_layoutlm(self):
        at, sides = "layoutlm.", ("x", "y", "h", "w")
        w = Weights(self.work, 45)
        self.tables(w, at, **{n + "_position": 13 for n in sides})
        weigh(w, at + "encoder.layer.%d.", BERT)
        ids, real = self.batch()
        kinds = self.random.integers(0, 2, ids.shape)
        box = np.concatenate([self.random.integers(0, 6, (3, 9, 2)), self.random.integers(6, 13, (3, 9, 2))], -1)

        def states(r):
            x, y, h, b = (r.named["%sembeddings.%s_position_embeddings.weight" % (at, n)] for n in sides)
            e = self.embedded(r, at, ids, np.arange(9), kinds) + x[box[..., 0]] + x[box[..., 2]] + y[box[..., 1]] + y[box[..., 3]] + h[box[..., 3] - box[..., 1]] + b[box[..., 2] - box[..., 0]]
            e = r.norm(at + "embeddings.LayerNorm", e)
            for i in range(LAYERS):
                e = layer(r, at + "encoder.layer.%d." % i, BERT, e, real[:, None, None] > 0)
            return e

        given = {"input_ids": ids, "attention_mask": real, "token_type_ids": kinds, "bbox": box}
        self.heads("layoutlm", "LayoutLM", w, self.all_heads(at), states, given, real, model_type="layoutlm", max_2d_position_embeddings=13)

    def test_mobilebert(self):
        at, c = "mobilebert.", "cls.predictions."
        ids, real = self.batch()
        kinds = self.random.integers(0, 2, ids.shape)
        given = {"input_ids": ids, "attention_mask": real, "token_type_ids": kinds}
        published = {"embedding_size": 8, "intra_bottleneck_size": 12, "num_feedforward_networks": 3, "trigram_input": True, "use_bottleneck": True, "use_bottleneck_attention": False, "key_query_shared_bottleneck": True,
                     "normalization_type": "no_norm", "classifier_activation": False}
        for what, some, other in (("", None, {}), (" unshared", ("Model",), {"key_query_shared_bottleneck": False, "normalization_type": "layer_norm", "classifier_activation": True}),
                                  (" all narrow", ("Model", "ForSequenceClassification"), {"use_bottleneck_attention": True, "normalization_type": "layer_norm", "trigram_input": False, "classifier_activation": True}),
                                  (" broad", ("Model", "ForMaskedLM"), {"use_bottleneck": False, "embedding_size": WIDTH, "trigram_input": False, "num_feedforward_networks": 1})):
            o = {**published, **other}
            thin, norms, narrowed, all_narrow = o["embedding_size"], o["normalization_type"] == "layer_norm", o["use_bottleneck"], o["use_bottleneck_attention"]
            narrow, pooler = o["intra_bottleneck_size"] if narrowed else WIDTH, o["classifier_activation"]
            shared, eps = o["key_query_shared_bottleneck"], 0.01
            w = Weights(self.work, 46)
            self.tables(w, at)
            w.table(at + "embeddings.word_embeddings.weight", VOCABULARY, thin)
            if o["trigram_input"] or thin != WIDTH:
                w.linear(at + "embeddings.embedding_transformation", WIDTH, 3 * thin if o["trigram_input"] else thin)
            for i in range(LAYERS):
                l = at + "encoder.layer.%d." % i
                for n in (["bottleneck.input"] + ["bottleneck.attention"] * shared) * narrowed:
                    w.linear(l + n + ".dense", narrow, WIDTH)
                    w.norm(l + n + ".LayerNorm", narrow)
                for n in ("query", "key", "value"):
                    w.linear(l + "attention.self." + n, narrow, narrow if all_narrow or n != "value" and shared else WIDTH)
                w.linear(l + "attention.output.dense", narrow, narrow)
                w.norm(l + "attention.output.LayerNorm", narrow)
                for n in ["ffn.%d." % j for j in range(o["num_feedforward_networks"] - 1)] + [""]:
                    w.linear(l + n + "intermediate.dense", INNER, narrow)
                    w.linear(l + n + "output.dense", narrow, INNER)
                    w.norm(l + n + "output.LayerNorm", narrow)
                if narrowed:
                    w.linear(l + "output.bottleneck.dense", WIDTH, narrow)
                    w.norm(l + "output.bottleneck.LayerNorm", WIDTH)

            def norm(r, n, x, eps=eps, always=False):
                return r.norm(n, x, eps) if norms or always else x * r.named[n + ".weight"] + r.named[n + ".bias"]

            def states(r):
                e = r.named[at + "embeddings.word_embeddings.weight"][ids]
                if o["trigram_input"]:
                    around = np.pad(e, ((0, 0), (1, 1), (0, 0)))
                    e = np.concatenate([around[:, 2:], e, around[:, :-2]], -1)
                if o["trigram_input"] or thin != WIDTH:
                    e = r.linear(at + "embeddings.embedding_transformation", e)
                x = norm(r, at + "embeddings.LayerNorm", e + r.named[at + "embeddings.position_embeddings.weight"][np.arange(9)] + r.named[at + "embeddings.token_type_embeddings.weight"][kinds], 1e-5)
                for i in range(LAYERS):
                    l = at + "encoder.layer.%d." % i
                    through = lambda n: norm(r, l + "bottleneck.%s.LayerNorm" % n, r.linear(l + "bottleneck.%s.dense" % n, x))
                    rest = through("input") if narrowed else x
                    looks = rest if all_narrow else through("attention") if shared and narrowed else x
                    q, k, v = (r.linear(l + "attention.self." + n, rest if all_narrow else x if n == "value" else looks) for n in ("query", "key", "value"))
                    y = norm(r, l + "attention.output.LayerNorm", r.linear(l + "attention.output.dense", attention(q, k, v, real[:, None, None] > 0)) + rest)
                    for n in ["ffn.%d." % j for j in range(o["num_feedforward_networks"] - 1)] + [""]:
                        y = norm(r, l + n + "output.LayerNorm", y + r.linear(l + n + "output.dense", np.maximum(r.linear(l + n + "intermediate.dense", y), 0)), eps if n else 1e-5)
                    x = norm(r, l + "output.bottleneck.LayerNorm", x + r.linear(l + "output.bottleneck.dense", y)) if narrowed else y
                return x

            def pooled(r, x):
                return np.tanh(r.linear(at + "pooler.dense", x[:, 0])) if pooler else x[:, 0]

            def words(r, x):
                h = norm(r, c + "transform.LayerNorm", np.maximum(r.linear(c + "transform.dense", x), 0), always=True)
                both = np.concatenate([r.named[at + "embeddings.word_embeddings.weight"].T, r.named[c + "dense.weight"]]) if thin != WIDTH else r.named[at + "embeddings.word_embeddings.weight"].T
                return h @ both + r.named[c + "bias"]

            head = self.extra(**{c + "transform.dense": (WIDTH, WIDTH), c + "transform.LayerNorm": (WIDTH,), c + "bias!": (VOCABULARY,), **({c + "dense.weight!": (WIDTH - thin, VOCABULARY)} if thin != WIDTH else {})})
            after, first = self.extra(**{"cls.seq_relationship": (2, WIDTH)}), self.extra(**{at + "pooler.dense": (WIDTH, WIDTH)}) if pooler else {}
            heads = {"Model": (first, lambda r, x: {"last_hidden_state": x, "pooler_output": pooled(r, x)}), "ForMaskedLM": (head, lambda r, x: {"logits": words(r, x)}),
                     "ForPreTraining": ({**head, **after, **first}, lambda r, x: {"prediction_logits": words(r, x), "seq_relationship_logits": r.linear("cls.seq_relationship", pooled(r, x))}),
                     "ForNextSentencePrediction": ({**after, **first}, lambda r, x: {"logits": r.linear("cls.seq_relationship", pooled(r, x))}),
                     "ForSequenceClassification": ({**first, **self.extra(classifier=(CLASSES, WIDTH))}, lambda r, x: {"logits": r.linear("classifier", pooled(r, x))}),
                     "ForTokenClassification": (self.extra(classifier=(CLASSES, WIDTH)), lambda r, x: {"logits": r.linear("classifier", x)}),
                     "ForQuestionAnswering": (self.extra(qa_outputs=(2, WIDTH)), span)}
            self.heads("mobilebert" + what, "MobileBert", w, heads, states, given, real, only=some, compiling=("ForMaskedLM",) if thin == WIDTH else () if norms else ("ForPreTraining",), model_type="mobilebert", layer_norm_eps=eps, **o)

    def test_bert_generation(self):
        ids, real = self.batch()
        for beside in (None, False, True):
            w, at = Weights(self.work, 44), "bert." * (beside is not None)
            l, word = at + "encoder.layer.%d.", at + "embeddings.word_embeddings.weight"
            self.tables(w, at)
            del w.named[at + "embeddings.token_type_embeddings.weight"]
            weigh(w, l, BERT)
            more = self.memory(w, l + "crossattention.") if beside else {}
            if beside is not None:
                w.table("lm_head.bias", VOCABULARY, scale=0.1)
            if beside:
                w.named.update({"lm_head.decoder.bias": w.named["lm_head.bias"], "lm_head.decoder.weight": w.named[word]})
            r = Reference(w.named)

            def states(ids):
                return r.norm(at + "embeddings.LayerNorm", self.embedded(r, at, ids, np.arange(ids.shape[1])))

            def logits(ids, real, more):
                return decoded(r, l, BERT, states(ids), real, more) @ r.named[word].T + r.named["lm_head.bias"]

            if beside is None:
                x = states(ids)
                for i in range(LAYERS):
                    x = layer(r, l % i, BERT, x, real[:, None, None] > 0)
                self.model("bert-generation", w.named, {"input_ids": ids, "attention_mask": real}, {"last_hidden_state": x}, rows=real > 0, model_type="bert-generation", architectures=["BertGenerationEncoder"],
                           compile=False, vocab_size=VOCABULARY, max_position_embeddings=LONGEST)
            else:
                self.decodes("bert-generation decoder%s" % (" of an encoder" * beside), w, logits, real, more, model_type="bert-generation", architectures=["BertGenerationDecoder"], add_cross_attention=beside)

    def test_bert_decoder(self):
        _, real = self.batch()
        for beside in (False, True):
            w, at, c = Weights(self.work, 42), "bert.encoder.layer.%d.", "cls.predictions."
            self.tables(w, "bert.")
            weigh(w, at, BERT)
            w.linear(c + "transform.dense", WIDTH, WIDTH)
            w.norm(c + "transform.LayerNorm", WIDTH)
            w.table(c + "bias", VOCABULARY, scale=0.1)
            more = self.memory(w, at + "crossattention.") if beside else {}
            r = Reference(w.named)

            def logits(ids, real, more):
                x = decoded(r, at, BERT, r.norm("bert.embeddings.LayerNorm", self.embedded(r, "bert.", ids, np.arange(ids.shape[1]), 0)), real, more)
                return r.norm(c + "transform.LayerNorm", gelu(r.linear(c + "transform.dense", x))) @ r.named["bert.embeddings.word_embeddings.weight"].T + r.named[c + "bias"]

            self.decodes("bert decoder%s" % (" of an encoder" * beside), w, logits, real, more, model_type="bert", architectures=["BertLMHeadModel"], add_cross_attention=beside)

    def test_kin_decoders(self):
        """...ForCausalLM of BERT's kin. Each is compiled and generates by a cached step, and is interpreted over somebody else's encoder."""
        _, real = self.batch()
        #  class -> model type, prefix, width of the words, more of config.json
        for kind, model_type, at, thin, config in (
                ("Ernie", "ernie", "ernie.", WIDTH, {}), ("Electra", "electra", "electra.", 16, {"embedding_size": 16}), ("MegatronBert", "megatron-bert", "bert.", WIDTH, {}),
                ("RemBert", "rembert", "rembert.", 16, {"input_embedding_size": 16, "output_embedding_size": 36}), ("RoFormer", "roformer", "roformer.", 16, {"embedding_size": 16}),
                ("RoCBert", "roc_bert", "roc_bert.", WIDTH, {"shape_vocab_size": 11, "shape_embed_dim": 6, "pronunciation_vocab_size": 7, "pronunciation_embed_dim": 10}),
                ("BigBird", "big_bird", "bert.", WIDTH, {"hidden_act": "gelu_new"})):
            megatron, placed, act = kind == "MegatronBert", kind != "RoFormer", gelu_tanh if kind == "BigBird" else gelu
            names, cross = ({**BERT, "norm1": "attention.ln", "norm2": "ln"}, "ln") if megatron else (BERT, "output.LayerNorm")
            l, e = at + "encoder.layer.%d.", at + "embeddings."
            project = at + ("encoder.embedding_hidden_mapping_in" if kind == "RemBert" else "embeddings_project")
            head = {"Electra": "generator_predictions.", "RemBert": "cls.predictions."}.get(kind, "cls.predictions.transform.")
            broad = {"Electra": thin, "RemBert": 36, "RoFormer": thin}.get(kind, WIDTH)
            out = {"Electra": "generator_lm_head", "RemBert": "cls.predictions.decoder"}.get(kind, "cls.predictions")
            for beside in (False, True):
                w = Weights(self.work, 52)
                self.tables(w, at, thin, norm=not megatron)
                weigh(w, l, names)
                if not placed:
                    del w.named[e + "position_embeddings.weight"]
                if kind == "RoCBert":
                    w.table(e + "shape_embed.weight", 11, 6)
                    w.table(e + "pronunciation_embed.weight", 7, 10)
                    w.linear(e + "map_inputs_layer", WIDTH, WIDTH + 16)
                if megatron:
                    w.norm(at + "encoder.ln", WIDTH)
                if thin != WIDTH:
                    w.linear(project, WIDTH, thin)
                w.linear(head + "dense", broad, WIDTH)
                w.norm(head + "LayerNorm", broad)
                if kind == "RemBert":
                    w.linear(out, VOCABULARY, broad)
                else:
                    w.table(out + ".bias", VOCABULARY, scale=0.1)
                more = self.memory(w, l + "crossattention.", cross) if beside else {}
                r = Reference(w.named)

                def logits(ids, real, more):
                    x = r.named[e + "word_embeddings.weight"][ids]
                    if kind == "RoCBert":
                        rest = np.concatenate([r.named[e + "shape_embed.weight"][:1], r.named[e + "pronunciation_embed.weight"][:1]], -1)
                        x = r.linear(e + "map_inputs_layer", np.concatenate([x, np.broadcast_to(rest, (*ids.shape, 16))], -1))
                    x = x + r.named[e + "token_type_embeddings.weight"][0] + (r.named[e + "position_embeddings.weight"][:ids.shape[1]] if placed else 0)
                    x = x if megatron else r.norm(e + "LayerNorm", x)
                    x = r.linear(project, x) if thin != WIDTH else x
                    x = decoded(r, l, names, x, real, more, megatron, cross, act, turn=(lambda t: t) if placed else lambda t: rotary(t, pairs=True))
                    x = r.norm(at + "encoder.ln", x) if megatron else x
                    h = r.norm(head + "LayerNorm", act(r.linear(head + "dense", x)))
                    return r.linear(out, h) if kind == "RemBert" else h @ r.named[e + "word_embeddings.weight"].T + r.named[out + ".bias"]

                self.decodes("%s decoder%s" % (kind, " of an encoder" * beside), w, logits, real, more, compile=not beside, model_type=model_type, architectures=[kind + "ForCausalLM"], type_vocab_size=2, add_cross_attention=beside, **config)

    def test_choices_of_bodies(self):
        """Two questions of three choices over bodies that other tests hold."""
        small = {"vocab_size": VOCABULARY, "hidden_size": WIDTH, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "intermediate_size": INNER, "max_position_embeddings": LONGEST, "layer_norm_eps": 1e-5}
        ids = self.random.integers(5, VOCABULARY, (2, 3, 9))
        ids[:, :, [2, 3, 8]] = 3  # a question, two separators, a choice, a separator
        real = np.ones_like(ids)
        real[0, 1, :1] = real[1, 0, 7:] = 0
        ids = np.where(real > 0, ids, 1)
        kinds = self.random.integers(0, 2, ids.shape)
        far = np.broadcast_to(np.arange(9) > 3, ids.shape).astype(np.int64)
        two, three = {"input_ids": ids, "attention_mask": real}, {"input_ids": ids, "attention_mask": real, "token_type_ids": kinds}
        flat = lambda t: t.reshape(6, *t.shape[2:])
        pooler = lambda r, y: y["pooler_output"]
        last = lambda r, y: y["last_hidden_state"][:, -1]
        begin = real.reshape(6, 9).argmax(1)

        def modern(mean):
            def vector(r, y):
                x, m = y["last_hidden_state"], real.reshape(6, 9, 1)
                x = (x * m).sum(1) / m.sum(1) if mean else x[np.arange(6), begin]
                h = gelu(x @ r.named["head.dense.weight"].T)
                return layer_norm(h, r.named["head.norm.weight"])
            return vector

        unused = dict.fromkeys(("hidden_size", "num_attention_heads", "intermediate_size", "num_hidden_layers"))
        xlm = {**unused, "vocab_size": VOCABULARY, "emb_dim": WIDTH, "n_layers": LAYERS, "n_heads": HEADS, "max_position_embeddings": LONGEST, "id2label": {str(i): "c%d" % i for i in range(CLASSES)}}
        summary = lambda at, act=lambda x: x: lambda r, y: act(r.linear("sequence_summary.summary", y["last_hidden_state"][:, at]))
        for kind, model_type, given, vector, config in (
                ("BigBird", "big_bird", three, pooler, {**small, "type_vocab_size": 2, "block_size": 5}), ("Longformer", "longformer", three, pooler, {**small, "attention_window": 4, "pad_token_id": 1, "sep_token_id": 3}),
                ("MPNet", "mpnet", two, pooler, small), ("RoFormer", "roformer", three, last, {**small, "type_vocab_size": 2}),
                ("DebertaV2", "deberta-v2", three, lambda r, y: gelu(r.linear("pooler.dense", y["last_hidden_state"][:, 0])), {**small, "type_vocab_size": 2, "relative_attention": True, "pos_att_type": ["c2p", "p2c"], "position_buckets": 4}),
                ("ModernBert", "modernbert", two, modern(False), {**small, "layer_norm_eps": None}), ("ModernBert mean", "modernbert", two, modern(True), {**small, "layer_norm_eps": None, "classifier_pooling": "mean"}),
                ("XLM", "xlm", two, summary(0), xlm), ("Flaubert", "flaubert", two, summary(-1, np.tanh), {**xlm, "summary_type": "last", "summary_activation": "tanh"})):
            name, head = kind.split()[0], "logits_proj" if kind in ("XLM", "Flaubert") else "classifier"
            more = {"global_attention_mask": flat(far)} if name == "Longformer" else None  # what the class works out from the separators
            self.over_body("choices of " + kind, [name + "ForMultipleChoice", name + "Model"], given, lambda r, y: {"logits": r.linear(head, vector(r, y)).reshape(2, 3)}, flat, more, model_type=model_type, **config)

    def test_roberta_decoder(self):
        _, real = self.batch()
        for kind, at, first, beside in (("Roberta", "roberta.", False, False), ("Roberta", "roberta.", False, True), ("RobertaPreLayerNorm", "roberta_prelayernorm.", True, True)):
            w, l, names = Weights(self.work, 43), at + "encoder.layer.%d.", PRE if first else BERT
            self.tables(w, at)
            weigh(w, l, names)
            for n in ["lm_head.layer_norm"] + [at + "LayerNorm"] * first:
                w.norm(n, WIDTH)
            w.linear("lm_head.dense", WIDTH, WIDTH)
            w.table("lm_head.bias", VOCABULARY, scale=0.1)
            more = self.memory(w, l + "crossattention.", "LayerNorm" if first else "output.LayerNorm") if beside else {}
            r = Reference(w.named)

            def logits(ids, real, more):
                x = decoded(r, l, names, r.norm(at + "embeddings.LayerNorm", self.embedded(r, at, ids, counted(ids, 1), 0)), real, more, first)
                x = r.norm(at + "LayerNorm", x) if first else x
                return r.norm("lm_head.layer_norm", gelu(r.linear("lm_head.dense", x))) @ r.named[at + "embeddings.word_embeddings.weight"].T + r.named["lm_head.bias"]

            self.decodes("%s decoder%s" % (kind, " of an encoder" * beside), w, logits, real, more, pad=1, model_type="roberta-prelayernorm" if first else "roberta", architectures=[kind + "ForCausalLM"], add_cross_attention=beside,
                         pad_token_id=1)

    def test_choices(self):
        """Two questions of three choices; each choice is a row."""
        rows = [self.batch(pad=1) for _ in range(2)]
        ids, real = (np.concatenate(t) for t in zip(*rows))
        kinds = self.random.integers(0, 2, ids.shape)
        small = {"layer_norm_eps": None, "intermediate_size": None, "dim": WIDTH, "n_layers": LAYERS, "n_heads": HEADS, "hidden_dim": INNER}
        distil = {"q": "attention.q_lin", "k": "attention.k_lin", "v": "attention.v_lin", "o": "attention.out_lin", "norm1": "sa_layer_norm", "up": "ffn.lin1", "down": "ffn.lin2", "norm2": "output_layer_norm"}
        albert = {"q": "attention.query", "k": "attention.key", "v": "attention.value", "o": "attention.dense", "norm1": "attention.LayerNorm", "up": "ffn", "down": "ffn_output", "norm2": "full_layer_layer_norm"}
        #  class -> layers, their tensors, the head's linear, what follows it, places, kinds of tokens, more of config.json
        for kind, at, names, head, act, places, typed, more in (
                ("Bert", "encoder.layer.%d.", BERT, "bert.pooler.dense", np.tanh, np.arange(9), True, {}), ("Roberta", "encoder.layer.%d.", BERT, "roberta.pooler.dense", np.tanh, counted(ids, 1), True, {"pad_token_id": 1}),
                ("DistilBert", "transformer.layer.%d.", distil, "pre_classifier", relu, np.arange(9), False, small),
                ("Albert", "encoder.albert_layer_groups.0.albert_layers.0.%.0s", albert, "albert.pooler", np.tanh, np.arange(9), True, {"embedding_size": 16, "hidden_act": "gelu"}),
                ("Electra", "encoder.layer.%d.", BERT, "sequence_summary.summary", gelu, np.arange(9), True, {"embedding_size": 16, "summary_type": "first", "summary_use_proj": True, "summary_activation": "gelu"}),
                ("MobileBert", "encoder.layer.%d.", BERT, "mobilebert.pooler.dense", np.tanh, np.arange(9), True,
                 {"embedding_size": WIDTH, "use_bottleneck": False, "trigram_input": False, "num_feedforward_networks": 1, "normalization_type": "layer_norm", "hidden_act": "gelu"})):
            base = kind.lower() + "."
            w, thin = Weights(self.work, 47), more.get("embedding_size", WIDTH)
            self.tables(w, base, thin)
            if not typed:
                del w.named[base + "embeddings.token_type_embeddings.weight"]
            weigh(w, base + at, names)
            project = base + ("encoder.embedding_hidden_mapping_in" if kind == "Albert" else "embeddings_project")
            if thin != WIDTH:
                w.linear(project, WIDTH, thin)
            w.linear(head, WIDTH, WIDTH)
            w.linear("classifier", 1, WIDTH)
            r = Reference(w.named)
            x = r.norm(base + "embeddings.LayerNorm", self.embedded(r, base, ids, places, kinds if typed else None))
            x = r.linear(project, x) if thin != WIDTH else x
            for i in range(LAYERS):
                x = layer(r, base + at % i, names, x, real[:, None, None] > 0)
            logits = r.linear("classifier", act(r.linear(head, x[:, 0]))).reshape(2, 3)
            given = {"input_ids": ids, "attention_mask": real, **({"token_type_ids": kinds} if typed else {})}
            self.model("choices of %s" % kind, w.named, {n: t.reshape(2, 3, 9) for n, t in given.items()}, {"logits": logits}, model_type=kind.lower(), architectures=[kind + "ForMultipleChoice"],
                       compile=kind in ("Bert", "Roberta"), vocab_size=VOCABULARY, max_position_embeddings=LONGEST, **({"type_vocab_size": 2} if typed else {}), **more)

    def test_nystromformer(self):
        at, taps, act = "nystromformer.", 3, gelu_tanh
        w = Weights(self.work, 48)
        self.tables(w, at)
        weigh(w, at + "encoder.layer.%d.", BERT)
        for i in range(LAYERS):
            w.table(at + "encoder.layer.%d.attention.self.conv.weight" % i, HEADS, 1, taps, 1, scale=0.5)
        ids, real = self.batch()
        kinds = self.random.integers(0, 2, ids.shape)

        def states(r):
            x = r.norm(at + "embeddings.LayerNorm", self.embedded(r, at, ids, np.arange(9) + 2, kinds))
            for i in range(LAYERS):
                l = at + "encoder.layer.%d." % i
                q, k, v = (r.linear(l + BERT[n], x) for n in "qkv")
                around, kernel = np.pad(v, ((0, 0), (1, 1), (0, 0))), np.repeat(r.named[l + "attention.self.conv.weight"][:, 0, :, 0], WIDTH // HEADS, 0)
                a = attention(q, k, v, real[:, None, None] > 0) + sum(around[:, t:t + 9] * kernel[:, t] for t in range(taps))
                x = r.norm(l + BERT["norm1"], x + r.linear(l + BERT["o"], a))
                x = r.norm(l + BERT["norm2"], x + r.linear(l + BERT["down"], act(r.linear(l + BERT["up"], x))))
            return x

        def words(r, x):
            h = r.norm("cls.predictions.transform.LayerNorm", act(r.linear("cls.predictions.transform.dense", x)))
            return {"logits": h @ r.named[at + "embeddings.word_embeddings.weight"].T + r.named["cls.predictions.bias"]}

        heads = self.all_heads(at)
        heads = {"Model": ({}, lambda r, x: {"last_hidden_state": x}), "ForMaskedLM": (heads["ForMaskedLM"][0], words), "ForTokenClassification": heads["ForTokenClassification"], "ForQuestionAnswering": heads["ForQuestionAnswering"],
                 "ForSequenceClassification": (self.extra(classifier__dense=(WIDTH, WIDTH), classifier__out_proj=(CLASSES, WIDTH)),
                                               lambda r, x: {"logits": r.linear("classifier.out_proj", act(r.linear("classifier.dense", x[:, 0])))}),
                 "ForMultipleChoice": (self.extra(pre_classifier=(WIDTH, WIDTH), classifier=(1, WIDTH)),
                                       lambda r, x: {"logits": r.linear("classifier", np.maximum(r.linear("pre_classifier", x[:, 0]), 0)).reshape(1, 3)})}
        given, more = {"input_ids": ids, "attention_mask": real, "token_type_ids": kinds}, {"model_type": "nystromformer", "conv_kernel_size": taps, "max_position_embeddings": LONGEST - 2}
        self.heads("nystromformer", "Nystromformer", w, heads, states, given, real, **more)

    def test_splinter(self):
        at, head, question = "splinter.", "splinter_qass.", 2
        w = Weights(self.work, 49)
        self.tables(w, at)
        weigh(w, at + "encoder.layer.%d.", BERT)
        ids, real = self.batch()
        ids[0, 3] = ids[0, 6] = ids[1, 5] = question
        kinds, asked = self.random.integers(0, 2, ids.shape), np.array([[3, 6], [5, 0], [1, 7]])

        def states(r):
            x = r.norm(at + "embeddings.LayerNorm", self.embedded(r, at, ids, np.arange(9), kinds))
            for i in range(LAYERS):
                x = layer(r, at + "encoder.layer.%d." % i, BERT, x, real[:, None, None] > 0)
            return x

        def scores(r, x, places):
            through = lambda n, y: r.norm(head + n + ".LayerNorm", gelu(r.linear(head + n + ".dense", y)))
            rows = np.take_along_axis(x, places[:, :, None], 1)
            return {n + "_logits": r.linear(head + n + "_classifier", through("query_%s_transform" % n, rows)) @ through(n + "_transform", x).swapaxes(1, 2) for n in ("start", "end")}

        more = {}
        for n in ("start", "end"):
            for t in ("query_%s_transform" % n, n + "_transform"):
                more.update(self.extra(**{head + t + ".dense": (WIDTH, WIDTH), head + t + ".LayerNorm": (WIDTH,)}))
            more.update(self.extra(**{head + n + "_classifier.weight!": (WIDTH, WIDTH)}))
        given = {"input_ids": ids, "attention_mask": real, "token_type_ids": kinds}
        heads = {"Model": ({}, lambda r, x: {"last_hidden_state": x}),
                 "ForQuestionAnswering": (more, lambda r, x: {n: t[:, 0] for n, t in scores(r, x, np.array([[3], [5], [0]])).items()})}
        self.heads("splinter", "Splinter", w, heads, states, given, real, compiling=("ForQuestionAnswering",), model_type="splinter", question_token_id=question)
        r = Reference({**w.named, **more})
        expected = {n: np.where(real[:, None] > 0, t, -np.finfo(np.float32).max) for n, t in scores(r, states(r), asked).items()}
        self.model("splinter ForPreTraining", {**w.named, **more}, {**given, "question_positions": asked}, expected, model_type="splinter", architectures=["SplinterForPreTraining"], vocab_size=VOCABULARY,
                   max_position_embeddings=LONGEST, type_vocab_size=2, question_token_id=question)

    def test_lilt(self):
        at, ratio, e, sides = "lilt.", 2, "lilt.layout_embeddings.", ("x", "y", "h", "w")
        narrow, small = WIDTH // ratio, {**BERT, **{n: BERT[n].replace("self.", "self.layout_") for n in "qkv"}, "o": "attention.layout_output.dense", "norm1": "attention.layout_output.LayerNorm", "up": "layout_intermediate.dense",
                                         "down": "layout_output.dense", "norm2": "layout_output.LayerNorm"}
        w = Weights(self.work, 50)
        self.tables(w, at, kinds=1)
        weigh(w, at + "encoder.layer.%d.", BERT)
        weigh(w, at + "encoder.layer.%d.", small, inner=INNER // ratio, width=narrow)
        for n in sides:
            w.table(e + n + "_position_embeddings.weight", 13, WIDTH // 6)
        w.table(e + "box_position_embeddings.weight", LONGEST, narrow)
        w.linear(e + "box_linear_embeddings", narrow, WIDTH)
        w.norm(e + "LayerNorm", narrow)
        ids, real = self.batch(pad=1)
        box = np.concatenate([self.random.integers(0, 6, (3, 9, 2)), self.random.integers(6, 13, (3, 9, 2))], -1)

        def states(r):
            x = r.norm(at + "embeddings.LayerNorm", self.embedded(r, at, ids, counted(ids, 1), 0))
            left, upper, high, wide = (r.named[e + n + "_position_embeddings.weight"] for n in sides)
            y = np.concatenate([left[box[..., 0]], upper[box[..., 1]], left[box[..., 2]], upper[box[..., 3]], high[box[..., 3] - box[..., 1]], wide[box[..., 2] - box[..., 0]]], -1)
            y = r.norm(e + "LayerNorm", r.linear(e + "box_linear_embeddings", y) + r.named[e + "box_position_embeddings.weight"][counted(ids, 1)])
            for i in range(LAYERS):
                l = at + "encoder.layer.%d." % i
                cut = lambda t: by_heads(t, HEADS)
                pairs = [(names, z, cut(r.linear(l + names["q"], z)), cut(r.linear(l + names["k"], z))) for names, z in ((BERT, x), (small, y))]
                s = sum(q @ k.swapaxes(2, 3) / np.sqrt(q.shape[-1]) for _, _, q, k in pairs)
                p = softmax(np.where(real[:, None, None] > 0, s, -np.inf))
                through = []
                for names, z, _, _ in pairs:
                    a = joined(p @ cut(r.linear(l + names["v"], z)))
                    z = r.norm(l + names["norm1"], z + r.linear(l + names["o"], a))
                    through.append(r.norm(l + names["norm2"], z + r.linear(l + names["down"], gelu(r.linear(l + names["up"], z)))))
                x, y = through
            return x

        heads = self.all_heads(at, "lm_head")
        del heads["ForMaskedLM"]
        self.heads("lilt", "Lilt", w, heads, states, {"input_ids": ids, "attention_mask": real, "bbox": box}, real, model_type="lilt", type_vocab_size=1, pad_token_id=1, channel_shrink_ratio=ratio, max_2d_position_embeddings=13)

    def test_roc_bert(self):
        at, e = "roc_bert.", "roc_bert.embeddings."
        ids, real = self.batch()
        kinds, looks, sounds = self.random.integers(0, 2, ids.shape), self.random.integers(0, 11, ids.shape), self.random.integers(0, 7, ids.shape)
        for spoken in (True, False):
            w = Weights(self.work, 51)
            self.tables(w, at)
            w.table(e + "shape_embed.weight", 11, 6)
            w.table(e + "pronunciation_embed.weight", 7, 10)
            w.linear(e + "map_inputs_layer", WIDTH, WIDTH + 6 + 10 * spoken)
            weigh(w, at + "encoder.layer.%d.", BERT)

            def states(r):
                parts = [r.named[e + "word_embeddings.weight"][ids], r.named[e + "shape_embed.weight"][looks]] + [r.named[e + "pronunciation_embed.weight"][sounds]] * spoken
                x = r.linear(e + "map_inputs_layer", np.concatenate(parts, -1)) + r.named[e + "position_embeddings.weight"][np.arange(9)] + r.named[e + "token_type_embeddings.weight"][kinds]
                x = r.norm(e + "LayerNorm", x)
                for i in range(LAYERS):
                    x = layer(r, at + "encoder.layer.%d." % i, BERT, x, real[:, None, None] > 0)
                return x

            heads = self.all_heads(at)
            heads["ForPreTraining"] = ({**heads["ForMaskedLM"][0], **heads["Model"][0]}, heads["ForMaskedLM"][1])
            given = {"input_ids": ids, "input_shape_ids": looks, "attention_mask": real, "token_type_ids": kinds, **({"input_pronunciation_ids": sounds} if spoken else {})}
            self.heads("roc_bert%s" % ("" if spoken else " unspoken"), "RoCBert", w, heads, states, given, real, only=None if spoken else ["Model"], compiling=("Model",) * spoken, model_type="roc_bert", shape_vocab_size=11, shape_embed_dim=6,
                       pronunciation_vocab_size=7, pronunciation_embed_dim=10, enable_pronunciation=spoken)


if __name__ == "__main__":
    sys.exit(run(Suite, __doc__))
