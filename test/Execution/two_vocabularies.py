#!/usr/bin/python3
"""An encoder-decoder that reads one vocabulary and writes another: two tokenizers in one program.

    two_vocabularies.py --heddle BIN [DIR]                  (default: ../shared/real-weights beside the tree)

A Marian model with random weights and tables of 50 and 70 words. What it must say follows from the logits of `run`; letters of the source and
of the target come from different alphabets, so that a text of the wrong one is seen. Then every way in which files do not fit, and the published
transliterator of DIR with a tokenizer for each side. Ends in `N passed, N failed`."""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
import pieces as spm
from checks import check, finish
from generation import Model, beams, greedy
from media import write_json
from random_weights import Weights, tensors
from serving import Server

SOURCE, TARGET, WIDTH, INNER, EOS, START, PAD = 50, 70, 16, 24, 0, 69, 49


def read_letters(ids):
    return "".join(chr(0x10000 + i) for i in ids)


def written_letters(ids):
    return "".join(chr(0x20000 + i) for i in ids if i not in (EOS, START))


def tokenizer(first, words, ends=False, added=()):
    """letters from `first` on, one an id, id 0 the special </s>, which `ends` puts behind a text"""
    vocab = dict({chr(first + i): i for i in range(1, words)}, **{"</s>": EOS})
    special = {"id": EOS, "content": "</s>", "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    more = [dict(special, id=words + i, content=text, special=False) for i, text in enumerate(added)]
    template = {"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}}],
                "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
                "special_tokens": {"</s>": {"id": "</s>", "ids": [EOS], "tokens": ["</s>"]}}}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [special] + more, "normalizer": None, "pre_tokenizer": None,
            "post_processor": template if ends else None, "decoder": {"type": "Fuse"}, "model": {"type": "BPE", "dropout": None, "unk_token": None, "vocab": vocab, "merges": []}}


def marian(folder):
    os.makedirs(folder)
    config = {"architectures": ["MarianMTModel"], "model_type": "marian", "d_model": WIDTH, "activation_function": "relu", "vocab_size": SOURCE, "decoder_vocab_size": TARGET,
              "share_encoder_decoder_embeddings": False, "static_position_embeddings": True, "max_position_embeddings": 64, "scale_embedding": True, "is_encoder_decoder": True, "tie_word_embeddings": False,
              "pad_token_id": PAD, "eos_token_id": EOS, "decoder_start_token_id": START}
    for side in ("encoder", "decoder"):
        config.update({side + "_layers": 1, side + "_attention_heads": 2, side + "_ffn_dim": INNER})
    write_json(folder, "config.json", config)
    w = Weights(folder, 8)
    for side, words in (("encoder", SOURCE), ("decoder", TARGET)):
        w.table("model.%s.embed_tokens.weight" % side, words, WIDTH)
        at = "model.%s.layers.0." % side
        for attention in ["self_attn"] + ["encoder_attn"] * (side == "decoder"):
            for p in ("q_proj", "k_proj", "v_proj", "out_proj"):
                w.linear(at + attention + "." + p, WIDTH, WIDTH)
            w.norm(at + attention + "_layer_norm", WIDTH)
        w.linear(at + "fc1", INNER, WIDTH)
        w.linear(at + "fc2", WIDTH, INNER)
        w.norm(at + "final_layer_norm", WIDTH)
    w.linear("lm_head", TARGET, WIDTH, bias=False)
    w.table("final_logits_bias", 1, TARGET)
    w.named["final_logits_bias"][0, [EOS, START]] = -3  # texts of some length, without the start token
    w.write({})
    tensors.write(os.path.join(folder, "model.safetensors"), w.named)


