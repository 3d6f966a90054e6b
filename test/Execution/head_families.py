#!/usr/bin/python3
"""Classes of labels and answers over decoders, T5 and CLIP, against numpy: small models with random weights.

    head_families.py --heddle BIN [--only NAME] [--families DIR]

Four rows: whole, padded on the left, with a hole, padded on the right. Each class is interpreted, and some are compiled.
--families: files that are asked before those of BIN. One line a failure, then `N passed, N failed`."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import decoder_families
import encoder_families
import families
from checks import check
from decoder_families import HEAD, INNER, KV, PRE, VOCABULARY, WIDTH, Layer, near
from random_weights import Weights
from reference import EPS, HEADS, Reference, attention, bucket, causal, gelu, gelu_tanh, layer_norm, quick_gelu, rms_norm, rotary, silu
from suite import run, write

LAYERS, CLASSES, PAD = 2, 3, 0
LABELS = {str(i): "c%d" % i for i in range(CLASSES)}
SLOPES = 2.0 ** (-8 * (np.arange(HEADS) + 1) / HEADS)


def split(x, *heads):
    """heads of HEAD features each, side by side"""
    return np.split(x, HEAD * np.cumsum(heads)[:-1], -1)


def in_groups(x, parts):
    """[B, T, heads * parts * HEAD], the parts of each head together"""
    y = x.reshape(*x.shape[:2], HEADS, parts, HEAD)
    return [y[..., n, :].reshape(*x.shape[:2], -1) for n in range(parts)]


def sloped(q, k, v, mask, places):
    """ALiBi by the places of keys"""
    return attention(q, k, v, mask, SLOPES[:, None, None] * places[:, None, None, :])


def experts(w, h, count, chosen):
    """the shares of those that are chosen add up to 1"""
    odds = np.exp(w("gate", h))
    odds = np.where(odds >= np.sort(odds, -1)[..., -chosen:-chosen + 1], odds, 0)
    odds = odds / odds.sum(-1, keepdims=True)
    return sum(odds[..., e:e + 1] * w("experts.%d.w2" % e, silu(w("experts.%d.w1" % e, h)) * w("experts.%d.w3" % e, h)) for e in range(count))


def square(names, bias=True):
    return {n: (WIDTH, WIDTH, bias) for n in names}


def feed(up, down, inner=INNER, bias=True):
    return {up: (inner, WIDTH, bias), down: (WIDTH, inner, bias)}


class Suite(decoder_families.Suite):
    def batch(self):
        ids, real = super().batch()
        ids, real = np.concatenate([ids, ids[:1] % 7 + 1]), np.concatenate([real, real[:1]])
        real[3, 8:] = 0
        return np.where(real > 0, ids, PAD), real

    def made(self, seed, layers, linear, norms, tables, last, biased=True):
        """`linear`: name -> (out, in, bias); `layers`: where they stand; `norms`: of each layer, name -> width; `last`: norms beside the layers"""
        w = Weights(self.work, seed)
        for n, shape in tables.items():
            w.table(n, *shape)
        for i in range(LAYERS):
            for n, (out, inner, bias) in linear.items():
                w.linear(layers % i + n, out, inner, bias=bias)
        for n, width in [(layers % i + n, width) for i in range(LAYERS) for n, width in norms.items()] + [(n, WIDTH) for n in last]:
            w.table(n + ".weight", width, scale=0.1, mean=1.0)
            if biased:
                w.table(n + ".bias", width, scale=0.1)
        return w.named

    def heads(self, kind, name, named, states, classes, config, compile=True):
        """`states`(r, ids, real, mask): the last ones, from weights without a base; `classes`: class -> (weight's name, base of its other weights); `compile`: whether the first of them is"""
        ids, real = self.batch()
        x = states(Reference(named), ids, real, causal(real))
        at = (real * np.arange(ids.shape[1])).max(1)
        for number, (ending, (head, base)) in enumerate(classes.items()):
            what, w, answer, one = "%s, %s" % (kind, ending), Weights(self.work, 77), ending == "QuestionAnswering", ending == "SequenceClassification"
            w.linear(head, 2 if answer else CLASSES, WIDTH, bias=not one)
            y = Reference(w.named).linear(head, x[np.arange(len(x)), at] if one else x)
            expected = {"start_logits": y[..., 0], "end_logits": y[..., 1]} if answer else {"logits": y}
            folder = write(self.file(), {**{base + n: t for n, t in named.items()}, **w.named},
                           **{**self.usual, "model_type": kind, "architectures": ["%sFor%s" % (name, ending)], "vocab_size": VOCABULARY, "pad_token_id": PAD, "eos_token_id": 2, "id2label": None if answer else LABELS, **config})
            self.compare(what, folder, {"input_ids": ids, "attention_mask": real}, expected, None if one else real > 0, compile and number == 0)

    def compare(self, what, folder, given, expected, rows=None, compile=False):
        """As `agrees`, and nothing else is given but states and routes."""
        got = self.interpreted(what, folder, given)
        self.same(what, got, rows=rows, **expected)
        check(set(got) - {n for n in got if "hidden_state" in n or "router" in n} == set(expected), "%s gives %s" % (what, sorted(got)))
        binary = self.compiled(what, folder) if compile else None
        if binary:
            self.same(what + ", compiled", self.ran(what, binary, given), rows=rows, **expected)

    #--- Llama and its kin ---

    def like_llama(self, kind, name, seed, layer, linear, classes, **config):
        named = self.made(seed, "layers.%d.", linear, dict.fromkeys(PRE, WIDTH), {"embed_tokens.weight": (VOCABULARY, WIDTH)}, ["norm"], biased=False)

        def states(r, ids, real, mask):
            x = r.named["embed_tokens.weight"][ids]
            for i in range(LAYERS):
                x = layer(Layer(r, "layers.%d." % i), x, mask)
            return Layer(r, "").rms("norm", x)

        self.heads(kind, name, named, states, classes, {"hidden_size": WIDTH, "num_hidden_layers": LAYERS, "num_key_value_heads": KV, "intermediate_size": INNER, "rms_norm_eps": EPS, "max_position_embeddings": 64, **config}, kind == "llama")

    def test_llama(self):
        def layer(w, x, mask):
            q, k, v = w.qkv(w.rms("input_layernorm", x))
            x = x + w("self_attn.o_proj", attention(rotary(q, HEADS), rotary(k, KV), v, mask))
            return x + w.gated(w.rms("post_attention_layernorm", x))

        plain = {**decoder_families.attend(), **decoder_families.GATED}
        classes = {"TokenClassification": ("score", "model."), "QuestionAnswering": ("qa_outputs", "transformer."), "SequenceClassification": ("score", "model.")}
        self.like_llama("llama", "Llama", 71, layer, plain, classes)
        self.like_llama("mistral", "Mistral", 72, lambda w, x, mask: layer(w, x, near(mask, 4)), plain, {"QuestionAnswering": ("qa_outputs", "model.")}, sliding_window=4)
        self.like_llama("qwen2", "Qwen2", 73, layer, {**decoder_families.attend(bias=True, o_bias=False), **decoder_families.GATED}, classes)

    def test_glm(self):
        def layer(w, x, mask):
            q, k, v = w.qkv(w.rms("input_layernorm", x))
            x = x + w("self_attn.o_proj", attention(rotary(q, HEADS, pairs=True, part=0.5), rotary(k, KV, pairs=True, part=0.5), v, mask))
            gate, up = np.split(w("mlp.gate_up_proj", w.rms("post_attention_layernorm", x)), 2, -1)
            return x + w("mlp.down_proj", up * silu(gate))

        self.like_llama("glm", "Glm", 74, layer, {**decoder_families.attend(bias=True, o_bias=False), "mlp.gate_up_proj": (2 * INNER, WIDTH, False), "mlp.down_proj": (WIDTH, INNER, False)},
                        {"TokenClassification": ("score", "model."), "SequenceClassification": ("score", "model.")}, head_dim=HEAD, partial_rotary_factor=0.5, attention_bias=True)

    def test_token_heads(self):
        """over bodies that other tests hold: two feed-forwards without a gate, and latent attention with experts"""
        ids, real = self.batch()
        small = {"vocab_size": VOCABULARY, "hidden_size": WIDTH, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "intermediate_size": INNER, "max_position_embeddings": 64, "layer_norm_eps": None, "id2label": LABELS}
        latent = {"q_lora_rank": 16, "kv_lora_rank": 12, "qk_nope_head_dim": 8, "qk_rope_head_dim": 4, "v_head_dim": 6, "moe_intermediate_size": 20, "n_routed_experts": 8, "n_shared_experts": 2, "num_experts_per_tok": 3,
                  "n_group": 4, "topk_group": 2, "first_k_dense_replace": 1}
        for name, config in (("Apertus", {"model_type": "apertus", "num_key_value_heads": KV}), ("DeepseekV3", {"model_type": "deepseek_v3", **latent})):
            self.over_body(name + " tokens", [name + "ForTokenClassification", name + "Model"], {"input_ids": ids, "attention_mask": real}, lambda r, y: {"logits": r.linear("score", y["last_hidden_state"])}, **small, **config)

    def test_mixtral(self):
        def layer(w, x, mask):
            q, k, v = w.qkv(w.rms("input_layernorm", x))
            x = x + w("self_attn.o_proj", attention(rotary(q, HEADS, 1e6), rotary(k, KV, 1e6), v, mask))
            return x + experts(Layer(w.r, w.at + "block_sparse_moe."), w.rms("post_attention_layernorm", x), 3, 2)

        one = {"w1": (INNER, WIDTH, False), "w3": (INNER, WIDTH, False), "w2": (WIDTH, INNER, False)}
        linear = {**decoder_families.attend(), "block_sparse_moe.gate": (3, WIDTH, False), **{"block_sparse_moe.experts.%d.%s" % (e, n): s for e in range(3) for n, s in one.items()}}
        self.like_llama("mixtral", "Mixtral", 75, layer, linear, {"TokenClassification": ("score", "model."), "QuestionAnswering": ("qa_outputs", "model.")}, num_local_experts=3, num_experts_per_tok=2)

    def test_gemma3_text(self):
        def layer(w, x, mask):
            rms = lambda n, y: rms_norm(y, 1 + w[n + ".weight"])
            local = w.at == "layers.0."
            q, k, v = w.qkv(rms("input_layernorm", x))
            q, k = (rotary(rms("self_attn.%s_norm" % n, t.reshape(*t.shape[:2], heads, HEAD)).reshape(t.shape), heads, 10000.0 if local else 1e6) for n, t, heads in (("q", q, HEADS), ("k", k, KV)))
            x = x + rms("post_attention_layernorm", w("self_attn.o_proj", attention(q, k, v, near(mask, 4) if local else mask, scale=0.25)))
            h = rms("pre_feedforward_layernorm", x)
            return x + rms("post_feedforward_layernorm", w("mlp.down_proj", gelu_tanh(w("mlp.gate_proj", h)) * w("mlp.up_proj", h)))

        sides = ["input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm"]
        named = self.made(76, "layers.%d.", {**decoder_families.attend(), **decoder_families.GATED}, {**dict.fromkeys(sides, WIDTH), "self_attn.q_norm": HEAD, "self_attn.k_norm": HEAD},
                          {"embed_tokens.weight": (VOCABULARY, WIDTH)}, ["norm"], biased=False)

        def states(r, ids, real, mask):
            x = r.named["embed_tokens.weight"][ids] * WIDTH ** 0.5
            for i in range(LAYERS):
                x = layer(Layer(r, "layers.%d." % i), x, mask)
            return rms_norm(x, 1 + r.named["norm.weight"])

        self.heads("gemma3_text", "Gemma3Text", named, states, {"SequenceClassification": ("score", "model.")}, dict(
            hidden_size=WIDTH, num_hidden_layers=LAYERS, num_key_value_heads=KV, head_dim=HEAD, intermediate_size=INNER, rms_norm_eps=EPS, query_pre_attn_scalar=16, sliding_window=4,
            layer_types=["sliding_attention", "full_attention"]), False)

    def holds(self, what, kind, w, layer, end, start=lambda all, x, real: x, tied=None, base="model.", architectures=(), **config):
        """The models of decoder_families.py once more, for their tokens and answers: where lm_head changes nothing, end(all, x) gives the last states."""
        def states(r, ids, real, mask):
            r.named["lm_head.weight"] = np.eye(WIDTH)
            x = start(Layer(r, ""), r.named[base + "embed_tokens.weight"][ids], real)
            for i in range(decoder_families.LAYERS):
                x = layer(i, Layer(r, "%slayers.%d." % (base, i)), x, mask)
            return end(Layer(r, ""), x)

        named = {n: t for n, t in w.named.items() if n.startswith(base)}
        self.heads(kind, architectures[0][:-len("ForCausalLM")], named, states, {"TokenClassification": ("score", ""), **({} if kind == "persimmon" else {"QuestionAnswering": ("qa_outputs", "")})}, {
            "hidden_size": WIDTH, "num_hidden_layers": decoder_families.LAYERS, "num_key_value_heads": KV, "intermediate_size": INNER, "head_dim": HEAD, "max_position_embeddings": 64, "rms_norm_eps": EPS,
            "tie_word_embeddings": bool(tied), "attention_bias": False, **config}, False)

    #--- decoders with names of their own ---

    def named_otherwise(self, kind, name, seed, base, layers, linear, norms, tables, last, start, layer, classes, biased=True, **config):
        """x = start(all, ids, real), then layer(weights of it, x, mask, i) through the layers, then the last of the norms `last`"""
        named = self.made(seed, layers, linear, dict.fromkeys(norms, WIDTH), tables, last, biased)

        def states(r, ids, real, mask):
            all = Layer(r, "")
            x = start(all, ids, real)
            for i in range(LAYERS):
                x = layer(Layer(r, layers % i), x, mask, i)
            return layer_norm(x, all[last[-1] + ".weight"], all[last[-1] + ".bias"] if biased else 0.0)

        self.heads(kind, name, named, states, {n: (head, base) for n, head in classes.items()}, {"num_attention_heads": None, **config}, kind in ("bloom", "gptj"))

    BOTH = {"TokenClassification": "classifier", "QuestionAnswering": "qa_outputs", "SequenceClassification": "score"}

    def test_bloom(self):
        places = {}

        def start(all, ids, real):
            places["n"] = (np.cumsum(real, 1) - 1) * real
            return all.norm("word_embeddings_layernorm", all["word_embeddings.weight"][ids])

        def layer(w, x, mask, i):
            q, k, v = in_groups(w("self_attention.query_key_value", w.norm("input_layernorm", x)), 3)
            x = x + w("self_attention.dense", sloped(q, k, v, mask, places["n"]))
            return x + w("mlp.dense_4h_to_h", gelu_tanh(w("mlp.dense_h_to_4h", w.norm("post_attention_layernorm", x))))

        linear = {"self_attention.query_key_value": (3 * WIDTH, WIDTH, True), **square(["self_attention.dense"]), **feed("mlp.dense_h_to_4h", "mlp.dense_4h_to_h", 4 * WIDTH)}
        self.named_otherwise("bloom", "Bloom", 81, "transformer.", "h.%d.", linear, ["input_layernorm", "post_attention_layernorm"], {"word_embeddings.weight": (VOCABULARY, WIDTH)},
                             ["word_embeddings_layernorm", "ln_f"], start, layer, self.BOTH, hidden_size=WIDTH, n_layer=LAYERS, n_head=HEADS, layer_norm_epsilon=EPS)

    def test_falcon(self):
        def layer(w, x, mask, i):
            h = w.norm("input_layernorm", x)
            q, k, v = split(w("self_attention.query_key_value", h), HEADS, 1, 1)
            a = attention(rotary(q, HEADS), rotary(k, 1), v, mask)
            return x + w("self_attention.dense", a) + w("mlp.dense_4h_to_h", gelu(w("mlp.dense_h_to_4h", h)))

        linear = {"self_attention.query_key_value": (WIDTH + 2 * HEAD, WIDTH, False), **square(["self_attention.dense"], False), **feed("mlp.dense_h_to_4h", "mlp.dense_4h_to_h", 4 * WIDTH, False)}
        self.named_otherwise("falcon", "Falcon", 82, "transformer.", "h.%d.", linear, ["input_layernorm"], {"word_embeddings.weight": (VOCABULARY, WIDTH)}, ["ln_f"],
                             lambda all, ids, real: all["word_embeddings.weight"][ids], layer, self.BOTH, hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS, multi_query=True,
                             parallel_attn=True, bias=False, alibi=False, new_decoder_architecture=False, layer_norm_epsilon=EPS)

    def test_mpt(self):
        def layer(w, x, mask, i):
            h = layer_norm(x, w["norm_1.weight"])
            q, k, v = split(w("attn.Wqkv", h), HEADS, HEADS, HEADS)
            x = x + w("attn.out_proj", sloped(q, k, v, mask, np.arange(x.shape[1])[None]))
            return x + w("ffn.down_proj", gelu(w("ffn.up_proj", layer_norm(x, w["norm_2.weight"]))))

        linear = {"attn.Wqkv": (3 * WIDTH, WIDTH, False), **square(["attn.out_proj"], False), **feed("ffn.up_proj", "ffn.down_proj", 4 * WIDTH, False)}
        self.named_otherwise("mpt", "Mpt", 83, "transformer.", "blocks.%d.", linear, ["norm_1", "norm_2"], {"wte.weight": (VOCABULARY, WIDTH)}, ["norm_f"],
                             lambda all, ids, real: all["wte.weight"][ids], layer, self.BOTH, biased=False, d_model=WIDTH, n_layers=LAYERS, n_heads=HEADS, max_seq_len=64,
                             attn_config={"alibi": True, "alibi_bias_max": 8, "attn_type": "multihead_attention"}, no_bias=True)

    def test_gpt_neo(self):
        def layer(w, x, mask, i):
            q, k, v = (w("attn.attention.%s_proj" % n, w.norm("ln_1", x)) for n in "qkv")
            x = x + w("attn.attention.out_proj", attention(q, k, v, near(mask, 4) if i == 1 else mask, scale=1.0))
            return x + w("mlp.c_proj", gelu_tanh(w("mlp.c_fc", w.norm("ln_2", x))))

        linear = {**square(["attn.attention.%s_proj" % n for n in "qkv"], False), **square(["attn.attention.out_proj"]), **feed("mlp.c_fc", "mlp.c_proj")}
        self.named_otherwise("gpt_neo", "GPTNeo", 84, "transformer.", "h.%d.", linear, ["ln_1", "ln_2"], {"wte.weight": (VOCABULARY, WIDTH), "wpe.weight": (20, WIDTH)}, ["ln_f"],
                             lambda all, ids, real: all["wte.weight"][ids] + all["wpe.weight"][:ids.shape[1]], layer, self.BOTH, hidden_size=WIDTH, num_layers=LAYERS, num_heads=HEADS,
                             intermediate_size=INNER, max_position_embeddings=20, window_size=4, attention_types=[[["global", "local"], 1]], layer_norm_epsilon=EPS)

    def test_gpt_neox(self):
        def layer(w, x, mask, i):
            q, k, v = in_groups(w("attention.query_key_value", w.norm("input_layernorm", x)), 3)
            a = w("attention.dense", attention(rotary(q, HEADS, part=0.5), rotary(k, HEADS, part=0.5), v, mask))
            return x + a + w("mlp.dense_4h_to_h", gelu(w("mlp.dense_h_to_4h", w.norm("post_attention_layernorm", x))))

        linear = {"attention.query_key_value": (3 * WIDTH, WIDTH, True), **square(["attention.dense"]), **feed("mlp.dense_h_to_4h", "mlp.dense_4h_to_h")}
        self.named_otherwise("gpt_neox", "GPTNeoX", 85, "gpt_neox.", "layers.%d.", linear, ["input_layernorm", "post_attention_layernorm"], {"embed_in.weight": (VOCABULARY, WIDTH)}, ["final_layer_norm"],
                             lambda all, ids, real: all["embed_in.weight"][ids], layer, self.BOTH, hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS, intermediate_size=INNER,
                             rotary_pct=0.5, layer_norm_eps=EPS, max_position_embeddings=64)

    def test_gptj(self):
        def layer(w, x, mask, i):
            h = w.norm("ln_1", x)
            q, k, v = (w("attn.%s_proj" % n, h) for n in "qkv")
            a = w("attn.out_proj", attention(rotary(q, HEADS, pairs=True, part=0.5), rotary(k, HEADS, pairs=True, part=0.5), v, mask))
            return x + a + w("mlp.fc_out", gelu_tanh(w("mlp.fc_in", h)))

        linear = {**square(["attn.%s_proj" % n for n in ("q", "k", "v", "out")], False), **feed("mlp.fc_in", "mlp.fc_out")}
        self.named_otherwise("gptj", "GPTJ", 86, "transformer.", "h.%d.", linear, ["ln_1"], {"wte.weight": (VOCABULARY, WIDTH)}, ["ln_f"], lambda all, ids, real: all["wte.weight"][ids], layer,
                             {"QuestionAnswering": "qa_outputs", "SequenceClassification": "score"}, n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS, n_inner=INNER, n_positions=64, rotary_dim=HEAD // 2, layer_norm_epsilon=EPS)

    def test_gpt_bigcode(self):
        def layer(w, x, mask, i):
            q, k, v = split(w("attn.c_attn", w.norm("ln_1", x)), HEADS, 1, 1)
            x = x + w("attn.c_proj", attention(q, k, v, mask))
            return x + w("mlp.c_proj", gelu_tanh(w("mlp.c_fc", w.norm("ln_2", x))))

        def start(all, ids, real):
            return all["wte.weight"][ids] + all["wpe.weight"][np.where(real > 0, np.cumsum(real, 1) - 1, 1)]

        linear = {"attn.c_attn": (WIDTH + 2 * HEAD, WIDTH, True), **square(["attn.c_proj"]), **feed("mlp.c_fc", "mlp.c_proj")}
        self.named_otherwise("gpt_bigcode", "GPTBigCode", 87, "transformer.", "h.%d.", linear, ["ln_1", "ln_2"], {"wte.weight": (VOCABULARY, WIDTH), "wpe.weight": (20, WIDTH)}, ["ln_f"], start, layer,
                             {"TokenClassification": "classifier", "SequenceClassification": "score"}, n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS, n_inner=INNER, n_positions=20, multi_query=True, layer_norm_epsilon=EPS,
                             activation_function="gelu_pytorch_tanh")

    def test_opt(self):
        def layer(w, x, mask, i):
            q, k, v = w.qkv(w.norm("self_attn_layer_norm", x))
            x = x + w("self_attn.out_proj", attention(q, k, v, mask))
            return x + w("fc2", np.maximum(w("fc1", w.norm("final_layer_norm", x)), 0))

        def start(all, ids, real):
            return all["decoder.embed_tokens.weight"][ids] + all["decoder.embed_positions.weight"][np.cumsum(real, 1) * real + 1]

        # without biases too, which the answers have all the same
        for bias in (True, False):
            linear = {**square(["self_attn.%s_proj" % n for n in ("q", "k", "v", "out")], bias), **feed("fc1", "fc2", bias=bias)}
            self.named_otherwise("opt", "OPT", 88, "model.", "decoder.layers.%d.", linear, ["self_attn_layer_norm", "final_layer_norm"],
                                 {"decoder.embed_tokens.weight": (VOCABULARY, WIDTH), "decoder.embed_positions.weight": (22, WIDTH)}, ["decoder.final_layer_norm"], start, layer,
                                 {"QuestionAnswering": "qa_outputs", "SequenceClassification": "score"} if bias else {"QuestionAnswering": "qa_outputs"}, hidden_size=WIDTH, num_hidden_layers=LAYERS,
                                 num_attention_heads=HEADS, ffn_dim=INNER, max_position_embeddings=20, word_embed_proj_dim=WIDTH, enable_bias=bias)

    def test_phi(self):
        def layer(w, x, mask, i):
            h = w.norm("input_layernorm", x)
            q, k, v = w.qkv(h)
            a = w("self_attn.dense", attention(rotary(q, HEADS, part=0.5), rotary(k, HEADS, part=0.5), v, mask))
            return x + a + w("mlp.fc2", gelu_tanh(w("mlp.fc1", h)))

        linear = {**square(["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.dense"]), **feed("mlp.fc1", "mlp.fc2")}
        for head in ("score", "classifier"):
            self.named_otherwise("phi", "Phi", 89, "model.", "layers.%d.", linear, ["input_layernorm"], {"embed_tokens.weight": (VOCABULARY, WIDTH)}, ["final_layernorm"],
                                 lambda all, ids, real: all["embed_tokens.weight"][ids], layer, {"TokenClassification": head}, hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
                                 intermediate_size=INNER, partial_rotary_factor=0.5, layer_norm_eps=EPS, max_position_embeddings=64)

    #--- an encoder with a decoder; pictures ---

    def t5(self, kind, name, gated, everywhere):
        w, end = Weights(self.work, 91), 1
        w.table("shared.weight", VOCABULARY, WIDTH)
        norms = ["encoder.final_layer_norm", "decoder.final_layer_norm"]
        for side, parts in (("encoder", ["SelfAttention"]), ("decoder", ["SelfAttention", "EncDecAttention"])):
            for i in range(LAYERS):
                at = "%s.block.%d.layer." % (side, i)
                for j, part in enumerate(parts):
                    for n in "qkvo":
                        w.linear("%s%d.%s.%s" % (at, j, part, n), WIDTH, WIDTH, bias=False)
                if everywhere or i == 0:
                    w.table(at + "0.SelfAttention.relative_attention_bias.weight", 8, HEADS)
                for n in ["wi_0", "wi_1"] if gated else ["wi"]:
                    w.linear("%s%d.DenseReluDense.%s" % (at, len(parts), n), INNER, WIDTH, bias=False)
                w.linear("%s%d.DenseReluDense.wo" % (at, len(parts)), WIDTH, INNER, bias=False)
                norms += ["%s%d.layer_norm" % (at, j) for j in range(len(parts) + 1)]
        for n in norms:
            w.table(n + ".weight", WIDTH, scale=0.1, mean=1.0)
        r = Reference(w.named)

        def run(side, ids, mask, memory=None, seen=None):
            x, steps = r.named["shared.weight"][ids], np.arange(ids.shape[1])
            table = lambda i: r.named["%s.block.%d.layer.0.SelfAttention.relative_attention_bias.weight" % (side, i if everywhere else 0)]
            for i in range(LAYERS):
                part = lambda j: Layer(r, "%s.block.%d.layer.%d." % (side, i, j))
                attended = lambda p, n, h, rows, m, bias: p(n + ".o", attention(p(n + ".q", h) * HEAD ** 0.5, p(n + ".k", rows), p(n + ".v", rows), m, bias))
                p = part(0)
                h = p.rms("layer_norm", x, 1e-6)
                x = x + attended(p, "SelfAttention", h, h, mask, table(i)[bucket(steps[None] - steps[:, None], memory is None)].transpose(2, 0, 1))
                if memory is not None:
                    p = part(1)
                    x = x + attended(p, "EncDecAttention", p.rms("layer_norm", x, 1e-6), memory, seen, 0.0)
                p = part(1 if memory is None else 2)
                h = p.rms("layer_norm", x, 1e-6)
                u = gelu_tanh(p("DenseReluDense.wi_0", h)) * p("DenseReluDense.wi_1", h) if gated else np.maximum(p("DenseReluDense.wi", h), 0)
                x = x + p("DenseReluDense.wo", u)
            return Layer(r, side + ".").rms("final_layer_norm", x, 1e-6)

        ids, real = self.batch()
        ids = np.where(ids == end, 5, ids)
        for row, at in ((0, 10), (1, 10), (2, 10), (2, 7), (3, 7), (0, 3)):  # the last one counts
            ids[row, at] = end
        seen = real[:, None, None] > 0
        memory = run("encoder", ids, seen)
        shifted = np.concatenate([np.full((len(ids), 1), PAD), ids[:, :-1]], 1)
        x = run("decoder", shifted, np.tril(np.ones((ids.shape[1],) * 2, bool)), memory, seen)
        last = (np.arange(ids.shape[1]) * (ids == end)).max(1)
        more = Weights(self.work, 92)
        for n, out in (("classification_head.dense", WIDTH), ("classification_head.out_proj", CLASSES), ("classifier", CLASSES), ("qa_outputs", 2)):
            more.linear(n, out, WIDTH)
        m = Reference(more.named)
        answers = m.linear("qa_outputs", x)
        pooled = np.tanh(m.linear("classification_head.dense", x[np.arange(len(x)), last]))
        for number, (ending, base, head, rows, expected) in enumerate((
                ("SequenceClassification", "transformer.", "classification_head.", None, {"logits": m.linear("classification_head.out_proj", pooled)}),
                ("TokenClassification", "transformer.", "classifier.", real > 0, {"logits": m.linear("classifier", memory)}),
                ("QuestionAnswering", "", "qa_outputs.", real > 0, {"start_logits": answers[..., 0], "end_logits": answers[..., 1]}))):
            named = {**{base + n: t for n, t in w.named.items() if ending != "TokenClassification" or not n.startswith("decoder.")}, **{n: t for n, t in more.named.items() if n.startswith(head)}}
            what = "%s, %s" % (kind, ending)
            folder = write(self.file(), named, model_type=kind, architectures=["%sFor%s" % (name, ending)], d_model=WIDTH, d_kv=HEAD, d_ff=INNER, num_layers=LAYERS,
                           num_heads=HEADS, num_attention_heads=None, vocab_size=VOCABULARY, relative_attention_num_buckets=8, relative_attention_max_distance=6, feed_forward_proj="gated-gelu" if gated else "relu",
                           pad_token_id=PAD, eos_token_id=end, decoder_start_token_id=PAD, is_encoder_decoder=True, id2label=None if ending == "QuestionAnswering" else LABELS)
            self.compare(what, folder, {"input_ids": ids, "attention_mask": real}, expected, rows, kind == "t5" and number != 1)

    def test_t5(self):
        self.t5("t5", "T5", False, False)
        self.t5("umt5", "UMT5", True, True)

    def test_clip(self):
        names = {"q": "self_attn.q_proj", "k": "self_attn.k_proj", "v": "self_attn.v_proj", "o": "self_attn.out_proj", "up": "mlp.fc1", "down": "mlp.fc2", "norm1": "layer_norm1", "norm2": "layer_norm2"}
        w, v, wide = Weights(self.work, 93), "vision_model.", families.WIDTH
        w.table(v + "embeddings.class_embedding", wide)
        w.table(v + "embeddings.position_embedding.weight", 10, wide)
        w.linear(v + "embeddings.patch_embedding", wide, 3, 4, 4, bias=False)
        encoder_families.weigh(w, v + "encoder.layers.%d.", names)
        for n in ("pre_layrnorm", "post_layernorm"):
            w.norm(v + n, wide)
        w.linear("classifier", CLASSES, wide)
        r = Reference({**w.named, v + "embeddings.patch_embedding.bias": np.zeros(wide)})
        pixels = self.random.standard_normal((2, 3, 12, 12)).astype(np.float32)
        x = r.patches(v + "embeddings.patch_embedding", pixels, 4, 4)
        x = np.concatenate([np.repeat(r.named[v + "embeddings.class_embedding"][None, None], 2, 0), x], 1) + r.named[v + "embeddings.position_embedding.weight"]
        x = r.norm(v + "pre_layrnorm", x)
        for i in range(encoder_families.LAYERS):
            x = encoder_families.layer(r, v + "encoder.layers.%d." % i, names, x, first=True, act=quick_gelu)
        folder = write(self.file(), w.named, num_attention_heads=None, model_type="clip", architectures=["CLIPForImageClassification"], id2label=LABELS, projection_dim=16, text_config={},
                       vision_config=dict(hidden_size=wide, num_hidden_layers=encoder_families.LAYERS, num_attention_heads=HEADS, intermediate_size=families.INNER, image_size=12, patch_size=4))
        self.compare("clip, ImageClassification", folder, {"pixel_values": pixels}, {"logits": r.linear("classifier", x[:, 1:].mean(1))}, compile=True)


if __name__ == "__main__":
    sys.exit(run(Suite, __doc__, ("arcee", "nemotron", "exaone4", "seed_oss", "persimmon")))
