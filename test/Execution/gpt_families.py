#!/usr/bin/python3
"""GPT, GPT-2 and CTRL with the heads of all their classes, against numpy: small models with random weights.

    gpt_families.py --heddle BIN [--only NAME] [--families DIR]

Three rows: whole, padded on the left, with a hole. Each model is interpreted, and two of a type are compiled; those that generate do so with
the cached step, one text and the three rows, and must make what numpy makes of each row alone. --families hands a folder of family files on to heddle.
One line a failure, then `N passed, N failed`."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import encoder_families
from checks import check
from encoder_families import CLASSES, LAYERS, LONGEST
from families import VOCABULARY, WIDTH
from random_weights import Weights
from reference import HEADS, Reference, attention, causal, frequencies, gelu_tanh, relu, silu, sinusoids
from suite import run

PAD, EPS = 1, 0.02  # an eps that no default is
T = "transformer."
SIZES = {"vocab_size": VOCABULARY, "n_embd": WIDTH, "n_layer": LAYERS, "n_head": HEADS, "n_positions": LONGEST, "layer_norm_epsilon": EPS,
         **dict.fromkeys(("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "layer_norm_eps"))}
GPT = {"attn.c_attn": (3 * WIDTH, WIDTH), "attn.c_proj": (WIDTH, WIDTH), "mlp.c_fc": (4 * WIDTH, WIDTH), "mlp.c_proj": (WIDTH, 4 * WIDTH)}
CTRL = {**{"multi_head_attention." + n: (WIDTH, WIDTH) for n in ("Wq", "Wk", "Wv", "dense")}, "ffn.0": (40, WIDTH), "ffn.2": (WIDTH, 40)}


#--- numpy -------------------------------------------------------------------


def placed(r, words, places, ids, kinds):
    x = r.named[T + words][ids] + r.named[T + places][np.arange(ids.shape[1])]
    return x if kinds is None else x + r.named[T + words][kinds]


def fused(r, at, x, seen):
    return r.linear(at + "attn.c_proj", attention(*np.split(r.linear(at + "attn.c_attn", x), 3, -1), seen))


def gpt(r, ids, seen, kinds=None, act=gelu_tanh):
    """the states after the last layer; seen: [B, 1, T, T]"""
    x = placed(r, "tokens_embed.weight", "positions_embed.weight", ids, kinds)
    for i in range(LAYERS):
        at = "%sh.%d." % (T, i)
        x = r.norm(at + "ln_1", x + fused(r, at, x, seen))
        x = r.norm(at + "ln_2", x + r.linear(at + "mlp.c_proj", act(r.linear(at + "mlp.c_fc", x))))
    return x


def gpt2(r, ids, seen, kinds=None):
    x = placed(r, "wte.weight", "wpe.weight", ids, kinds)
    for i in range(LAYERS):
        at = "%sh.%d." % (T, i)
        x = x + fused(r, at, r.norm(at + "ln_1", x), seen)
        x = x + r.linear(at + "mlp.c_proj", gelu_tanh(r.linear(at + "mlp.c_fc", r.norm(at + "ln_2", x))))
    return r.norm(T + "ln_f", x)


def ctrl(r, ids, seen, kinds=None):
    words = r.named[T + "w.weight"]
    x = (words[ids] + (0 if kinds is None else words[kinds])) * np.sqrt(WIDTH) + sinusoids(np.arange(ids.shape[1]), frequencies(WIDTH))
    for i in range(LAYERS):
        at = "%sh.%d." % (T, i)
        own = at + "multi_head_attention."
        h = r.norm(at + "layernorm1", x, 1e-6)
        x = x + r.linear(own + "dense", attention(*(r.linear(own + n, h) for n in ("Wq", "Wk", "Wv")), seen))
        x = x + r.linear(at + "ffn.2", relu(r.linear(at + "ffn.0", r.norm(at + "layernorm2", x, 1e-6))))
    return r.norm(T + "layernorm", x)


def words(r, x):
    return {"logits": r.linear("lm_head", x)}


def summary(kind, at, projected=True, scores=True, act=lambda x: x):
    """the words, and a score of each row from one of its states; at: which, where kind is cls_index"""
    def head(r, x):
        s = {"cls_index": lambda: x[np.arange(len(x)), at], "first": lambda: x[:, 0], "last": lambda: x[:, -1], "mean": lambda: x.mean(1)}[kind]()
        s = r.linear("multiple_choice_head.summary", s) if projected else s
        return {**words(r, x), "mc_logits": act(s[:, 0] if projected and scores else s)}

    return head


#--- the tests ---------------------------------------------------------------


class Suite(encoder_families.Suite):
    def weights(self, seed, linear, norms, tables, final=None):
        w = Weights(self.work, seed)
        for n, rows in tables.items():
            w.table(T + n, rows, WIDTH, scale=0.5)
        for i in range(LAYERS):
            at = "%sh.%d." % (T, i)
            for n, (out, inner) in linear.items():
                w.linear(at + n, out, inner)
            for n in norms:
                w.norm(at + n, WIDTH)
        if final:
            w.norm(T + final, WIDTH)
        return w.named

    def holds(self, what, named, states, results, more=None, tied=None, kinds=False, given=None, pad=None, bare=False, compiles=True, generates=False, **config):
        """results(r, states) are the outputs. tied: whose weights lm_head has; kinds: token_type_ids are given; pad: the id of padding; bare: the file has no prefix, but buffers"""
        r = Reference({**named, **(more or {}), **({"lm_head.weight": named[T + tied]} if tied else {})}, EPS)
        ids, real = self.batch(pad)
        if pad is not None:
            ids[0, 7:], real[0, 7:] = pad, 0
        types = self.random.integers(3, VOCABULARY, ids.shape) if kinds else None
        file = {(n[len(T):] if bare and n.startswith(T) else n): t.T if n.endswith(("c_attn.weight", "c_proj.weight", "c_fc.weight")) else t for n, t in {**named, **(more or {})}.items()}
        if bare and T + "h.0.attn.c_attn.weight" in named:
            file.update({"h.%d.attn.bias" % i: np.tril(np.ones((1, 1, LONGEST, LONGEST), np.float32)) for i in range(LAYERS)})
        given = {"input_ids": ids, "attention_mask": real, **({"token_type_ids": types} if kinds else {}), **(given or {})}
        before, self.more = self.more, self.more + ["--set", "kinds=true"] * kinds
        expected, config = results(r, states(r, ids, causal(real), types)), {"pad_token_id": pad, **SIZES, **config}
        binary = self.model(what, file, given, expected, rows=real > 0, cached=generates, compile=compiles, **config)
        self.more = before
        if generates and binary:
            self.generated(what, binary, lambda text: results(r, states(r, text, causal(np.ones_like(text))))["logits"], ids, real)

    def generated(self, what, binary, logits, ids, real, steps=6):
        """row 2 has its hole filled: what follows a hole is no text of its own"""
        real = np.where(np.arange(len(ids))[:, None] == 2, 1, real)
        for rows in (slice(0, 1), slice(None)):
            got = self.call(what, [binary, "generate", "--input", "IN", "--output", "OUT", "-n", str(steps), "--greedy", "--ignore-eos"], {"input_ids": ids[rows], "attention_mask": real[rows]})
            for row, (text, seen) in enumerate(zip(ids[rows], real[rows])):
                text = text[seen > 0][None]
                for _ in range(steps):
                    text = np.concatenate([text, logits(text)[:, -1].argmax(-1)[:, None]], 1)
                check("ids" in got and (got["ids"][row, -text.shape[1]:] == text[0]).all(), "%s, row %d of %d generated: %s, expected %s" % (what, row, len(ids[rows]), got.get("ids"), text))

    def sequence(self, what, name, *model, **config):
        """the last token that is no padding: row 0 ends before the others"""
        last = lambda r, x: {"logits": r.linear(name, x[np.arange(3), [6, 8, 8]])}
        self.holds(what, *model, last, {name + ".weight": self.extra(**{name: (CLASSES, WIDTH)})[name + ".weight"]}, pad=PAD, **config)

    def double(self, kind, *model, tied, **config):
        at = np.array([5, 8, 6])
        summaries = (("cls_index", {}, {}), ("last", {"scores": False, "act": np.tanh}, {"summary_proj_to_labels": False, "summary_activation": "tanh"}), ("first", {"act": np.tanh}, {"summary_activation": "tanh"}),
                     ("mean", {"projected": False}, {"summary_use_proj": False}))
        for n, how, keys in summaries:
            more = self.extra(multiple_choice_head__summary=(1 if how.get("scores", True) else WIDTH, WIDTH)) if how.get("projected", True) else {}
            self.holds("%s two heads %s" % (kind, n), *model, summary(n, at, **how), more, tied=tied, given={"mc_token_ids": at} if n == "cls_index" else {}, compiles=n == "cls_index", summary_type=n, **keys, **config)
        more = self.extra(multiple_choice_head__summary=(1, WIDTH))
        self.holds("%s two heads not given" % kind, *model, summary("last", None), more, tied=tied, generates=True, **config)

    def test_openai_gpt(self):
        named = self.weights(81, GPT, ("ln_1", "ln_2"), {"tokens_embed.weight": VOCABULARY, "positions_embed.weight": LONGEST})
        c = {"model_type": "openai-gpt", "n_special": 0, "predict_special_tokens": True, "n_ctx": LONGEST}
        lm, tied = {"architectures": ["OpenAIGPTLMHeadModel"], **c}, "tokens_embed.weight"
        self.holds("openai-gpt", named, gpt, words, tied=tied, generates=True, bare=True, afn="gelu", **lm)
        for afn, act in (("relu", relu), ("swish", silu)):
            more = {"lm_head.weight": self.extra(lm_head=(VOCABULARY, WIDTH))["lm_head.weight"]}
            self.holds("openai-gpt " + afn, named, lambda *a: gpt(*a, act=act), words, more, afn=afn, compiles=afn == "swish", tie_word_embeddings=False, **lm)
        self.holds("openai-gpt kinds", named, gpt, words, tied=tied, kinds=True, compiles=False, **lm)
        self.holds("openai-gpt states", named, gpt, lambda r, x: {"last_hidden_state": x}, compiles=False, architectures=["OpenAIGPTModel"], **c)
        self.sequence("openai-gpt sequence", "score", named, gpt, architectures=["OpenAIGPTForSequenceClassification"], **c)
        self.double("openai-gpt", named, gpt, tied=tied, architectures=["OpenAIGPTDoubleHeadsModel"], **c)

    def test_gpt2(self):
        named = self.weights(82, GPT, ("ln_1", "ln_2"), {"wte.weight": VOCABULARY, "wpe.weight": LONGEST}, "ln_f")
        c, tied = {"model_type": "gpt2", "n_ctx": LONGEST}, "wte.weight"
        self.holds("gpt2 kinds", named, gpt2, words, tied=tied, kinds=True, architectures=["GPT2LMHeadModel"], **c)
        self.holds("gpt2 tokens", named, gpt2, lambda r, x: {"logits": r.linear("classifier", x)}, self.extra(classifier=(CLASSES, WIDTH)), architectures=["GPT2ForTokenClassification"], **c)
        span = lambda r, x: dict(zip(("start_logits", "end_logits"), np.moveaxis(r.linear("qa_outputs", x), -1, 0)))
        self.holds("gpt2 answers", named, gpt2, span, self.extra(qa_outputs=(2, WIDTH)), architectures=["GPT2ForQuestionAnswering"], **c)
        self.sequence("gpt2 sequence", "score", named, gpt2, architectures=["GPT2ForSequenceClassification"], **c)
        self.double("gpt2", named, gpt2, tied=tied, architectures=["GPT2DoubleHeadsModel"], **c)

    def test_ctrl(self):
        named = self.weights(83, CTRL, ("layernorm1", "layernorm2"), {"w.weight": VOCABULARY}, "layernorm")
        head = self.extra(lm_head=(VOCABULARY, WIDTH))
        c = {"model_type": "ctrl", "dff": 40, "n_ctx": LONGEST, "from_tf": False}
        lm = {"architectures": ["CTRLLMHeadModel"], **c}
        for kinds in (False, True):
            self.holds("ctrl kinds" if kinds else "ctrl", named, ctrl, words, {"lm_head.bias": head["lm_head.bias"]}, tied="w.weight", generates=not kinds, kinds=kinds, **lm)
        self.holds("ctrl untied", named, ctrl, words, head, tie_word_embeddings=False, **lm)
        self.holds("ctrl states", named, ctrl, lambda r, x: {"last_hidden_state": x}, bare=True, compiles=False, architectures=["CTRLModel"], **c)
        self.sequence("ctrl sequence", "classifier", named, ctrl, architectures=["CTRLForSequenceClassification"], **c)


if __name__ == "__main__":
    sys.exit(run(Suite, __doc__))
