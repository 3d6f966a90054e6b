#!/usr/bin/python3
"""Directories of sentence-transformers as they are published, of several families, small and with random weights.

    vector_layouts.py --heddle BIN [--long]

EmbeddingGemma: two Dense, prompts, attention in both directions. --long: also XLM-R (positions behind the padding's, a cut text), sentence-T5 (an
encoder alone, a Dense) and SGPT (a decoder, weighted mean), and the Dense of a head in bf16, in int8 and on an emulated GPU. What follows the
hidden states of `run` is numpy's, in f64. One line a failure, then `N passed, N failed`."""
import argparse
import os
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
from checks import check, finish
from random_weights import Weights, tensors
from texts import VOCABULARY
from vectors import by_lines, keys, modules, near, pooled, said, unit, write

WIDTH, LAYERS = 64, 2
SIZES = {"hidden_size": WIDTH, "num_hidden_layers": LAYERS, "num_attention_heads": 4, "intermediate_size": 96}
WORDS = VOCABULARY[5:]
TEXTS = ["a cat sat", "", "the cat sat on the mat ? where in the house is a cat", "who", "all day long a cat saw it and the tree in the house . who is in the house"]
MARKS = ("[CLS]", "[SEP]", "[UNK]")


class Layout:
    """A directory, and the program made of it."""

    def __init__(self, heddle, work, name, config, vocabulary=VOCABULARY, marks=MARKS, **tokens):
        self.heddle, self.work, self.home, self.vocabulary, self.marks = heddle, work, os.path.join(work, name), vocabulary, marks
        os.makedirs(self.home)
        write(self.home, "config.json", {"vocab_size": len(vocabulary), **config})
        with open(os.path.join(self.home, "vocab.txt"), "w", encoding="utf-8") as f:
            f.write("\n".join(vocabulary) + "\n")
        write(self.home, "tokenizer_config.json", {"tokenizer_class": "BertTokenizer", **tokens})
        self.weights = Weights(self.home, 11)

    def dense(self, *sizes):
        """Matrices of Dense modules without bias, and the modules."""
        matrices = [self.weights.random.standard_normal((b, a)).astype(np.float32) / np.sqrt(a) for a, b in zip(sizes, sizes[1:])]
        settings = [{"in_features": m.shape[1], "out_features": m.shape[0], "bias": False, "activation_function": "torch.nn.modules.linear.Identity"} for m in matrices]
        return matrices, [("Dense", s, {"linear.weight": m}) for s, m in zip(settings, matrices)]

    def compiled(self, *flags):
        self.weights.write({})
        self.binary = self.home + ".program"
        r = said(self.heddle, "compile", self.home, "-o", self.binary, *cached.quick(self.heddle), *flags)
        check(r.returncode == 0, "%s %s: %s" % (self.home, flags, r.stderr))

    def ids(self, text, longest=1000):
        first, last, unknown = (self.vocabulary.index(m) for m in self.marks)
        return [first] + [self.vocabulary.index(w) if w in self.vocabulary else unknown for w in text.split()][:longest - 2] + [last]

    def states(self, ids, *flags):
        given, made = os.path.join(self.work, "in.safetensors"), os.path.join(self.work, "out.safetensors")
        tensors.write(given, {"input_ids": np.array([ids], np.int64)})
        r = said(self.binary, "run", "--input", given, "--output", made, *flags)
        check(r.returncode == 0, "run: " + r.stderr)
        return tensors.read(made)["last_hidden_state"][0].astype(np.float64)

    def compare(self, what, after, texts=TEXTS, prompt="", flags=(), where=(), longest=1000, most=1e-6):
        """Vectors of texts against `after` of their hidden states; alone and in company they have the same bits."""
        got = by_lines(self.binary, self.work, texts, *flags, *where)
        for text, one in zip(texts, got):
            ids = self.ids(prompt + text, longest)
            check(one["tokens"] == len(ids), "%s: %d tokens of %r, not %d" % (what, one["tokens"], text, len(ids)))
            near(one["embedding"], after(self.states(ids, *where)), "%s: %r" % (what, text), most)
        check(by_lines(self.binary, self.work, texts[2:3], *flags, *where) == got[2:3], "%s: alone and in company" % what)


