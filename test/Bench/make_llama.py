#!/usr/bin/python3
"""A LLaMA of TinyLlama-1.1B's shapes with random weights, in bfloat16, as a Hugging Face directory: the large model of `large_size.py`.

    make_llama.py DIR [--layers N]     (22 layers: 1.1 G parameters, 2.2 GB)"""
import argparse

import random_model

WIDTH, INNER, HEADS, KEY_HEADS, VOCAB = 2048, 5632, 32, 4, 32000


def tensors(layers, width=WIDTH, inner=INNER, keys=WIDTH // HEADS * KEY_HEADS):
    """`keys`: how wide the keys of all heads are together."""
    yield "model.embed_tokens.weight", (VOCAB, width), 0
    for i in range(layers):
        for name, shape, about in (("input_layernorm", (width,), 1), ("self_attn.q_proj", (width, width), 0), ("self_attn.k_proj", (keys, width), 0),
                                   ("self_attn.v_proj", (keys, width), 0), ("self_attn.o_proj", (width, width), 0), ("post_attention_layernorm", (width,), 1),
                                   ("mlp.gate_proj", (inner, width), 0), ("mlp.up_proj", (inner, width), 0), ("mlp.down_proj", (width, inner), 0)):
            yield "model.layers.%d.%s.weight" % (i, name), shape, about
    yield "model.norm.weight", (width,), 1
    yield "lm_head.weight", (VOCAB, width), 0


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("dir")
    p.add_argument("--layers", type=int, default=22)
    p.add_argument("--zeros", action="store_true", help="no numbers: a file with a hole, which takes no room")
    o = p.parse_args()
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "attention_bias": False, "bos_token_id": 1, "eos_token_id": 2, "hidden_act": "silu",
              "hidden_size": WIDTH, "initializer_range": 0.02, "intermediate_size": INNER, "max_position_embeddings": 2048, "num_attention_heads": HEADS,
              "num_hidden_layers": o.layers, "num_key_value_heads": KEY_HEADS, "rms_norm_eps": 1e-05, "rope_theta": 10000.0, "tie_word_embeddings": False,
              "torch_dtype": "bfloat16", "use_cache": True, "vocab_size": VOCAB}
    random_model.write(o.dir, config, tensors(o.layers), "BF16", zeros=o.zeros)


if __name__ == "__main__":
    main()
