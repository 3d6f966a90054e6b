"""The models of test/Bench/make_*.py as ONNX graphs for ONNX Runtime, in the fused form that its own optimiser leaves:
`graphs.NAME(folder, path, T, form)` reads the weights of a Hugging Face directory and writes the graph for T tokens.
`form`: one op `Attention`; "mha": `MultiHeadAttention` behind one product for queries, keys and values; "int8": that, with
weights in 8 bits and a scale a column, rows rounded when they are met (its "dynamic" quantisation)."""
import os
import json

import numpy as np

import protobuf as pb


class Weights:
    """Tensors of a file model.safetensors, in f32, by name."""

    def __init__(self, path):
        raw = np.memmap(path, np.uint8, "r")
        n = int.from_bytes(bytes(raw[:8]), "little")
        self.raw, self.base, self.head = raw, 8 + n, json.loads(bytes(raw[8:8 + n]))

    def __call__(self, name):
        t = self.head[name]
        b, e = (self.base + o for o in t["data_offsets"])
        part = self.raw[b:e]
        if t["dtype"] == "BF16":
            return (part.view("<u2").astype(np.uint32) << 16).view(np.float32).reshape(t["shape"])
        return part.view("<f4").reshape(t["shape"])

    def shape(self, name):
        return self.head[name]["shape"]


