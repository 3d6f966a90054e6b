#!/usr/bin/python3
"""tokenizers.py --heddle BIN [--count 300] [--seed N]: odd and hostile tokenizers. Each must be used or refused with a message that
names its file; never a crash, never more than ten seconds or 2 GiB. One character a MiB long goes through every kind of model. The last
line is `N passed, N failed`."""
import argparse
import concurrent.futures
import copy
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "examples")
ODD = [None, True, -1, 0, 1, 2 ** 31, 2 ** 32 - 1, 2 ** 63, -2 ** 63, 1.5, 1e308, "", " ", "\0", "\u2581", "\ud800", "<0x41>", "a" * 5000, [], {}, [[]], [None] * 3,
       {"type": "BPE"}, {"type": "Sequence", "normalizers": [], "pretokenizers": [], "decoders": []}, {"type": "Nonsense"}]
REGEXES = ["(a*)*b", "(", "[", "a{99999}", "\\p{Zz}", "(?<=a)b", "(?R)", "\\1(a)", "x" * 10000, "(" * 300 + "a" + ")" * 300, "[^\\s\\S]", "", "(?i:\u0130)", "a{3,1}", "[z-a]", "(a|a)*$", "(a|aa)*b", "a*b", "(?:a|b|ab)*(?!a)"]
TEXTS = ["One day there was a loud crack!", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac" * 20, "\u0000\ufffd \u4f60\u597d\U0001f9f5", "[CLS] <|endoftext|> [MASK]", ""]
STAGES = [{"type": "Split", "pattern": {"Regex": r}, "behavior": "Isolated", "invert": False} for r in REGEXES] + [
    {"type": "ByteLevel"}, {"type": "BertPreTokenizer"}, {"type": "Metaspace", "replacement": "", "prepend_scheme": "always"}, {"type": "Digits", "individual_digits": 7},
    {"type": "Replace", "pattern": {"String": ""}, "content": "x"}, {"type": "Replace", "pattern": {"Regex": "a*"}, "content": "aa"}, {"type": "Precompiled", "precompiled_charsmap": "AAAA"},
    {"type": "Precompiled", "precompiled_charsmap": "/////w=="}, {"type": "Prepend", "prepend": "x" * 100000}, {"type": "NFKC"}, {"type": "Strip", "content": "a", "start": 2 ** 40, "stop": -1}]


SECONDS, BYTES = 10, 2 << 30
DOUBLING = {"type": "Sequence", "normalizers": [{"type": "Replace", "pattern": {"String": "a"}, "content": "aaaaaaaaaaaaaaaa"}] * 12}


def nested(depth):
    stage = {"type": "NFC"}
    for _ in range(depth):
        stage = {"type": "Sequence", "normalizers": [stage]}
    return stage


def places(value, path=()):
    """every place in a JSON value, but only some of long lists"""
    found = [path]
    if isinstance(value, dict):
        keys = list(value) if len(value) < 40 else random.sample(list(value), 12)
        for key in keys:
            found += places(value[key], path + (key,))
    elif isinstance(value, list):
        for i in (range(len(value)) if len(value) < 40 else random.sample(range(len(value)), 12)):
            found += places(value[i], path + (i,))
    return found


def mutated(good):
    """one to four changes anywhere"""
    value = copy.deepcopy(good)
    for _ in range(random.randint(1, 4)):
        path = random.choice(places(value)[1:])
        owner = value
        for key in path[:-1]:
            owner = owner[key]
        key, kind = path[-1], random.randrange(5)
        if kind == 0:
            del owner[key]
        elif kind == 1 and isinstance(owner, list):
            owner.insert(key, copy.deepcopy(owner[key]))
        elif kind == 2 and isinstance(owner, dict):
            owner[random.choice(["type", "vocab", "id", "x", "content"])] = copy.deepcopy(owner[key])
        else:
            owner[key] = copy.deepcopy(random.choice(ODD + STAGES[:6]))
    return json.dumps(value)


def written(goods):
    """cases that are thought out, not thrown"""
    bpe, word = goods[0], goods[1]
    cases = ["", "{", "null", "[]", "{}", "[" * 100000, '{"model":' * 1000, "\ufeff{}", '{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}}']
    def change(base, **keys):
        value = copy.deepcopy(base)
        for key, new in keys.items():
            value[key] = new
        cases.append(json.dumps(value))
    for stage in STAGES + [nested(10), nested(60), nested(70)]:
        for key in ("normalizer", "pre_tokenizer", "decoder", "post_processor"):
            if key == "pre_tokenizer" or random.random() < 0.35:
                change(bpe, **{key: stage})
    change(bpe, normalizer=DOUBLING)
    model = bpe["model"]
    for extra in ({"merges": [["a", "b"]] * 3}, {"merges": [["a", "zzz"]]}, {"merges": [["a"]]}, {"merges": ["a b c", " ", ""]}, {"vocab": {"a": 0, "b": 0}, "merges": []},
                  {"vocab": {"a": 2 ** 24}, "merges": []}, {"vocab": {"a": 2 ** 24 - 1}, "merges": []}, {"vocab": {"a": 5}, "merges": []}, {"vocab": {}, "merges": []},
                  {"vocab": {"a": 0, "aa": 1, "aaa": 2}, "merges": [["a", "a"], ["aa", "a"], ["a", "aa"]]}, {"unk_token": "nobody"}, {"byte_fallback": True}, {"dropout": 0.5},
                  {"type": "Unigram", "vocab": [], "unk_id": 0}, {"type": "Unigram", "vocab": [["a", -1e999]], "unk_id": 0}, {"type": "Unigram", "vocab": [["a", -1]], "unk_id": 7},
                  {"type": "Unigram", "vocab": [["", 0], ["a", -1]], "unk_id": 0}, {"type": "WordPiece", "max_input_chars_per_word": -1}, {"type": "WordLevel"}):
        change(bpe, model=dict(model, **extra))
    for tokens in ([{"id": 0, "content": ""}], [{"id": 0}], [{"content": "x"}], [{"id": -1, "content": "x"}], [{"id": 1, "content": "x"}, {"id": 1, "content": "y"}],
                   [{"id": 9999, "content": "x" * 100000}], [{"id": i, "content": "t%d" % i} for i in range(1000, 3000)], {"id": 0}, [7]):
        change(word, added_tokens=tokens)
    for padding in ({"strategy": {"Fixed": 2 ** 40}}, {"strategy": {"Fixed": -1}}, {"strategy": "BatchLongest", "pad_to_multiple_of": 0, "pad_id": 0}, 7):
        change(word, padding=padding)
    for truncation in ({"max_length": 0, "strategy": "LongestFirst", "stride": 0}, {"max_length": 2, "strategy": "OnlySecond", "stride": 0}, {"max_length": -5}, {"max_length": 1, "stride": 5}):
        change(word, truncation=truncation)
    return cases


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))


