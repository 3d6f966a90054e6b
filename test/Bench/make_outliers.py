#!/usr/bin/python3
"""A small LLaMA with random weights and outlier features, as large language models have them, as a Hugging Face directory.

    make_outliers.py DIR [--where rows|weights] [--share 0.01] [--times 20] [--seed 7]

rows: a hundredth of the features that a norm hands on is 20 times as large as the others, so that they stand out of every row that a
linear reads (what rounding rows to 8 bits meets). weights: a hundredth of the columns of each matrix is, and features are alike (what
rounding weights meets). `quality.py` measures both."""
import argparse
import json
import os
import sys

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import tensors

WIDTH, INNER, HEADS, VOCAB, LAYERS = 512, 1024, 8, 1000, 4


def write(folder, where, share=0.01, times=20.0, seed=7):
    """Matrices keep the size of their results: random, of deviation 1 / sqrt(features), then divided by what outliers add."""
    r = np.random.default_rng(seed)

    def outliers(n):
        scale = np.ones(n, np.float32)
        scale[r.permutation(n)[: max(1, round(share * n))]] = times
        return scale

    features = outliers(WIDTH)  # the same in all layers, as in trained models

    def matrix(out, k, of_norm):
        w = r.standard_normal((out, k)).astype(np.float32)
        scale = outliers(k) if where == "weights" else np.ones(k, np.float32)
        arriving = features if where == "rows" and of_norm else np.ones(k, np.float32)
        w *= scale
        return w / np.float32(np.sqrt(((scale * arriving) ** 2).sum()))

    norm = features if where == "rows" else np.ones(WIDTH, np.float32)
    out = {"model.embed_tokens.weight": r.standard_normal((VOCAB, WIDTH)).astype(np.float32), "model.norm.weight": norm, "lm_head.weight": 3 * matrix(VOCAB, WIDTH, True)}
    for i in range(LAYERS):
        layer = "model.layers.%d." % i
        out[layer + "input_layernorm.weight"] = out[layer + "post_attention_layernorm.weight"] = norm
        for name, shape, of_norm in (("self_attn.q_proj", (WIDTH, WIDTH), True), ("self_attn.k_proj", (WIDTH, WIDTH), True), ("self_attn.v_proj", (WIDTH, WIDTH), True), ("self_attn.o_proj", (WIDTH, WIDTH), False),
                                     ("mlp.gate_proj", (INNER, WIDTH), True), ("mlp.up_proj", (INNER, WIDTH), True), ("mlp.down_proj", (WIDTH, INNER), False)):
            out[layer + name + ".weight"] = matrix(*shape, of_norm)
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "bos_token_id": 1, "eos_token_id": 2, "hidden_act": "silu", "hidden_size": WIDTH, "intermediate_size": INNER,
              "max_position_embeddings": 512, "num_attention_heads": HEADS, "num_hidden_layers": LAYERS, "rms_norm_eps": 1e-05, "rope_theta": 10000.0, "tie_word_embeddings": False, "vocab_size": VOCAB}
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as f:
        json.dump(config, f, indent=2)
    tensors.write(os.path.join(folder, "model.safetensors"), out)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("dir")
    p.add_argument("--where", choices=["rows", "weights"], default="rows")
    p.add_argument("--share", type=float, default=0.01)
    p.add_argument("--times", type=float, default=20.0)
    p.add_argument("--seed", type=int, default=7)
    o = p.parse_args()
    write(o.dir, o.where, o.share, o.times, o.seed)


if __name__ == "__main__":
    main()
