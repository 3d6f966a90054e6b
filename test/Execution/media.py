#!/usr/bin/python3
"""Pictures with questions, captions and speech, from a file to words, on small models with random weights.

    media.py --heddle BIN [--only NAME]

What goes into the model is computed here once more in numpy (pixels that need no resizing, ids, samples, Kaldi's filter banks) and given
to `run`; from its logits follows what the binary must say when it is given the file itself. One line a failure, then `N passed, N failed`."""
import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile
import zlib

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
from reference import sigmoid
from checks import check, finish
from random_weights import Weights, tensors

WORDS = "what is it a an of the picture colour many who where red green dog cat two three ? . [DEC]".split()
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + WORDS
LETTERS = ["<pad>", "<s>", "</s>", "<unk>", "|"] + list("ETAOINSHRDLU'")


#--- files ------------------------------------------------------------------


def write_png(path, pixels):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def write_wav(path, samples, rate=16000):
    data = samples.astype("<i2").tobytes()
    with open(path, "wb") as f:
        f.write(b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, rate, 2 * rate, 2, 16) + b"data" + struct.pack("<I", len(data)) + data)


def write_json(folder, name, value):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
        json.dump(value, f)


def bert_tokenizer(folder):
    with open(os.path.join(folder, "vocab.txt"), "w", encoding="utf-8") as f:
        f.write("\n".join(VOCABULARY) + "\n")
    write_json(folder, "tokenizer_config.json", {"tokenizer_class": "BertTokenizer", "do_lower_case": True})


def ids_of(text, around=True):
    ids = [VOCABULARY.index(w) if w in VOCABULARY else 1 for w in text.replace("?", " ?").lower().split()]
    return [2] + ids + [3] if around else ids


#--- models -----------------------------------------------------------------


def vilt(folder):
    w, width, inner = Weights(folder, 1), 24, 40
    labels = ["yes", "no", "two", "red", "a cat"]
    write_json(folder, "config.json", {"architectures": ["ViltForQuestionAnswering"], "model_type": "vilt", "hidden_size": width, "num_hidden_layers": 2, "num_attention_heads": 4,
               "intermediate_size": inner, "hidden_act": "gelu", "layer_norm_eps": 1e-12, "qkv_bias": True, "vocab_size": len(VOCABULARY), "type_vocab_size": 2, "max_position_embeddings": 12,
               "modality_type_vocab_size": 2, "image_size": 24, "patch_size": 6, "num_channels": 3, "max_image_length": -1, "num_images": -1,
               "id2label": {str(i): n for i, n in enumerate(labels)}, "label2id": {n: i for i, n in enumerate(labels)}})
    write_json(folder, "preprocessor_config.json", {"image_processor_type": "ViltImageProcessor", "size": {"shortest_edge": 30}, "size_divisor": 6})
    bert_tokenizer(folder)
    e = "vilt.embeddings."
    w.table(e + "cls_token", 1, 1, width)
    w.table(e + "position_embeddings", 1, 17, width)
    w.linear(e + "patch_embeddings.projection", width, 3, 6, 6)
    w.table(e + "token_type_embeddings.weight", 2, width)
    w.table(e + "text_embeddings.word_embeddings.weight", len(VOCABULARY), width)
    w.table(e + "text_embeddings.token_type_embeddings.weight", 2, width)
    w.table(e + "text_embeddings.position_embeddings.weight", 12, width)
    w.norm(e + "text_embeddings.LayerNorm", width)
    for i in range(2):
        layer = "vilt.encoder.layer.%d." % i
        for part in ("query", "key", "value"):
            w.linear(layer + "attention.attention." + part, width, width)
        w.linear(layer + "attention.output.dense", width, width)
        w.linear(layer + "intermediate.dense", inner, width)
        w.linear(layer + "output.dense", width, inner)
        w.norm(layer + "layernorm_before", width)
        w.norm(layer + "layernorm_after", width)
    w.norm("vilt.layernorm", width)
    w.linear("vilt.pooler.dense", width, width)
    w.linear("classifier.0", 2 * width, width)
    w.norm("classifier.1", 2 * width)
    w.linear("classifier.3", len(labels), 2 * width)
    tensors.write(os.path.join(folder, "model.safetensors"), w.named)
    return labels