def ask(heddle, path, requests):
    """exit status, stdout, stderr; status None: not done in time"""
    limits = {} if b"sanitize" in os.fsencode(heddle) else {"preexec_fn": limited}
    try:
        said = subprocess.run([heddle, "tokenize", path, "--json"], input=requests, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS, **limits)
    except subprocess.TimeoutExpired:
        return None, b"", b"not done after %d s" % SECONDS
    return said.returncode, said.stdout, said.stderr


def kinds_of_models(good):
    """a small tokenizer of every kind of model, without anything that splits"""
    letters = [chr(c) for c in range(33, 127)]
    vocab = {t: i for i, t in enumerate(["[UNK]"] + letters + ["##" + c for c in letters] + ["aa", "aaaa", "##aa"])}
    merges = [["a", "a"], ["aa", "aa"]]
    scores = [["<unk>", 0.0]] + [[c, -5.0 - i / 8] for i, c in enumerate(letters)] + [["aa", -6.0], ["aaaa", -7.5]]
    bare = {"version": "1.0", "added_tokens": [{"id": 0, "content": "[UNK]", "special": True}], "normalizer": None, "pre_tokenizer": None, "decoder": None, "post_processor": None}
    yield "byte-level BPE", good
    yield "BPE", dict(bare, model={"type": "BPE", "vocab": vocab, "merges": merges, "unk_token": "[UNK]"})
    yield "WordPiece", dict(bare, model={"type": "WordPiece", "vocab": vocab, "unk_token": "[UNK]", "max_input_chars_per_word": 1 << 30})
    yield "WordLevel", dict(bare, model={"type": "WordLevel", "vocab": vocab, "unk_token": "[UNK]"})
    yield "Unigram", dict(bare, added_tokens=[], model={"type": "Unigram", "vocab": scores, "unk_id": 0})
    many = [{"id": 200 + i, "content": "<" * 40 + str(i), "normalized": bool(i % 2)} for i in range(2000)]
    yield "BPE with 2000 added tokens", dict(bare, added_tokens=many, model={"type": "BPE", "vocab": vocab, "merges": merges, "unk_token": "[UNK]"})


