#!/usr/bin/python3
"""Decoders with mixtures of experts that were written from the published code alone, against numpy: small models with random weights.

    expert_families.py --heddle BIN [--only NAME] [--families DIR]

What is compared is what decoder_families.py compares. One line a failure, then `N passed, N failed`."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import decoder_families
from decoder_families import INNER, KV, PRE, VOCABULARY, WIDTH, Layer, attend, near, yarned
from reference import HEADS, attention, by_heads, joined, quick_gelu, rotary, sigmoid, silu, softmax
from suite import run

EXPERTS = 6


def shares(scores, chosen):
    """softmax over the largest, 0 elsewhere"""
    least = np.sort(scores, -1)[..., -chosen:][..., :1]
    p = np.where(scores >= least, np.exp(scores), 0)
    return p / p.sum(-1, keepdims=True)


def mxfp4(random, count, rows, columns):
    """numbers [count, rows, columns], and their codes by columns: [count, columns, rows / 32, 16] and scales without the last axis"""
    sizes = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    codes, powers = random.integers(0, 16, (count, columns, rows)), random.integers(123, 126, (count, columns, rows // 32))
    numbers = np.where(codes < 8, 1, -1) * sizes[codes % 8] * np.repeat(2.0 ** (powers - 127), 32, -1)
    packed = (codes[..., ::2] | codes[..., 1::2] << 4).reshape(count, columns, rows // 32, 16)
    return numbers.swapaxes(1, 2).astype(np.float32), packed.astype(np.uint8), powers.astype(np.uint8)


class Suite(decoder_families.Suite):
    def test_granitemoe(self):
        for shared in (0, 20):
            def layer(i, w, x, mask):
                q, k, v = w.qkv(w.rms("input_layernorm", x))
                x = x + w("self_attn.o_proj", attention(rotary(q, HEADS), rotary(k, KV), v, mask, scale=0.2)) * 0.22
                h, m = w.rms("post_attention_layernorm", x), "block_sparse_moe."
                g = shares(w(m + "router.layer", h), 2)

                def feed(h, into, back):
                    a, b = np.split(h @ into.T, 2, -1)
                    return silu(a) * b @ back.T

                y = sum(g[..., e:e + 1] * feed(h, w[m + "input_linear.weight"][e], w[m + "output_linear.weight"][e]) for e in range(EXPERTS))
                if shared:
                    y = y + feed(h, w["shared_mlp.input_linear.weight"], w["shared_mlp.output_linear.weight"])
                return x + y * 0.22

            linear = {**attend(), "block_sparse_moe.router.layer": (EXPERTS, WIDTH, False)}
            if shared:
                linear.update({"shared_mlp.input_linear": (2 * shared, WIDTH, False), "shared_mlp.output_linear": (WIDTH, shared, False)})
            w = self.weights(55, linear, PRE, tied=True, stacks={"block_sparse_moe.input_linear.weight": (EXPERTS, 2 * INNER, WIDTH), "block_sparse_moe.output_linear.weight": (EXPERTS, WIDTH, INNER)})
            kind = "granitemoeshared" if shared else "granitemoe"
            self.holds(kind, kind, w, layer, lambda all, x: all("lm_head", all.rms("model.norm", x)) / 6, lambda all, x, real: x * 3, tied=True, head_dim=None, embedding_multiplier=3.0, attention_multiplier=0.2,
                       residual_multiplier=0.22, logits_scaling=6.0, num_local_experts=EXPERTS, num_experts_per_tok=2, architectures=["GraniteMoe%sForCausalLM" % ("Shared" if shared else "")],
                       **({"shared_intermediate_size": shared} if shared else {}))

    def test_gpt_oss(self):
        # config.json says how positions are stretched, with or without rounding, or nothing (32 times past 4096, without);
        # the experts are numbers, or MXFP4: codes of 4 bits, rows where the numbers have columns, a power of two for 32 of a row
        yarn = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}
        for name, scaling, f, bias in (("", {**yarn, "truncate": False}, yarned(150000.0, 16, 4.0, 64, False), True), (", rounded", yarn, yarned(150000.0, 16, 4.0, 64), False),
                                       (", defaults", None, yarned(150000.0, 16, 32.0, 4096, False), True), (", mxfp4", None, yarned(150000.0, 16, 32.0, 4096, False), True)):
            inner = 64 if name == ", mxfp4" else INNER
            def layer(i, w, x, mask):
                local = i % 2 == 0
                q, k, v = w.qkv(w.rms("input_layernorm", x))
                q, k = (rotary(t, heads, frequencies=f[0], amplitude=f[1]) for t, heads in ((q, HEADS), (k, KV)))
                q, k, v = by_heads(q, HEADS), np.repeat(by_heads(k, KV), 2, 1), np.repeat(by_heads(v, KV), 2, 1)
                scores = np.where(near(mask, 4) if local else mask, q @ k.swapaxes(2, 3) / 4, -np.inf)
                sinks = np.broadcast_to(w["self_attn.sinks"][None, :, None, None], scores.shape[:3] + (1,))
                x = x + w("self_attn.o_proj", joined(softmax(np.concatenate([scores, sinks], -1))[..., :-1] @ v))
                h, m, y = w.rms("post_attention_layernorm", x), "mlp.experts.", 0
                g = shares(w("mlp.router", h), 2)
                for e in range(EXPERTS):
                    both = h @ w[m + "gate_up_proj"][e] + w[m + "gate_up_proj_bias"][e]
                    gate, up = np.minimum(both[..., ::2], 1.0), np.clip(both[..., 1::2], -1.0, 1.0)
                    y = y + g[..., e:e + 1] * ((up + 1) * quick_gelu(gate) @ w[m + "down_proj"][e] + w[m + "down_proj_bias"][e])
                return x + y

            w = self.weights(56, {**attend(16, bias=bias), "mlp.router": (EXPERTS, WIDTH, True)}, PRE, {"self_attn.sinks": (HEADS,)},
                             stacks={"mlp.experts.gate_up_proj": (EXPERTS, WIDTH, 2 * inner), "mlp.experts.down_proj": (EXPERTS, inner, WIDTH), "mlp.experts.gate_up_proj_bias": (EXPERTS, 2 * inner),
                                     "mlp.experts.down_proj_bias": (EXPERTS, WIDTH)})
            coded = {}
            if name == ", mxfp4":
                for n in [n for n in w.named if n.endswith(("gate_up_proj", "down_proj"))]:
                    w.named[n], coded[n + "_blocks"], coded[n + "_scales"] = mxfp4(self.random, *w.named[n].shape)
                config = {"intermediate_size": inner, "quantization_config": {"quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.*.self_attn", "model.layers.*.mlp.router", "lm_head"]}}
            self.holds("gpt_oss" + name, "gpt_oss", w, layer, lambda all, x: all("lm_head", all.rms("model.norm", x)), head_dim=16, attention_bias=bias, **({"rope_scaling": scaling} if scaling else {}), sliding_window=4,
                       num_local_experts=EXPERTS, num_experts_per_tok=2, swiglu_limit=1.0, hidden_act="silu", architectures=["GptOssForCausalLM"], coded=coded, **(config if coded else {}))

    def test_phimoe(self):
        long, short = [1.0, 1.5, 2.0, 4.0], [1.0, 1.1, 1.2, 1.3]
        for bias, trained in ((False, 0), (True, 10), (True, 15)):
            def turn(x, heads):
                past = x.shape[1] > trained
                f = 10000.0 ** (-np.arange(4) / 4)
                return rotary(x, heads, frequencies=f / (long if past else short), amplitude=1.25 if past else 1.1) if trained else rotary(x, heads, 1e6)

            def routed(r):
                """an expert is weighed by a softmax over those whose score is within 2 * 0.1 of the best; twice"""
                g, left = np.zeros_like(r), r.copy()
                for _ in range(2):
                    best = left.max(-1, keepdims=True)
                    far = (best - r) / np.maximum(np.abs(r), best) > 0.2
                    p = softmax(np.where(far, -np.inf, left))
                    at = left.argmax(-1)[..., None]
                    np.put_along_axis(g, at, np.take_along_axis(p, at, -1), -1)
                    np.put_along_axis(left, at, -np.inf, -1)
                return g

            def layer(i, w, x, mask):
                q, k, v = w.qkv(w.norm("input_layernorm", x))
                x = x + w("self_attn.o_proj", attention(turn(q, HEADS), turn(k, KV), v, near(mask, 7)))
                h, m = w.norm("post_attention_layernorm", x), "block_sparse_moe."
                g = routed(w(m + "gate", h))
                return x + sum(g[..., e:e + 1] * w("%sexperts.%d.w2" % (m, e), silu(w("%sexperts.%d.w1" % (m, e), h)) * w("%sexperts.%d.w3" % (m, e), h)) for e in range(EXPERTS))

            experts = {"block_sparse_moe.experts.%d.w%d" % (e, n): (WIDTH, INNER, False) if n == 2 else (INNER, WIDTH, False) for e in range(EXPERTS) for n in (1, 2, 3)}
            w = self.weights(57, {**attend(bias=bias), "block_sparse_moe.gate": (EXPERTS, WIDTH, False), **experts}, PRE, biased=True)
            if bias:
                w.table("lm_head.bias", VOCABULARY, scale=0.3)
            scaling = {"type": "longrope", "short_factor": short, "long_factor": long, "short_mscale": 1.1, "long_mscale": 1.25, "original_max_position_embeddings": trained}
            self.holds("phimoe%s" % (", %s" % ("long" if trained == 10 else "short, then long") if trained else ""), "phimoe", w, layer, lambda all, x: all("lm_head", all.norm("model.norm", x)), head_dim=None,
                       attention_bias=bias, lm_head_bias=bias, num_local_experts=EXPERTS, num_experts_per_tok=2, router_jitter_noise=0.1, sliding_window=7, architectures=["PhiMoEForCausalLM"],
                       **({"rope_scaling": scaling, "rope_theta": 10000.0} if trained else {}))

    def test_deepseek(self):
        # no config: kind, rank of q, groups, chosen groups, biases, more
        yarn = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16, "beta_fast": 32, "beta_slow": 1, "mscale": 1.0, "mscale_all_dim": 0.7}
        still, turning, v_width, rank, inner, experts = 8, 4, 6, 12, 20, 8
        for what, kind, q_rank, groups, chosen_groups, bias, scaling in (
                ("deepseek_v3", "deepseek_v3", 16, 4, 2, False, yarn), ("deepseek_v3, biases", "deepseek_v3", None, 1, 1, True, None),
                ("deepseek_v2, groups", "deepseek_v2", 16, 4, 2, False, yarn), ("deepseek_v2", "deepseek_v2", None, 1, 1, True, None)):
            third = kind == "deepseek_v3"
            f, amplitude = yarned(10000.0, turning, 4.0, 16) if scaling else (None, 1.0)
            scale = (still + turning) ** -0.5
            if scaling:
                amplitude = (0.1 * np.log(4) + 1) / (0.07 * np.log(4) + 1)
                scale *= (0.07 * np.log(4) + 1) ** 2

            def latent_attend(w, x, mask):
                b, t = x.shape[:2]
                q = w("q_b_proj", w.rms("q_a_layernorm", w("q_a_proj", x), 1e-6)) if q_rank else w("q_proj", x)
                latent = w("kv_a_proj_with_mqa", x)
                kv = w("kv_b_proj", w.rms("kv_a_layernorm", latent[..., :rank], 1e-6)).reshape(b, t, HEADS, -1)
                q = q.reshape(b, t, HEADS, -1)
                turn = lambda x, heads: rotary(x.reshape(b, t, -1), heads, pairs=True, frequencies=f, amplitude=amplitude).reshape(b, t, heads, turning)
                q = np.concatenate([q[..., :still], turn(q[..., still:], HEADS)], -1)
                k = np.concatenate([kv[..., :still], np.repeat(turn(latent[..., rank:], 1), HEADS, 2)], -1)
                q, k, v = (y.reshape(b, t, -1) for y in (q, k, kv[..., still:]))
                return w("o_proj", attention(q, k, v, mask, scale=scale))

            def route(w, h):
                r = w("mlp.gate", h)
                p = sigmoid(r) if third else softmax(r)
                c = p + w["mlp.gate.e_score_correction_bias"] if third else p
                c = c.reshape(*c.shape[:2], groups, -1)
                best = np.sort(c, -1)[..., -2:].sum(-1) if third else c.max(-1)
                c = np.where((best >= np.sort(best, -1)[..., -chosen_groups:][..., :1])[..., None], c, 0).reshape(p.shape)
                g = np.where(c >= np.sort(c, -1)[..., -3:][..., :1], p, 0)
                return 2.5 * (g / g.sum(-1, keepdims=True) if third else g)

            def layer(i, w, x, mask):
                x = x + latent_attend(Layer(w.r, w.at + "self_attn."), w.rms("input_layernorm", x), mask)
                h = w.rms("post_attention_layernorm", x)
                if i == 0:
                    return x + w.gated(h)
                g = route(w, h)
                return x + w.gated(h, "mlp.shared_experts.") + sum(g[..., e:e + 1] * w.gated(h, "mlp.experts.%d." % e) for e in range(experts))

            q = {"q_a_proj": (q_rank, WIDTH, bias), "q_b_proj": (HEADS * (still + turning), q_rank, False)} if q_rank else {"q_proj": (HEADS * (still + turning), WIDTH, False)}
            q.update({"kv_a_proj_with_mqa": (rank + turning, WIDTH, bias), "kv_b_proj": (HEADS * (still + v_width), rank, False), "o_proj": (WIDTH, HEADS * v_width, bias)})
            three = lambda at, inner: {at + "gate_proj": (inner, WIDTH, False), at + "up_proj": (inner, WIDTH, False), at + "down_proj": (WIDTH, inner, False)}
            linear = {**{"self_attn." + n: l for n, l in q.items()}, **three("mlp.", INNER), "mlp.gate": (experts, WIDTH, False), **three("mlp.shared_experts.", 2 * inner)}
            for e in range(experts):
                linear.update(three("mlp.experts.%d." % e, inner))
            w = self.weights(58, linear, PRE, {"self_attn.kv_a_layernorm.weight": (rank,), **({"self_attn.q_a_layernorm.weight": (q_rank,)} if q_rank else {})},
                             stacks={"mlp.gate.e_score_correction_bias": (experts,)} if third else {})
            for n in list(w.named):  # the first layer is dense, the others are not
                first, part = n.startswith("model.layers.0."), n.split(".mlp.")[-1].split("_proj")[0]
                if ".mlp." in n and first != (part in ("gate", "up", "down") and "_proj" in n):
                    del w.named[n]
            self.holds(what, kind, w, layer, lambda all, x: all("lm_head", all.rms("model.norm", x)), head_dim=None, num_key_value_heads=HEADS, q_lora_rank=q_rank, kv_lora_rank=rank, qk_nope_head_dim=still,
                       qk_rope_head_dim=turning, v_head_dim=v_width, moe_intermediate_size=inner, n_routed_experts=experts, n_shared_experts=2, num_experts_per_tok=3, n_group=groups, topk_group=chosen_groups,
                       first_k_dense_replace=1, routed_scaling_factor=2.5, norm_topk_prob=third, attention_bias=bias, rope_scaling=scaling, architectures=["%sForCausalLM" % kind],
                       topk_method="noaux_tc" if third else "group_limited_greedy" if groups > 1 else "greedy")


if __name__ == "__main__":
    sys.exit(run(Suite, __doc__))
