#!/usr/bin/python3
"""A model of Mistral's kind, a window of 512 keys and grouped heads, at the width of a model of 100 M, with random weights, as a
Hugging Face directory: a prompt of 4096 then takes seconds.

    make_mistral.py DIR     (125 M parameters, 500 MB)"""
import argparse

import make_llama
import random_model

LAYERS, WIDTH, INNER, HEADS, KEY_HEADS, VOCAB, WINDOW = 12, 768, 2048, 12, 4, 32000, 512


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("dir")
    p.add_argument("--zeros", action="store_true", help="no numbers: a file with a hole, which takes no room")
    o = p.parse_args()
    config = {"architectures": ["MistralForCausalLM"], "model_type": "mistral", "bos_token_id": 1, "eos_token_id": 2, "hidden_act": "silu",
              "hidden_size": WIDTH, "intermediate_size": INNER, "max_position_embeddings": 32768, "num_attention_heads": HEADS, "num_hidden_layers": LAYERS,
              "num_key_value_heads": KEY_HEADS, "rms_norm_eps": 1e-05, "rope_theta": 10000.0, "sliding_window": WINDOW, "tie_word_embeddings": False,
              "vocab_size": VOCAB}
    random_model.write(o.dir, config, make_llama.tensors(LAYERS, WIDTH, INNER, WIDTH // HEADS * KEY_HEADS), zeros=o.zeros)


if __name__ == "__main__":
    main()
