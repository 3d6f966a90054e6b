#!/usr/bin/python3
"""BERT-base of true shapes with random weights, as a Hugging Face directory.

    make_bert.py DIR     (110 M parameters, 438 MB)"""
import argparse

import random_model

WIDTH, INNER, LAYERS, HEADS, VOCAB, POSITIONS = 768, 3072, 12, 12, 30522, 512


def embeddings(words, positions, kinds):
    for name, rows in (("word", words), ("position", positions), ("token_type", kinds)):
        yield "embeddings.%s_embeddings.weight" % name, (rows, WIDTH), 0
    yield from random_model.norm("embeddings.LayerNorm", WIDTH)


def layers(projections):
    """The encoder's layers, with these projections of the rows in front of attention."""
    for i in range(LAYERS):
        layer = "encoder.layer.%d." % i
        for name in projections:
            yield from random_model.linear(layer + "attention.self." + name, WIDTH, WIDTH)
        yield from random_model.linear(layer + "attention.output.dense", WIDTH, WIDTH)
        yield from random_model.norm(layer + "attention.output.LayerNorm", WIDTH)
        yield from random_model.linear(layer + "intermediate.dense", INNER, WIDTH)
        yield from random_model.linear(layer + "output.dense", WIDTH, INNER)
        yield from random_model.norm(layer + "output.LayerNorm", WIDTH)


def tensors():
    yield from embeddings(VOCAB, POSITIONS, 2)
    yield from layers(("query", "key", "value"))
    yield from random_model.linear("pooler.dense", WIDTH, WIDTH)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("dir")
    p.add_argument("--zeros", action="store_true", help="no numbers: a file with a hole, which takes no room")
    o = p.parse_args()
    config = {"architectures": ["BertModel"], "model_type": "bert", "hidden_act": "gelu", "hidden_size": WIDTH, "intermediate_size": INNER,
              "layer_norm_eps": 1e-12, "max_position_embeddings": POSITIONS, "num_attention_heads": HEADS, "num_hidden_layers": LAYERS, "pad_token_id": 0,
              "type_vocab_size": 2, "vocab_size": VOCAB}
    random_model.write(o.dir, config, tensors(), zeros=o.zeros)


if __name__ == "__main__":
    main()
