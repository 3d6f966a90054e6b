#!/usr/bin/python3
"""The shortest generations of models with many words: every way in which a program generates, with room for 1, 2 and 3 positions.

    first_tokens.py --heddle BIN [--vocabulary 20000,150000] [--only decoder,encoder_decoder,speech] [--sample]

Small models with random weights are compiled: a decoder, an encoder-decoder, and one that writes down speech. What they must say follows
from the logits of `run`, which keeps nothing between calls. Vocabularies are as large as published ones, since a buffer that is too small
for the logits hides behind the rounding of memory to pages where words are few. Each program takes ids, a text, lines, a file and a
conversation, searches with beams, samples, serves with slots and without, runs on the emulated device, and reaches `max_length` at once. `--sample` takes a small part
of it. Where the compiler links a runtime with sanitizers (test/sanitize.sh), this runs under them. Ends in `N passed, N failed`."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
from checks import check, finish
from generation import Model, beams, greedy
from media import write_json, write_wav
from random_weights import Weights, tensors
from serving import Server

WIDTH, HEADS, INNER, MOST, EOS = 16, 2, 24, 3, 2
FIRST_LETTER = 0x10000  # id 0; no surrogates behind it


def letter(token):
    return chr(FIRST_LETTER + token)


def text_of(ids):
    return "".join(map(letter, ids))


def listed(ids):
    return ",".join(map(str, ids))


#--- models -----------------------------------------------------------------


def tokenizer(folder, words):
    write_json(folder, "tokenizer.json", {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None, "pre_tokenizer": None, "post_processor": None, "decoder": {"type": "Fuse"},
               "model": {"type": "BPE", "dropout": None, "unk_token": None, "vocab": {letter(i): i for i in range(words)}, "merges": []}})


def decoder(folder, words, **config):
    w, width = Weights(folder, 1), WIDTH // HEADS
    write_json(folder, "config.json", {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": WIDTH, "num_hidden_layers": 1, "num_attention_heads": HEADS, "num_key_value_heads": HEADS,
               "intermediate_size": INNER, "vocab_size": words, "max_position_embeddings": 64, "rms_norm_eps": 1e-6, "tie_word_embeddings": False, "bos_token_id": 1, "eos_token_id": EOS, **config})
    w.table("model.embed_tokens.weight", words, WIDTH)
    w.linear("lm_head", words, WIDTH, bias=False)
    at = "model.layers.0."
    for n in "qkvo":
        w.linear(at + "self_attn.%s_proj" % n, HEADS * width, WIDTH, bias=False)
    for n, out, given in (("gate", INNER, WIDTH), ("up", INNER, WIDTH), ("down", WIDTH, INNER)):
        w.linear(at + "mlp.%s_proj" % n, out, given, bias=False)
    for n in (at + "input_layernorm", at + "post_attention_layernorm", "model.norm"):
        w.table(n + ".weight", WIDTH, scale=0.1, mean=1.0)
    w.write({})
    tokenizer(folder, words)


def encoder_decoder(folder, words):
    w = Weights(folder, 2)
    write_json(folder, "config.json", {"architectures": ["T5ForConditionalGeneration"], "model_type": "t5", "d_model": WIDTH, "d_kv": WIDTH // HEADS, "d_ff": INNER, "num_layers": 1, "num_decoder_layers": 1,
               "num_heads": HEADS, "relative_attention_num_buckets": 8, "relative_attention_max_distance": 16, "vocab_size": words, "feed_forward_proj": "relu", "layer_norm_epsilon": 1e-6,
               "is_encoder_decoder": True, "tie_word_embeddings": False, "pad_token_id": 0, "decoder_start_token_id": 0, "eos_token_id": EOS})
    w.table("shared.weight", words, WIDTH)
    w.linear("lm_head", words, WIDTH, bias=False)
    for side, parts in (("encoder", ("SelfAttention", "DenseReluDense")), ("decoder", ("SelfAttention", "EncDecAttention", "DenseReluDense"))):
        for i, part in enumerate(parts):
            at = "%s.block.0.layer.%d." % (side, i)
            w.table(at + "layer_norm.weight", WIDTH, scale=0.1, mean=1.0)
            for n, out, given in (("wi", INNER, WIDTH), ("wo", WIDTH, INNER)) if part == "DenseReluDense" else [(n, WIDTH, WIDTH) for n in "qkvo"]:
                w.linear(at + part + "." + n, out, given, bias=False)
        w.table(side + ".block.0.layer.0.SelfAttention.relative_attention_bias.weight", 8, HEADS)
        w.table(side + ".final_layer_norm.weight", WIDTH, scale=0.1, mean=1.0)
    w.write({})
    tokenizer(folder, words)


def speech(folder, words):
    w = Weights(folder, 3)
    sides = {"%s_num_%s" % (s, n): v for s in ("encoder", "decoder") for n, v in (("hidden_layers", 1), ("attention_heads", HEADS), ("key_value_heads", HEADS))}
    write_json(folder, "config.json", {"architectures": ["MoonshineForConditionalGeneration"], "model_type": "moonshine", "hidden_size": WIDTH, "intermediate_size": INNER, "vocab_size": words,
               "partial_rotary_factor": 0.5, "is_encoder_decoder": True, "tie_word_embeddings": False, "pad_token_id": EOS, "eos_token_id": EOS, "decoder_start_token_id": 1, **sides})
    write_json(folder, "preprocessor_config.json", {"feature_extractor_type": "Wav2Vec2FeatureExtractor", "sampling_rate": 16000, "feature_size": 1, "do_normalize": False, "padding_value": 0.0})
    w.linear("model.encoder.conv1", WIDTH, 1, 127, bias=False)
    w.linear("model.encoder.conv2", 2 * WIDTH, WIDTH, 7)
    w.linear("model.encoder.conv3", WIDTH, 2 * WIDTH, 3)
    w.norm("model.encoder.groupnorm", WIDTH)
    norms = ["encoder.layer_norm", "decoder.norm"]
    for side, attentions, wide in (("encoder", ["self_attn"], INNER), ("decoder", ["self_attn", "encoder_attn"], 2 * INNER)):
        at = side + ".layers.0."
        for a in attentions:
            for n in "qkvo":
                w.linear("model.%s%s.%s_proj" % (at, a, n), WIDTH, WIDTH, bias=False)
        w.linear("model.%smlp.fc1" % at, wide, WIDTH)
        w.linear("model.%smlp.fc2" % at, WIDTH, INNER)
        norms += [at + n for n in ["input_layernorm", "post_attention_layernorm"] + ["final_layernorm"] * (side == "decoder")]
    for n in norms:
        w.table("model.%s.weight" % n, WIDTH, scale=0.1, mean=1.0)
    w.table("model.decoder.embed_tokens.weight", words, WIDTH)
    w.linear("proj_out", words, WIDTH, bias=False)
    w.write({})
    tokenizer(folder, words)


#--- programs ---------------------------------------------------------------


class Sweep:
    """The programs of one model, and what is checked of each."""

    def __init__(self, heddle, work, name, words, sample):
        self.heddle, self.work, self.what, self.words, self.sample = heddle, work, "%s of %d words" % (name, words), words, sample
        self.folder = os.path.join(work, "model")
        os.makedirs(self.folder)
        globals()[name](self.folder, words)
        self.random = np.random.default_rng(words)
        self.lengths = [(p, n) for p in range(1, MOST + 1) for n in range(1, MOST + 2 - p)]

    def compiled(self, name, *flags, **generation):
        if generation:
            write_json(self.folder, "generation_config.json", generation)
        binary = os.path.join(self.work, name)
        subprocess.run([self.heddle, "compile", self.folder, "-o", binary, *cached.quick(self.heddle), *flags], check=True, stderr=subprocess.DEVNULL)
        if generation:
            os.remove(os.path.join(self.folder, "generation_config.json"))
        return binary

    def draw(self, count):
        return self.random.integers(3, self.words, count).tolist()

    def says(self, binary, words, want, stdin=None):
        p = subprocess.run([binary, *words], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        got = p.stdout.decode(errors="replace").strip()
        check(p.returncode == 0 and got == want, "%s, %s %s: status %d, %r, expected %r %r" % (self.what, os.path.basename(binary), " ".join(words), p.returncode, got[:200], want, p.stderr[-300:]))

    def written(self, binary, given, n, want, begin, *flags):
        path, out = (os.path.join(self.work, f) for f in ("in.safetensors", "out.safetensors"))
        tensors.write(path, given)
        p = subprocess.run([binary, "generate", "--input", path, "--output", out, "-n", str(n), "--ignore-eos", *flags], stderr=subprocess.PIPE, timeout=120)
        got = tensors.read(out)["ids"][:, begin:].tolist() if p.returncode == 0 else p.returncode
        check(got == want, "%s, a file with %d new tokens %s: %s, expected %s %r" % (self.what, n, flags, got, want, p.stderr[-300:]))

    def served(self, binary, cases, *flags):
        """cases: (prompt, n, new ids)"""
        with Server(binary, *flags) as server:
            for prompt, n, want in cases:
                for more in ({}, {"logprobs": 1}):
                    try:
                        status, got = server.post("/v1/completions", dict({"prompt": prompt, "max_tokens": n, "temperature": 0}, **more))
                    except OSError as error:
                        return check(False, "%s, served %s %s, %d new: %s; the server ended with %s" % (self.what, flags, prompt, n, error, server.process.wait(60)))
                    said = got["choices"][0]["text"] if status == 200 else got
                    check(said == text_of(want), "%s, served %s %s, %d new: %s %r, expected %r" % (self.what, flags, prompt, n, status, said, text_of(want)))
            check(server.stop() == 0, "%s: the server ends well" % self.what)

    def ids_in_all_ways(self, binary, model, prompt, n):
        """The ways of a list of ids, a text, a file; -> the greedy tokens"""
        many = ["-n", str(n), "--ignore-eos", "--print-ids"]
        want, text = greedy(model, prompt, n, {}), text_of(prompt)
        for threads in ("1", "2", "3"):
            self.says(binary, ["generate", "--ids", listed(prompt), "--threads", threads, *many], listed(want))
        self.says(binary, [text, *many], listed(want))
        self.says(binary, ["generate", "--text", text, *many], listed(want))
        self.says(binary, ["--lines", *many], "\n".join([listed(want)] * 2), stdin=("%s\n%s\n" % (text, text)).encode())
        self.says(binary, ["generate", "--ids", listed(prompt), "--temp", "1", "--top-k", "1", "--seed", "3", *many], listed(want))
        self.says(binary, ["generate", "--ids", listed(prompt), "--num-beams", "2", *many], listed(beams(model, prompt, n, 2, {})))
        begin = 1 if model.source else len(prompt)
        self.written(binary, {model.source or model.tokens: np.array([prompt] * 2, np.int64)}, n, [want] * 2, begin)
        self.written(binary, {model.source or model.tokens: np.array([prompt] * 2, np.int64)}, n, [beams(model, prompt, n, 3, {})] * 2, begin, "--num-beams", "3")
        return want

    def decoder(self):
        binary, single = self.compiled("program"), self.compiled("single", "--slots=none")
        model = Model(binary, self.work, None, "input_ids", None, ())
        cases, sampled = [], ["--temp", "1.5", "--seed", "5", "--print-ids", "--ignore-eos"]
        for p, n in self.lengths:
            prompt = self.draw(p)
            cases.append((prompt, n, self.ids_in_all_ways(single, model, prompt, n)))
            long = subprocess.run([binary, "generate", "--ids", listed(prompt), "-n", "8", *sampled], stdout=subprocess.PIPE).stdout.decode().strip()
            self.says(binary, ["generate", "--ids", listed(prompt), "-n", str(n), *sampled], listed(long.split(",")[:n]))
        ones = [c for c in cases if len(c[0]) + c[1] == 2]
        self.served(binary, cases, "--context", str(MOST))
        self.served(single, cases, "--context", str(MOST))
        self.served(single, ones, "--context", "1")
        if self.sample:
            return
        self.served(binary, ones, "--context", "1", "--slots", "1")
        if os.path.exists(os.path.join(os.path.dirname(self.heddle), os.pardir, "lib", "libheddle_emulator.a")):
            device = self.compiled("device", "--target=cuda", "--emulate", "--without=serve,chat")
            for prompt, n, want in cases:
                self.says(device, ["generate", "--ids", listed(prompt), "-n", str(n), "--ignore-eos", "--print-ids", "--device", "emulator"], listed(want))
        whole = self.compiled("recomputing", "--cache=none")
        for prompt, n, want in cases:
            self.says(whole, ["generate", "--ids", listed(prompt), "-n", str(n), "--ignore-eos", "--print-ids"], listed(want))
        with open(os.path.join(self.work, "template"), "w") as f:
            f.write("{{ messages[-1]['content'] }}")
        chat = self.compiled("chat", "--template", os.path.join(self.work, "template"))
        for prompt, n, want in cases:
            self.says(chat, [text_of(prompt), "-n", str(n), "--ignore-eos", "--print-ids", "--greedy"], listed(want))
            self.says(chat, ["chat", "-n", str(n), "--ignore-eos", "--greedy", "--context", str(len(prompt) + n - 1)], text_of(want), stdin=(text_of(prompt) + "\n").encode())
        at_once = self.compiled("at_once", max_length=2, eos_token_id=EOS)
        prompt = cases[0][0]
        self.says(at_once, ["generate", "--ids", listed(prompt), "--print-ids", "--ignore-eos"], listed(greedy(model, prompt, 1, {})))
        p = subprocess.run([at_once, "generate", "--ids", listed(prompt * 2), "--print-ids"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        check(p.returncode == 1 and b"ends texts at 2" in p.stderr, "%s: a prompt of max_length: %r" % (self.what, p.stderr))
        p = subprocess.run([single, "bench", "--prompt-tokens", "1", "--new-tokens", "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        check(p.returncode == 0, "%s: bench: status %d, %r" % (self.what, p.returncode, p.stderr))

    def encoder_decoder(self):
        binary = self.compiled("program")
        model = Model(binary, self.work, "input_ids", "decoder_input_ids", 0, ())
        cases = []
        for length in range(1, 2 if self.sample else 1 + MOST):
            for n in range(1, MOST + 1):
                source = self.draw(length)
                cases.append((source, n, self.ids_in_all_ways(binary, model, source, n)))
        self.served(binary, cases)
        # Beginnings of different lengths, where the start token has the id of padding.
        begun = [[0], [0] + self.draw(2), [0] + self.draw(1)]
        sources = [self.draw(2) for _ in begun]
        for n in (1, 2):
            wanted = []
            for source, text in zip(sources, begun):
                text = list(text)
                for _ in range(n):
                    text.append(int(np.argmax(model.logits(source, [text])[0])))
                wanted.append(text[-n:])
            padded = [text + [0] * (3 - len(text)) for text in begun]
            self.written(binary, {"input_ids": np.array(sources, np.int64), "decoder_input_ids": np.array(padded, np.int64)}, n, wanted, 3)
        at_once = self.compiled("at_once", max_length=2, eos_token_id=EOS)
        self.says(at_once, ["generate", "--ids", listed(cases[0][0]), "--print-ids", "--ignore-eos"], listed(cases[0][2]))

    def speech(self):
        binary = self.compiled("program")
        samples = self.random.integers(-9000, 9000, 4000).astype(np.int16)
        write_wav(os.path.join(self.work, "said.wav"), samples)
        model = Heard(binary, self.work, samples.astype(np.float32) / 32768)
        for n in range(1, MOST + 1):
            many = [os.path.join(self.work, "said.wav"), "-n", str(n), "--ignore-eos", "--print-ids"]
            for threads in ("1", "2", "3"):
                self.says(binary, [*many, "--threads", threads], listed(greedy(model, [], n, {})))
            self.says(binary, [*many, "--num-beams", "2"], listed(beams(model, [], n, 2, {})))


class Heard(Model):
    """A model of speech, of one recording"""

    def __init__(self, binary, folder, samples):
        super().__init__(binary, folder, "input_values", "decoder_input_ids", 1, ())
        self.samples = samples

    def logits(self, prompt, texts):
        path, out = (os.path.join(self.folder, f) for f in ("in.safetensors", "out.safetensors"))
        tensors.write(path, {"input_values": np.array([self.samples] * len(texts), np.float32), "decoder_input_ids": np.array(texts, np.int64)})
        subprocess.run([self.binary, "run", "--input", path, "--output", out], check=True)
        return list(tensors.read(out)["logits"][:, -1])


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True)
    p.add_argument("--vocabulary", default="20000,150000")
    p.add_argument("--only", default="decoder,encoder_decoder,speech")
    p.add_argument("--sample", action="store_true")
    o = p.parse_args()
    for words in map(int, o.vocabulary.split(",")):
        for name in o.only.split(","):
            with tempfile.TemporaryDirectory() as work:
                getattr(Sweep(os.path.abspath(o.heddle), work, name, words, o.sample), name)()
    return finish()


if __name__ == "__main__":
    sys.exit(main())
