#!/usr/bin/python3
"""Longformer-base of true shapes with random weights, as a Hugging Face directory.

    make_longformer.py DIR     (149 M parameters, 595 MB)"""
import argparse

import random_model
from make_bert import HEADS, INNER, LAYERS, WIDTH, embeddings, layers

VOCAB, POSITIONS, WINDOW = 50265, 4098, 512


def tensors():
    yield from embeddings(VOCAB, POSITIONS, 1)
    yield from layers(("query", "key", "value", "query_global", "key_global", "value_global"))
    yield from random_model.linear("pooler.dense", WIDTH, WIDTH)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("dir")
    p.add_argument("--zeros", action="store_true", help="no numbers: a file with a hole, which takes no room")
    o = p.parse_args()
    config = {"architectures": ["LongformerModel"], "model_type": "longformer", "attention_window": [WINDOW] * LAYERS, "hidden_act": "gelu",
              "hidden_size": WIDTH, "intermediate_size": INNER, "layer_norm_eps": 1e-5, "max_position_embeddings": POSITIONS,
              "num_attention_heads": HEADS, "num_hidden_layers": LAYERS, "pad_token_id": 1, "sep_token_id": 2, "type_vocab_size": 1,
              "vocab_size": VOCAB}
    random_model.write(o.dir, config, tensors(), zeros=o.zeros)


if __name__ == "__main__":
    main()