class Suite:
    def __init__(self, heddle, work):
        self.heddle, self.work, self.folder = heddle, work, os.path.join(work, "model")
        marian(self.folder)

    def tokenizers(self, source, target):
        for name, one in (("tokenizer.json", source), ("target_tokenizer.json", target)):
            if one:
                write_json(self.folder, name, one)
            elif os.path.exists(os.path.join(self.folder, name)):
                os.remove(os.path.join(self.folder, name))

    def heddle_says(self, what, words, status, *parts, without=()):
        p = subprocess.run([self.heddle, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        said = (p.stdout + p.stderr).decode(errors="replace")
        check(p.returncode == status and all(part in said for part in parts) and not any(part in said for part in without),
              "%s: status %d, %r, expected %d %r" % (what, p.returncode, said, status, parts))

    def compiled(self, name, *flags, model=None):
        binary = os.path.join(self.work, name)
        p = subprocess.run([self.heddle, "compile", model or self.folder, "-o", binary, *cached.quick(self.heddle), *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        check(p.returncode == 0, "%s: status %d, %s" % (name, p.returncode, p.stderr.decode(errors="replace")))
        return binary

    def says(self, binary, words, want, status=0, stdin=None):
        p = subprocess.run([binary, *words], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        got = p.stdout.decode(errors="replace").rstrip("\n") if status == 0 else p.stderr.decode(errors="replace")
        check(p.returncode == status and (got == want if status == 0 else want in got), "%s %s: status %d, %r, expected %r %r" % (os.path.basename(binary), words, p.returncode, got, want, p.stderr))

    def texts(self):
        """every way in which a text goes in and another comes out"""
        self.tokenizers(tokenizer(0x10000, SOURCE, ends=True), tokenizer(0x20000, TARGET))
        binary = self.compiled("program")
        model = Model(binary, self.work, "input_ids", "decoder_input_ids", START, (EOS,))
        prompts = [[5, 17, 48], [1], [30, 30, 2, 9, 44]]
        answers = [greedy(model, p + [EOS], 9, {}) for p in prompts]
        check(len(set(map(tuple, answers))) > 1 and max(map(max, answers)) >= SOURCE, "texts that tell the tables apart: %s" % answers)
        for prompt, made in zip(prompts, answers):
            text, want = read_letters(prompt), written_letters(made)
            self.says(binary, [text, "-n", "9"], want)
            self.says(binary, ["generate", "--text", text, "-n", "9", "--threads", "2"], want)
            self.says(binary, ["generate", "--ids", ",".join(map(str, prompt + [EOS])), "-n", "9"], want)
            self.says(binary, [text, "-n", "9", "--print-ids"], ",".join(map(str, made)))
            self.says(binary, [text, "-n", "9", "--num-beams", "3"], written_letters(beams(model, prompt + [EOS], 9, 3, {})))
            self.says(binary, [text, "-n", "9", "--stop", want[2]], want[:want.index(want[2])])
        self.says(binary, ["--lines", "-n", "9"], "\n".join(map(written_letters, answers)), stdin="".join(read_letters(p) + "\n" for p in prompts).encode())
        # A letter of the target is none of the source.
        self.says(binary, [written_letters([5]), "-n", "3"], written_letters(greedy(model, [EOS], 3, {})))
        path, out = (os.path.join(self.work, n) for n in ("rows.safetensors", "made.safetensors"))
        tensors.write(path, {"input_ids": np.array([prompts[0] + [EOS]] * 2, np.int64)})
        third = written_letters(answers[0])[2]
        p = subprocess.run([binary, "generate", "--input", path, "--output", out, "-n", "9", "--stop", third], stderr=subprocess.PIPE)
        rows = tensors.read(out)["ids"][:, 1:].tolist() if p.returncode == 0 else p.stderr
        check(p.returncode == 0 and rows[0] == rows[1] and len(rows[0]) == 9 and rows[0][:2] == answers[0][:2] and rows[0][3:] == [PAD] * 6, "a batch that stops at a text: %s" % rows)
        info = subprocess.run([binary, "info"], stdout=subprocess.PIPE).stdout.decode()
        check("tokenizer: two, with 50 ids of what is read and 70 of what is written\n" in info, "info: %r" % info)
        told = json.loads(subprocess.run([binary, "info", "--json"], stdout=subprocess.PIPE).stdout)
        check(told["tokenizer"] is True and told.get("target_tokenizer") is True, "info --json: %r" % told)
        self.served(binary, prompts[0], answers[0])
        self.turns(prompts[0], answers[0])
        self.whole(binary)

    def served(self, binary, prompt, made):
        want = written_letters(made)
        with Server(binary) as server:
            def post(**body):
                return server.post("/v1/completions", dict({"prompt": read_letters(prompt), "max_tokens": 9, "temperature": 0}, **body))
            for given in ({}, {"prompt": prompt + [EOS]}):
                status, got = post(**given)
                check(status == 200 and got["choices"][0]["text"] == want, "served %s: %s %s" % (given, status, got))
            status, got = post(echo=True)
            check(status == 200 and got["choices"][0]["text"] == read_letters(prompt) + want, "echo: %s %s" % (status, got))
            status, got = post(stop=want[2])
            check(status == 200 and got["choices"][0]["text"] == want[:want.index(want[2])], "stop: %s %s" % (status, got))
            status, got = post(logprobs=2)
            pieces = [t for t in got["choices"][0]["logprobs"]["tokens"] if t != "</s>"] if status == 200 else got
            check(pieces == list(want), "tokens of logprobs: %s" % pieces)
            status, got = post(prompt=[5, SOURCE])
            check(status == 400 and "50 tokens" in json.dumps(got), "an id of the target's as the prompt: %s %s" % (status, got))
            check(server.stop() == 0, "the server ends well")

    def turns(self, prompt, made):
        """a template puts the question into the source's vocabulary; the answer, and the token that ends it, are the target's"""
        path = os.path.join(self.work, "template")
        with open(path, "w", encoding="utf-8") as f:
            f.write("{{ messages[-1]['content'] }}{% if messages[-1]['role'] == 'assistant' %}{{ '</s>' }}{% endif %}")
        chat = self.compiled("chat", "--template", path)
        model = Model(chat, self.work, "input_ids", "decoder_input_ids", START, (EOS,))
        self.says(chat, [read_letters(prompt), "-n", "9", "--greedy"], written_letters(greedy(model, prompt, 9, {})))

    def whole(self, binary):
        """the program knows both; so does the text of a stage"""
        said = subprocess.run([binary, "--verify"], stdout=subprocess.PIPE).stdout.decode()
        check("the card, both tokenizers and " in said, "--verify: %r" % said)
        with open(binary, "rb") as f:
            data = f.read()
        at = data.rfind(written_letters([60]).encode())
        damaged = os.path.join(self.work, "damaged")
        with open(damaged, "wb") as f:
            f.write(data[:at] + b"\0" + data[at + 1:])
        os.chmod(damaged, 0o755)
        p = subprocess.run([damaged, "--verify"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        check(at > 0 and p.returncode == 1 and b"its target tokenizer" in p.stderr, "a damaged target tokenizer: %s" % p)
        stage = os.path.join(self.work, "fused.mlir")
        self.heddle_says("a stage", ["compile", self.folder, "--emit=fused", "-o", stage], 0)
        with open(self.compiled("again", model=stage), "rb") as f:
            check(f.read() == data, "a program of a stage's text is another one")
        made = os.path.join(self.work, "made.d")
        self.heddle_says("--depfile", ["compile", self.folder, "-o", binary, "--depfile", made], 0)
        with open(made, encoding="utf-8") as f:
            check("target_tokenizer.json" in f.read(), "the depfile lacks the target tokenizer")

    def named(self):
        """--target-tokenizer: a file anywhere, or a folder"""
        self.tokenizers(tokenizer(0x10000, SOURCE, ends=True), None)
        other = os.path.join(self.work, "other")
        os.makedirs(other)
        write_json(other, "tokenizer.json", tokenizer(0x20000, TARGET))
        write_json(other, "letters.json", tokenizer(0x30000, TARGET))
        prompt = read_letters([5, 17, 48])
        one = self.compiled("named", "--target-tokenizer", other)
        want = subprocess.run([one, prompt, "-n", "9"], stdout=subprocess.PIPE).stdout.decode().rstrip("\n")
        check(want and all(0x20000 < ord(c) < 0x20000 + TARGET for c in want), "a folder's tokenizer: %r" % want)
        self.says(self.compiled("file", "--target-tokenizer", os.path.join(other, "letters.json")), [prompt, "-n", "9"], "".join(chr(ord(c) + 0x10000) for c in want))
        for command in (["check"], ["compile", "-o", one]):
            what = command + [self.folder, "--target-tokenizer"]
            self.heddle_says("no such file", what + [os.path.join(other, "none.json")], 5, "none.json: ", "No such file")
            self.heddle_says("no tokenizer", what + [self.work], 1, "H0401", "expected a tokenizer.json, or a folder with the files of a tokenizer")
            self.heddle_says("no JSON", what + [os.path.join(self.folder, "model.safetensors")], 1, "H0401", "no valid JSON")
        with open(os.path.join(other, "tokenizer.json"), "rb") as f:
            before = f.read()
        self.heddle_says("-o over it", ["compile", self.folder, "--target-tokenizer", other, "-o", os.path.join(other, "tokenizer.json")], 2, "would replace a file of the model itself")
        with open(os.path.join(other, "tokenizer.json"), "rb") as f:
            check(f.read() == before, "the tokenizer was replaced")
        stories = os.path.join(ROOT, "examples", "stories")
        self.heddle_says("a model that goes on in its prompt", ["check", stories, "--target-tokenizer", other], 1, "H0401", "does not make one text out of another")
        self.tokenizers(None, tokenizer(0x20000, TARGET))
        self.heddle_says("a target alone", ["check", self.folder], 1, "H0401", "target_tokenizer.json: ", "none of what it reads")

    def pieces(self):
        """Marian's own files: a SentencePiece model and a vocabulary for each side"""
        self.tokenizers(None, None)
        sides = {}
        for side, first, words, ids_file in (("source", 0x10000, SOURCE, "vocab.json"), ("target", 0x20000, TARGET, "target_vocab.json")):
            letters = [(spm.SPACE, -2.0, spm.NORMAL)] + [(chr(first + i), -3.0, spm.NORMAL) for i in range(3, words)]
            sides[side] = letters, dict({"</s>": EOS, "<unk>": 1}, **{t: i + 2 for i, (t, _, _) in enumerate(letters)})
            with open(os.path.join(self.folder, side + ".spm"), "wb") as f:
                f.write(spm.model([("<unk>", 0, spm.UNKNOWN)] + letters))
            write_json(self.folder, ids_file, sides[side][1])
        write_json(self.folder, "tokenizer_config.json", {"tokenizer_class": "MarianTokenizer", "separate_vocabs": True})
        self.heddle_says("Marian's files", ["check", self.folder], 0, "accepted", without=["remark"])
        binary = self.compiled("pieces")
        model = Model(binary, self.work, "input_ids", "decoder_input_ids", START, (EOS,))
        names = {i: t for t, i in sides["target"][1].items()}
        for text in (read_letters([5, 6]), read_letters([40]) + "  " + read_letters([30, 20, 10])):
            made = greedy(model, spm.marian_ids(*sides["source"], text), 9, {})
            want = "".join(names[i] for i in made if i > 1).replace(spm.SPACE, " ")
            self.says(binary, [text, "-n", "9"], want[want.startswith(" "):])
        stage = os.path.join(self.work, "pieces.mlir")
        self.heddle_says("a stage", ["compile", self.folder, "--emit=fused", "-o", stage], 0)
        with open(self.compiled("pieces_again", model=stage), "rb") as f, open(binary, "rb") as g:
            check(f.read() == g.read(), "a program of a stage's text, with pieces, is another one")
        os.remove(os.path.join(self.folder, "target_vocab.json"))
        self.heddle_says("the target's vocabulary is missing", ["check", self.folder], 0, "remark", "separate_vocabs")
        for name in ("source.spm", "target.spm", "vocab.json", "tokenizer_config.json"):
            os.remove(os.path.join(self.folder, name))

    def checks(self):
        """each tokenizer is held against its own table"""
        source, target = tokenizer(0x10000, SOURCE), tokenizer(0x20000, TARGET)
        for what, pair, status, parts, without in (
                ("both fit", (source, target), 0, ["accepted"], ["remark"]),
                ("one id more than the source has", (tokenizer(0x10000, SOURCE + 1), target), 1, [" tokenizer.json: error[H0401]: its largest id is 50, and the model has 50 source tokens; this tokenizer is not the source's"], []),
                ("one id more than the target has", (source, tokenizer(0x20000, TARGET + 1)), 1, ["target_tokenizer.json: error[H0401]: its largest id is 70, and the model has 70 target tokens; this tokenizer is not the target's"], []),
                ("the wrong way round", (target, source), 1, ["its largest id is 69, and the model has 50 source tokens"], ["--target-tokenizer"]),
                ("one for both, of the source's size", (source, None), 0, ["remark", "it has 50 ids, and the model has 50 source tokens and 70 target tokens", "target_tokenizer.json"], []),
                ("one for both, too large for the source", (target, None), 1, ["its largest id is 69, and the model has 50 source tokens", "--target-tokenizer FILE"], []),
                ("few ids of the target", (source, tokenizer(0x20000, 30)), 0, ["it has 30 ids, and the model has 70 target tokens: is this tokenizer the target's?"], []),
                ("a damaged target", (source, {"model": {}}), 1, ["target_tokenizer.json: error[H0401]"], []),
                ("added ids without a row", (tokenizer(0x10000, SOURCE, added=["<a>"]), tokenizer(0x20000, TARGET, added=["<b>"])), 0,
                 ["'<a>' has the id 50, and the model has 50 source tokens", "'<b>' has the id 70, and the model has 70 target tokens"], [])):
            self.tokenizers(*pair)
            self.heddle_says(what, ["check", self.folder], status, *[p.replace(" tokenizer.json", "/tokenizer.json") for p in parts], without=without)
        binary = self.compiled("added")
        self.says(binary, [read_letters([3]) + "<a>", "-n", "3"], "50", status=1)
        self.tokenizers(source, dict(target, model=dict(target["model"], vocab={t: i for t, i in target["model"]["vocab"].items() if i != EOS}), added_tokens=[]))
        self.heddle_says("a target without the token that ends a text", ["check", self.folder], 0, "target_tokenizer.json: remark: it has no token of the id 0, which ends a text")
        self.tokenizers(source, None)
        write_json(self.folder, "tokenizer_config.json", {"separate_vocabs": True})
        self.heddle_says("one where files say two", ["check", self.folder], 0, "remark", "says `separate_vocabs`", "target_tokenizer.json")
        os.remove(os.path.join(self.folder, "tokenizer_config.json"))
        aside = os.path.join(self.work, "stories")
        shutil.copytree(os.path.join(ROOT, "examples", "stories"), aside)
        write_json(aside, "target_tokenizer.json", target)
        self.heddle_says("a target tokenizer beside a decoder", ["check", aside], 0, "remark", "target_tokenizer.json", "it is not read")


def transliteration(suite, given):
    """the published letters: the file's one tokenizer, with the source's ids behind the target's, made two"""
    with open(os.path.join(given, "expected.json"), encoding="utf-8") as f:
        expected = json.load(f)["aren-transliteration"]
    folder = os.path.join(suite.work, "aren")
    shutil.copytree(os.path.join(given, "aren-transliteration"), folder)
    with open(os.path.join(folder, "model.json"), encoding="utf-8") as f:
        text = f.read()
    words = json.loads(text)["config"]["target_vocab"]
    text = text.replace("=max(source_ids - target_vocab, 0)", "source_ids").replace("=min(target_ids, target_vocab - 1)", "target_ids")
    with open(os.path.join(folder, "model.json"), "w", encoding="utf-8") as f:
        f.write(text)
    with open(os.path.join(folder, "tokenizer.json"), encoding="utf-8") as f:
        both = json.load(f)
    vocab = both["model"]["vocab"]
    sides = [dict(both, model=dict(both["model"], vocab=v)) for v in ({t: i for t, i in vocab.items() if i < words}, {t: i - words for t, i in vocab.items() if i >= words})]
    sides[1]["added_tokens"] = []
    write_json(folder, "target_tokenizer.json", sides[0])
    write_json(folder, "tokenizer.json", sides[1])
    binary = suite.compiled("transliterates", model=os.path.join(folder, "model.json"))
    for name, cases in expected.items():
        if name.startswith("greedy"):
            for word, want in cases.items():
                for how in (["--greedy"], ["--num-beams", "4"]):
                    suite.says(binary, [word, "-n", "20", *how], want)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True)
    p.add_argument("folder", nargs="?", default=os.path.join(ROOT, os.pardir, "shared", "real-weights"))
    o = p.parse_args()
    with tempfile.TemporaryDirectory() as work:
        suite = Suite(os.path.abspath(o.heddle), work)
        suite.texts()
        suite.named()
        suite.pieces()
        suite.checks()
        if os.path.isfile(os.path.join(o.folder, "expected.json")):
            transliteration(suite, o.folder)
        else:
            print("no published weights at %s: skipped" % os.path.relpath(o.folder, ROOT))
    return finish()


if __name__ == "__main__":
    sys.exit(main())
