#!/usr/bin/python3
"""A Whisper of true shapes with random weights, as a Hugging Face directory: steps over 1500 rows of an encoder.

    make_whisper.py DIR [--size tiny|base|small]     (base: 73 M parameters, 290 MB)"""
import argparse

import random_model
from random_model import linear, norm

SIZES = {"tiny": (384, 4, 6), "base": (512, 6, 8), "small": (768, 12, 12)}
VOCAB, MELS, FRAMES, POSITIONS = 51865, 80, 1500, 448


def layer(at, width, attentions):
    for name in attentions:
        for part in "qkvo":
            yield from linear("%s.%s.%s" % (at, name, "out_proj" if part == "o" else part + "_proj"), width, width, part != "k")
        yield from norm("%s.%s_layer_norm" % (at, name), width)
    yield from linear(at + ".fc1", 4 * width, width)
    yield from linear(at + ".fc2", width, 4 * width)
    yield from norm(at + ".final_layer_norm", width)


def tensors(width, layers):
    for name, part in (("conv1", MELS), ("conv2", width)):
        yield "model.encoder.%s.weight" % name, (width, part, 3), 0
        yield "model.encoder.%s.bias" % name, (width,), 0
    yield "model.encoder.embed_positions.weight", (FRAMES, width), 0
    yield "model.decoder.embed_tokens.weight", (VOCAB, width), 0
    yield "model.decoder.embed_positions.weight", (POSITIONS, width), 0
    for i in range(layers):
        yield from layer("model.encoder.layers.%d" % i, width, ["self_attn"])
        yield from layer("model.decoder.layers.%d" % i, width, ["self_attn", "encoder_attn"])
    yield from norm("model.encoder.layer_norm", width)
    yield from norm("model.decoder.layer_norm", width)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("dir")
    p.add_argument("--size", choices=SIZES, default="base")
    o = p.parse_args()
    width, layers, heads = SIZES[o.size]
    config = {"architectures": ["WhisperForConditionalGeneration"], "model_type": "whisper", "activation_function": "gelu", "d_model": width,
              "encoder_layers": layers, "decoder_layers": layers, "encoder_attention_heads": heads, "decoder_attention_heads": heads,
              "encoder_ffn_dim": 4 * width, "decoder_ffn_dim": 4 * width, "num_mel_bins": MELS, "max_source_positions": FRAMES,
              "max_target_positions": POSITIONS, "vocab_size": VOCAB, "is_encoder_decoder": True, "tie_word_embeddings": True,
              "decoder_start_token_id": 50258, "eos_token_id": 50257, "pad_token_id": 50257, "bos_token_id": 50257}
    random_model.write(o.dir, config, tensors(width, layers))


if __name__ == "__main__":
    main()
