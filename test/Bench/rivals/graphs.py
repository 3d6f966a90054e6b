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


def bert(folder, path, T, form):
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
    p = g.op("Tanh", [g.matmul(p, w("pooler.dense.weight").T, w("pooler.dense.bias"))], ["pooler_output"])
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


def whisper(folder, path, T, form):
    """From the sound to the keys and values of the cross attentions, and the first token's logits."""
    w = Weights(os.path.join(folder, "model.safetensors"))
    heads, width = 8, 512
    z = np.zeros(width, np.float32)

    def W(n):
        return w(n + ".weight").T

    def B(n):
        return w(n + ".bias")

    def attention_weights(a):
        return W(a + "q_proj"), W(a + "k_proj"), W(a + "v_proj"), B(a + "q_proj"), z, B(a + "v_proj")

    def ffn(g, x, a):
        h = g.ln(x, w(a + "final_layer_norm.weight"), w(a + "final_layer_norm.bias"), 1e-5)
        h = g.ms("BiasGelu", [g.matmul(h, W(a + "fc1")), g.c(B(a + "fc1"))])
        return g.op("Add", [g.matmul(h, W(a + "fc2"), B(a + "fc2")), x])

    def decoder(g, cross, past):
        ids, places = g.input("decoder_input_ids", pb.INT64, [1, "T"]), g.input("position_ids", pb.INT64, [1, "T"])
        table = g.c(w("model.decoder.embed_tokens.weight"))
        x = g.op("Add", [g.op("Gather", [table, ids]), g.op("Gather", [g.c(w("model.decoder.embed_positions.weight")), places])])
        for i in range(6):
            a = "model.decoder.layers.%d." % i
            h = g.ln(x, w(a + "self_attn_layer_norm.weight"), w(a + "self_attn_layer_norm.bias"), 1e-5)
            q, k, v, bq, bk, bv = attention_weights(a + "self_attn.")
            q, k, v = g.split(g.matmul(h, np.concatenate([q, k, v], 1), np.concatenate([bq, bk, bv])), [width] * 3)
            ins = [q, k, v]
            if past:
                for n in ("key", "value"):
                    ins += ["", "", ""] if n == "key" else []
                    ins.append(g.input("past_%s.%d" % (n, i), pb.FLOAT, [1, heads, "P", 64]))
            o = g.name()
            g.ms("MultiHeadAttention", ins, [o, "present_key.%d" % i, "present_value.%d" % i], num_heads=heads, unidirectional=1)
            for n in ("key", "value"):
                g.output("present_%s.%d" % (n, i), pb.FLOAT, [1, heads, "N", 64])
            x = g.op("Add", [g.matmul(o, W(a + "self_attn.out_proj"), B(a + "self_attn.out_proj")), x])
            h = g.ln(x, w(a + "encoder_attn_layer_norm.weight"), w(a + "encoder_attn_layer_norm.bias"), 1e-5)
            q = g.matmul(h, W(a + "encoder_attn.q_proj"), B(a + "encoder_attn.q_proj"))
            o = g.ms("MultiHeadAttention", [q] + cross(i), num_heads=heads)
            x = g.op("Add", [g.matmul(o, W(a + "encoder_attn.out_proj"), B(a + "encoder_attn.out_proj")), x])
            x = ffn(g, x, a)
        x = g.ln(last(g, x), w("model.decoder.layer_norm.weight"), w("model.decoder.layer_norm.bias"), 1e-5)
        g.op("Identity", [g.matmul(x, w("model.decoder.embed_tokens.weight").T)], ["logits"])
        g.output("logits", pb.FLOAT, [1, 1, 51865])

    g = Build(path, form)
    x = g.input("input_features", pb.FLOAT, [1, 80, 3000])
    for n, stride in (("conv1", 1), ("conv2", 2)):
        a = "model.encoder." + n
        x = g.op("Conv", [x, g.c(w(a + ".weight")), g.c(w(a + ".bias"))], kernel_shape=[3], strides=[stride], pads=[1, 1])
        x = g.ms("Gelu", [x])
    x = g.op("Add", [g.op("Transpose", [x], perm=[0, 2, 1]), g.c(w("model.encoder.embed_positions.weight")[None])])
    for i in range(6):
        a = "model.encoder.layers.%d." % i
        h = g.ln(x, w(a + "self_attn_layer_norm.weight"), w(a + "self_attn_layer_norm.bias"), 1e-5)
        h = g.self_attention(h, *attention_weights(a + "self_attn."), heads)
        x = g.op("Add", [g.matmul(h, W(a + "self_attn.out_proj"), B(a + "self_attn.out_proj")), x])
        x = ffn(g, x, a)
    memory = g.ln(x, w("model.encoder.layer_norm.weight"), w("model.encoder.layer_norm.bias"), 1e-5)

    def made(i):
        a, out = "model.decoder.layers.%d.encoder_attn." % i, []
        kv = g.matmul(memory, np.concatenate([W(a + "k_proj"), W(a + "v_proj")], 1), np.concatenate([z, B(a + "v_proj")]))
        for n, part in zip(("key", "value"), g.split(kv, [width, width])):
            name = "cross_%s.%d" % (n, i)
            g.op("Transpose", [g.op("Reshape", [part, g.ints(1, 1500, heads, 64)])], [name], perm=[0, 2, 1, 3])
            g.output(name, pb.FLOAT, [1, heads, 1500, 64])
            out.append(name)
        return out
    decoder(g, made, False)
    g.save()