def grey_vit(folder, mean):
    """a classifier of pictures of one channel: examples/shapes, whose patches are those of its first channel"""
    shapes = os.path.join(ROOT, "examples", "shapes")
    with open(os.path.join(shapes, "config.json"), encoding="utf-8") as f:
        config = {**json.load(f), "num_channels": 1}
    named = tensors.read(os.path.join(shapes, "model.safetensors"))
    patches = "vit.embeddings.patch_embeddings.projection.weight"
    named[patches] = np.ascontiguousarray(named[patches][:, :1])
    tensors.write(os.path.join(folder, "model.safetensors"), named)
    write_json(folder, "config.json", config)
    write_json(folder, "preprocessor_config.json", {"image_processor_type": "ViTImageProcessor", "size": {"height": 32, "width": 32}, "do_resize": False, "image_mean": mean, "image_std": [0.25]})
    return config["id2label"]


def blip(folder, asks):
    w, width, inner, seen, vocabulary = Weights(folder, 2), 24, 40, 20, len(VOCABULARY)
    text = {"model_type": "blip_text_model", "hidden_size": width, "encoder_hidden_size": width if asks else seen, "intermediate_size": inner, "num_attention_heads": 4, "num_hidden_layers": 2,
            "max_position_embeddings": 24, "vocab_size": vocabulary, "bos_token_id": vocabulary - 1, "sep_token_id": 3, "pad_token_id": 0}
    if asks:
        text["encoder_hidden_size"] = width = text["hidden_size"] = seen
    write_json(folder, "config.json", {"architectures": ["BlipForQuestionAnswering" if asks else "BlipForConditionalGeneration"], "model_type": "blip", "text_config": text,
               "vision_config": {"model_type": "blip_vision_model", "hidden_size": seen, "image_size": 24, "intermediate_size": inner, "num_attention_heads": 4, "num_hidden_layers": 1, "patch_size": 8}})
    write_json(folder, "preprocessor_config.json", {"image_processor_type": "BlipImageProcessor", "size": {"height": 24, "width": 24}})
    bert_tokenizer(folder)
    v = "vision_model."
    w.table(v + "embeddings.class_embedding", 1, 1, seen)
    w.table(v + "embeddings.position_embedding", 1, 10, seen)
    w.linear(v + "embeddings.patch_embedding", seen, 3, 8, 8)
    for name, out, given in (("self_attn.qkv", 3 * seen, seen), ("self_attn.projection", seen, seen), ("mlp.fc1", inner, seen), ("mlp.fc2", seen, inner)):
        w.linear(v + "encoder.layers.0." + name, out, given)
    w.norm(v + "encoder.layers.0.layer_norm1", seen)
    w.norm(v + "encoder.layers.0.layer_norm2", seen)
    w.norm(v + "post_layernorm", seen)

    def layers(prefix, memory):
        e = prefix + "embeddings."
        w.table(e + "word_embeddings.weight", vocabulary, width)
        w.table(e + "position_embeddings.weight", 24, width)
        w.norm(e + "LayerNorm", width)
        for i in range(2):
            layer = prefix + "encoder.layer.%d." % i
            for part, given in (("attention", width), ("crossattention", memory)):
                w.linear(layer + part + ".self.query", width, width)
                w.linear(layer + part + ".self.key", width, given)
                w.linear(layer + part + ".self.value", width, given)
                w.linear(layer + part + ".output.dense", width, width)
                w.norm(layer + part + ".output.LayerNorm", width)
            w.linear(layer + "intermediate.dense", inner, width)
            w.linear(layer + "output.dense", width, inner)
            w.norm(layer + "output.LayerNorm", width)

    if asks:
        layers("text_encoder.", seen)
    layers("text_decoder.bert.", width if asks else seen)
    w.linear("text_decoder.cls.predictions.transform.dense", width, width)
    w.norm("text_decoder.cls.predictions.transform.LayerNorm", width)
    w.table("text_decoder.cls.predictions.decoder.weight", vocabulary, width)
    w.table("text_decoder.cls.predictions.bias", vocabulary, scale=0.1)
    tensors.write(os.path.join(folder, "model.safetensors"), w.named)


