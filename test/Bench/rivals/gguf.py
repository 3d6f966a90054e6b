"""The models of test/Bench/make_*.py as GGUF files for llama.cpp: `gguf.NAME(folder, path, kind)` reads the weights of a Hugging
Face directory and writes them as f32, f16, bf16, q8_0 or q4_0, a tensor at a time. As llama-quantize does it, vectors, positions
and kinds of tokens stay f32, and codes are those of its reference; the output product of q4_0 (and a table that it shares) is
q8_0, so that `heddle compile DIR --weights=FILE` reads the very file."""
import os

import numpy as np

from graphs import Weights

# The number of a kind, how many values a block of it has, and bytes.
KINDS = {"f32": (0, 1, 4), "f16": (1, 1, 2), "bf16": (30, 1, 2), "q8_0": (8, 32, 34), "q4_0": (2, 32, 18)}
ALIGNMENT = 32


def inverse(scale):
    return np.divide(1, scale, out=np.zeros_like(scale), where=scale != 0)


def stored(a, kind):
    """The bytes of f32 numbers, whose last dimension is a row's."""
    if kind == "f32":
        return a
    if kind == "f16":
        return a.astype(np.float16)
    if kind == "bf16":
        bits = np.ascontiguousarray(a).view(np.uint32)
        return ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype(np.uint16)
    a = a.reshape(-1, 32)
    if kind == "q8_0":
        scale = np.abs(a).max(1, keepdims=True) / np.float32(127)
        codes = np.rint(a * inverse(scale)).astype(np.int8).view(np.uint8)
    else:
        scale = np.take_along_axis(a, np.abs(a).argmax(1)[:, None], 1) / np.float32(-8)
        codes = np.minimum(a * inverse(scale) + np.float32(8.5), 15).astype(np.uint8)
        codes = codes[:, :16] | codes[:, 16:] << 4
    return np.concatenate([scale.astype(np.float16).view(np.uint8), codes], 1)


