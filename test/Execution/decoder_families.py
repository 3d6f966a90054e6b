#!/usr/bin/python3
"""Decoders that were written from the published code alone, against numpy: small models with random weights.

    decoder_families.py --heddle BIN [--only NAME] [--families DIR]

Three rows: whole, padded on the left, with a hole. Each model is interpreted, compiled, and generates with the cached step what numpy
says without one; options that change the computation are a second model. --families: files that are asked before those of BIN. One
line a failure, then `N passed, N failed`."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import newer_families
import quantised as codes
from newer_families import HEAD, INNER, KV, LAYERS, VOCABULARY, WIDTH
from random_weights import Weights
from reference import EPS, HEADS, Reference, attention, causal, gelu, layer_norm, relu, rms_norm, rotary, silu, sinusoids
from suite import run


def yarned(theta, width, factor, trained, truncate=True, amplitude=None):
    """Peng et al. 2023: frequencies between those that are kept (fast) and those that are divided (slow), and the factor of cos and sin"""
    step = np.arange(0, width, 2) / width
    kept = theta ** -step
    at = lambda turns: width * np.log(trained / (turns * 2 * np.pi)) / (2 * np.log(theta))
    low, high = at(32.0), at(1.0)
    if truncate:
        low, high = np.floor(low), np.ceil(high)
    low, high = max(low, 0), min(high, width - 1)
    ramp = np.clip((np.arange(width // 2) - low) / (high - low or 0.001), 0, 1)
    return kept / factor * ramp + kept * (1 - ramp), 0.1 * np.log(factor) + 1 if amplitude is None else amplitude


def relu2(x):
    return relu(x) ** 2


def near(mask, window):
    """of a mask [B, 1, T, T], what is at most window - 1 back"""
    d = np.arange(mask.shape[-1])[:, None] - np.arange(mask.shape[-1])
    return mask & (d < window)


class Layer:
    """The weights of one layer, or of what stands beside the layers."""

    def __init__(self, r, at):
        self.r, self.at = r, at

    def __call__(self, name, x):
        return self.r.linear(self.at + name, x)

    def __getitem__(self, name):
        return self.r.named[self.at + name]

    def rms(self, name, x, eps=EPS):
        return rms_norm(x, self[name + ".weight"], eps)

    def norm(self, name, x, plus=0.0):
        return layer_norm(x, self[name + ".weight"] + plus, self[name + ".bias"])

    def gated(self, x, at="mlp."):
        return self(at + "down_proj", silu(self(at + "gate_proj", x)) * self(at + "up_proj", x))

    def qkv(self, x):
        return (self("self_attn.%s_proj" % n, x) for n in "qkv")


def attend(head=HEAD, kv=KV, bias=False, o_bias=None):
    """name -> (out, in, bias)"""
    o_bias = bias if o_bias is None else o_bias
    return {"self_attn.q_proj": (HEADS * head, WIDTH, bias), "self_attn.k_proj": (kv * head, WIDTH, bias), "self_attn.v_proj": (kv * head, WIDTH, bias),
            "self_attn.o_proj": (WIDTH, HEADS * head, o_bias)}


def feed(*ups, bias=False, at="mlp."):
    return {**{at + n: (INNER, WIDTH, bias) for n in ups}, at + "down_proj": (WIDTH, INNER, bias)}


GATED = feed("gate_proj", "up_proj")
PRE = ("input_layernorm", "post_attention_layernorm")


class Suite(newer_families.Suite):
    def weights(self, seed, linear, norms=(), extra=None, tied=False, biased=False, final="model.norm", stacks=None, base="model."):
        """`linear`: name -> (out, in, bias); `norms`: names; `extra`: name -> shape, around 1; `stacks`: name -> shape, around 0"""
        w = Weights(self.work, seed)
        w.table(base + "embed_tokens.weight", VOCABULARY, WIDTH)
        for i in range(LAYERS):
            at = "%slayers.%d." % (base, i)
            for n, (out, inner, bias) in linear.items():
                w.linear(at + n, out, inner, bias=bias)
            for n in norms:
                w.table(at + n + ".weight", WIDTH, scale=0.1, mean=1.0)
                if biased:
                    w.table(at + n + ".bias", WIDTH, scale=0.1)
            for n, shape in (extra or {}).items():
                w.table(at + n, *shape, scale=0.3, mean=1.0)
            for n, shape in (stacks or {}).items():
                w.table(at + n, *shape, scale=shape[-1] ** -0.5)
        if final:
            w.table(final + ".weight", WIDTH, scale=0.1, mean=1.0)
            if biased:
                w.table(final + ".bias", WIDTH, scale=0.1)
        if not tied:
            w.linear("lm_head", VOCABULARY, WIDTH, bias=False)
        return w

    def holds(self, what, kind, w, layer, end, start=lambda all, x, real: x, tied=None, base="model.", coded=None, **config):
        """The logits, and the tokens that follow from them: x = layer(i, weights of it, x, mask) through the layers, then end(all, x). `tied`: where lm_head's weights are; `coded`: what the file has for tensors that are stored as codes."""
        r = Reference(w.named)
        if tied:
            r.named["lm_head.weight"] = r.named[tied if isinstance(tied, str) else "model.embed_tokens.weight"]
        folder = self.write(what, w.named, **{
            "model_type": kind, "vocab_size": VOCABULARY, "hidden_size": WIDTH, "num_hidden_layers": LAYERS, "num_key_value_heads": KV, "intermediate_size": INNER, "head_dim": HEAD,
            "max_position_embeddings": 64, "tie_word_embeddings": bool(tied), "attention_bias": False, "eos_token_id": 0, "rms_norm_eps": EPS, **config})
        if coded:
            codes.write(os.path.join(folder, "model.safetensors"), {**{n: t for n, t in w.named.items() if n + "_blocks" not in coded}, **coded})

        def logits(ids, mask):
            x = start(Layer(r, ""), r.named[base + "embed_tokens.weight"][ids], mask[:, 0, -1])
            for i in range(LAYERS):
                x = layer(i, Layer(r, "%slayers.%d." % (base, i)), x, mask)
            return end(Layer(r, ""), x)

        ids, real = self.batch()
        given = {"input_ids": ids, "attention_mask": real}
        binary = self.agrees(what, folder, given, {"logits": logits(ids, causal(real))}, rows=real > 0, cached=True)
        self.generates(what, binary, ids[:1], lambda text: logits(text, causal(np.ones_like(text))))

    def llama(self, what, kind, seed, rotate, head=HEAD, bias=False, o_bias=None, ff_bias=False, tied=False, **config):
        """Llama's order, with another rotation and other biases."""
        def layer(i, w, x, mask):
            q, k, v = w.qkv(w.rms("input_layernorm", x))
            x = x + w("self_attn.o_proj", attention(rotate(q, HEADS), rotate(k, KV), v, mask))
            return x + w.gated(w.rms("post_attention_layernorm", x))

        w = self.weights(seed, {**attend(head, bias=bias, o_bias=o_bias), **feed("gate_proj", "up_proj", bias=ff_bias)}, PRE, tied=tied)
        self.holds(what, kind, w, layer, lambda all, x: all("lm_head", all.rms("model.norm", x)), tied=tied, head_dim=head, **config)

    #--- the types -----------------------------------------------------------

    def test_glm(self):
        for kind, head, bias in (("glm", 16, True), ("glm4", 16, True), ("glm4", 8, False)):
            sandwich = kind == "glm4"

            def layer(i, w, x, mask):
                q, k, v = w.qkv(w.rms("input_layernorm", x))
                a = attention(rotary(q, HEADS, pairs=True, part=0.5), rotary(k, KV, pairs=True, part=0.5), v, mask)
                a = w("self_attn.o_proj", a)
                x = x + (w.rms("post_self_attn_layernorm", a) if sandwich else a)
                gate, up = np.split(w("mlp.gate_up_proj", w.rms("post_attention_layernorm", x)), 2, -1)
                h = w("mlp.down_proj", up * silu(gate))
                return x + (w.rms("post_mlp_layernorm", h) if sandwich else h)

            w = self.weights(31 + head, {**attend(head, bias=bias, o_bias=False), "mlp.gate_up_proj": (2 * INNER, WIDTH, False), "mlp.down_proj": (WIDTH, INNER, False)},
                             PRE + (("post_self_attn_layernorm", "post_mlp_layernorm") if sandwich else ()))
            self.holds("%s%s" % (kind, "" if bias else ", no biases"), kind, w, layer, lambda all, x: all("lm_head", all.rms("model.norm", x)), attention_bias=bias, head_dim=head,
                       partial_rotary_factor=0.5, architectures=["%sForCausalLM" % kind.capitalize()])

    def test_ernie4_5(self):
        rotate = lambda x, heads: rotary(x, heads, 500000.0, pairs=True)
        for bias in (False, True):
            self.llama("ernie4_5, biases" if bias else "ernie4_5", "ernie4_5", 41, rotate, head=16, bias=bias, ff_bias=bias, tied=not bias, use_bias=bias, attention_bias=None,
                       architectures=["Ernie4_5ForCausalLM"])

    def test_helium(self):
        rotate = lambda x, heads: rotary(x, heads, 100000.0, pairs=True)
        self.llama("helium", "helium", 42, rotate, architectures=["HeliumForCausalLM"])
        self.llama("helium, biases", "helium", 43, rotate, bias=True, o_bias=False, ff_bias=True, attention_bias=True, mlp_bias=True, architectures=["HeliumForCausalLM"])

    def test_seed_oss(self):
        for o_bias in (False, True):
            self.llama("seed_oss, all biases" if o_bias else "seed_oss", "seed_oss", 44, rotary, head=16, bias=True, o_bias=o_bias, ff_bias=o_bias, attention_bias=True,
                       attention_out_bias=o_bias, mlp_bias=o_bias, architectures=["SeedOssForCausalLM"])

    def test_arcee(self):
        yarn = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16, "mscale": 1.0}
        for bias in (False, True):
            f, amplitude = yarned(10000.0, HEAD, 4.0, 16) if bias else (None, 1.0)

            def layer(i, w, x, mask):
                q, k, v = w.qkv(w.rms("input_layernorm", x))
                q, k = (rotary(t, n, frequencies=f, amplitude=amplitude) for t, n in ((q, HEADS), (k, KV)))
                x = x + w("self_attn.o_proj", attention(q, k, v, mask))
                return x + w("mlp.down_proj", relu2(w("mlp.up_proj", w.rms("post_attention_layernorm", x))))

            w = self.weights(45, {**attend(bias=bias), **feed("up_proj", bias=bias)}, PRE)
            self.holds("arcee, biases, yarn" if bias else "arcee", "arcee", w, layer, lambda all, x: all("lm_head", all.rms("model.norm", x)), attention_bias=bias, mlp_bias=bias,
                       rope_scaling=yarn if bias else None, architectures=["ArceeForCausalLM"])

    def test_nemotron(self):
        for bias in (False, True):
            def layer(i, w, x, mask):
                q, k, v = w.qkv(w.norm("input_layernorm", x, plus=1))
                x = x + w("self_attn.o_proj", attention(rotary(q, HEADS, part=0.5), rotary(k, KV, part=0.5), v, mask))
                return x + w("mlp.down_proj", relu2(w("mlp.up_proj", w.norm("post_attention_layernorm", x, plus=1))))

            w = self.weights(46, {**attend(bias=bias), **feed("up_proj", bias=bias)}, PRE, biased=True)
            self.holds("nemotron, biases" if bias else "nemotron", "nemotron", w, layer, lambda all, x: all("lm_head", all.norm("model.norm", x, plus=1)), attention_bias=bias, mlp_bias=bias,
                       partial_rotary_factor=0.5, norm_eps=EPS, rms_norm_eps=None, architectures=["NemotronForCausalLM"])

    def test_olmo(self):
        for bound in (None, 0.8):
            cut = (lambda t: t) if bound is None else (lambda t: np.clip(t, -0.8, 0.8))

            def layer(i, w, x, mask):
                q, k, v = (cut(t) for t in w.qkv(layer_norm(x)))
                x = x + w("self_attn.o_proj", attention(rotary(q, HEADS), rotary(k, KV), v, mask))
                return x + w.gated(layer_norm(x))

            w = self.weights(47, {**attend(), **GATED}, final=None)
            self.holds("olmo, clipped" if bound else "olmo", "olmo", w, layer, lambda all, x: all("lm_head", layer_norm(x)), clip_qkv=bound, rms_norm_eps=None, architectures=["OlmoForCausalLM"])

    def test_olmo3(self):
        # the default kinds of layers, then given ones; positions are stretched where there is no window
        yarn = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16, "attention_factor": 1.2}
        stretched = yarned(10000.0, HEAD, 4.0, 16, amplitude=1.2)
        for kinds in (None, ["full_attention", "sliding_attention"] * 2):
            def layer(i, w, x, mask):
                local = kinds[i] == "sliding_attention" if kinds else i < 3
                f, amplitude = (None, 1.0) if local else stretched
                q, k, v = w.qkv(x)
                q, k = (rotary(w.rms("self_attn.%s_norm" % n, t), heads, frequencies=f, amplitude=amplitude) for n, t, heads in (("q", q, HEADS), ("k", k, KV)))
                x = x + w.rms("post_attention_layernorm", w("self_attn.o_proj", attention(q, k, v, near(mask, 4) if local else mask)))
                return x + w.rms("post_feedforward_layernorm", w.gated(x))

            w = self.weights(51, {**attend(), **GATED}, ("post_attention_layernorm", "post_feedforward_layernorm"),
                             {"self_attn.q_norm.weight": (HEADS * HEAD,), "self_attn.k_norm.weight": (KV * HEAD,)})
            self.holds("olmo3, kinds given" if kinds else "olmo3", "olmo3", w, layer, lambda all, x: all("lm_head", all.rms("model.norm", x)), sliding_window=4, layer_types=kinds,
                       rope_scaling=yarn, architectures=["Olmo3ForCausalLM"])

    def test_cohere2(self):
        for bias, config in ((False, {"sliding_window_pattern": 2}), (True, {"layer_types": ["full_attention", "sliding_attention"] * 2})):
            def layer(i, w, x, mask):
                local = (i % 2 == 0) != bias
                h = layer_norm(x, w["input_layernorm.weight"])
                q, k, v = w.qkv(h)
                if local:
                    q, k, mask = rotary(q, HEADS, 50000.0, pairs=True), rotary(k, KV, 50000.0, pairs=True), near(mask, 4)
                return x + w("self_attn.o_proj", attention(q, k, v, mask)) + w.gated(h)

            w = self.weights(52, {**attend(bias=bias), **GATED}, ("input_layernorm",), tied=True)
            self.holds("cohere2, biases" if bias else "cohere2", "cohere2", w, layer, lambda all, x: all("lm_head", layer_norm(x, all["model.norm.weight"])) * 0.25, tied=True, rope_theta=50000.0,
                       sliding_window=4, attention_bias=bias, layer_norm_eps=EPS, rms_norm_eps=None, logit_scale=0.25, architectures=["Cohere2ForCausalLM"], **config)

    def test_exaone4(self):
        for window, config in ((None, {"layer_types": ["full_attention"] * 4}), (4, {"sliding_window_pattern": 2}), (4, {"sliding_window_pattern": "LG", "layer_types": ["sliding_attention", "full_attention"] * 2})):
            def layer(i, w, x, mask):
                local = window and i % 2 == 0
                q, k, v = w.qkv(x)
                q, k = (w.rms("self_attn.%s_norm" % n, t.reshape(*t.shape[:2], heads, -1)).reshape(t.shape) for n, t, heads in (("q", q, HEADS), ("k", k, KV)))
                if local or not window:
                    q, k = rotary(q, HEADS), rotary(k, KV)
                x = x + w.rms("post_attention_layernorm", w("self_attn.o_proj", attention(q, k, v, near(mask, 4) if local else mask, scale=0.25)))
                return x + w.rms("post_feedforward_layernorm", w.gated(x))

            w = self.weights(53, {**attend(16), **GATED}, ("post_attention_layernorm", "post_feedforward_layernorm"), {"self_attn.q_norm.weight": (16,), "self_attn.k_norm.weight": (16,)})
            self.holds("exaone4, %s" % ("kinds given" if len(config) == 2 else "a window" if window else "no window"), "exaone4", w, layer, lambda all, x: all("lm_head", all.rms("model.norm", x)),
                       head_dim=16, attention_bias=None, sliding_window=window, architectures=["Exaone4ForCausalLM"], **config)

    def test_persimmon(self):
        for normed in (True, False):
            def layer(i, w, x, mask):
                fused = w("self_attn.query_key_value", w.norm("input_layernorm", x)).reshape(*x.shape[:2], HEADS, 3, HEAD)
                q, k, v = (fused[..., n, :] for n in range(3))
                if normed:
                    q, k = w.norm("self_attn.q_layernorm", q), w.norm("self_attn.k_layernorm", k)
                q, k, v = (t.reshape(x.shape) for t in (q, k, v))
                x = x + w("self_attn.dense", attention(rotary(q, HEADS, 25000.0, part=0.5), rotary(k, HEADS, 25000.0, part=0.5), v, mask))
                return x + w("mlp.dense_4h_to_h", relu2(w("mlp.dense_h_to_4h", w.norm("post_attention_layernorm", x))))

            linear = {"self_attn.query_key_value": (3 * WIDTH, WIDTH, True), "self_attn.dense": (WIDTH, WIDTH, True), "mlp.dense_h_to_4h": (INNER, WIDTH, True), "mlp.dense_4h_to_h": (WIDTH, INNER, True)}
            w = self.weights(54, linear, PRE, {"self_attn.%s_layernorm.%s" % (n, p): (HEAD,) for n in "qk" for p in ("weight", "bias")} if normed else {}, biased=True, final="model.final_layernorm")
            self.holds("persimmon" if normed else "persimmon, heads not normed", "persimmon", w, layer, lambda all, x: all("lm_head", all.norm("model.final_layernorm", x)), qk_layernorm=normed,
                       num_key_value_heads=HEADS, head_dim=None, attention_bias=None, layer_norm_eps=EPS, rms_norm_eps=None, architectures=["PersimmonForCausalLM"])

    def test_minicpm(self):
        # without and with stretched positions, by other factors past 15 tokens
        long, short = np.array([1.0, 1.5, 2.0, 4.0]), np.array([1.0, 1.1, 1.2, 1.3])
        scaling = {"rope_type": "longrope", "short_factor": list(short), "long_factor": list(long), "original_max_position_embeddings": 15}
        for stretched in (False, True):
            def turn(x, heads):
                f = 10000.0 ** (-np.arange(4) / 4)
                return rotary(x, heads, frequencies=f / (long if x.shape[1] > 15 else short), amplitude=np.sqrt(1 + np.log(64 / 15) / np.log(15))) if stretched else rotary(x, heads)

            def layer(i, w, x, mask):
                q, k, v = w.qkv(w.rms("input_layernorm", x))
                x = x + w("self_attn.o_proj", attention(turn(q, HEADS), turn(k, KV), v, mask)) * 1.4 / 2
                return x + w.gated(w.rms("post_attention_layernorm", x)) * 1.4 / 2

            w = self.weights(61, {**attend(), **GATED}, PRE, tied=not stretched)
            self.holds("minicpm, longrope" if stretched else "minicpm", "minicpm", w, layer, lambda all, x: all("lm_head", all.rms("model.norm", x) / 4), lambda all, x, real: x * 3, tied=not stretched,
                       scale_emb=3, scale_depth=1.4, dim_model_base=8, rope_scaling=scaling if stretched else None, architectures=["MiniCPMForCausalLM"])

    def test_opt_kin(self):
        linear = {**{"self_attn.%s_proj" % n: (WIDTH, WIDTH, True) for n in ("q", "k", "v", "out")}, "fc1": (INNER, WIDTH, True), "fc2": (WIDTH, INNER, True)}
        norms = ("self_attn_layer_norm", "final_layer_norm")
        none = dict(num_key_value_heads=None, head_dim=None, attention_bias=None, rms_norm_eps=None)

        def biogpt_places(all, x, real):
            n = np.cumsum(real, 1) * real + 1
            return all["biogpt.embed_positions.weight"][n]

        def xglm_places(all, x, real):
            half = WIDTH // 2
            return sinusoids(np.arange(x.shape[1]) + 2, np.exp(-np.arange(half) * np.log(10000) / (half - 1)))

        for kind, scaled, act, name, base, places, config in (
                ("biogpt", True, gelu, "gelu", "biogpt.", biogpt_places, {"architectures": ["BioGptForCausalLM"], "layer_norm_eps": 1e-12, "hidden_act": "gelu"}),
                ("biogpt", False, relu, "relu", "biogpt.", biogpt_places, {"architectures": ["BioGptForCausalLM"], "hidden_act": "relu"}),
                ("xglm", True, gelu, "gelu", "model.", xglm_places, {"architectures": ["XGLMForCausalLM"]}),
                ("xglm", False, relu, "relu", "model.", xglm_places, {"architectures": ["XGLMForCausalLM"], "activation_function": "relu"})):
            def layer(i, w, x, mask):
                q, k, v = w.qkv(w.norm(norms[0], x))
                x = x + w("self_attn.out_proj", attention(q, k, v, mask))
                return x + w("fc2", act(w("fc1", w.norm(norms[1], x))))

            scale = WIDTH ** 0.5 if scaled else 1
            w = self.weights(62, linear, norms, tied=True, biased=True, final=base + "layer_norm", base=base)
            if kind == "biogpt":
                w.table("biogpt.embed_positions.weight", 66, WIDTH)
            else:
                config.update(hidden_size=None, num_hidden_layers=None, intermediate_size=None, num_attention_heads=None, d_model=WIDTH, num_layers=LAYERS, attention_heads=HEADS, ffn_dim=INNER)
            self.holds("%s, %s" % (kind, name), kind, w, layer, lambda all, x: all("lm_head", all.norm(base + "layer_norm", x)), lambda all, x, real: x * scale + places(all, x, real),
                       tied=base + "embed_tokens.weight", base=base, scale_embedding=scaled, **none, **config)


if __name__ == "__main__":
    sys.exit(run(Suite, __doc__))
