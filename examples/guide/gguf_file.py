"""Writes a model of the family gpt2 as a GGUF file, as llama.cpp's converter does: `gguf_file.py DIRECTORY FILE.gguf`.

Matrices become Q8_0 (blocks of 32 numbers with a scale), everything else F32. GPT-2 has its matrices transposed, which
a GGUF file does not. Needs numpy."""
import json
import os
import struct
import sys

import numpy as np

NAMES = {"wte": "token_embd", "wpe": "position_embd", "ln_f": "output_norm", "ln_1": "attn_norm", "ln_2": "ffn_norm", "attn.c_attn": "attn_qkv",
         "attn.c_proj": "attn_output", "mlp.c_fc": "ffn_up", "mlp.c_proj": "ffn_down"}


def text(s):
    s = s.encode()
    return struct.pack("<Q", len(s)) + s


def value(v):
    """A value with its kind in front: 4 u32, 6 f32, 8 text, 9 array."""
    if isinstance(v, str):
        return struct.pack("<I", 8) + text(v)
    if isinstance(v, list):
        kind = 8 if isinstance(v[0], str) else 4
        return struct.pack("<IIQ", 9, kind, len(v)) + b"".join(text(x) if kind == 8 else struct.pack("<I", x) for x in v)
    return struct.pack("<If", 6, v) if isinstance(v, float) else struct.pack("<II", 4, v)


def q8_0(x):
    """Rows of blocks: an f16 scale, 32 signed bytes."""
    x = x.reshape(-1, 32).astype(np.float32)
    d = (np.abs(x).max(1, keepdims=True) / 127).astype(np.float16)
    codes = np.round(np.divide(x, d, out=np.zeros_like(x), where=d > 0)).astype(np.int8)
    return np.concatenate([d.view(np.uint8), codes.view(np.uint8)], 1).tobytes()


def tensors(path):
    with open(path, "rb") as f:
        header = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
        data = f.read()
    for name, t in header.items():
        if name == "__metadata__" or name.endswith((".attn.bias", "lm_head.weight")):
            continue
        begin, end = t["data_offsets"]
        kind = {"F32": np.float32, "F16": np.float16}[t["dtype"]]
        yield name, np.frombuffer(data[begin:end], kind).reshape(t["shape"]).astype(np.float32)


def main(folder, to):
    with open(os.path.join(folder, "config.json")) as f:
        config = json.load(f)
    with open(os.path.join(folder, "tokenizer.json"), encoding="utf-8") as f:
        tokenizer = json.load(f)
    vocab = sorted(tokenizer["model"]["vocab"], key=tokenizer["model"]["vocab"].get)
    special = {t["content"] for t in tokenizer["added_tokens"]}
    width = config["n_embd"]
    values = {"general.architecture": "gpt2", "general.name": os.path.basename(os.path.abspath(folder)), "gpt2.block_count": config["n_layer"],
              "gpt2.context_length": config["n_positions"], "gpt2.embedding_length": width, "gpt2.feed_forward_length": config["n_inner"] or 4 * width,
              "gpt2.attention.head_count": config["n_head"], "gpt2.attention.layer_norm_epsilon": float(config["layer_norm_epsilon"]),
              "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "gpt-2", "tokenizer.ggml.tokens": vocab,
              "tokenizer.ggml.token_type": [3 if t in special else 1 for t in vocab],
              "tokenizer.ggml.merges": [m if isinstance(m, str) else " ".join(m) for m in tokenizer["model"]["merges"]],
              "tokenizer.ggml.bos_token_id": config["bos_token_id"], "tokenizer.ggml.eos_token_id": config["eos_token_id"]}
    entries, data = b"", b""
    count = 0
    for name, x in tensors(os.path.join(folder, "model.safetensors")):
        words = name.replace("transformer.", "").split(".")
        layer = "blk.%s." % words[1] if words[0] == "h" else ""
        stem, ending = ".".join(words[2 if layer else 0:-1]), words[-1]
        if x.ndim == 2 and layer:
            x = x.T
        blocks = x.ndim == 2 and stem != "wpe"
        data += bytes(-len(data) % 32)
        entries += text(layer + NAMES[stem] + "." + ending) + struct.pack("<I%dQIQ" % x.ndim, x.ndim, *x.shape[::-1], 8 if blocks else 0, len(data))
        data += q8_0(x) if blocks else np.ascontiguousarray(x).tobytes()
        count += 1
    head = b"GGUF" + struct.pack("<IQQ", 3, count, len(values)) + b"".join(text(k) + value(v) for k, v in values.items()) + entries
    with open(to, "wb") as f:
        f.write(head + bytes(-len(head) % 32) + data)


main(*sys.argv[1:])