def letters_tokenizer(folder):
    write_json(folder, "vocab.json", {t: i for i, t in enumerate(LETTERS)})
    write_json(folder, "tokenizer_config.json", {"tokenizer_class": "Wav2Vec2CTCTokenizer", "unk_token": "<unk>", "pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>",
                                                 "word_delimiter_token": "|", "do_lower_case": False})


def wav2vec2(folder):
    w, width, inner = Weights(folder, 3), 24, 40
    channels, taps, strides = [8, 12, 16], [10, 8, 4], [5, 8, 4]
    write_json(folder, "config.json", {"architectures": ["Wav2Vec2ForCTC"], "model_type": "wav2vec2", "hidden_size": width, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": inner,
               "hidden_act": "gelu", "layer_norm_eps": 1e-5, "conv_dim": channels, "conv_kernel": taps, "conv_stride": strides, "conv_bias": False, "feat_extract_norm": "group",
               "feat_extract_activation": "gelu", "num_conv_pos_embeddings": 8, "num_conv_pos_embedding_groups": 4, "do_stable_layer_norm": False, "num_feat_extract_layers": 3,
               "vocab_size": len(LETTERS), "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2})
    write_json(folder, "preprocessor_config.json", {"feature_extractor_type": "Wav2Vec2FeatureExtractor", "do_normalize": True, "feature_size": 1, "padding_side": "right", "padding_value": 0.0, "sampling_rate": 16000})
    letters_tokenizer(folder)
    for i, (out, size) in enumerate(zip(channels, taps)):
        w.linear("wav2vec2.feature_extractor.conv_layers.%d.conv" % i, out, channels[i - 1] if i else 1, size, bias=False)
    w.norm("wav2vec2.feature_extractor.conv_layers.0.layer_norm", channels[0])
    w.norm("wav2vec2.feature_projection.layer_norm", channels[-1])
    w.linear("wav2vec2.feature_projection.projection", width, channels[-1])
    w.table("wav2vec2.encoder.pos_conv_embed.conv.weight_g", 1, 1, 8, mean=1.0, scale=0.1)
    w.table("wav2vec2.encoder.pos_conv_embed.conv.weight_v", width, width // 4, 8)
    w.table("wav2vec2.encoder.pos_conv_embed.conv.bias", width, scale=0.1)
    w.norm("wav2vec2.encoder.layer_norm", width)
    for i in range(2):
        layer = "wav2vec2.encoder.layers.%d." % i
        for part in ("q_proj", "k_proj", "v_proj", "out_proj"):
            w.linear(layer + "attention." + part, width, width)
        w.norm(layer + "layer_norm", width)
        w.norm(layer + "final_layer_norm", width)
        w.linear(layer + "feed_forward.intermediate_dense", inner, width)
        w.linear(layer + "feed_forward.output_dense", width, inner)
    w.linear("lm_head", len(LETTERS), width)
    tensors.write(os.path.join(folder, "model.safetensors"), w.named)


SEAMLESS = {"feature_extractor_type": "SeamlessM4TFeatureExtractor", "feature_size": 80, "num_mel_bins": 80, "padding_side": "right", "padding_value": 1, "return_attention_mask": True,
            "sampling_rate": 16000, "stride": 2}
SPEECH2TEXT = {"do_ceptral_normalize": True, "feature_extractor_type": "Speech2TextFeatureExtractor", "feature_size": 80, "normalize_means": True, "normalize_vars": True, "num_mel_bins": 80,
               "padding_side": "right", "padding_value": 0.0, "return_attention_mask": True, "sampling_rate": 16000}
AST = {"do_normalize": True, "feature_extractor_type": "ASTFeatureExtractor", "feature_size": 1, "max_length": 120, "mean": -4.2677393, "num_mel_bins": 128, "padding_side": "right", "padding_value": 0.0,
       "return_attention_mask": False, "sampling_rate": 16000, "std": 4.5689974}


def wav2vec2_bert(folder, extractor=SEAMLESS):
    """of filter banks as `extractor` makes them"""
    w, width, inner = Weights(folder, 4), 24, 40
    features = extractor["num_mel_bins"] * extractor.get("stride", 1)
    write_json(folder, "config.json", {"architectures": ["Wav2Vec2BertForCTC"], "model_type": "wav2vec2-bert", "hidden_size": width, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": inner,
               "hidden_act": "swish", "layer_norm_eps": 1e-5, "feature_projection_input_dim": features, "position_embeddings_type": "relative_key", "left_max_position_embeddings": 12,
               "right_max_position_embeddings": 4, "conv_depthwise_kernel_size": 7, "add_adapter": False, "vocab_size": len(LETTERS), "pad_token_id": 0})
    write_json(folder, "preprocessor_config.json", extractor)
    letters_tokenizer(folder)
    w.norm("wav2vec2_bert.feature_projection.layer_norm", features)
    w.linear("wav2vec2_bert.feature_projection.projection", width, features)
    for i in range(2):
        layer = "wav2vec2_bert.encoder.layers.%d." % i
        for part in ("ffn1", "ffn2"):
            w.norm(layer + part + "_layer_norm", width)
            w.linear(layer + part + ".intermediate_dense", inner, width)
            w.linear(layer + part + ".output_dense", width, inner)
        w.norm(layer + "self_attn_layer_norm", width)
        for part in ("linear_q", "linear_k", "linear_v", "linear_out"):
            w.linear(layer + "self_attn." + part, width, width)
        w.table(layer + "self_attn.distance_embedding.weight", 17, width // 4)
        w.norm(layer + "conv_module.layer_norm", width)
        w.linear(layer + "conv_module.pointwise_conv1", 2 * width, width, 1, bias=False)
        w.linear(layer + "conv_module.depthwise_conv", width, 1, 7, bias=False)
        w.norm(layer + "conv_module.depthwise_layer_norm", width)
        w.linear(layer + "conv_module.pointwise_conv2", width, width, 1, bias=False)
        w.norm(layer + "final_layer_norm", width)
    w.linear("lm_head", len(LETTERS), width)
    tensors.write(os.path.join(folder, "model.safetensors"), w.named)


#--- what goes in, once more -------------------------------------------------


def pixel_values(pixels, mean, deviation):
    rescaled = (pixels * (1 / 255)).astype(np.float32)
    return ((rescaled - np.array(mean, np.float32)) / np.array(deviation, np.float32)).transpose(2, 0, 1)[None]


CLIP = ([0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711])


def filter_banks(samples, bins=80, window=np.hanning(400) ** 0.85):
    """logarithms of Kaldi's"""
    wave = samples.astype(np.float64)
    frames = 1 + (len(wave) - 400) // 160
    frames = np.stack([wave[i * 160:i * 160 + 400] for i in range(frames)])
    frames -= frames.mean(axis=1, keepdims=True)
    frames = np.concatenate([frames[:, :1] * 0.03, frames[:, 1:] - 0.97 * frames[:, :-1]], axis=1)
    frames *= window
    power = np.abs(np.fft.rfft(frames, 512)) ** 2

    def mel(hertz):
        return 1127 * np.log(1 + hertz / 700)

    corners, places = np.linspace(mel(20), mel(8000), bins + 2), mel(np.arange(257) * 16000 / 512)
    rise = (places[:, None] - corners[:-2]) / (corners[1:-1] - corners[:-2])
    fall = (corners[2:] - places[:, None]) / (corners[2:] - corners[1:-1])
    return np.log(np.maximum(power @ np.maximum(0, np.minimum(rise, fall)), 1.192092955078125e-07))


def seamless(samples):
    """two frames in one row, each filter of mean 0 and variance 1"""
    logs = filter_banks(samples)
    logs = (logs - logs.mean(axis=0)) / np.sqrt(logs.var(axis=0, ddof=1) + 1e-7)
    return logs[:len(logs) // 2 * 2].reshape(len(logs) // 2, 160).astype(np.float32)


def speech2text(samples):
    logs = filter_banks(samples)
    return ((logs - logs.mean(axis=0)) / logs.std(axis=0)).astype(np.float32)


def spectrogram(samples):
    """so many rows: those behind the sound are 0 before they are normalised like the others"""
    logs, rows = filter_banks(samples / 32768, AST["num_mel_bins"], np.hanning(400)), AST["max_length"]
    logs = np.pad(logs, [(0, max(0, rows - len(logs))), (0, 0)])[:rows]
    return ((logs - AST["mean"]) / (2 * AST["std"])).astype(np.float32)


def heard(logits):
    """greedy CTC: equal neighbours are one, then the blank goes"""
    ids = logits[0].argmax(axis=-1)
    ids = [i for i, before in zip(ids, [-1] + list(ids[:-1])) if i != before and i != 0]
    return "".join(LETTERS[i] for i in ids if i > 3).replace("|", " ").strip()


#--- the tests ---------------------------------------------------------------


class Suite:
    def __init__(self, heddle, folder):
        self.heddle, self.folder = heddle, folder

    def compiled(self, name, make, *more):
        folder = os.path.join(self.folder, name)
        os.mkdir(folder)
        made = make(folder, *more)
        self.binary = os.path.join(folder, "model")
        subprocess.run([self.heddle, "compile", folder, "-o", self.binary, *cached.quick(self.heddle)], check=True)
        return made

    def call(self, *words):
        return subprocess.run([self.binary] + list(words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)

    def run(self, **given):
        source, result = os.path.join(self.folder, "in.safetensors"), os.path.join(self.folder, "out.safetensors")
        tensors.write(source, given)
        subprocess.run([self.binary, "run", "--input", source, "--output", result], check=True)
        return tensors.read(result)["logits"]

    def refused(self, what, status, *words):
        said = self.call(*words)
        check(said.returncode == status and said.stderr.startswith("error["), "%s: status %d, %s" % (what, said.returncode, said.stderr))

    def test_vilt(self, png, pixels):
        labels = self.compiled("vilt", vilt)
        for question in ("What colour is it?", "how many horses"):
            logits = self.run(input_ids=np.array([ids_of(question)]), pixel_values=pixel_values(pixels, [0.5] * 3, [0.5] * 3))[0]
            said = self.call(png, question, "--json")
            answers = json.loads(said.stdout)["labels"] if said.returncode == 0 else []
            order = np.argsort(-logits, kind="stable")
            check([a["label"] for a in answers] == [labels[i] for i in order], "vilt, %s: %s, expected %s first; %s" % (question, answers, labels[order[0]], said.stderr))
            # The logits are the very bits; scores are sigmoids, each answer for itself.
            check(all(np.float32(a["logit"]) == logits[a["id"]] and abs(a["score"] - sigmoid(np.float64(logits[a["id"]]))) < 1e-8 for a in answers), "vilt, %s: logits or scores" % question)
        best = self.call(png, question, "--top", "1").stdout
        check(best.count("\n") == 1 and best.rstrip().endswith(labels[order[0]]), "vilt --top 1: %r" % best)
        self.refused("vilt without a question", 2, png)
        self.refused("vilt without a picture", 5, "nowhere.png", "who?")
        self.refused("vilt, too long a question", 1, png, "a " * 30, "--no-truncate")
        said = self.call(png, "a " * 30)
        check(said.returncode == 0 and "takes 12 of a text: it is cut to them" in said.stderr, "vilt, a question that is cut: %d, %s" % (said.returncode, said.stderr))
        check("question" in self.call("--help").stdout and "question" in self.call("info").stdout, "vilt: --help and info speak of the question")

    def test_grey(self, png, pixels):
        """pictures of one channel: grey ones as they are, colours as Pillow makes them grey"""
        labels = self.compiled("grey", grey_vit, [0.4])
        for path, name in ((png, "colours"), (os.path.join(self.folder, "grey.png"), "grey")):
            if name == "grey":
                pixels = np.repeat(pixels[:, :, 1:2], 3, axis=2)
                write_png(path, pixels)
            weighted = pixels.astype(np.int64) @ np.array([19595, 38470, 7471])
            luma = ((weighted + 0x8000) >> 16).astype(np.uint8)[:, :, None]
            check(name == "colours" or (luma == pixels[:, :, :1]).all(), "grey stays what it is")
            logits = self.run(pixel_values=pixel_values(luma, [0.4], [0.25]))[0]
            said = self.call(path, "--json")
            answers = json.loads(said.stdout)["labels"] if said.returncode == 0 else []
            check({a["id"]: np.float32(a["logit"]) for a in answers} == {a["id"]: logits[a["id"]] for a in answers} and len(answers) == min(5, len(labels)),
                  "one channel, %s: %s, expected %s; %s" % (name, answers, logits, said.stderr))
        for mean, status, says in (([0.4, 0.4, 0.4], 0, ""), (0.4, 0, ""), ([0.4, 0.5, 0.6], 1, "image_mean"), ([0.4, 0.4], 1, "image_mean")):
            folder = tempfile.mkdtemp(dir=self.folder)
            grey_vit(folder, mean)
            said = subprocess.run([self.heddle, "check", folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
            check(said.returncode == status and says in said.stderr, "one channel, image_mean %s: status %d, %s" % (mean, said.returncode, said.stderr))

    def greedy(self, tokens, begin, steps, **given):
        ids = list(begin)
        for _ in range(steps):
            ids.append(int(self.run(**{tokens: np.array([ids])}, **given)[0, -1].argmax()))
            if ids[-1] == 3:
                break
        return ids[len(begin):]

    def same_words(self, what, begin, made, *words):
        said = self.call(*words, "--print-ids")
        check(said.returncode == 0 and said.stdout.strip() == ",".join(map(str, made)), "%s: %s, expected %s; %s" % (what, said.stdout.strip(), made, said.stderr))
        text = " ".join(begin + [VOCABULARY[i] for i in made if i > 4]).replace(" ?", "?").replace(" .", ".")
        said = self.call(*words)
        check(said.stdout.rstrip("\n") == text, "%s: %r, expected %r" % (what, said.stdout, text))

    def test_blip(self, png, pixels):
        self.compiled("blip", blip, False)
        seen, start = pixel_values(pixels, *CLIP), len(VOCABULARY) - 1
        self.same_words("a caption", [], self.greedy("input_ids", [start], 9, pixel_values=seen), png, "-n", "9", "--greedy")
        begin = "a picture of"
        made = self.greedy("input_ids", [start] + ids_of(begin, around=False), 6, pixel_values=seen)
        self.same_words("a caption that begins with words", begin.split(), made, png, begin, "-n", "6", "--greedy")
        check(self.call(png, "-n", "5", "--num-beams", "3").returncode == 0, "a caption with beams")

    def test_blip_answers(self, png, pixels):
        self.compiled("blip_answers", blip, True)
        seen, start = pixel_values(pixels, *CLIP), len(VOCABULARY) - 1
        for question in ("what is it?", "how many cat"):
            made = self.greedy("decoder_input_ids", [start], 7, pixel_values=seen, input_ids=np.array([ids_of(question)]))
            self.same_words("an answer to " + question, [], made, png, question, "-n", "7", "--greedy")
        self.refused("blip without a question", 2, png)
        check("question" in self.call("--help").stdout, "blip: --help speaks of the question")

    def test_wav2vec2(self, wav, samples):
        self.compiled("wav2vec2", wav2vec2)
        wave = samples.astype(np.float32) / np.float32(32768)
        wave = ((wave - wave.mean(dtype=np.float64)) / np.sqrt(wave.var(dtype=np.float64) + 1e-7)).astype(np.float32)
        self.speech("wav2vec2", wav, self.run(input_values=wave[None]))
        # Cut short, or written into a pipe by sox, which leaves another length: what is there counts, with a note.
        with open(wav, "rb") as f:
            whole = f.read()
        cut, piped = os.path.join(self.folder, "cut.wav"), os.path.join(self.folder, "piped.wav")
        with open(cut, "wb") as f:
            f.write(whole[:-2])
        with open(piped, "wb") as f:
            f.write(whole[:40] + struct.pack("<I", 0x7FFFF000) + whole[44:])
        for path, text in ((cut, None), (piped, self.call(wav).stdout)):
            said = self.call(path)
            check(said.returncode == 0 and "the sound ends with the file" in said.stderr and text in (None, said.stdout), "%s: status %d, %r, %s" % (path, said.returncode, said.stdout, said.stderr))
        short = os.path.join(self.folder, "short.wav")
        write_wav(short, samples[:161])
        self.refused("wav2vec2, a sound of no frame", 1, short)

    def test_wav2vec2_bert(self, wav, samples):
        self.compiled("wav2vec2_bert", wav2vec2_bert)
        self.speech("wav2vec2-bert", wav, self.run(input_features=seamless(samples)[None]))

    def test_extractors(self, wav, samples):
        """those of other models, in front of wav2vec2-bert: the AST's cuts the sound, and fills up the half of it"""
        half = os.path.join(self.folder, "half.wav")
        write_wav(half, samples[:len(samples) // 2])
        for name, extractor, features in (("speech2text", SPEECH2TEXT, speech2text), ("ast", AST, spectrogram)):
            self.compiled(name, wav2vec2_bert, extractor)
            for path, heard_of in ((wav, samples), (half, samples[:len(samples) // 2])):
                self.speech(name, path, self.run(input_features=features(heard_of)[None]))
        said = self.call(wav)
        check("hears 1.2 seconds" in said.stderr and "0.3 seconds" in said.stderr, "ast: nothing is said of what is cut: " + said.stderr)

    def speech(self, name, wav, logits):
        said, text = self.call(wav), heard(logits)
        check(len(text) > 8, "%s: too little is said for a test: %r" % (name, text))
        check(said.returncode == 0 and said.stdout == text + "\n", "%s: %r, expected %r; %s" % (name, said.stdout, text, said.stderr))
        self.refused(name + " and a text", 2, wav, "hello")
        self.refused(name + " without a file", 5, "nowhere.wav")


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True)
    p.add_argument("--only", help="vilt, grey, blip, blip_answers, wav2vec2, wav2vec2_bert, extractors")
    o = p.parse_args()
    random = np.random.default_rng(11)
    with tempfile.TemporaryDirectory() as folder:
        suite = Suite(o.heddle, folder)
        wide, square, own, wav = (os.path.join(folder, n) for n in ("wide.png", "square.png", "own.png", "speech.wav"))
        pictures = {path: random.integers(0, 256, (*sides, 3), np.uint8) for path, sides in ((wide, (30, 42)), (square, (24, 24)))}
        pictures[own] = np.random.default_rng(12).integers(0, 256, (32, 32, 3), np.uint8)
        for path, pixels in pictures.items():
            write_png(path, pixels)
        t = np.arange(24240) / 16000
        samples = np.rint(8000 * np.sin(2 * np.pi * (200 + 900 * t) * t) * np.sin(9 * t) ** 2 + 300 * random.standard_normal(len(t))).astype(np.int64)
        write_wav(wav, samples)
        for name, given in (("vilt", (wide, pictures[wide])), ("grey", (own, pictures[own])), ("blip", (square, pictures[square])), ("blip_answers", (square, pictures[square])), ("wav2vec2", (wav, samples)), ("wav2vec2_bert", (wav, samples)),
                            ("extractors", (wav, samples))):
            if o.only in (None, name):
                getattr(suite, "test_" + name)(*given)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
