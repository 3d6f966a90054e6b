"""vocabulary.py HEDDLE WORK: directories with and without tokenizer.json. One line a failure, then `N passed, N failed`."""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
from checks import check, finish

heddle, work = sys.argv[1:]
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "examples")
TEXTS = ["", " ", "One day there was  a loud\ncrack!", "caf\u00e9 \u2014 \u4f60\u597d \U0001f9f5", "It's [MASK] or <|endoftext|>, isn't it? 12345",
         "THE Soup wasn't b\u00e2d; \u00e9tude \u0301x", "a" * 300]


def folder(name, files):
    home = os.path.join(work, name)
    shutil.rmtree(home, ignore_errors=True)
    os.makedirs(home)
    for file, content in files.items():
        if content is None:
            os.symlink(os.path.abspath(os.path.join(EXAMPLES, file)), os.path.join(home, os.path.basename(file)))
            continue
        with open(os.path.join(home, file), "w", encoding="utf-8", newline="\n") as f:
            f.write(content if isinstance(content, str) else json.dumps(content))
    return home


def tokenize(home, requests):
    lines = "".join(json.dumps(r) + "\n" for r in requests)
    return subprocess.run([heddle, "tokenize", home, "--json"], input=lines.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def same(example, files):
    """the old files of an example's tokenizer, made here, against its tokenizer.json"""
    requests = [{"text": t} for t in TEXTS] + [{"text": TEXTS[2], "pair": TEXTS[4]}] + [{"ids": list(range(n, 400, 7))} for n in range(7)]
    new, old = tokenize(os.path.join(EXAMPLES, example), requests), tokenize(folder(example + "-old", files), requests)
    check(new.returncode == 0 == old.returncode, "%s: %r" % (example, old.stderr))
    for request, a, b in zip(requests, new.stdout.split(b"\n"), old.stdout.split(b"\n")):
        check(a == b, "%s %r: tokenizer.json gives %r, the old files %r" % (example, request, a, b))


def model_of(example):
    with open(os.path.join(EXAMPLES, example, "tokenizer.json"), encoding="utf-8") as f:
        return json.load(f)


def main():
    stories, bert = model_of("stories"), model_of("sentiment")
    merges = "#version: 0.2\n" + "".join((m if isinstance(m, str) else " ".join(m)) + "\n" for m in stories["model"]["merges"])
    same("stories", {"vocab.json": stories["model"]["vocab"], "merges.txt": merges, "tokenizer_config.json": {"tokenizer_class": "GPT2Tokenizer"}})
    words = sorted(bert["model"]["vocab"], key=bert["model"]["vocab"].get)
    same("sentiment", {"vocab.txt": "\n".join(words) + "\n", "special_tokens_map.json": {"unk_token": "[UNK]", "cls_token": {"content": "[CLS]"}}})

    # Letters of CTC.
    letters = {"<pad>": 0, "<s>": 1, "</s>": 2, "<unk>": 3, "|": 4, "A": 5, "B": 6}
    home = folder("letters", {"vocab.json": letters, "tokenizer_config.json": {"tokenizer_class": "Wav2Vec2CTCTokenizer"}})
    said = tokenize(home, [{"text": "A BA?"}, {"ids": [5, 4, 6, 5], "skip_special_tokens": True}])
    answers = [json.loads(line) for line in said.stdout.decode().split("\n") if line]
    check(answers and answers[0]["ids"] == [5, 4, 6, 5, 3] and answers[1]["text"] == "A BA", "letters: %r" % said)

    # Words of letters, the last of which ends one: GPT-1 lowers them, CTRL marks the others and keeps a new line. Without a class config.json's model type decides.
    gpt1 = {"<unk>": 0, "c": 1, "a": 2, "t": 3, "a</w>": 4, "t</w>": 5, "ca": 6, "cat</w>": 7, "at</w>": 8, ".</w>": 9}
    ctrl = {"<unk>": 0, "c@@": 1, "a@@": 2, "t@@": 3, "a": 4, "t": 5, "ca@@": 6, "cat": 7, "at": 8, "t\n": 9, "C@@": 10, "ca": 11}
    pairs, named = "#version: 0.2\nc a\nca t</w>\na t</w>\n", lambda kind: {"tokenizer_config.json": {"tokenizer_class": kind + "Tokenizer"}}
    for what, vocabulary, kind, asked, ids, shown, text in (
            ("openai-gpt", gpt1, "OpenAIGPT", "CAT ct. \u00e1 .", [7, 1, 5, 9, 4, 9], [7, 1, 8, 9, 4, 0], "cat cat . a <unk>"),
            ("ctrl", ctrl, "CTRL", "cat Cat a cat\n?", [7, 10, 8, 4, 6, 3, 0, 0], [7, 10, 8, 4, 6, 9, 0], "cat Cat a cat\n <unk>")):
        for more in named(kind), {"config.json": {"model_type": what}}:
            said = tokenize(folder("words", {"vocab.json": vocabulary, "merges.txt": pairs, **more}), [{"text": asked}, {"ids": shown}])
            answers = [json.loads(line) for line in said.stdout.decode().split("\n") if line]
            check(answers and answers[0]["ids"] == ids and answers[1]["text"] == text, "%s, %s: %r" % (what, sorted(more), said))
    said = tokenize(folder("framed", {"vocab.json": {"<s>": 0, "</s>": 1, "a": 2}, "merges.txt": "", "config.json": {"model_type": "roberta"}}), [{"text": "a"}])
    check(b'"ids":[0,2,1]' in said.stdout, "roberta: %r" % said)

    # Of equal lines the last stands. A token of added_tokens.json is normalized and shown unless it has a role.
    said = tokenize(folder("repeats", {"vocab.txt": "[UNK]\n[CLS]\n[SEP]\na\nb\na\n\n\n"}), [{"text": "a b"}])
    check(b'"ids":[1,5,4,2]' in said.stdout, "repeats: %r" % said)
    lines = ["[UNK]", "[CLS]", "[SEP]", "c", "b", "a", "[X]", "z"]
    home = folder("roles", {"vocab.txt": "\n".join(lines) + "\n", "added_tokens.json": {"NEW": 8, "[Y]": 9}, "special_tokens_map.json": {"additional_special_tokens": ["[X]", "[Y]"]}})
    said = tokenize(home, [{"text": "a new [X] B [Y]"}, {"ids": [1, 5, 6, 4, 9, 3], "skip_special_tokens": True}])
    answers = [json.loads(line) for line in said.stdout.decode().split("\n") if line]
    check(answers and answers[0]["ids"] == [1, 5, 8, 6, 4, 9, 2] and answers[1]["text"] == "a b c", "roles: %r" % said)
    home = folder("plain", {"vocab.txt": "[UNK]\n[CLS]\n[SEP]\nA\n\u4f60\u597d\n", "tokenizer_config.json": {"do_basic_tokenize": False}})
    said = tokenize(home, [{"text": "A \u4f60\u597d"}])
    check(b'"ids":[1,3,4,2]' in said.stdout, "do_basic_tokenize: %r" % said)

    # What cannot be read says what to do. vocab.json beside pieces of words has ids of those: it is not the letters of CTC.
    two = [b"tokenizer.json for what is read", b"target_tokenizer.json for what is written"]
    for files, code, words in (({"spiece.model": "\n\x0e"}, 3, [b"spiece.model", b"save_pretrained"]), ({}, 1, [b"no tokenizer.json, vocab.json or vocab.txt"]),
                               ({"vocab-src.json": {"a": 0}, "vocab-tgt.json": {"a": 0}, "merges.txt": ""}, 3, [b"vocab-src.json", *two]),
                               ({"vocab.json": letters, "sentencepiece.bpe.model": "x"}, 3, [b"sentencepiece.bpe.model", b"save_pretrained"]),
                               ({"vocab.json": letters, "tokenizer_config.json": {"tokenizer_class": "Speech2TextTokenizer"}}, 3, [b"Speech2TextTokenizer", b"save_pretrained"]),
                               ({"vocab.json": "{", "merges.txt": ""}, 1, [b"vocab.json: no valid JSON"]),
                               ({"vocab.json": {"a": 0}, "merges.txt": "a b c\n"}, 1, [b"merges.txt: line 1"]),
                               ({"vocab.json": {"a": -1}, "merges.txt": ""}, 1, [b"vocab.json", b"`a`"]),
                               ({"vocab.txt": "a\n"}, 1, [b"[CLS]"]),
                               ({"vocab.json": {"a": 0}, "merges.txt": "", "tokenizer_config.json": {"tokenizer_class": "OddTokenizer"}}, 3, [b"OddTokenizer", b"save_pretrained"]),
                               ({"vocab.json": {"a": 0}, "merges.txt": "", "config.json": {"model_type": "deberta"}}, 3, [b"DebertaTokenizer", b"save_pretrained"]),
                               ({"vocab.json": {"a": 0}, "merges.txt": "", "config.json": {"model_type": "ctrl"}}, 1, [b"vocab.json", b"`<unk>` is missing"]),
                               ({"vocab.json": {"a": 0}, "merges.txt": "", "config.json": "["}, 1, [b"config.json: no valid JSON"])):
        said = tokenize(folder("broken", files), [])
        check(said.returncode == code and all(w in said.stderr for w in words), "%s: %r" % (list(files), said))

    # An id of the vocabulary past the table is a mistake before the model runs, an added token there a remark; a lone spiece.model is said and the model compiles.
    big = dict(stories, added_tokens=stories["added_tokens"] + [{"id": 1024, "content": "<new>", "special": True}])
    model = {"stories/config.json": None, "stories/model.safetensors": None}
    far = dict(stories, model=dict(stories["model"], vocab={**stories["model"]["vocab"], "<new>": 1024}))
    for files, code, words in ((dict(model, **{"tokenizer.json": far}), 1, [b"largest id is 1024", b"1024 tokens"]),
                               (dict(model, **{"tokenizer.json": big}), 0, [b"remark: the added token '<new>' has the id 1024", b"1024 tokens"]),
                               (dict(model, **{"tokenizer.json": stories}), 0, []), (dict(model, **{"spiece.model": "x"}), 0, [b"note", b"spiece.model", b"save_pretrained"])):
        said = subprocess.run([heddle, "compile", folder("model", files), "-o", os.path.join(work, "model.bin"), *cached.quick(heddle)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        check(said.returncode == code and all(w in said.stdout for w in words), "compile with %s: %r" % (sorted(files), said))
    return finish()


if __name__ == "__main__":
    sys.exit(main())
