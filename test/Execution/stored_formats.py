#!/usr/bin/python3
"""Each stored format with each --weights-dtype (the table of compiler/Weights/quantised.md, "Rounding a quantised checkpoint").

    stored_formats.py --heddle BIN [-v]

A checkpoint of numbers, or of codes that kernels do not read, gives the bytes of its dequantised directory compiled with the same
--weights-dtype: it is decoded, then rounded. Integer codes are refused by the name of their format. A format that
test/support/quantised.py can write and the table lacks is a failure. One line a failure, then `N passed, N failed`."""
import argparse
import importlib.util
import json
import os
import sys
import tempfile

import numpy as np

# quantised.py of this folder; its helper in test/support has the same name.
SPEC = importlib.util.spec_from_file_location("quantised_suite", os.path.join(os.path.dirname(os.path.abspath(__file__)), "quantised.py"))
suite_of = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(suite_of)
Q, Suite, tensors = suite_of.Q, suite_of.Suite, suite_of.tensors

ROUNDED, REFUSED = "rounded", "refused"
# Method of test/support/quantised.py, options, what becomes of it. All matrices are [64, 128].
TABLE = [
    ("gptq", dict(bits=2, sym=False), REFUSED), ("gptq", dict(bits=3), REFUSED), ("gptq", {}, REFUSED), ("gptq", dict(bits=8), REFUSED), ("gptq", dict(act_order=True), REFUSED),
    ("awq", {}, REFUSED), ("packed", {}, REFUSED), ("packed", dict(bits=8, asym=True), REFUSED), ("packed", dict(order="mixed"), REFUSED),
    ("integers", {}, REFUSED), ("integers", dict(strategy="tensor"), REFUSED), ("integers", dict(strategy="group"), REFUSED), ("eight_bits", {}, REFUSED),
    ("floats", {}, ROUNDED), ("floats", dict(strategy="tensor", scale="F32"), ROUNDED), ("floats", dict(kind="F8_E5M2"), ROUNDED),
    ("floats", dict(strategy="block", block=(32, 64), scale="F32", name=".weight_scale_inv"), ROUNDED),
    ("nvfp4", {}, ROUNDED), ("mxfp4", {}, ROUNDED), ("four_bits", {}, ROUNDED), ("four_bits", dict(double=True), ROUNDED), ("four_bits", dict(kind="fp4", storage="BF16"), ROUNDED),
]
# What messages call a method.
NAMES = {"gptq": "gptq", "awq": "awq", "packed": "pack-quantized", "integers": "int-quantized", "eight_bits": "bitsandbytes"}
PLAIN = ["F32", "F16", "BF16"]
# The models of quantised.py: shards, a tied table, fused projections, matrices that the family stores [in, out], experts.
MODELS = {"llama": (REFUSED, "gptq"), "qwen2": (REFUSED, "awq"), "tied": (REFUSED, "pack-quantized"), "phi3": (ROUNDED, ""), "gpt2": (REFUSED, "gptq"), "mixtral": (ROUNDED, "")}
GGUF = [("F32", ROUNDED), ("F16", ROUNDED), ("BF16", ROUNDED), ("Q8_0", REFUSED), ("Q4_0", REFUSED)]
DTYPES = ["int8", "int4"]
LAYERS = {**suite_of.FAMILY, "body": [{"y": "=x"}, {"repeat": 2, "index": "i", "body": [{"y": {"linear": "y", "bias": False, "out": "=width", "weights": "m{i}"}}]}]}


