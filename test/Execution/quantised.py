#!/usr/bin/python3
"""Quantised checkpoints give what their dequantised matrices give, bit for bit.

    quantised.py --heddle BIN [-v]

1. Every way of storing a matrix that is read, with its options: a family of one linear, interpreted on the unit matrix, yields
   the matrix; it must be the one that test/support/quantised.py computes from the codes, every bit.
2. Models of several families, each quantised in another way (with biases, fused projections, matrices that the family
   stores [in, out], experts, a tied table, shards, files beside config.json), beside the directory of their dequantised
   weights in f32: both are compiled with --math=wide, in f32 and bf16, and interpreted; their outputs are the same bytes,
   padded rows and all.
3. GGUF files that the test writes, beside a config.json: blocks and plain numbers, rows of queries and keys in llama's order,
   norms with 1 added, all experts in one tensor; the codes are kept, where layers are coded alike and where they are not.
One line a failure, then `N passed, N failed`."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
import quantised as Q
import tensors

# How, n, k, options. 96 is no multiple of 64; 40 rows fill no panel, 72 no eight words; N * K = 3 * 35 is odd.
WAYS = [
    ("gptq", 64, 128, {}), ("gptq", 40, 96, dict(sym=False)), ("gptq", 72, 96, dict(group=64, sym=False)), ("gptq", 32, 64, dict(bits=2, sym=False)),
    ("gptq", 96, 128, dict(bits=3, sym=False)), ("gptq", 64, 96, dict(bits=3)), ("gptq", 64, 128, dict(bits=8, group=-1, sym=False, version=2)),
    ("gptq", 44, 64, dict(bits=8, sym=False)), ("gptq", 64, 128, dict(act_order=True, sym=False)), ("gptq", 64, 128, dict(act_order=True, bits=3, version=2)),
    ("gptq", 64, 128, dict(version=2, said="gptq")), ("gptq", 64, 128, dict(version=1, said="nothing")), ("gptq", 64, 128, dict(g_idx=False, group=64, sym=False)),
    ("gptq", 64, 128, dict(scale="BF16", sym=False)), ("gptq", 64, 128, dict(bits=2, group=128, version=2, sym=False)), ("gptq", 8, 32, dict(group=16)),
    ("awq", 64, 128, {}), ("awq", 40, 96, dict(group=-1)), ("awq", 8, 64, dict(scale="BF16")), ("awq", 64, 128, dict(zero_point=False)),
    ("packed", 64, 128, {}), ("packed", 40, 96, dict(asym=True, scale="BF16")), ("packed", 43, 128, dict(asym=True, order="mixed", bits=8)), ("packed", 64, 100, dict(group=-1, scale="F32")),
    ("packed", 33, 64, dict(order="none")), ("packed", 40, 64, dict(asym=True, zeros="I8")), ("packed", 17, 96, dict(bits=2, asym=True)), ("packed", 40, 128, dict(order="mixed")),
    ("integers", 40, 96, {}), ("integers", 40, 96, dict(asym=True, strategy="group", scale="F16")), ("integers", 33, 64, dict(strategy="tensor", asym=True, scale="F32")),
    ("integers", 33, 64, dict(flat=True)), ("integers", 33, 64, dict(strategy="tensor", flat=True)), ("integers", 1, 64, dict(scale="F32")),
    ("floats", 40, 96, {}), ("floats", 33, 64, dict(strategy="tensor", scale="F32")), ("floats", 64, 96, dict(strategy="group", scale="F16")),
    ("floats", 100, 200, dict(strategy="block", block=(32, 64), scale="F32")), ("floats", 160, 300, dict(strategy="block", block=(128, 128), scale="F32", name=".weight_scale_inv")),
    ("floats", 70, 130, dict(strategy="block", block=(64, 128), scale="BF16", name=".weight_scale_inv")), ("floats", 40, 64, dict(kind="F8_E5M2")),
    ("nvfp4", 40, 96, {}), ("nvfp4", 3, 16, {}),
    ("four_bits", 40, 96, {}), ("four_bits", 40, 96, dict(double=True)), ("four_bits", 100, 333, dict(double=True)), ("four_bits", 3, 35, dict(kind="fp4")), ("four_bits", 3, 35, {}),
    ("four_bits", 40, 96, dict(kind="fp4", block=128, storage="BF16")), ("eight_bits", 40, 96, {}),
]
# What else config.json may say of the same pieces.
SAID = [
    ("gptq", dict(sym=False), {"quant_method": "auto-round", "bits": 4, "group_size": 32, "sym": False, "packing_format": "auto_round:auto_gptq"}),
    ("awq", {}, {"quant_method": "auto-round", "bits": 4, "group_size": 32, "sym": False, "packing_format": "auto_round:auto_awq"}),
    ("gptq", dict(bits=8, group=64), {"quant_method": "gptq", "bits": 4, "group_size": 128, "sym": True, "dynamic": {"+:m": {"bits": 8, "group_size": 64}, "-:lm_head": {}}}),
    ("awq", {}, {"quant_method": "awq", "w_bit": 4, "q_group_size": 32, "zero_point": True, "version": "GEMM"}),
    ("four_bits", {}, {"load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}),
    ("packed", dict(bits=8), {"quant_method": "compressed-tensors", "format": "mixed-precision", "sparsity_config": {}, "config_groups": {
        "a": {"format": "float-quantized", "weights": {"num_bits": 8, "type": "float", "strategy": "channel"}}, "b": {"format": "pack-quantized", "weights": {"num_bits": 8, "group_size": 32}},
        "c": {"format": "pack-quantized", "weights": {"num_bits": 4, "group_size": 128}}}}),
    ("floats", dict(strategy="tensor", scale="F32"), {"quant_method": "fp8", "activation_scheme": "static"}),
    ("integers", {}, {"quant_method": "compressed-tensors", "format": "naive-quantized", "config_groups": {"a": {"weights": {"num_bits": 8, "strategy": "channel"}}}}),
]
FAMILY = {"heddle": 1, "family": {"model_type": "matrix", "architectures": {"*": {}}}, "config": {"width": "=hidden_size"}, "inputs": {"x": "f32[T,width]"},
          "body": [{"y": {"linear": "x", "bias": False, "weights": "m"}}], "outputs": ["y"]}


class Suite:
    def __init__(self, heddle, work, verbose):
        self.heddle, self.work, self.verbose, self.passed, self.failed = heddle, work, verbose, 0, 0

    def check(self, what, good, more=""):
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        if self.verbose or not good:
            print("%s %s %s" % ("ok  " if good else "FAIL", what, more), flush=True)

    def path(self, *parts):
        return os.path.join(self.work, *parts)

    def run(self, *command):
        p = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        return p.returncode, p.stdout

    def write(self, folder, config, named):
        os.makedirs(self.path(folder), exist_ok=True)
        with open(self.path(folder, "config.json"), "w", encoding="utf-8") as f:
            json.dump(config, f)
        Q.write(self.path(folder, "model.safetensors"), named)

    # ---- 1
    def one_matrix(self, number, method, n, k, options, said=None):
        what = "%s %s %s" % (method, options, "as " + said["quant_method"] if said and "quant_method" in said else "")
        pieces, wanted = Q.matrix(method, np.random.default_rng([7, number]), n, k, **options)
        config = {"model_type": "matrix", "hidden_size": k, "quantization_config": said or Q.config(method, **options)}
        self.write("one", config, {"m" + end: t for end, t in pieces.items()})
        tensors.write(self.path("unit"), {"x": np.eye(k, dtype=np.float32)})
        status, said = self.run(self.heddle, "interpret", self.path("one"), "--math=wide", "--families=" + self.work, "-i", self.path("unit"), "-o", self.path("got"))
        if status:
            return self.check(what, False, said)
        got = np.ascontiguousarray(tensors.read(self.path("got"))["y"].T)
        # A sum of zeros loses the sign of -0.
        same = got.shape == wanted.shape and np.array_equal(got, wanted) and np.isfinite(wanted).all()
        self.check(what, same, "" if same else "%d of %d differ" % ((got != wanted).sum(), wanted.size) if got.shape == wanted.shape else str(got.shape))

    # ---- 2
    def model(self, name, config, linears, rest, method, options, said=None, beside=None, shards=0, wide=(), turned=False, tied=None):
        """`linears`: name -> (out, in), `rest`: name -> shape. `turned`: the family stores matrices [in, out]. `beside`: the name of
        a file that holds the config instead of config.json."""
        r = np.random.default_rng([11, len(name)])
        coded, plain = {}, {}
        for n, shape in rest.items():
            v = 1 + .1 * r.standard_normal(shape) if "norm" in n or "ln_" in n else r.standard_normal(shape) * (.1 if n.endswith("bias") else .5)
            coded[n] = v.astype(np.float16)
            plain[n] = coded[n].astype(np.float32)
        for n, (rows, k) in linears.items():
            if n in wide:
                coded[n + ".weight"] = (r.standard_normal((rows, k)) / np.sqrt(k)).astype(np.float16)
                plain[n + ".weight"] = coded[n + ".weight"].astype(np.float32)
                continue
            pieces, values = Q.matrix(method, r, rows, k, **options)
            coded.update({n + end: t for end, t in pieces.items()})
            plain[n + ".weight"] = np.ascontiguousarray(values.T if turned else values)
        said = said or Q.config(method, **options)
        self.write(name, config if beside else {**config, "quantization_config": said}, coded)
        if beside:
            with open(self.path(name, beside), "w", encoding="utf-8") as f:
                json.dump(said, f)
        if shards:
            os.remove(self.path(name, "model.safetensors"))
            names, where = sorted(coded), {}
            for i in range(shards):
                shard = "model-%05d-of-%05d.safetensors" % (i + 1, shards)
                Q.write(self.path(name, shard), {n: coded[n] for n in names[i::shards]})
                where.update({n: shard for n in names[i::shards]})
            with open(self.path(name, "model.safetensors.index.json"), "w", encoding="utf-8") as f:
                json.dump({"metadata": {}, "weight_map": where}, f)
        self.write(name + "-f32", config, plain)
        self.same(name, self.inputs(config, r))

    def gguf(self, name, architecture, numbers, config, tensors_, turned=()):
        """`tensors_`: name there -> (name here, shape, kind, change). Changes: a number of heads whose rows stand as pairs, "+1", or
        a list of names of experts. `turned`: names here that the family stores [in, out]."""
        r = np.random.default_rng([13, len(name)])
        named, plain = {}, {}
        for there, (here, shape, kind, change) in tensors_.items():
            raw = 1 + .1 * r.standard_normal(shape) if "norm" in there else r.standard_normal(shape) * (1 / np.sqrt(shape[-1]) if len(shape) > 1 else .1)
            data, values = Q.gguf_tensor(r, int(np.prod(shape[:-1])), shape[-1], kind, raw)
            named[there] = (kind, shape, data)
            if here == "unread":
                continue
            values = values.reshape(shape)
            if isinstance(change, list):
                plain.update({n: values[e] for e, n in enumerate(change)})
                continue
            if change == "+1":
                values = values - np.float32(1)
            elif change:  # pairs (0, D/2, 1, ...) of a head are its halves
                values = values.reshape(change, -1, 2, *shape[1:]).swapaxes(1, 2).reshape(shape)
            plain[here] = np.ascontiguousarray(values.T if here in turned else values)
        os.makedirs(self.path(name), exist_ok=True)
        with open(self.path(name, "config.json"), "w", encoding="utf-8") as f:
            json.dump(config, f)
        with open(self.path(name, "model.gguf"), "wb") as f:
            f.write(Q.gguf_file({"general.architecture": architecture, "tokenizer.ggml.tokens": ["a", "b", "c"] * 99, "x.y": 1.5, **{architecture + "." + k: v for k, v in numbers.items()}}, named))
        self.write(name + "-f32", config, plain)
        self.same(name, self.inputs(config, r), ["--weights=" + self.path(name, "model.gguf")])

    def keeps(self, name, *says):
        status, said = self.run(self.heddle, "compile", self.path(name), "--weights=" + self.path(name, "model.gguf"), "-o", self.path("codes"))
        status, said = (status, said) if status else self.run(self.path("codes"), "info")
        self.check(name + " keeps its codes", not status and all(s in said for s in says), said)

    def inputs(self, config, r):
        ids = r.integers(3, config["vocab_size"], (3, 9))
        mask = np.ones_like(ids)
        mask[1, :4] = mask[2, 6:] = 0
        tensors.write(self.path("in"), {"input_ids": ids, "attention_mask": mask})
        return mask

    def same(self, name, mask, more=()):
        """f32 and the interpreter: the same bytes as the dequantised model's. bf16 rounds dequantised matrices and keeps codes as they
        are: there a coded model is as near to its f32 run as the dequantised one is."""
        coded, plain = name, name + "-f32"
        got = {}
        for dtype in ("f32", "bf16", "interpreted"):
            for folder in (coded, plain):
                out, extra = self.path("out-%s-%s" % (folder, dtype)), more if folder == coded else []
                if dtype == "interpreted":
                    status, said = self.run(self.heddle, "interpret", self.path(folder), "--math=wide", "-i", self.path("in"), "-o", out, *extra)
                else:
                    binary = self.path("bin")
                    status, said = self.run(self.heddle, "compile", self.path(folder), "-o", binary, "--dtype", dtype, "--math=wide", *cached.quick(self.heddle), *extra)
                    if not status:
                        status, said = self.run(binary, "run", "--input", self.path("in"), "--output", out)
                if status:
                    return self.check("%s %s" % (folder, dtype), False, said)
                got[folder, dtype] = next(iter(tensors.read(out).values())).astype(np.float64)[mask > 0]
        for dtype in ("f32", "interpreted"):
            same = np.array_equal(got[coded, dtype], got[plain, dtype])
            sane = np.isfinite(got[coded, dtype]).all() and got[coded, dtype].std() > 0.01
            self.check("%s %s" % (name, dtype), same and sane, "other numbers" if sane else "no numbers")
        off, allowed = (np.sqrt(np.mean((got[f, "bf16"] - got[f, "f32"]) ** 2)) for f in (coded, plain))
        self.check("%s bf16" % name, 0 < off <= 1.25 * allowed, "%.4g from f32, the dequantised model %.4g" % (off, allowed))


def layers(count, prefix, of):
    return {prefix % l + n: s for l in range(count) for n, s in of.items()}


def models(suite):
    h, i, kv, v = 128, 160, 64, 72
    base = {"hidden_size": h, "intermediate_size": i, "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 2, "vocab_size": v, "max_position_embeddings": 64,
            "tie_word_embeddings": False, "rms_norm_eps": 1e-6, "hidden_act": "silu", "rope_theta": 10000.0, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0, "torch_dtype": "float16"}
    attention = {"self_attn.q_proj": (h, h), "self_attn.k_proj": (kv, h), "self_attn.v_proj": (kv, h), "self_attn.o_proj": (h, h)}
    norms = {"input_layernorm.weight": (h,), "post_attention_layernorm.weight": (h,)}
    gated = {"mlp.gate_proj": (i, h), "mlp.up_proj": (i, h), "mlp.down_proj": (h, i)}
    table, p = {"model.embed_tokens.weight": (v, h), "model.norm.weight": (h,)}, "model.layers.%d."
    head = {"lm_head": (v, h)}
    llama, rest = layers(2, p, {**attention, **gated}), {**table, **layers(2, p, norms)}
    # Shards; every module with a bias of zeros that nothing reads; the output product is quantised too.
    suite.model("llama", {**base, "architectures": ["LlamaForCausalLM"], "model_type": "llama"}, {**llama, **head}, rest, "gptq", dict(act_order=True, sym=False, bias=True), shards=3)
    # Biases; one product stays wide.
    biased = {**rest, **{n + ".bias": (s[0],) for n, s in llama.items() if n[-6] in "qkv"}}
    qwen = {**base, "architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "use_sliding_window": False}
    suite.model("qwen2", qwen, {**llama, **head}, biased, "awq", {}, said={"zero_point": True, "q_group_size": 32, "w_bit": 4, "version": "GEMM"}, beside="quant_config.json", wide=["lm_head", "model.layers.1.self_attn.k_proj"])
    # The table and the output product are one quantised matrix.
    suite.model("tied", {**qwen, "tie_word_embeddings": True}, {**llama, "model.embed_tokens": (v, h)}, {n: s for n, s in biased.items() if "embed" not in n}, "packed", dict(bits=8, scale="BF16"))
    # Fused projections that are cut by rows.
    fused = {"self_attn.qkv_proj": (h + 2 * kv, h), "self_attn.o_proj": (h, h), "mlp.gate_up_proj": (2 * i, h), "mlp.down_proj": (h, i)}
    suite.model("phi3", {**base, "architectures": ["Phi3ForCausalLM"], "model_type": "phi3"}, {**layers(2, p, fused), **head}, rest, "four_bits", dict(double=True))
    # Matrices that the family stores [in, out], one of them square.
    gpt = {"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "n_embd": h, "n_layer": 2, "n_head": 4, "n_positions": 64, "vocab_size": v, "layer_norm_epsilon": 1e-5}
    conv = layers(2, "transformer.h.%d.", {"attn.c_attn": (3 * h, h), "attn.c_proj": (h, h), "mlp.c_fc": (4 * h, h), "mlp.c_proj": (h, 4 * h)})
    gpt_rest = {"transformer.wte.weight": (v, h), "transformer.wpe.weight": (64, h), "transformer.ln_f.weight": (h,), "transformer.ln_f.bias": (h,), **{n + ".bias": (s[0],) for n, s in conv.items()},
                **layers(2, "transformer.h.%d.", {"ln_1.weight": (h,), "ln_1.bias": (h,), "ln_2.weight": (h,), "ln_2.bias": (h,)})}
    suite.model("gpt2", gpt, conv, gpt_rest, "gptq", {}, said={"bits": 4, "group_size": 32, "desc_act": False, "sym": True}, beside="quantize_config.json", turned=True)
    # Experts; the router stays wide.
    experts = layers(2, p, {**attention, **{"block_sparse_moe.experts.%d.%s" % (e, w): (h, i) if w == "w2" else (i, h) for e in range(4) for w in ("w1", "w2", "w3")}})
    suite.model("mixtral", {**base, "architectures": ["MixtralForCausalLM"], "model_type": "mixtral", "num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": None},
                {**experts, **head}, {**rest, **layers(2, p, {"block_sparse_moe.gate.weight": (4, h)})}, "floats", dict(strategy="block", block=(64, 64), scale="F32", name=".weight_scale_inv"))


def gguf_models(suite):
    h, i, kv, v = 128, 160, 64, 72
    base = {"hidden_size": h, "intermediate_size": i, "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 2, "vocab_size": v, "max_position_embeddings": 64,
            "tie_word_embeddings": False, "rms_norm_eps": 1e-6, "hidden_act": "silu", "rope_theta": 10000.0}
    kinds = ["Q8_0", "Q4_0", "F16", "BF16", "F32"]

    def decoder(norms, plus, permuted, more):
        out = {"token_embd.weight": ("model.embed_tokens.weight", (v, h), "Q8_0", None), "output_norm.weight": ("model.norm.weight", (h,), "F32", plus)}
        if permuted:  # architectures whose files may have divisors of frequencies, which config.json says, too
            out["rope_freqs.weight"] = ("unread", (16,), "F32", None)
        for l in range(2):
            there, here = "blk.%d." % l, "model.layers.%d." % l
            for at, (a, b, shape, heads) in enumerate([("attn_q", "q", (h, h), 4), ("attn_k", "k", (kv, h), 2), ("attn_v", "v", (kv, h), None), ("attn_output", "o", (h, h), None)]):
                out[there + a + ".weight"] = (here + "self_attn.%s_proj.weight" % b, shape, kinds[(at + l) % 5], heads if permuted else None)
            out.update({there + a + ".weight": (here + b + ".weight", (h,), "F32", plus) for a, b in norms.items()})
            out.update({there + a: (here + b if isinstance(b, str) else [here + n for n in b], *rest) for a, (b, *rest) in more(l).items()})
        return out

    def gated(l):
        return {"ffn_gate.weight": ("mlp.gate_proj.weight", (i, h), kinds[l], None), "ffn_up.weight": ("mlp.up_proj.weight", (i, h), kinds[1 + l], None), "ffn_down.weight": ("mlp.down_proj.weight", (h, i), kinds[3 * l], None)}

    plain = {"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm"}
    heads = {"attention.head_count": 4, "attention.head_count_kv": 2}
    head = {"output.weight": ("lm_head.weight", (v, h), "Q8_0", None)}
    suite.gguf("gguf-llama", "llama", heads, {**base, "architectures": ["LlamaForCausalLM"], "model_type": "llama"}, {**decoder(plain, None, True, gated), **head})
    suite.keeps("gguf-llama", "codes: 4 bits, a scale for each 32 features, 4 matrices", "codes: 8 bits, a scale for each 32 features, 5 matrices")
    suite.gguf("gguf-gemma2", "gemma2", heads, {**base, "architectures": ["Gemma2ForCausalLM"], "model_type": "gemma2", "tie_word_embeddings": True, "head_dim": 32, "hidden_act": "gelu_pytorch_tanh", "query_pre_attn_scalar": 32,
               "sliding_window": 16, "attn_logit_softcapping": 50.0, "final_logit_softcapping": 30.0},
               decoder({"attn_norm": "input_layernorm", "post_attention_norm": "post_attention_layernorm", "ffn_norm": "pre_feedforward_layernorm", "post_ffw_norm": "post_feedforward_layernorm"}, "+1", False, gated))
    experts = lambda l: {"ffn_gate_inp.weight": ("block_sparse_moe.gate.weight", (4, h), "F32", None),
                         **{"ffn_%s_exps.weight" % a: (["block_sparse_moe.experts.%d.%s.weight" % (e, w) for e in range(4)], (4, *((h, i) if w == "w2" else (i, h))), kinds[l], "experts") for a, w in (("gate", "w1"), ("down", "w2"), ("up", "w3"))}}
    mixture = {n: (None, shape, kind, here) if change == "experts" else (here, shape, kind, change) for n, (here, shape, kind, change) in decoder(plain, None, True, experts).items()}
    suite.gguf("gguf-mixtral", "llama", heads, {**base, "architectures": ["MixtralForCausalLM"], "model_type": "mixtral", "num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": None}, {**mixture, **head})
    for kind, bits in (("Q8_0", 8), ("Q4_0", 4)):  # all layers alike: the codes are kept
        kinds[:] = [kind] * 5
        name = "gguf-" + kind
        suite.gguf(name, "llama", heads, {**base, "architectures": ["LlamaForCausalLM"], "model_type": "llama"}, {**decoder(plain, None, True, gated), **head})
        suite.keeps(name, "codes: %d bits, a scale for each 32 features, %d matrices" % (bits, 16 if bits == 8 else 14))


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True)
    p.add_argument("-v", action="store_true")
    o = p.parse_args()
    with tempfile.TemporaryDirectory(prefix="heddle-quantised-") as work:
        suite = Suite(os.path.abspath(o.heddle), work, o.v)
        with open(suite.path("matrix.json"), "w", encoding="utf-8") as f:
            json.dump(FAMILY, f)
        for number, (method, n, k, options) in enumerate(WAYS):
            suite.one_matrix(number, method, n, k, options)
        for number, (method, options, said) in enumerate(SAID):
            suite.one_matrix(100 + number, method, 64, 128, options, said)
        models(suite)
        gguf_models(suite)
        print("%d passed, %d failed" % (suite.passed, suite.failed))
        sys.exit(1 if suite.failed or not suite.passed else 0)


if __name__ == "__main__":
    main()
