#!/usr/bin/python3
"""Decoders with fused weights, their kin with experts and heirs of Llama, written from the published code alone, against numpy.

    fused_families.py --heddle BIN [--only NAME] [--families DIR]

What is compared is what decoder_families.py compares; of each type one model is compiled. One line a failure, then `N passed, N failed`."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import decoder_families
from decoder_families import GATED, HEAD, INNER, KV, LAYERS, PRE, VOCABULARY, WIDTH, attend, feed, near
from random_weights import tensors
from reference import EPS, HEADS, attention, by_heads, gelu_tanh, rms_norm, rotary, sigmoid, silu, softmax
from suite import run

EXPERTS = 6
NONE = dict(num_key_value_heads=None, head_dim=None, attention_bias=None)


def largest(x, n):
    """whether a number is among the n largest of the last axis"""
    return x >= np.sort(x, -1)[..., -n:][..., :1]


def mixed(w, h, g, at="mlp.experts.%d."):
    return sum(g[..., e:e + 1] * w.gated(h, at % e) for e in range(EXPERTS))


def experts(inner, bias=False):
    return {"mlp.experts.%d.%s_proj" % (e, n): (WIDTH, inner, bias) if n == "down" else (inner, WIDTH, bias) for e in range(EXPERTS) for n in ("gate", "up", "down")}


def some_dense(w, dense, *sparse):
    """`weights` gives all layers the same: takes from the layers `dense` what belongs to `sparse`, from the others their feed-forward"""
    for n in list(w.named):
        part = n.split(".", 3)
        if part[1] == "layers" and part[3].startswith(sparse if int(part[2]) in dense else ("mlp.gate_proj", "mlp.up_proj", "mlp.down_proj")):
            del w.named[n]


def normed_heads(w, name, x, heads):
    return w.rms(name, x.reshape(*x.shape[:2], heads, -1)).reshape(x.shape)


class Suite(decoder_families.Suite):
    most = 1

    def holds(self, what, kind, w, *more, published=(), sets=(), **config):
        """`published`: what names begin with here, and in the file; `sets`: options of heddle"""
        def renamed(name):
            return next((b + name[len(a):] for a, b in published if name.startswith(a)), name)

        plain, self.more = self.more, self.more + [word for s in sets for word in ("--set", s)]
        self.published = {renamed(n): t for n, t in w.named.items()}
        super().holds(what, kind, w, *more, **config)
        self.more = plain

    def agrees(self, what, folder, *more, **options):
        tensors.write(os.path.join(folder, "model.safetensors"), self.published)
        return super().agrees(what, folder, *more, **options)

    def test_baichuan(self):
        slopes = 2.0 ** (-8 * np.arange(1, HEADS + 1) / HEADS)
        for what, turning, unit in (("7B", True, False), ("13B, second", False, True)):
            def layer(i, w, x, mask):
                q, k, v = np.split(w("self_attn.W_pack", w.rms("input_layernorm", x)), 3, -1)
                if turning:
                    a = attention(rotary(q, HEADS), rotary(k, HEADS), v, mask)
                else:
                    step = np.arange(x.shape[1])
                    a = attention(q, k, v, mask, slopes[:, None, None] * (step[None] - step[:, None]))
                x = x + w("self_attn.o_proj", a)
                return x + w.gated(w.rms("post_attention_layernorm", x))

            def end(all, x):
                rows = all["lm_head.weight"]
                return all.rms("model.norm", x) @ (rows / np.sqrt((rows ** 2).sum(-1, keepdims=True)) if unit else rows).T

            w = self.weights(71, {"self_attn.W_pack": (3 * WIDTH, WIDTH, False), "self_attn.o_proj": (WIDTH, WIDTH, False), **GATED}, PRE)
            w.named["lm_head.weight"] *= 1 + np.arange(VOCABULARY, dtype=np.float32)[:, None] / 8
            self.holds("baichuan " + what, "baichuan", w, layer, end, sets=["normed=true"] if unit else [], **{"max_position_embeddings" if turning else "model_max_length": 64},
                       **({} if turning else {"max_position_embeddings": None}), architectures=["BaiChuanForCausalLM" if turning else "BaichuanForCausalLM"], **NONE)

    def test_chatglm(self):
        # slower turning, as in ChatGLM3 and GLM-4, and nearer positions, as in ChatGLM2; then what no published model has: heads of their own for k and v, biases, centred norms, residuals after them, no last norm
        names = (("model.layers.", "transformer.encoder.layers."), ("model.embed_tokens.", "transformer.embedding.word_embeddings."), ("model.norm.", "transformer.encoder.final_layernorm."),
                 ("model.", "transformer."), ("lm_head.", "transformer.output_layer."))
        for what, ratio, close, usual in (("chatglm", 50, False, True), ("chatglm, nearer", 4, True, True), ("chatglm, unusual", None, False, False)):
            head, kv = 16, KV if usual else HEADS
            f = (10000.0 * (1 if close else ratio or 1)) ** (-np.arange(head // 4) / (head // 4)) / (ratio if close else 1)
            norm = lambda w, n, x: w.rms(n, x) if usual else w.norm(n, x)

            def layer(i, w, x, mask):
                h = norm(w, "input_layernorm", x)
                fused = w("self_attention.query_key_value", h)
                if usual:
                    q, k, v = np.split(fused, [HEADS * head, (HEADS + KV) * head], -1)
                else:
                    fused = fused.reshape(*x.shape[:2], HEADS, 3, head)
                    q, k, v = (fused[..., n, :].reshape(*x.shape[:2], -1) for n in range(3))
                a = attention(rotary(q, HEADS, pairs=True, part=0.5, frequencies=f), rotary(k, kv, pairs=True, part=0.5, frequencies=f), v, mask)
                x = (x if usual else h) + w("self_attention.dense", a)
                h = norm(w, "post_attention_layernorm", x)
                gate, up = np.split(w("mlp.dense_h_to_4h", h), 2, -1)
                return (x if usual else h) + w("mlp.dense_4h_to_h", silu(gate) * up)

            w = self.weights(72, {"self_attention.query_key_value": ((HEADS + 2 * kv) * head, WIDTH, True), "self_attention.dense": (WIDTH, HEADS * head, not usual),
                                  "mlp.dense_h_to_4h": (2 * INNER, WIDTH, not usual), "mlp.dense_4h_to_h": (WIDTH, INNER, not usual)}, PRE, biased=not usual, final="model.norm" if usual else None)
            w.table("model.rotary_pos_emb.inv_freq", head // 4)
            config = dict(add_qkv_bias=True, multi_query_attention=True, multi_query_group_num=KV, rmsnorm=True, post_layer_norm=True, add_bias_linear=False, apply_residual_connection_post_layernorm=False)
            if not usual:
                config = dict(add_bias_linear=True, multi_query_attention=False, rmsnorm=False, post_layer_norm=False, apply_residual_connection_post_layernorm=True)
            self.holds(what, "chatglm", w, layer, lambda all, x: all("lm_head", all.rms("model.norm", x) if usual else x), published=names, num_hidden_layers=None, intermediate_size=None, rms_norm_eps=None,
                       max_position_embeddings=None, num_layers=LAYERS, ffn_hidden_size=INNER, padded_vocab_size=VOCABULARY, kv_channels=head, layernorm_epsilon=EPS, seq_length=64, **({"rope_ratio": ratio} if ratio else {}),
                       _name_or_path="THUDM/chatglm2-6b-32k" if close else "THUDM/chatglm3-6b", architectures=["ChatGLMModel" if usual else "ChatGLMForConditionalGeneration"], **config, **NONE)

    def test_olmoe(self):
        for bound, summing in ((None, False), (0.8, True)):
            def layer(i, w, x, mask):
                q, k, v = w.qkv(w.rms("input_layernorm", x))
                q, k = w.rms("self_attn.q_norm", q), w.rms("self_attn.k_norm", k)
                if bound:
                    q, k, v = (np.clip(t, -bound, bound) for t in (q, k, v))
                x = x + w("self_attn.o_proj", attention(rotary(q, HEADS), rotary(k, KV), v, mask))
                h = w.rms("post_attention_layernorm", x)
                p = softmax(w("mlp.gate", h))
                g = np.where(largest(p, 3), p, 0)
                return x + mixed(w, h, g / g.sum(-1, keepdims=True) if summing else g)

            w = self.weights(73, {**attend(bias=summing), "mlp.gate": (EXPERTS, WIDTH, False), **experts(INNER)}, PRE, {"self_attn.q_norm.weight": (WIDTH,), "self_attn.k_norm.weight": (KV * HEAD,)})
            self.holds("olmoe, clipped" if bound else "olmoe", "olmoe", w, layer, lambda all, x: all("lm_head", all.rms("model.norm", x)), head_dim=None, attention_bias=summing, clip_qkv=bound,
                       norm_topk_prob=summing, num_experts=EXPERTS, num_experts_per_tok=3, architectures=["OlmoeForCausalLM"])

    def test_corrected(self):
        # experts of DeepSeek-V3: type, groups, norms of the heads, biases
        for kind, groups, normed, bias in (("glm4_moe", 3, False, True), ("dots1", 1, True, False)):
            inner, glm, head = 20, kind == "glm4_moe", 16

            def route(w, h):
                p = sigmoid(w("mlp.gate", h))
                c = p + w["mlp.gate.e_score_correction_bias"]
                if groups > 1:
                    c = c.reshape(*c.shape[:2], groups, -1)
                    c = np.where(largest(np.sort(c, -1)[..., -2:].sum(-1), 2)[..., None], c, 0).reshape(p.shape)
                g = np.where(largest(c, 3), p, 0)
                return 1.5 * (g / g.sum(-1, keepdims=True) if glm else g)

            def layer(i, w, x, mask):
                q, k, v = w.qkv(w.rms("input_layernorm", x))
                if normed:
                    q, k = normed_heads(w, "self_attn.q_norm", q, HEADS), normed_heads(w, "self_attn.k_norm", k, KV)
                q, k = (rotary(t, heads, part=0.5 if glm else 1.0) for t, heads in ((q, HEADS), (k, KV)))
                x = x + w("self_attn.o_proj", attention(q, k, v, mask if glm or i < 2 else near(mask, 4)))
                h = w.rms("post_attention_layernorm", x)
                return x + (w.gated(h) if i == 0 else w.gated(h, "mlp.shared_experts.") + mixed(w, h, route(w, h)))

            shared = {"mlp.shared_experts.%s_proj" % n: (WIDTH, 2 * inner, False) if n == "down" else (2 * inner, WIDTH, False) for n in ("gate", "up", "down")}
            w = self.weights(74, {**attend(head, bias=bias, o_bias=False), **GATED, "mlp.gate": (EXPERTS, WIDTH, False), **shared, **experts(inner)}, PRE,
                             {"self_attn.%s_norm.weight" % n: (head,) for n in "qk"} if normed else {}, stacks={"mlp.gate.e_score_correction_bias": (EXPERTS,)})
            some_dense(w, [0], "mlp.gate.", "mlp.shared_experts", "mlp.experts")
            self.holds(kind, kind, w, layer, lambda all, x: all("lm_head", all.rms("model.norm", x)), head_dim=head, attention_bias=bias, n_routed_experts=EXPERTS,
                       n_shared_experts=2, num_experts_per_tok=3, n_group=groups, topk_group=min(groups, 2), first_k_dense_replace=1, moe_intermediate_size=inner, **({} if glm else {"norm_topk_prob": False}),
                       routed_scaling_factor=1.5, **(dict(use_qk_norm=normed, partial_rotary_factor=0.5) if glm else dict(sliding_window=4, max_window_layers=2)),
                       architectures=["Glm4MoeForCausalLM" if glm else "Dots1ForCausalLM"])

    def test_ernie4_5_moe(self):
        # experts in layers 1 and 2, or in every second one
        for bias, sparse, config in ((False, (1, 2), dict(moe_layer_end_index=2, moe_num_shared_experts=2)), (True, (1, 3), dict(moe_layer_end_index=-1, moe_layer_interval=2, moe_num_shared_experts=0))):
            inner = 20

            def layer(i, w, x, mask):
                q, k, v = w.qkv(w.rms("input_layernorm", x))
                x = x + w("self_attn.o_proj", attention(rotary(q, HEADS, 500000.0, pairs=True), rotary(k, KV, 500000.0, pairs=True), v, mask))
                h = w.rms("post_attention_layernorm", x)
                if i not in sparse:
                    return x + w.gated(h)
                p = softmax(w("mlp.gate", h))
                g = np.where(largest(p + w["mlp.moe_statics.e_score_correction_bias"][0], 3), p, 0)
                x = x + mixed(w, h, g / np.maximum(g.sum(-1, keepdims=True), 0.5))
                return x if bias else x + w.gated(h, "mlp.shared_experts.")

            shared = {} if bias else {"mlp.shared_experts.%s_proj" % n: (WIDTH, 2 * inner, False) if n == "down" else (2 * inner, WIDTH, False) for n in ("gate", "up", "down")}
            w = self.weights(75, {**attend(bias=bias), **feed("gate_proj", "up_proj", bias=bias), "mlp.gate": (EXPERTS, WIDTH, False), **shared, **experts(inner, bias)}, PRE,
                             stacks={"mlp.moe_statics.e_score_correction_bias": (1, EXPERTS)}, tied=not bias)
            some_dense(w, [i for i in range(LAYERS) if i not in sparse], "mlp.gate.", "mlp.shared_experts", "mlp.experts", "mlp.moe_statics")
            if bias:
                w.table("lm_head.bias", VOCABULARY, scale=0.3)
            self.holds("ernie4_5_moe, biases" if bias else "ernie4_5_moe", "ernie4_5_moe", w, layer, lambda all, x: all("lm_head", all.rms("model.norm", x)), tied=not bias, head_dim=None, attention_bias=None,
                       use_bias=bias, moe_num_experts=EXPERTS, moe_k=3, moe_intermediate_size=inner, moe_layer_start_index=1, moe_norm_min=0.5, architectures=["Ernie4_5_MoeForCausalLM"], **config)

    def test_hunyuan_v1_dense(self):
        for alpha, bias in ((50.0, False), (None, True)):
            head = 16
            theta = 10000.0 * (alpha or 1) ** (head / (head - 2))

            def layer(i, w, x, mask):
                q, k, v = w.qkv(w.rms("input_layernorm", x))
                q, k = normed_heads(w, "self_attn.query_layernorm", rotary(q, HEADS, theta), HEADS), normed_heads(w, "self_attn.key_layernorm", rotary(k, KV, theta), KV)
                x = x + w("self_attn.o_proj", attention(q, k, v, mask))
                return x + w.gated(w.rms("post_attention_layernorm", x))

            w = self.weights(76, {**attend(head, bias=bias), **GATED}, PRE, {"self_attn.query_layernorm.weight": (head,), "self_attn.key_layernorm.weight": (head,)}, tied=not bias)
            scaling = {"type": "dynamic", "alpha": alpha, "factor": 1.0, "mscale": 1.0, "mscale_all_dim": 1.0, "beta_fast": 32, "beta_slow": 1}
            self.holds("hunyuan_v1_dense, biases" if bias else "hunyuan_v1_dense", "hunyuan_v1_dense", w, layer, lambda all, x: all("lm_head", all.rms("model.norm", x)), tied=not bias, head_dim=head,
                       attention_bias=bias, rope_scaling=scaling if alpha else None, architectures=["HunYuanDenseV1ForCausalLM"])

    def test_apertus(self):
        # positions stretched as by default, and as config.json says: frequencies that turn less than once in the trained length are divided, those that turn four times are kept
        given = {"rope_type": "llama3", "factor": 4.0, "original_max_position_embeddings": 16, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
        for act, theta, factor, trained in (("xielu", 12000000.0, 8, 8192), ("relu2", 10000.0, 4, 16)):
            f = theta ** (-np.arange(HEAD // 2) / (HEAD // 2))
            kept = np.clip((trained * f / (2 * np.pi) - 1) / 3, 0, 1)
            f = f * (kept + (1 - kept) / factor)

            def layer(i, w, x, mask):
                q, k, v = w.qkv(w.rms("attention_layernorm", x))
                q, k = normed_heads(w, "self_attn.q_norm", q, HEADS), normed_heads(w, "self_attn.k_norm", k, KV)
                x = x + w("self_attn.o_proj", attention(rotary(q, HEADS, frequencies=f), rotary(k, KV, frequencies=f), v, mask))
                h = w("mlp.up_proj", w.rms("feedforward_layernorm", x))
                if act == "xielu":
                    p, n = (np.log1p(np.exp(w["mlp.act_fn.alpha_" + s])) for s in "pn")
                    h = np.where(h > 0, p * h ** 2, (0.5 + n) * (np.expm1(np.minimum(h, -1e-6)) - h)) + 0.5 * h
                else:
                    h = decoder_families.relu2(h)
                return x + w("mlp.down_proj", h)

            extra = {"self_attn.q_norm.weight": (HEAD,), "self_attn.k_norm.weight": (HEAD,)}
            w = self.weights(77, {**attend(), **feed("up_proj")}, ("attention_layernorm", "feedforward_layernorm"), {**extra, **({"mlp.act_fn.alpha_" + s: (1,) for s in "pn"} if act == "xielu" else {})})
            if act == "xielu":
                for i in range(LAYERS):
                    w.named["model.layers.%d.mlp.act_fn.beta" % i], w.named["model.layers.%d.mlp.act_fn.eps" % i] = np.float32(0.5).reshape(()), np.float32(-1e-6).reshape(())
            self.holds("apertus, " + act, "apertus", w, layer, lambda all, x: all("lm_head", all.rms("model.norm", x)), head_dim=None, hidden_act=act, qk_norm=True, post_norm=False, mlp_bias=False,
                       **({} if act == "xielu" else dict(rope_theta=theta, rope_scaling=given)),
                       architectures=["ApertusForCausalLM"])

    def test_ministral(self):
        kinds = ["full_attention", "sliding_attention", "sliding_attention", "full_attention"]

        def layer(i, w, x, mask):
            q, k, v = w.qkv(w.rms("input_layernorm", x))
            mask = near(mask, 4) if kinds[i] == "sliding_attention" else mask
            x = x + w("self_attn.o_proj", attention(rotary(q, HEADS), rotary(k, KV), v, mask, scale=0.25))
            return x + w.gated(w.rms("post_attention_layernorm", x))

        w = self.weights(78, {**attend(16), **GATED}, PRE)
        self.holds("ministral", "ministral", w, layer, lambda all, x: all("lm_head", all.rms("model.norm", x)), head_dim=16, attention_bias=None, layer_types=kinds, sliding_window=4,
                   architectures=["MinistralForCausalLM"])

    def test_vaultgemma(self):
        for cap in (None, 2.0):
            def layer(i, w, x, mask):
                mask = near(mask, 4) if i % 2 == 0 else mask
                q, k, v = w.qkv(rms_norm(x, 1 + w["input_layernorm.weight"]))
                q, k = rotary(q, HEADS), rotary(k, KV)
                if cap:
                    q, k, v = by_heads(q, HEADS), np.repeat(by_heads(k, KV), 2, 1), np.repeat(by_heads(v, KV), 2, 1)
                    p = softmax(np.where(mask | np.eye(x.shape[1], dtype=bool), np.tanh(q @ k.swapaxes(2, 3) / 3 / cap) * cap, -np.inf))
                    a = (p @ v).transpose(0, 2, 1, 3).reshape(*x.shape[:2], -1)
                else:
                    a = attention(q, k, v, mask, scale=1 / 3)
                x = x + w("self_attn.o_proj", a)
                h = rms_norm(x, 1 + w["pre_feedforward_layernorm.weight"])
                return x + w("mlp.down_proj", gelu_tanh(w("mlp.gate_proj", h)) * w("mlp.up_proj", h))

            def end(all, x):
                y = all("lm_head", rms_norm(x, 1 + all["model.norm.weight"]))
                return np.tanh(y / 50) * 50 if cap else y

            w = self.weights(79, {**attend(16), **GATED}, ("input_layernorm", "pre_feedforward_layernorm"), tied=True)
            self.holds("vaultgemma, caps" if cap else "vaultgemma", "vaultgemma", w, layer, end, lambda all, x, real: x * WIDTH ** 0.5, tied=True, head_dim=16, query_pre_attn_scalar=9, sliding_window=4,
                       attn_logit_softcapping=cap, final_logit_softcapping=50.0 if cap else None, hidden_activation="gelu_pytorch_tanh", architectures=["VaultGemmaForCausalLM"])


if __name__ == "__main__":
    sys.exit(run(Suite, __doc__))