def long_texts(heddle, path, good, failures, mib=1):
    """one character again and again; the pieces together are the text"""
    passed = 0
    for name, case in kinds_of_models(good):
        with open(path, "w", encoding="utf-8") as f:
            json.dump(case, f)
        for character in "a<":
            text = character * (mib << 20)
            start = time.time()
            status, out, err = ask(heddle, path, json.dumps({"text": text, "add_special_tokens": False}).encode() + b"\n")
            tokens = json.loads(out).get("tokens", []) if status == 0 and out else []
            whole = "".join(t[2:] if t.startswith("##") and i else t for i, t in enumerate(tokens)) == text
            unknown = name == "WordLevel" and tokens == ["[UNK]"]
            if whole or unknown:
                passed += 1
            else:
                failures.append("%s, %d MiB of %s: status %s after %.1f s, %d pieces, %r" % (name, mib, character, status, time.time() - start, len(tokens), err[-200:]))
    return passed


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True)
    p.add_argument("--count", type=int, default=300)
    p.add_argument("--seed", type=int, default=5)
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--mib", type=int, default=1, help="length of the texts of one character")
    o = p.parse_args()
    random.seed(o.seed)
    goods = []
    for name in ("stories", "sentiment", "dates"):
        with open(os.path.join(EXAMPLES, name, "tokenizer.json"), encoding="utf-8") as f:
            goods.append(json.load(f))
    cases = written(goods)
    cases += [mutated(goods[i % len(goods)]) for i in range(max(0, o.count - len(cases)))]
    requests = "".join(json.dumps({"text": t}) + "\n" for t in TEXTS) + json.dumps({"ids": [0, 5, 2 ** 62, -1]}) + "\n"
    passed = used = 0
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        def tried(numbered):
            number, case = numbered
            path = os.path.join(folder, str(number), "tokenizer.json")
            os.mkdir(os.path.dirname(path))
            with open(path, "wb") as f:
                f.write(case.encode("utf-8", "surrogatepass"))
            status, out, err = ask(o.heddle, path, requests.encode())
            os.remove(path)
            refused = status in (1, 3) and b"tokenizer.json" in err and len(err) < 4000
            answered = status == 0 and out.count(b"\n") == len(TEXTS) + 1
            return answered, None if refused or answered else "case %d: status %s, %r: %s" % (number, status, err[-300:], case[:300])

        with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
            for answered, failure in pool.map(tried, enumerate(cases)):
                used += answered
                passed += failure is None
                failures += [failure] if failure else []
        path = os.path.join(folder, "tokenizer.json")
        long = len(failures)
        passed += long_texts(o.heddle, path, goods[0], failures, o.mib)
    for failure in failures:
        print("FAIL " + failure)
    print("%d tokenizers, %d of them used, the others refused; texts of %d MiB of one character %s" %
          (len(cases), used, o.mib, "are whole again" if len(failures) == long else "are not"))
    print("%d passed, %d failed" % (passed, len(failures)))
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
