#!/usr/bin/python3
"""A ViT-base of true shapes with random weights, as a Hugging Face directory: patches of 16 x 16 pixels, 197 rows.

    make_vit.py DIR     (87 M parameters, 346 MB)"""
import argparse

import random_model
from random_model import linear, norm

WIDTH, LAYERS, HEADS, CLASSES = 768, 12, 12, 1000


def tensors():
    yield "vit.embeddings.cls_token", (1, 1, WIDTH), 0
    yield "vit.embeddings.position_embeddings", (1, 197, WIDTH), 0
    yield "vit.embeddings.patch_embeddings.projection.weight", (WIDTH, 3, 16, 16), 0
    yield "vit.embeddings.patch_embeddings.projection.bias", (WIDTH,), 0
    for i in range(LAYERS):
        at = "vit.encoder.layer.%d." % i
        for name in ("query", "key", "value"):
            yield from linear(at + "attention.attention." + name, WIDTH, WIDTH)
        yield from linear(at + "attention.output.dense", WIDTH, WIDTH)
        yield from linear(at + "intermediate.dense", 4 * WIDTH, WIDTH)
        yield from linear(at + "output.dense", WIDTH, 4 * WIDTH)
        yield from norm(at + "layernorm_before", WIDTH)
        yield from norm(at + "layernorm_after", WIDTH)
    yield from norm("vit.layernorm", WIDTH)
    yield from linear("classifier", CLASSES, WIDTH)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("dir")
    o = p.parse_args()
    config = {"architectures": ["ViTForImageClassification"], "model_type": "vit", "hidden_size": WIDTH, "num_attention_heads": HEADS,
              "num_hidden_layers": LAYERS, "intermediate_size": 4 * WIDTH, "image_size": 224, "patch_size": 16, "num_channels": 3, "qkv_bias": True,
              "hidden_act": "gelu", "layer_norm_eps": 1e-12, "id2label": {str(i): "L%d" % i for i in range(CLASSES)},
              "label2id": {"L%d" % i: i for i in range(CLASSES)}}
    random_model.write(o.dir, config, tensors())


if __name__ == "__main__":
    main()
