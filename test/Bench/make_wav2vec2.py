#!/usr/bin/python3
"""wav2vec2-base of true shapes with random weights, as a Hugging Face directory.

    make_wav2vec2.py DIR     (94 M parameters, 378 MB)"""
import argparse

import random_model

WIDTH, INNER, LAYERS, HEADS, CHANNELS = 768, 3072, 12, 12, 512
KERNELS, STRIDES = (10, 3, 3, 3, 3, 2, 2), (5, 2, 2, 2, 2, 2, 2)
PLACES, GROUPS = 128, 16


def tensors():
    yield "masked_spec_embed", (WIDTH,), 0
    for i, kernel in enumerate(KERNELS):
        yield "feature_extractor.conv_layers.%d.conv.weight" % i, (CHANNELS, CHANNELS if i else 1, kernel), 0
    yield from random_model.norm("feature_extractor.conv_layers.0.layer_norm", CHANNELS)
    yield from random_model.norm("feature_projection.layer_norm", CHANNELS)
    yield from random_model.linear("feature_projection.projection", WIDTH, CHANNELS)
    yield "encoder.pos_conv_embed.conv.weight_g", (1, 1, PLACES), 1
    yield "encoder.pos_conv_embed.conv.weight_v", (WIDTH, WIDTH // GROUPS, PLACES), 0
    yield "encoder.pos_conv_embed.conv.bias", (WIDTH,), 0
    yield from random_model.norm("encoder.layer_norm", WIDTH)
    for i in range(LAYERS):
        layer = "encoder.layers.%d." % i
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            yield from random_model.linear(layer + "attention." + name, WIDTH, WIDTH)
        yield from random_model.norm(layer + "layer_norm", WIDTH)
        yield from random_model.linear(layer + "feed_forward.intermediate_dense", INNER, WIDTH)
        yield from random_model.linear(layer + "feed_forward.output_dense", WIDTH, INNER)
        yield from random_model.norm(layer + "final_layer_norm", WIDTH)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("dir")
    p.add_argument("--zeros", action="store_true", help="no numbers: a file with a hole, which takes no room")
    o = p.parse_args()
    config = {"architectures": ["Wav2Vec2Model"], "model_type": "wav2vec2", "conv_bias": False, "conv_dim": [CHANNELS] * len(KERNELS),
              "conv_kernel": KERNELS, "conv_stride": STRIDES, "do_stable_layer_norm": False, "feat_extract_activation": "gelu",
              "feat_extract_norm": "group", "hidden_act": "gelu", "hidden_size": WIDTH, "intermediate_size": INNER, "layer_norm_eps": 1e-5,
              "num_attention_heads": HEADS, "num_conv_pos_embedding_groups": GROUPS, "num_conv_pos_embeddings": PLACES, "num_feat_extract_layers": len(KERNELS),
              "num_hidden_layers": LAYERS, "vocab_size": 32}
    random_model.write(o.dir, config, tensors(), zeros=o.zeros)


if __name__ == "__main__":
    main()