class Table(Suite):
    """`pair` compiles a directory; `same`, which the models of Suite call, does so for each dtype."""

    def outputs(self, folder, dtype, interpret, more=()):
        """Status, what was said and the bytes of the outputs."""
        out, binary = self.path("out"), self.path("bin")
        how = ["--weights-dtype=" + dtype, "--families=" + self.work, *more]
        if interpret:
            status, said = self.run(self.heddle, "interpret", self.path(folder), "-i", self.path("in"), "-o", out, *how)
        else:
            status, said = self.run(self.heddle, "compile", self.path(folder), "-o", binary, *how, *suite_of.cached.quick(self.heddle))
            if not status:
                status, said = self.run(binary, "run", "--input", self.path("in"), "--output", out)
        return status, said, {k: v.tobytes() for k, v in tensors.read(out).items()} if not status else None

    def pair(self, what, folder, plain, dtype, wanted, method, interpret=False, more=()):
        what = "%s %s%s" % (what, dtype, ", interpreted" if interpret else "")
        status, said, got = self.outputs(folder, dtype, interpret, more)
        if wanted == REFUSED:
            return self.check(what, status == 2 and "error[H0120]" in said and "(%s)" % method in said, "exit %d: %s" % (status, said))
        if status:
            return self.check(what, False, "exit %d: %s" % (status, said))
        status, said, right = self.outputs(plain, dtype, interpret)
        self.check(what, not status and got == right and any(np.frombuffer(next(iter(got.values())), np.float32)), said or "numbers beside those of the dequantised directory")

    def same(self, name, mask, more=()):
        for dtype in DTYPES:
            self.pair(name, name, name + "-f32", dtype, *self.models[name], more=more)