class Build(pb.Graph):
    """A graph with ONNX Runtime's fused ops, as its own optimiser leaves them for these models."""

    def __init__(self, path, form):
        super().__init__(path)
        self.form = form

    def c(self, a):
        return self.const(np.ascontiguousarray(a, np.float32) if a.dtype.kind == "f" else a)

    def ints(self, *v):
        return self.const(np.array(v, np.int64))

    def matmul(self, x, w, b=None):
        """w: [in, out]"""
        if self.form == "int8":
            scale = np.maximum(np.abs(w).max(0) / 127, 1e-9).astype(np.float32)
            codes = np.clip(np.rint(w / scale), -127, 127).astype(np.int8)
            ins = [x, self.const(codes), self.const(scale), self.const(np.zeros(len(scale), np.int8))]
            return self.ms("DynamicQuantizeMatMul", ins + ([] if b is None else [self.c(b)]))
        y = self.op("MatMul", [x, self.c(w)])
        return y if b is None else self.op("Add", [y, self.c(b)])

    def ln(self, x, g, b, eps):
        return self.op("LayerNormalization", [x, self.c(g), self.c(b)], axis=-1, epsilon=float(eps))

    def rms(self, x, g, eps):
        return self.op("SimplifiedLayerNormalization", [x, self.c(g)], axis=-1, epsilon=float(eps), stash_type=1)

    def split(self, x, sizes):
        return self.op("Split", [x, self.ints(*sizes)], len(sizes), axis=-1)

    def self_attention(self, x, wq, wk, wv, bq, bk, bv, heads, causal=0):
        w, b = np.concatenate([wq, wk, wv], 1), np.concatenate([bq, bk, bv])
        if self.form == "attention":
            return self.ms("Attention", [x, self.c(w), self.c(b)], num_heads=heads, unidirectional=causal)
        q, k, v = self.split(self.matmul(x, w, b), [w.shape[1] // 3] * 3)
        return self.ms("MultiHeadAttention", [q, k, v], num_heads=heads, unidirectional=causal)


def bert(folder, path, T, form, pooler="pooler.dense"):
    w = Weights(os.path.join(folder, "model.safetensors"))
    g = Build(path, form)
    ids = g.input("input_ids", pb.INT64, [1, T])
    pos = w("embeddings.position_embeddings.weight")
    pos = pos[:T] + w("embeddings.token_type_embeddings.weight")[0]
    x = g.op("Add", [g.op("Gather", [g.c(w("embeddings.word_embeddings.weight")), ids]), g.c(pos[None])])
    x = g.ln(x, w("embeddings.LayerNorm.weight"), w("embeddings.LayerNorm.bias"), 1e-12)
    for i in range(12):
        a = "encoder.layer.%d." % i
        W, B = (lambda n: w(a + n + ".weight").T), (lambda n: w(a + n + ".bias"))
        s = "attention.self."
        h = g.self_attention(x, W(s + "query"), W(s + "key"), W(s + "value"), B(s + "query"), B(s + "key"), B(s + "value"), 12)
        h = g.matmul(h, W("attention.output.dense"), B("attention.output.dense"))
        x = g.ln(g.op("Add", [h, x]), w(a + "attention.output.LayerNorm.weight"), w(a + "attention.output.LayerNorm.bias"), 1e-12)
        h = g.ms("BiasGelu", [g.matmul(x, W("intermediate.dense")), g.c(B("intermediate.dense"))])
        h = g.matmul(h, W("output.dense"), B("output.dense"))
        x = g.ln(g.op("Add", [h, x]), w(a + "output.LayerNorm.weight"), w(a + "output.LayerNorm.bias"), 1e-12)
    p = g.op("Gather", [x, g.const(np.array(0, np.int64))], axis=1)
    p = g.op("Tanh", [g.matmul(p, w(pooler + ".weight").T, w(pooler + ".bias"))], ["pooler_output"])
    g.op("Identity", [x], ["last_hidden_state"])
    g.output("last_hidden_state", pb.FLOAT, [1, T, 768])
    g.output("pooler_output", pb.FLOAT, [1, 768])
    g.save()


def vit(folder, path, T, form):
    w = Weights(os.path.join(folder, "model.safetensors"))
    g = Build(path, form)
    x = g.input("pixel_values", pb.FLOAT, [1, 3, 224, 224])
    e = "vit.embeddings."
    x = g.op("Conv", [x, g.c(w(e + "patch_embeddings.projection.weight")), g.c(w(e + "patch_embeddings.projection.bias"))], kernel_shape=[16, 16], strides=[16, 16])
    x = g.op("Transpose", [g.op("Reshape", [x, g.ints(1, 768, 196)])], perm=[0, 2, 1])
    x = g.op("Add", [g.op("Concat", [g.c(w(e + "cls_token")), x], axis=1), g.c(w(e + "position_embeddings"))])
    for i in range(12):
        a = "vit.encoder.layer.%d." % i
        W, B = (lambda n: w(a + n + ".weight").T), (lambda n: w(a + n + ".bias"))
        s = "attention.attention."
        h = g.ln(x, w(a + "layernorm_before.weight"), w(a + "layernorm_before.bias"), 1e-12)
        h = g.self_attention(h, W(s + "query"), W(s + "key"), W(s + "value"), B(s + "query"), B(s + "key"), B(s + "value"), 12)
        x = g.op("Add", [g.matmul(h, W("attention.output.dense"), B("attention.output.dense")), x])
        h = g.ln(x, w(a + "layernorm_after.weight"), w(a + "layernorm_after.bias"), 1e-12)
        h = g.ms("BiasGelu", [g.matmul(h, W("intermediate.dense")), g.c(B("intermediate.dense"))])
        x = g.op("Add", [g.matmul(h, W("output.dense"), B("output.dense")), x])
    p = g.op("Gather", [g.ln(x, w("vit.layernorm.weight"), w("vit.layernorm.bias"), 1e-12), g.const(np.array(0, np.int64))], axis=1)
    g.op("Identity", [g.matmul(p, w("classifier.weight").T, w("classifier.bias"))], ["logits"])
    g.output("logits", pb.FLOAT, [1, 1000])
    g.save()


def vaswani(folder, path, T, form, width=512, layers=6, heads=8):
    """Both sides of T tokens."""
    w = Weights(os.path.join(folder, "model.safetensors"))
    g = Build(path, form)
    angle = np.arange(T)[:, None] / 10000 ** (np.arange(0, width, 2) / width)
    places = g.c(np.stack([np.sin(angle), np.cos(angle)], -1).reshape(1, T, width).astype(np.float32))

    def linear(x, name):
        return g.matmul(x, w(name + ".weight").T, w(name + ".bias"))

    def added(x, h, name):
        return g.ln(g.op("Add", [h, x]), w(name + ".weight"), w(name + ".bias"), 1e-5)

    def fed_forward(x, layer, norm):
        return added(x, linear(g.op("Relu", [linear(x, layer + "ff.lin1")]), layer + "ff.lin2"), layer + norm)

    def own(x, layer, causal):
        named = [[w("%sself_attn.W%s.%s" % (layer, n, what)).T for n in "qkv"] for what in ("weight", "bias")]
        h = g.self_attention(x, *named[0], *named[1], heads, causal)
        return added(x, linear(h, layer + "self_attn.Wo"), layer + "norm1")

    def crossed(x, memory, layer):
        keys, values = (layer + "cross_attn.W" + n for n in "kv")
        both = g.matmul(memory, np.concatenate([w(keys + ".weight").T, w(values + ".weight").T], 1), np.concatenate([w(keys + ".bias"), w(values + ".bias")]))
        h = g.ms("MultiHeadAttention", [linear(x, layer + "cross_attn.Wq"), *g.split(both, [width, width])], num_heads=heads)
        return added(x, linear(h, layer + "cross_attn.Wo"), layer + "norm2")

    x = memory = None
    for side, name in (("encoder", "src"), ("decoder", "tgt")):
        table = g.c(w(side + ".embed.weight") * np.float32(width ** 0.5))
        x = g.op("Add", [g.op("Gather", [table, g.input(name, pb.INT64, [1, T])]), places])
        for i in range(layers):
            layer = "%s.layers.%d." % (side, i)
            x = own(x, layer, int(side == "decoder"))
            if memory:
                x = crossed(x, memory, layer)
            x = fed_forward(x, layer, "norm3" if memory else "norm2")
        memory = memory or x
    g.op("Identity", [linear(x, "generator")], ["logits"])
    g.output("logits", pb.FLOAT, [1, T, w.shape("generator.weight")[0]])
    g.save()


def t5(folder, path, T, form, heads=12, buckets=32, farthest=128):
    """The encoder. A distance's bucket, half of them for keys behind: near ones alone, far ones by their logarithm."""
    w = Weights(os.path.join(folder, "model.safetensors"))
    g = Build(path, form)
    side, near = buckets // 2, buckets // 4
    distance = np.arange(T)[None, :] - np.arange(T)[:, None]
    far = near + (np.log(np.maximum(np.abs(distance), 1) / near) / np.log(farthest / near) * (side - near)).astype(np.int64)
    bucket = (distance > 0) * side + np.where(np.abs(distance) < near, np.abs(distance), np.minimum(far, side - 1))
    table = w("encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight")
    bias = g.c(table[bucket].transpose(2, 0, 1)[None])
    x = g.op("Gather", [g.c(w("shared.weight")), g.input("input_ids", pb.INT64, [1, T])])
    for i in range(12):
        a = "encoder.block.%d.layer." % i
        W = lambda n: w(a + n + ".weight").T
        h = g.rms(x, w(a + "0.layer_norm.weight"), 1e-6)
        h = g.matmul(h, np.concatenate([W("0.SelfAttention." + n) for n in "qkv"], 1))
        h = g.ms("MultiHeadAttention", g.split(h, [768] * 3) + ["", "", bias], num_heads=heads, scale=1.0)
        x = g.op("Add", [g.matmul(h, W("0.SelfAttention.o")), x])
        h = g.op("Relu", [g.matmul(g.rms(x, w(a + "1.layer_norm.weight"), 1e-6), W("1.DenseReluDense.wi"))])
        x = g.op("Add", [g.matmul(h, W("1.DenseReluDense.wo")), x])
    g.op("Identity", [g.rms(x, w("encoder.final_layer_norm.weight"), 1e-6)], ["last_hidden_state"])
    g.output("last_hidden_state", pb.FLOAT, [1, T, 768])
    g.save()


def cache(g, i, heads, width, capacity):
    """Past and present of a layer in one buffer of the caller."""
    out = []
    for n in ("key", "value"):
        g.input("past_%s.%d" % (n, i), pb.FLOAT, ["B", heads, capacity, width])
        g.output("present_%s.%d" % (n, i), pb.FLOAT, ["B", heads, capacity, width])
        out.append("past_%s.%d" % (n, i))
    return out, ["present_key.%d" % i, "present_value.%d" % i]


def last(g, x):
    return g.op("Slice", [x, g.ints(-1), g.ints(2 ** 62), g.ints(1)])


def gpt2(folder, path, T, form):
    w = Weights(os.path.join(folder, "model.safetensors"))
    g = Build(path, form)
    ids, places = g.input("input_ids", pb.INT64, ["B", "T"]), g.input("position_ids", pb.INT64, ["B", "T"])
    seen, total = g.input("seqlens_k", pb.INT32, ["B"]), g.input("total", pb.INT32, [])
    x = g.op("Add", [g.op("Gather", [g.c(w("wte.weight")), ids]), g.op("Gather", [g.c(w("wpe.weight")), places])])
    for i in range(12):
        a = "h.%d." % i
        past, present = cache(g, i, 12, 64, "C")
        h = g.ln(x, w(a + "ln_1.weight"), w(a + "ln_1.bias"), 1e-5)
        h = g.matmul(h, w(a + "attn.c_attn.weight"), w(a + "attn.c_attn.bias"))
        o = g.name()
        g.ms("GroupQueryAttention", [h, "", ""] + past + [seen, total], [o] + present, num_heads=12, kv_num_heads=12)
        x = g.op("Add", [g.matmul(o, w(a + "attn.c_proj.weight"), w(a + "attn.c_proj.bias")), x])
        h = g.ln(x, w(a + "ln_2.weight"), w(a + "ln_2.bias"), 1e-5)
        h = g.ms("FastGelu", [g.matmul(h, w(a + "mlp.c_fc.weight")), g.c(w(a + "mlp.c_fc.bias"))])
        x = g.op("Add", [g.matmul(h, w(a + "mlp.c_proj.weight"), w(a + "mlp.c_proj.bias")), x])
    x = g.ln(last(g, x), w("ln_f.weight"), w("ln_f.bias"), 1e-5)
    y = g.matmul(x, w("wte.weight").T)
    g.op("Identity", [y], ["logits"])
    g.output("logits", pb.FLOAT, ["B", 1, 50257])
    g.save()


def llama(folder, path, T, form, layers=22, heads=32, kv=4, width=2048, window=-1, longest=2048):
    w = Weights(os.path.join(folder, "model.safetensors"))
    g = Build(path, form)
    ids = g.input("input_ids", pb.INT64, ["B", "T"])
    seen, total = g.input("seqlens_k", pb.INT32, ["B"]), g.input("total", pb.INT32, [])
    x = g.op("Gather", [g.c(w("model.embed_tokens.weight")), ids])
    angle = np.arange(longest)[:, None] / 10000.0 ** (np.arange(0, 64, 2) / 64)
    cos, sin = g.c(np.cos(angle).astype(np.float32)), g.c(np.sin(angle).astype(np.float32))
    for i in range(layers):
        a = "model.layers.%d." % i
        W = lambda n: w(a + n + ".weight").T
        past, present = cache(g, i, kv, width // heads, "C")
        h = g.rms(x, w(a + "input_layernorm.weight"), 1e-5)
        h = g.matmul(h, np.concatenate([W("self_attn.q_proj"), W("self_attn.k_proj"), W("self_attn.v_proj")], 1))
        o = g.name()
        g.ms("GroupQueryAttention", [h, "", ""] + past + [seen, total, cos, sin], [o] + present, num_heads=heads, kv_num_heads=kv, do_rotary=1,
             local_window_size=window)
        x = g.op("Add", [g.matmul(o, W("self_attn.o_proj")), x])
        h = g.rms(x, w(a + "post_attention_layernorm.weight"), 1e-5)
        gate = g.ms("QuickGelu", [g.matmul(h, W("mlp.gate_proj"))], alpha=1.0)
        h = g.op("Mul", [gate, g.matmul(h, W("mlp.up_proj"))])
        x = g.op("Add", [g.matmul(h, W("mlp.down_proj")), x])
    x = g.rms(last(g, x), w("model.norm.weight"), 1e-5)
    g.op("Identity", [g.matmul(x, w("lm_head.weight").T)], ["logits"])
    g.output("logits", pb.FLOAT, ["B", 1, w.shape("lm_head.weight")[0]])
    g.save()