def gemma(heddle, work, name="gemma"):
    """EmbeddingGemma: Transformer, mean, Dense, Dense, Normalize."""
    m = Layout(heddle, work, name, {**SIZES, "model_type": "gemma3_text", "architectures": ["Gemma3TextModel"], "num_key_value_heads": 1, "head_dim": 16, "sliding_window": 8, "layer_types": ["sliding_attention", "full_attention"],
                                    "query_pre_attn_scalar": 16, "rope_theta": 1e6, "rope_local_base_freq": 1e4, "use_bidirectional_attention": True, "max_position_embeddings": 64, "rms_norm_eps": 1e-6})
    w = m.weights
    w.table("embed_tokens.weight", len(VOCABULARY), WIDTH)
    for i in range(LAYERS):
        at = "layers.%d." % i
        for part, rows, columns in (("self_attn.q_proj", 64, WIDTH), ("self_attn.k_proj", 16, WIDTH), ("self_attn.v_proj", 16, WIDTH), ("self_attn.o_proj", WIDTH, 64), ("mlp.gate_proj", 96, WIDTH), ("mlp.up_proj", 96, WIDTH), ("mlp.down_proj", WIDTH, 96)):
            w.linear(at + part, rows, columns, bias=False)
        for part, size in (("input_layernorm", WIDTH), ("post_attention_layernorm", WIDTH), ("pre_feedforward_layernorm", WIDTH), ("post_feedforward_layernorm", WIDTH), ("self_attn.q_norm", 16), ("self_attn.k_norm", 16)):
            w.table(at + part + ".weight", size, scale=0.1)
    w.table("norm.weight", WIDTH, scale=0.1)
    m.matrices, rest = m.dense(WIDTH, 96, WIDTH)
    modules(m.home, keys("mean"), *rest, ("Normalize", None, None), prompts={"query": "who is in the house ? ", "document": "a tree . "}, similarity_fn_name="cosine")
    m.after = lambda x: unit(m.matrices[1].astype(np.float64) @ (m.matrices[0].astype(np.float64) @ pooled(["mean"], x)))
    return m


def embedding_gemma(heddle, work):
    m = gemma(heddle, work)
    m.compiled()
    m.compare("EmbeddingGemma", m.after)
    m.compare("EmbeddingGemma, a query", m.after, prompt="who is in the house ? ", flags=("--prompt-name", "query"))
    # Both directions: a word at the end changes the states of the first.
    check(np.abs(m.states(m.ids("a cat"))[0] - m.states(m.ids("a tree"))[0]).max() > 1e-3, "EmbeddingGemma sees both sides")


def xlm_roberta(heddle, work):
    """multilingual-e5, bge-m3: Transformer with a pooler that nothing reads, mean, Normalize."""
    vocabulary, longest = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"] + WORDS, 24
    m = Layout(heddle, work, "xlmr", {**SIZES, "model_type": "xlm-roberta", "architectures": ["XLMRobertaModel"], "max_position_embeddings": longest + 2, "type_vocab_size": 1, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2,
                                      "hidden_act": "gelu", "layer_norm_eps": 1e-5, "position_embedding_type": "absolute"},
               vocabulary, ("<s>", "</s>", "<unk>"), cls_token="<s>", sep_token="</s>", unk_token="<unk>", pad_token="<pad>", mask_token="<mask>", model_max_length=longest)
    w = m.weights
    for part, rows in (("word", len(vocabulary)), ("position", longest + 2), ("token_type", 1)):
        w.table("embeddings.%s_embeddings.weight" % part, rows, WIDTH)
    w.norm("embeddings.LayerNorm", WIDTH)
    for i in range(LAYERS):
        at = "encoder.layer.%d." % i
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            w.linear(at + "attention." + part, WIDTH, WIDTH)
        w.norm(at + "attention.output.LayerNorm", WIDTH)
        w.linear(at + "intermediate.dense", 96, WIDTH)
        w.linear(at + "output.dense", WIDTH, 96)
        w.norm(at + "output.LayerNorm", WIDTH)
    w.linear("pooler.dense", WIDTH, WIDTH)
    modules(m.home, keys("mean"), ("Normalize", None, None), prompts={"query": "who : "})
    m.compiled()
    texts = TEXTS + [" ".join(["cat"] * n) for n in (longest - 3, longest - 2, longest - 1, 2 * longest)]
    m.compare("XLM-R", lambda x: unit(x.mean(0)), texts, longest=longest)
    # The first position has the number of the padding, and 1; a row of zeros at the padding's changes nothing.
    before = m.states(m.ids("a cat sat"))
    w.named["embeddings.position_embeddings.weight"][:2] = 0
    m.compiled()
    check(np.array_equal(before, m.states(m.ids("a cat sat"))), "XLM-R: positions begin at 2")


