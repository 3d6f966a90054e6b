#!/usr/bin/python3
"""BigBird-base of true shapes with random weights, as a Hugging Face directory.

    make_bigbird.py DIR     (128 M parameters, 512 MB)"""
import argparse

import random_model
from make_bert import HEADS, INNER, LAYERS, WIDTH, embeddings, layers

VOCAB, POSITIONS = 50358, 4096


def tensors():
    yield from embeddings(VOCAB, POSITIONS, 2)
    yield from layers(("query", "key", "value"))
    yield from random_model.linear("pooler", WIDTH, WIDTH)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("dir")
    p.add_argument("--zeros", action="store_true", help="no numbers: a file with a hole, which takes no room")
    o = p.parse_args()
    config = {"architectures": ["BigBirdModel"], "model_type": "big_bird", "attention_type": "block_sparse", "block_size": 64, "hidden_act": "gelu_new",
              "hidden_size": WIDTH, "intermediate_size": INNER, "layer_norm_eps": 1e-12, "max_position_embeddings": POSITIONS,
              "num_attention_heads": HEADS, "num_hidden_layers": LAYERS, "num_random_blocks": 3, "pad_token_id": 0, "rescale_embeddings": False,
              "sep_token_id": 66, "type_vocab_size": 2, "use_bias": True, "vocab_size": VOCAB}
    random_model.write(o.dir, config, tensors(), zeros=o.zeros)


if __name__ == "__main__":
    main()