def mxfp4(r, n, k):
    q, powers = r.integers(0, 16, (n, k)), r.integers(118, 125, (n, k // 32)).astype(np.uint8)
    pieces = {".weight_blocks": (q[:, ::2] | q[:, 1::2] << 4).astype(np.uint8).reshape(n, k // 32, 16), ".weight_scales": powers}
    return pieces, (Q.E2M1[q] * np.repeat(np.exp2(powers.astype(np.float32) - 127), 32, 1)).astype(np.float32)


def matrices(suite):
    tensors.write(suite.path("in"), {"x": np.random.default_rng(3).standard_normal((5, 128)).astype(np.float32)})
    for number, (method, options, wanted) in enumerate(TABLE):
        r = np.random.default_rng([19, number])
        pieces, values = mxfp4(r, 64, 128) if method == "mxfp4" else Q.matrix(method, r, 64, 128, **options)
        config = {"model_type": "matrix", "hidden_size": 128}
        said = {"quant_method": "mxfp4"} if method == "mxfp4" else Q.config(method, **options)
        suite.write("one", {**config, "quantization_config": said}, {"m" + end: t for end, t in pieces.items()})
        suite.write("one-f32", config, {"m.weight": np.ascontiguousarray(values)})
        for dtype in DTYPES:
            suite.pair("%s %s" % (method, options), "one", "one-f32", dtype, wanted, NAMES.get(method, ""))
        if wanted == ROUNDED:
            suite.pair("%s %s" % (method, options), "one", "one-f32", "int4", wanted, "", interpret=True)
    for kind in PLAIN:
        t, values = Q.stored(np.random.default_rng(23).standard_normal((64, 128)), kind)
        suite.write("one", config, {"m.weight": t})
        suite.write("one-f32", config, {"m.weight": np.ascontiguousarray(values, np.float32)})
        for dtype in DTYPES:
            suite.pair(kind, "one", "one-f32", dtype, ROUNDED, "")


def unequal_layers(suite):
    """Layers of one repeat with codes of 4 and of 8 bits, or of other groups: no loop reads them as codes. A layer that has the very form
    which --weights-dtype makes (int8: groups of 128, int4: of 32) keeps its codes."""
    tensors.write(suite.path("in"), {"x": np.random.default_rng(3).standard_normal((5, 128)).astype(np.float32)})
    for first, second in ((dict(bits=4), dict(bits=8)), (dict(bits=4, group=32), dict(bits=4, group=64)), (dict(bits=4), dict(bits=8, group=128)), (dict(bits=8, group=64), dict(bits=4, group=64))):
        r, coded, plain = np.random.default_rng(29), {}, {}
        for layer, options in enumerate((first, second)):
            pieces, values = Q.matrix("gptq", r, 128, 128, **options)
            coded.update({"m%d%s" % (layer, end): t for end, t in pieces.items()})
            plain["m%d.weight" % layer] = np.ascontiguousarray(values)
        config = {"model_type": "layers", "hidden_size": 128}
        said = {**Q.config("gptq", **first), "dynamic": {"+:m1": {"bits": second["bits"], "group_size": second.get("group", 32)}}}
        suite.write("two", {**config, "quantization_config": said}, coded)
        suite.write("two-f32", config, plain)
        for dtype, form in (("int8", (8, 128)), ("int4", (4, 32))):
            for interpret in (False, True):
                what = "gptq %s and %s" % (first, second)
                if form in [(o["bits"], o.get("group", 32)) for o in (first, second)]:
                    kept(suite, what, dtype, interpret)
                else:
                    suite.pair(what, "two", "two-f32", dtype, ROUNDED, "", interpret)


def kept(suite, what, dtype, interpret):
    """Codes that stay are nearer to the model than codes that are searched again: compared with f32."""
    what = "%s %s%s" % (what, dtype, ", interpreted" if interpret else "")
    status, said, got = suite.outputs("two", dtype, interpret)
    again, _, other = suite.outputs("two-f32", dtype, interpret)
    whole, _ = suite.run(suite.heddle, "interpret", suite.path("two-f32"), "--families=" + suite.work, "-i", suite.path("in"), "-o", suite.path("out"))
    if status or again or whole:
        return suite.check(what, False, "exit %d: %s" % (status, said))
    right = tensors.read(suite.path("out"))["y"].reshape(-1)
    off = [np.sqrt(np.mean((np.frombuffer(o["y"], np.float32) - right) ** 2) / np.mean(right**2)) for o in (got, other)]
    suite.check(what, 0 < off[0] <= 1.02 * off[1], "off by %.4f, the dequantised model by %.4f" % tuple(off))


def gguf(suite, kind):
    """A llama whose matrices are all of one type of blocks, or of one of numbers."""
    h, v, m = 128, 72, "model.layers.0."
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": h, "intermediate_size": h, "num_attention_heads": 4, "num_hidden_layers": 1,
              "vocab_size": v, "max_position_embeddings": 64, "tie_word_embeddings": False, "rms_norm_eps": 1e-6, "hidden_act": "silu", "rope_theta": 10000.0}
    of = {"token_embd": ("model.embed_tokens", (v, h)), "output": ("lm_head", (v, h)), "output_norm": ("model.norm", (h,)), "blk.0.attn_norm": (m + "input_layernorm", (h,)),
          "blk.0.ffn_norm": (m + "post_attention_layernorm", (h,)), "blk.0.attn_q": (m + "self_attn.q_proj", (h, h)), "blk.0.attn_k": (m + "self_attn.k_proj", (h, h)),
          "blk.0.attn_v": (m + "self_attn.v_proj", (h, h)), "blk.0.attn_output": (m + "self_attn.o_proj", (h, h)), "blk.0.ffn_gate": (m + "mlp.gate_proj", (h, h)),
          "blk.0.ffn_up": (m + "mlp.up_proj", (h, h)), "blk.0.ffn_down": (m + "mlp.down_proj", (h, h))}
    suite.gguf("gguf-" + kind, "llama", {"attention.head_count": 4, "attention.head_count_kv": 4}, config,
               {there + ".weight": (here + ".weight", shape, kind if len(shape) > 1 else "F32", 4 if there[-1] in "qk" else None) for there, (here, shape) in of.items()})


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True)
    p.add_argument("-v", action="store_true")
    o = p.parse_args()
    with tempfile.TemporaryDirectory(prefix="heddle-stored-") as work:
        suite = Table(os.path.abspath(o.heddle), work, o.v)
        for name, family in (("matrix", suite_of.FAMILY), ("layers", LAYERS)):
            with open(suite.path(name + ".json"), "w", encoding="utf-8") as f:
                json.dump({**family, "family": {"model_type": name, "architectures": {"*": {}}}}, f)
        suite.check("every method is in the table", set(Q.METHODS) <= {method for method, _, _ in TABLE}, sorted(Q.METHODS))
        matrices(suite)
        unequal_layers(suite)
        suite.models = {**MODELS, **{"gguf-" + kind: (wanted, "gguf_" + kind) for kind, wanted in GGUF}}
        suite_of.models(suite)
        for kind, _ in GGUF:
            gguf(suite, kind)
        print("%d passed, %d failed" % (suite.passed, suite.failed))
        sys.exit(1 if suite.failed or not suite.passed else 0)


if __name__ == "__main__":
    main()
