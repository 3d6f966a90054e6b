#!/usr/bin/python3
"""The base model of Vaswani et al. 2017, as a description in Heddle's language, with random weights.

    make_vaswani.py DIR     (model.json and model.safetensors; 101 M parameters, 404 MB)"""
import argparse

import random_model

WIDTH, INNER, LAYERS, HEADS, VOCAB = 512, 2048, 6, 8, 37000
ATTENTIONS = {"encoder": ("self_attn",), "decoder": ("self_attn", "cross_attn")}


def tensors():
    for side, attentions in ATTENTIONS.items():
        yield side + ".embed.weight", (VOCAB, WIDTH), 0
        for i in range(LAYERS):
            layer = "%s.layers.%d." % (side, i)
            for attention in attentions:
                for name in "qkvo":
                    yield from random_model.linear(layer + attention + ".W" + name, WIDTH, WIDTH)
            yield from random_model.linear(layer + "ff.lin1", INNER, WIDTH)
            yield from random_model.linear(layer + "ff.lin2", WIDTH, INNER)
            for n in range(len(attentions) + 1):
                yield from random_model.norm("%snorm%d" % (layer, n + 1), WIDTH)
    yield from random_model.linear("generator", VOCAB, WIDTH)


def description():
    def embedded(ids, length, side):
        return [{"words": {"embedding": ids, "rows": VOCAB, "width": WIDTH, "weights": side + ".embed"}},
                {"places": {"sinusoidal": "=range(%s)" % length, "width": WIDTH}}, {"x": "=words * sqrt(%d) + places" % WIDTH}]

    def layers(side, layer):
        return {"repeat": LAYERS, "index": "i", "weights": side + ".layers.{i}", "body": [{"x": layer}]}

    shape = {"heads": HEADS, "inner": INNER}
    return {"heddle": 1, "name": "vaswani", "inputs": {"src": "i64[B,S]", "tgt": "i64[B,T]"},
            "weights": {"file": "model.safetensors", "names": {"q": "Wq", "k": "Wk", "v": "Wv", "o": "Wo", "up": "lin1", "down": "lin2"}},
            "defaults": {"encoder_layer": shape, "decoder_layer": shape},
            "body": [{"source": "=keys(src != 0)"}, {"target": "=causal and keys(tgt != 0)"},
                     *embedded("src", "S", "encoder"), layers("encoder", {"encoder_layer": "x", "mask": "=source"}), {"memory": "=x"},
                     *embedded("tgt", "T", "decoder"), layers("decoder", {"decoder_layer": ["x", "memory"], "mask": "=target", "memory_mask": "=source"}),
                     {"logits": {"linear": "x", "out": VOCAB, "weights": "generator"}}],
            "outputs": ["logits"]}


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("dir")
    p.add_argument("--zeros", action="store_true", help="no numbers: a file with a hole, which takes no room")
    o = p.parse_args()
    random_model.write(o.dir, description(), tensors(), zeros=o.zeros, name="model.json")


if __name__ == "__main__":
    main()