def sentence_t5(heddle, work):
    """sentence-t5, gtr-t5: Transformer (an encoder of T5), mean, Dense, Normalize."""
    m = Layout(heddle, work, "t5", {"model_type": "t5", "architectures": ["T5EncoderModel"], "d_model": WIDTH, "d_kv": 16, "num_heads": 4, "d_ff": 96, "num_layers": LAYERS, "feed_forward_proj": "gated-gelu",
                                    "relative_attention_num_buckets": 32, "layer_norm_epsilon": 1e-6, "tie_word_embeddings": False})
    w = m.weights
    w.table("shared.weight", len(VOCABULARY), WIDTH)
    w.named["encoder.embed_tokens.weight"] = w.named["shared.weight"]
    w.table("encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight", 32, 4)
    for i in range(LAYERS):
        at = "encoder.block.%d.layer." % i
        for part in "qkvo":
            w.linear(at + "0.SelfAttention." + part, WIDTH, WIDTH, bias=False)
        for part, rows, columns in (("wi_0", 96, WIDTH), ("wi_1", 96, WIDTH), ("wo", WIDTH, 96)):
            w.linear(at + "1.DenseReluDense." + part, rows, columns, bias=False)
        for part in "01":
            w.table(at + part + ".layer_norm.weight", WIDTH, scale=0.1, mean=1.0)
    w.table("encoder.final_layer_norm.weight", WIDTH, scale=0.1, mean=1.0)
    matrices, rest = m.dense(WIDTH, 40)
    modules(m.home, keys("mean"), *rest, ("Normalize", None, None))
    m.compiled()
    m.compare("sentence-T5", lambda x: unit(matrices[0].astype(np.float64) @ x.mean(0)))
    return m


def sgpt(heddle, work):
    """SGPT: a decoder, whose later tokens count more."""
    m = Layout(heddle, work, "sgpt", {"model_type": "gpt_neo", "architectures": ["GPTNeoModel"], "hidden_size": WIDTH, "num_layers": LAYERS, "num_heads": 4, "intermediate_size": None, "window_size": 4, "max_position_embeddings": 64,
                                      "attention_types": [[["global", "local"], 1]], "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5})
    w = m.weights
    w.table("wte.weight", len(VOCABULARY), WIDTH)
    w.table("wpe.weight", 64, WIDTH, scale=0.3)
    for i in range(LAYERS):
        at = "h.%d." % i
        for part in ("ln_1", "ln_2"):
            w.norm(at + part, WIDTH)
        for part in "qkv":
            w.linear(at + "attn.attention.%s_proj" % part, WIDTH, WIDTH, bias=False)
        w.linear(at + "attn.attention.out_proj", WIDTH, WIDTH)
        w.linear(at + "mlp.c_fc", 4 * WIDTH, WIDTH)
        w.linear(at + "mlp.c_proj", WIDTH, 4 * WIDTH)
    w.norm("ln_f", WIDTH)
    modules(m.home, keys("weightedmean"))
    m.compiled()
    m.compare("SGPT", lambda x: pooled(["weightedmean"], x))
    first = m.states(m.ids("a cat sat"))
    check(np.array_equal(first[:3], m.states(m.ids("a cat saw it"))[:3]), "SGPT does not see what comes later")


def stored(heddle, work):
    """The Dense of a head, stored and multiplied in other ways. The head's own states are compared, so that the model's rounding does not count."""
    for flags, where, most in ((("--dtype=bf16",), (), 1e-2), (("--dtype=f16", "--math=wide"), (), 1e-3), (("--weights-dtype=int8",), (), 2e-2), (("--weights-dtype=int4",), (), 2e-1),
                               (("--target=cuda", "--emulate-alone", "--mcpu=sm_80"), ("--device", "emulator"), 1e-5)):
        m = gemma(heddle, work, "gemma" + "".join(c for c in flags[0] if c.isalnum()))
        m.compiled(*flags)
        m.compare(" ".join(flags), m.after, TEXTS[:3], where=where, most=most)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True)
    p.add_argument("--long", action="store_true")
    o = p.parse_args()
    heddle = os.path.abspath(o.heddle)
    with tempfile.TemporaryDirectory(prefix="heddle-layouts-") as work:
        embedding_gemma(heddle, work)
        for part in (xlm_roberta, sentence_t5, sgpt, stored) if o.long else ():
            part(heddle, work)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