class File:
    """Keys, and tensors that are computed when they are written. `words`: an invented one for each token, for a server."""

    def __init__(self, architecture, kind, width, layers, inner, heads, key_heads, context, vocabulary, words=False, **more):
        self.kind, self.keys, self.tensors = kind, b"", []
        self.count = 0
        self.key("general.architecture", architecture)
        self.key("tokenizer.ggml.model", "llama" if words else "no_vocab")
        if words:
            self.key("tokenizer.ggml.tokens", ["\u2581w%d" % i for i in range(vocabulary)])
            self.key("tokenizer.ggml.scores", [0.0] * vocabulary)
        for name, value in dict({"context_length": context, "embedding_length": width, "block_count": layers, "feed_forward_length": inner,
                                 "attention.head_count": heads, "attention.head_count_kv": key_heads, "vocab_size": vocabulary}, **more).items():
            self.key(architecture + "." + name, value)

    def key(self, name, value):
        text = lambda s: len(s.encode()).to_bytes(8, "little") + s.encode()
        u32 = lambda x: x.to_bytes(4, "little")

        def coded(value):
            if isinstance(value, list):
                of = [coded(one) for one in value]
                return 9, u32(of[0][0]) + len(of).to_bytes(8, "little") + b"".join(raw for _, raw in of)
            return {str: lambda: (8, text(value)), bool: lambda: (7, bytes([value])), int: lambda: (4, u32(value)),
                    float: lambda: (6, np.float32(value).tobytes())}[type(value)]()
        number, raw = coded(value)
        self.keys += text(name) + u32(number) + raw
        self.count += 1

    def put(self, name, shape, values, kind=None):
        """values: a function that gives them."""
        self.tensors.append((name, list(shape), values, "f32" if len(shape) == 1 else kind or self.kind))

    def save(self, path):
        u32, u64 = (lambda x: x.to_bytes(4, "little")), (lambda x: x.to_bytes(8, "little"))
        head, at = b"GGUF" + u32(3) + u64(len(self.tensors)) + u64(self.count) + self.keys, 0
        for name, shape, _, kind in self.tensors:
            number, block, size = KINDS[kind]
            head += u64(len(name)) + name.encode() + u32(len(shape)) + b"".join(u64(d) for d in reversed(shape)) + u32(number) + u64(at)
            at += -(-int(np.prod(shape)) // block * size // ALIGNMENT) * ALIGNMENT
        with open(path + ".part", "wb") as f:
            f.write(head + b"\0" * (-len(head) % ALIGNMENT))
            for _, _, values, kind in self.tensors:
                raw = np.ascontiguousarray(stored(np.asarray(values(), np.float32), kind)).tobytes()
                f.write(raw + b"\0" * (-len(raw) % ALIGNMENT))
        os.rename(path + ".part", path)


def writer(folder, file, transposed=False):
    """copy(to, at, kind, change): the tensor `at` of the directory as `to`."""
    w = Weights(os.path.join(folder, "model.safetensors"))

    def copy(to, at, kind=None, change=lambda a: a):
        shape = w.shape(at)
        turn = transposed and len(shape) == 2
        file.put(to, shape[::-1] if turn else shape, lambda: change(w(at).T if turn else w(at)), kind)
    return copy


def both(copy, to, at):
    copy(to + ".weight", at + ".weight")
    copy(to + ".bias", at + ".bias")


def bert(folder, path, kind):
    f = File("bert", kind, 768, 12, 3072, 12, 12, 512, 30522, pooling_type=0,
             **{"attention.layer_norm_epsilon": 1e-12, "attention.causal": False})
    f.key("tokenizer.ggml.token_type_count", 2)
    copy, e = writer(folder, f), "embeddings."
    copy("token_embd.weight", e + "word_embeddings.weight", "q8_0" if kind == "q4_0" else None)
    copy("token_types.weight", e + "token_type_embeddings.weight", "f32")
    copy("position_embd.weight", e + "position_embeddings.weight", "f32")
    both(copy, "token_embd_norm", e + "LayerNorm")
    for i in range(12):
        for to, at in (("attn_q", "attention.self.query"), ("attn_k", "attention.self.key"), ("attn_v", "attention.self.value"),
                       ("attn_output", "attention.output.dense"), ("attn_output_norm", "attention.output.LayerNorm"),
                       ("ffn_up", "intermediate.dense"), ("ffn_down", "output.dense"), ("layer_output_norm", "output.LayerNorm")):
            both(copy, "blk.%d.%s" % (i, to), "encoder.layer.%d.%s" % (i, at))
    f.save(path)


def gpt2(folder, path, kind, words=False):
    f = File("gpt2", kind, 768, 12, 3072, 12, 12, 1024, 50257, words, **{"attention.layer_norm_epsilon": 1e-5})
    copy, turned = writer(folder, f), writer(folder, f, transposed=True)
    copy("token_embd.weight", "wte.weight", "q8_0" if kind == "q4_0" else None)
    copy("position_embd.weight", "wpe.weight", "f32")
    both(copy, "output_norm", "ln_f")
    for i in range(12):
        a, b = "h.%d." % i, "blk.%d." % i
        for to, at in (("attn_norm", "ln_1"), ("attn_qkv", "attn.c_attn"), ("attn_output", "attn.c_proj"), ("ffn_norm", "ln_2"),
                       ("ffn_up", "mlp.c_fc"), ("ffn_down", "mlp.c_proj")):
            both(turned, b + to, a + at)
    f.save(path)


def llama(folder, path, kind, words=False, layers=22, heads=32, key_heads=4):
    f = File("llama", kind, 2048, layers, 5632, heads, key_heads, 2048, 32000, words,
             **{"attention.layer_norm_rms_epsilon": 1e-5, "rope.dimension_count": 64, "rope.freq_base": 10000.0})
    copy = writer(folder, f)
    copy("token_embd.weight", "model.embed_tokens.weight")
    copy("output_norm.weight", "model.norm.weight")
    copy("output.weight", "lm_head.weight", "q8_0" if kind == "q4_0" else None)
    # The two halves that rotary positions turn by each other lie side by side there.
    pairs = lambda n: lambda a: a.reshape(n, 2, -1, a.shape[1]).swapaxes(1, 2).reshape(a.shape)
    for i in range(layers):
        a, b = "model.layers.%d." % i, "blk.%d." % i
        copy(b + "attn_q.weight", a + "self_attn.q_proj.weight", change=pairs(heads))
        copy(b + "attn_k.weight", a + "self_attn.k_proj.weight", change=pairs(key_heads))
        for to, at in (("attn_v", "self_attn.v_proj"), ("attn_output", "self_attn.o_proj"), ("attn_norm", "input_layernorm"),
                       ("ffn_norm", "post_attention_layernorm"), ("ffn_gate", "mlp.gate_proj"), ("ffn_up", "mlp.up_proj"), ("ffn_down", "mlp.down_proj")):
            copy(b + to + ".weight", a + at + ".weight")
    f.save(path)
