#!/usr/bin/python3
"""Models whose attention knows distances by sinusoids (Transformer-XL and its heirs), against numpy: small models with random weights.

    relative_families.py --heddle BIN [--only NAME] [--families DIR]

Three rows of XLNet: whole, padded on the left, with a hole; all rows of the results are compared, those of padding too, since they see
themselves. Transformer-XL has no mask: there the padding is words, and memories are given. Two models of a type are compiled.
One line a failure, then `N passed, N failed`."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import encoder_families
from encoder_families import CLASSES, HEAD, LAYERS
from families import INNER, VOCABULARY, WIDTH
from random_weights import Weights
from reference import HEADS, frequencies, gelu, gelu_tanh, relu, sinusoids, softmax
from suite import run


def weighted(scores, v, mask):
    """scores [B, H, T, S], v [B, S, H, d], mask of [B, H, T, S]"""
    odds = softmax(np.where(mask, scores / np.sqrt(v.shape[-1]), -np.inf))
    return np.einsum("bnij,bjnd->bind", odds, v)


class XLNet:
    """distances of any pair are looked up one by one, not shifted"""

    def __init__(self, r, act=gelu, clamp=-1, uni=False):
        self.r, self.act, self.clamp, self.uni = r, act, clamp, uni

    def attend(self, at, q, states, kinds, mask):
        w = lambda n: self.r.named[at + "rel_attn." + n]
        k, v = (np.einsum("bjm,mnd->bjnd", states, w(n)) for n in "kv")
        length = states.shape[1]
        i, j = np.arange(length)[:, None], np.arange(length)[None]
        apart = i - j if self.clamp < 1 else np.clip(i - j, -self.clamp, self.clamp)
        far = np.einsum("pm,mnd->pnd", sinusoids(apart.reshape(-1), frequencies(WIDTH)), w("r")).reshape(length, length, HEADS, HEAD)
        scores = np.einsum("bind,bjnd->bnij", q + w("r_w_bias"), k) + np.einsum("bind,ijnd->bnij", q + w("r_r_bias"), far)
        if kinds is not None:
            segment = w("seg_embed")[(kinds[:, :, None] != kinds[:, None]).astype(int)]
            scores = scores + np.einsum("bind,bijnd->bnij", q + w("r_s_bias"), segment)
        return weighted(scores, v, mask[:, None])

    def rest(self, at, x, a):
        x = self.r.norm(at + "rel_attn.layer_norm", x + np.einsum("bind,mnd->bim", a, self.r.named[at + "rel_attn.o"]))
        return self.r.norm(at + "ff.layer_norm", x + self.r.linear(at + "ff.layer_2", self.act(self.r.linear(at + "ff.layer_1", x))))

    def states(self, ids, real, kinds=None, perm=None, targets=None):
        t = "transformer."
        seen = np.repeat(real[:, None] > 0, ids.shape[1], 1)
        seen = seen & np.tri(ids.shape[1], dtype=bool) if self.uni else seen
        seen = seen if perm is None else seen & (perm == 0)
        own = seen | np.eye(ids.shape[1], dtype=bool)
        h = self.r.named[t + "word_embedding.weight"][ids]
        g = None if targets is None else np.broadcast_to(self.r.named[t + "mask_emb"], (len(ids), targets.shape[1], WIDTH))
        for i in range(LAYERS):
            at = t + "layer.%d." % i
            project = lambda x: np.einsum("bim,mnd->bind", x, self.r.named[at + "rel_attn.q"])
            if g is not None:
                a = self.attend(at, np.einsum("bpnd,bpt->btnd", project(g), targets), h, kinds, seen)
                queried = self.rest(at, g, np.einsum("btnd,bpt->bpnd", a, targets))
            h = self.rest(at, h, self.attend(at, project(h), h, kinds, own))
            g = None if g is None else queried
        return h if g is None else g


class Suite(encoder_families.Suite):
    most = 2

    def compiled(self, what, folder, *more):
        return super().compiled(what, folder, *["--outputs=all"] * what.startswith("transfo-xl"), *more)

    def xlnet(self, seed):
        w, t = Weights(self.work, seed), "transformer."
        w.table(t + "word_embedding.weight", VOCABULARY, WIDTH)
        w.table(t + "mask_emb", 1, 1, WIDTH)
        for i in range(LAYERS):
            at = t + "layer.%d." % i
            for n in "qkvor":
                w.table(at + "rel_attn." + n, WIDTH, HEADS, HEAD, scale=WIDTH ** -0.5)
            for n in ("r_w_bias", "r_r_bias", "r_s_bias"):
                w.table(at + "rel_attn." + n, HEADS, HEAD, scale=0.5)
            w.table(at + "rel_attn.seg_embed", 2, HEADS, HEAD, scale=0.7)
            w.linear(at + "ff.layer_1", INNER, WIDTH)
            w.linear(at + "ff.layer_2", WIDTH, INNER)
            for n in ("rel_attn.layer_norm", "ff.layer_norm"):
                w.norm(at + n, WIDTH)
        return w

    def xlnets(self, what, w, heads, states, given, **config):
        """every row is compared"""
        self.heads("xlnet" + what, "XLNet", w, heads, states, given, np.ones(given["input_ids"].shape), d_model=WIDTH, n_layer=LAYERS, n_head=HEADS, d_inner=INNER, model_type="xlnet", hidden_size=None,
                   num_hidden_layers=None, num_attention_heads=None, intermediate_size=None, max_position_embeddings=None, type_vocab_size=None, **config)

    def summaries(self, dense=True, pick=lambda x: x[:, -1], act=np.tanh):
        more = {**(self.extra(sequence_summary__summary=(WIDTH, WIDTH)) if dense else {}), **self.extra(logits_proj=(CLASSES, WIDTH))}
        return more, lambda r, x: {"logits": r.linear("logits_proj", act(r.linear("sequence_summary.summary", pick(x)) if dense else pick(x)))}

    def test_xlnet(self):
        w = self.xlnet(51)
        words = (self.extra(**{"lm_loss.bias!": (VOCABULARY,)}), lambda r, x: {"logits": x @ r.named["transformer.word_embedding.weight"].T + r.named["lm_loss.bias"]})

        def answers(r, x):
            y = r.linear("qa_outputs", x)
            return {"start_logits": y[:, :, 0], "end_logits": y[:, :, 1]}

        heads = {"Model": ({}, lambda r, x: {"last_hidden_state": x}), "LMHeadModel": words, "ForSequenceClassification": self.summaries(),
                 "ForTokenClassification": (self.extra(classifier=(CLASSES, WIDTH)), lambda r, x: {"logits": r.linear("classifier", x)}), "ForQuestionAnsweringSimple": (self.extra(qa_outputs=(2, WIDTH)), answers)}
        heads["ForMultipleChoice"] = (self.extra(sequence_summary__summary=(WIDTH, WIDTH), logits_proj=(1, WIDTH)),
                                      lambda r, x: {"logits": r.linear("logits_proj", np.tanh(r.linear("sequence_summary.summary", x[:, -1]))).reshape(1, -1)})
        ids, real = self.batch(pad=5)
        kinds = self.random.integers(0, 3, ids.shape)
        given = {"input_ids": ids, "attention_mask": real, "token_type_ids": kinds}
        self.xlnets("", w, heads, lambda r: XLNet(r).states(ids, real, kinds), given)
        first = {"ForSequenceClassification": self.summaries(dense=False, pick=lambda x: x[:, 0], act=relu)}
        self.xlnets(" alone", w, first, lambda r: XLNet(r).states(ids, np.ones_like(real)), {"input_ids": ids}, summary_type="first", summary_use_proj=False, summary_activation="relu")
        self.xlnets(" uni", w, {"Model": heads["Model"]}, lambda r: XLNet(r, uni=True, act=relu).states(ids, real, kinds), given, attn_type="uni", ff_activation="relu")
        mean = {"ForSequenceClassification": self.summaries(pick=lambda x: x.mean(1))}
        self.xlnets(" clamped", w, mean, lambda r: XLNet(r, clamp=3, act=gelu_tanh).states(ids, real, kinds), given, clamp_len=3, ff_activation="gelu_new", summary_type="mean")
        # An order of prediction a row; a position does not see itself or what comes later in it. The last two of each order are asked for.
        place = np.argsort(np.argsort(np.where(real > 0, self.random.random(ids.shape), 0), 1), 1)
        perm, targets = (place[:, None] >= place[:, :, None]).astype(np.float32), np.stack([place == n for n in (8, 7)], 1).astype(np.float32)
        self.more += ["--set", "two_streams=true"]
        self.xlnets(" two streams", w, {"LMHeadModel": words}, lambda r: XLNet(r).states(ids, real, kinds, perm, targets), {**given, "perm_mask": perm, "target_mapping": targets})
        del self.more[-2:]

    def test_transfo_xl(self):
        """no mask: a hole and padding are words like others"""
        memory, width, cuts, pad = 4, HEADS * 5, [10, 20], 2
        ids = self.random.integers(3, VOCABULARY, (4, 9))
        ids[1, :3] = ids[2, 4] = ids[3, 7:] = pad
        mems = {"mems.%d" % i: self.random.standard_normal((memory, 4, WIDTH)).astype(np.float32) for i in range(LAYERS)}
        config = dict(model_type="transfo-xl", d_model=WIDTH, d_embed=WIDTH, n_layer=LAYERS, n_head=HEADS, d_head=5, d_inner=INNER, mem_len=memory, cutoffs=cuts, layer_norm_epsilon=1e-5, layer_norm_eps=None,
                      hidden_size=None, num_hidden_layers=None, num_attention_heads=None, intermediate_size=None, max_position_embeddings=None, type_vocab_size=None)
        for what, shrink, even, first, clamp, blank, given in (("", 2, True, False, 2, pad, mems), (" pre", 1, False, True, -1, None, {})):
            w, t = Weights(self.work, 52), "transformer."
            for n, (begin, end) in enumerate([(0, VOCABULARY)] if shrink == 1 else zip([0, *cuts], [*cuts, VOCABULARY])):
                w.table(t + "word_emb.emb_layers.%d.weight" % n, end - begin, WIDTH // shrink ** n, scale=0.3)
                if shrink > 1:
                    w.table(t + "word_emb.emb_projs.%d" % n, WIDTH, WIDTH // shrink ** n, scale=0.3)
            for i in range(LAYERS):
                at = t + "layers.%d." % i
                w.linear(at + "dec_attn.qkv_net", 3 * width, WIDTH, bias=False)
                w.linear(at + "dec_attn.r_net", width, WIDTH, bias=False)
                w.linear(at + "dec_attn.o_net", WIDTH, width, bias=False)
                for n in ("r_w_bias", "r_r_bias"):
                    w.table(at + "dec_attn." + n, HEADS, 5, scale=0.5)
                w.linear(at + "pos_ff.CoreNet.0", INNER, WIDTH)
                w.linear(at + "pos_ff.CoreNet.3", WIDTH, INNER)
                for n in ("dec_attn", "pos_ff"):
                    w.norm(at + n + ".layer_norm", WIDTH)

            def results(r):
                ends, x = [0, *cuts, VOCABULARY], np.zeros((4, 9, WIDTH))
                word = lambda n: r.named[t + "word_emb.emb_layers.%d.weight" % n]
                for n in range(3):
                    here = (ids >= ends[n]) & (ids < ends[n + 1])
                    x[here] = word(0)[ids[here]] if shrink == 1 else word(n)[ids[here] - ends[n]] @ r.named[t + "word_emb.emb_projs.%d" % n].T
                x, new = x * np.sqrt(WIDTH), {}
                i, j = np.arange(9)[:, None], np.arange(-memory, 9)[None]
                seen = (j <= i) & (j > i - memory) if even else j <= i
                for layer in range(LAYERS):
                    at = t + "layers.%d." % layer
                    norm = lambda n, y: r.norm(at + n + ".layer_norm", y)
                    old = given.get("mems.%d" % layer, np.zeros((memory, 4, WIDTH)))
                    y = np.concatenate([old.swapaxes(0, 1), x], 1)
                    new["mems.%d" % layer], new["hidden_states.%d" % layer] = y[:, -memory:].swapaxes(0, 1), x
                    y = norm("dec_attn", y) if first else y
                    q, k, v = (c.reshape(*c.shape[:2], HEADS, 5) for c in np.split(r.linear(at + "dec_attn.qkv_net", y), 3, -1))
                    far = r.linear(at + "dec_attn.r_net", sinusoids((np.minimum(i - j, clamp) if clamp > 0 else i - j).reshape(-1), frequencies(WIDTH))).reshape(9, 9 + memory, HEADS, 5)
                    u, d = (r.named[at + "dec_attn." + n] for n in ("r_w_bias", "r_r_bias"))
                    scores = np.einsum("bind,bjnd->bnij", q[:, memory:] + u, k) + np.einsum("bind,ijnd->bnij", q[:, memory:] + d, far)
                    a = r.linear(at + "dec_attn.o_net", weighted(scores, v, seen).reshape(4, 9, width))
                    forward = lambda y: r.linear(at + "pos_ff.CoreNet.3", np.maximum(r.linear(at + "pos_ff.CoreNet.0", y), 0))
                    x = x + a if first else norm("dec_attn", x + a)
                    x = x + forward(norm("pos_ff", x)) if first else norm("pos_ff", x + forward(x))
                return x, new

            def scored(r, both):
                at = [next((n for n in range(9) if row[n] == blank), 9) - 1 for row in ids]
                return {"logits": both[0][np.arange(4), at] @ r.named["score.weight"].T}

            heads = {"Model": ({}, lambda r, both: {"last_hidden_state": both[0], **both[1]}),
                     "ForSequenceClassification": ({"score.weight": self.extra(score=(CLASSES, WIDTH))["score.weight"]}, scored)}
            more = {"div_val": shrink, "same_length": even, "pre_lnorm": first, "clamp_len": clamp, "pad_token_id": blank}
            self.heads("transfo-xl" + what, "TransfoXL", w, heads, results, {"input_ids": ids, **given}, np.ones(ids.shape), **config, **more)


if __name__ == "__main__":
    sys.exit(run(Suite, __doc__))
