"""marian_pieces.py HEDDLE WORK: SentencePiece models beside a vocabulary, cut and numbered as the published tokenizer of Marian does.

One line a failure, then `N passed, N failed`."""
import json
import os
import random
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import pieces as p
from checks import check, finish

heddle, work = sys.argv[1:]
LETTERS = "abcde"
SPECIAL = [("<unk>", 0, p.UNKNOWN), ("<s>", 0, p.CONTROL), ("</s>", 0, p.CONTROL)]


def folder(name, files):
    home = os.path.join(work, name)
    shutil.rmtree(home, ignore_errors=True)
    os.makedirs(home)
    for file, content in files.items():
        with open(os.path.join(home, file), "wb") as f:
            f.write(content if isinstance(content, bytes) else json.dumps(content).encode())
    return home


def tokenize(path, requests):
    said = subprocess.run([heddle, "tokenize", path, "--json"], input="".join(json.dumps(r) + "\n" for r in requests).encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return said, [json.loads(line) for line in said.stdout.decode().split("\n") if line]


def drawn(seed, letters):
    """pieces of up to four letters, some of which begin a word"""
    r = random.Random(seed)
    texts = {p.SPACE, *letters} | {p.SPACE * r.randrange(2) + "".join(r.choice(letters) for _ in range(r.randrange(1, 5))) for _ in range(60)}
    return SPECIAL + [(t, -r.uniform(1, 9), p.NORMAL) for t in sorted(texts)]


def numbered(*lists, without=()):
    texts = sorted({t for pieces in lists for t, _, what in pieces if what == p.NORMAL} - set(without))
    return dict({"</s>": 0, "<unk>": 1}, **{t: i + 2 for i, t in enumerate(texts)})


def texts(letters):
    r = random.Random(7)
    return ["", " ", "a", "  ab  c ", "abcde edcba", "zz a zz", "a\u2581b"] + ["".join(r.choice(letters + " z") for _ in range(r.randrange(1, 40))) for _ in range(40)]


def agrees(what, path, pieces, ids, letters, **how):
    asked = texts(letters)
    said, answers = tokenize(path, [{"text": t} for t in asked])
    check(len(answers) == len(asked), "%s: %r" % (what, said))
    for text, got in zip(asked, answers):
        want = p.marian_ids(pieces, ids, text, **how)
        check(got.get("ids") == want, "%s, %r: %s, expected %s of %s" % (what, text, got, want, p.cut(pieces, text, **how)))


def main():
    source, target = drawn(1, LETTERS), drawn(2, "cdefg")
    # One vocabulary for both: a side's pieces alone cut its texts, whatever else has an id. A piece without an id is unknown.
    missing = [t for t, _, what in source if what == p.NORMAL and len(t) > 1][::5]
    ids = numbered(source, target, without=missing)
    for what, how in (("as trained", {}), ("no space in front", {"prefix": False}), ("spaces kept", {"collapse": False})):
        both = {"source.spm": p.model(source, **how), "target.spm": p.model(target, **how), "vocab.json": ids}
        home = folder("shared", dict(both, **{"tokenizer_config.json": {"tokenizer_class": "MarianTokenizer"}}))
        agrees("source, " + what, home, source, ids, LETTERS, **how)
        agrees("target, " + what, os.path.join(home, "target.spm"), target, ids, "cdefg", **how)
    apart = numbered(target)
    home = folder("apart", {"source.spm": p.model(source), "target.spm": p.model(target), "vocab.json": numbered(source), "target_vocab.json": apart})
    agrees("source of two", home, source, numbered(source), LETTERS)
    agrees("target of two", os.path.join(home, "target.spm"), target, apart, "cdefg")
    shown = [apart[t] for t in (p.SPACE, "c", p.SPACE, "d", "e")] + [0]
    _, answers = tokenize(os.path.join(home, "target.spm"), [{"ids": shown, "skip_special_tokens": True}])
    check(answers[0]["text"] == "c de", "ids to a text: %r" % answers)

    # >>fra<< says into which language; what follows is a text of its own.
    codes = dict(ids, **{">>fra<<": len(ids)})
    home = folder("codes", {"source.spm": p.model(source), "vocab.json": codes})
    _, answers = tokenize(home, [{"text": ">>fra<< abc d"}, {"text": "a", "pair": "b"}])
    check(answers[0]["ids"] == [len(ids)] + p.marian_ids(source, codes, "abc d"), "a language: %r" % answers[0])
    check(answers[1]["ids"] == p.marian_ids(source, codes, "a")[:-1] + p.marian_ids(source, codes, "b"), "a pair: %r" % answers[1])

    whole, plenty = p.model(source), {"source.spm": p.model(source), "vocab.json": ids}
    way = [b"tokenizer.json for what is read", b"target_tokenizer.json for what is written"]
    for what, files, code, words in (
            ("cut short", dict(plenty, **{"source.spm": whole[:-3]}), 1, [b"source.spm: no SentencePiece model: byte "]),
            ("no model", dict(plenty, **{"source.spm": b"x"}), 1, [b"source.spm: no SentencePiece model: byte 1 is in no field"]),
            ("empty", dict(plenty, **{"source.spm": b""}), 1, [b"source.spm: no SentencePiece model: it has no pieces"]),
            ("a length that is too long", dict(plenty, **{"source.spm": b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"}), 1, [b"no SentencePiece model"]),
            ("BPE", dict(plenty, **{"source.spm": p.model(source, kind=2)}), 3, [b"source.spm: a SentencePiece model that is no Unigram is unsupported", *way]),
            ("spaces behind words", dict(plenty, **{"source.spm": p.model(source, suffix=True)}), 3, [b"not in front of words is unsupported", *way]),
            ("a symbol", dict(plenty, **{"source.spm": p.model(source + [("<x>", 0, p.USER_DEFINED)])}), 3, [b"`<x>`", *way]),
            ("a byte", dict(plenty, **{"source.spm": p.model(source + [("<0x0A>", 0, p.BYTE)])}), 3, [b"`<0x0A>`", *way]),
            ("no unknown token", dict(plenty, **{"vocab.json": {"</s>": 0}}), 1, [b"vocab.json: `<unk>` is missing"]),
            ("no number", dict(plenty, **{"vocab.json": dict(ids, a="b")}), 1, [b"vocab.json: the id of `a` is no number"]),
            ("another class", dict(plenty, **{"tokenizer_config.json": {"tokenizer_class": "OddTokenizer"}}), 3, [b"OddTokenizer"]),
            ("no vocabulary", {"source.spm": whole}, 3, [b"source.spm"])):
        said = subprocess.run([heddle, "tokenize", folder("broken", files)], input=b"", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        check(said.returncode == code and all(w in said.stderr for w in words), "%s: %r" % (what, said))
    return finish()


if __name__ == "__main__":
    sys.exit(main())
