"""Models of sound as ONNX graphs, as graphs.py has those of texts and pictures."""
import os

import numpy as np

import protobuf as pb
from graphs import Build, Weights, last


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


def wav2vec2(folder, path, T, form, layers=12, heads=12, groups=16):
    """`T` samples; the norm of the first convolution is one of each channel over time."""
    w = Weights(os.path.join(folder, "model.safetensors"))
    g = Build(path, form)
    x = g.op("Reshape", [g.input("input_values", pb.FLOAT, [1, T]), g.ints(1, 1, T)])
    for i, stride in enumerate((5, 2, 2, 2, 2, 2, 2)):
        a = "feature_extractor.conv_layers.%d." % i
        kernel = w(a + "conv.weight")
        x = g.op("Conv", [x, g.c(kernel)], kernel_shape=[kernel.shape[2]], strides=[stride])
        if not i:
            x = g.op("InstanceNormalization", [x, g.c(w(a + "layer_norm.weight")), g.c(w(a + "layer_norm.bias"))], epsilon=1e-5)
        x = g.ms("Gelu", [x])

    def linear(x, name):
        return g.matmul(x, w(name + ".weight").T, w(name + ".bias"))

    def normed(x, name):
        return g.ln(x, w(name + ".weight"), w(name + ".bias"), 1e-5)

    x = linear(normed(g.op("Transpose", [x], perm=[0, 2, 1]), "feature_projection.layer_norm"), "feature_projection.projection")
    a = "encoder.pos_conv_embed.conv."
    v = w(a + "weight_v")
    kernel = v * (w(a + "weight_g") / np.sqrt((v.astype(np.float64) ** 2).sum((0, 1), keepdims=True))).astype(np.float32)
    places = g.op("Conv", [g.op("Transpose", [x], perm=[0, 2, 1]), g.c(kernel), g.c(w(a + "bias"))], kernel_shape=[kernel.shape[2]], group=groups,
                  pads=[kernel.shape[2] // 2, kernel.shape[2] // 2 - 1]) # torch pads both sides alike and cuts the last frame off
    x = normed(g.op("Add", [x, g.op("Transpose", [g.ms("Gelu", [places])], perm=[0, 2, 1])]), "encoder.layer_norm")
    for i in range(layers):
        a = "encoder.layers.%d." % i
        named = [[w("%sattention.%s_proj.%s" % (a, n, what)).T for n in "qkv"] for what in ("weight", "bias")]
        h = linear(g.self_attention(x, *named[0], *named[1], heads), a + "attention.out_proj")
        x = normed(g.op("Add", [h, x]), a + "layer_norm")
        h = g.ms("BiasGelu", [g.matmul(x, w(a + "feed_forward.intermediate_dense.weight").T), g.c(w(a + "feed_forward.intermediate_dense.bias"))])
        x = normed(g.op("Add", [linear(h, a + "feed_forward.output_dense"), x]), a + "final_layer_norm")
    g.op("Identity", [x], ["last_hidden_state"])
    g.output("last_hidden_state", pb.FLOAT, [1, "frames", 768])
    g.save()
