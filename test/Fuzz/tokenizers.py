#!/usr/bin/python3
"""tokenizers.py --heddle BIN [--count 200] [--seed N]: odd and hostile tokenizers. Each must be used or refused with a message that
names its file; never a crash, never more than a few seconds. The last line is `N passed, N failed`."""
import argparse
import copy
import json
import os
import random
import subprocess
import sys
import tempfile

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "examples")
ODD = [None, True, -1, 0, 1, 2 ** 31, 2 ** 32 - 1, 2 ** 63, -2 ** 63, 1.5, 1e308, "", " ", "\0", "\u2581", "\ud800", "<0x41>", "a" * 5000, [], {}, [[]], [None] * 3,
       {"type": "BPE"}, {"type": "Sequence", "normalizers": [], "pretokenizers": [], "decoders": []}, {"type": "Nonsense"}]
REGEXES = ["(a*)*b", "(", "[", "a{99999}", "\\p{Zz}", "(?<=a)b", "(?R)", "\\1(a)", "x" * 10000, "(" * 300 + "a" + ")" * 300, "[^\\s\\S]", "", "(?i:\u0130)", "a{3,1}", "[z-a]", "(a|a)*$"]
TEXTS = ["One day there was a loud crack!", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac" * 20, "\u0000\ufffd \u4f60\u597d\U0001f9f5", "[CLS] <|endoftext|> [MASK]", ""]
STAGES = [{"type": "Split", "pattern": {"Regex": r}, "behavior": "Isolated", "invert": False} for r in REGEXES] + [
    {"type": "ByteLevel"}, {"type": "BertPreTokenizer"}, {"type": "Metaspace", "replacement": "", "prepend_scheme": "always"}, {"type": "Digits", "individual_digits": 7},
    {"type": "Replace", "pattern": {"String": ""}, "content": "x"}, {"type": "Replace", "pattern": {"Regex": "a*"}, "content": "aa"}, {"type": "Precompiled", "precompiled_charsmap": "AAAA"},
    {"type": "Precompiled", "precompiled_charsmap": "/////w=="}, {"type": "Prepend", "prepend": "x" * 100000}, {"type": "NFKC"}, {"type": "Strip", "content": "a", "start": 2 ** 40, "stop": -1}]


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
            if random.random() < 0.35:
                change(bpe, **{key: stage})
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


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True)
    p.add_argument("--count", type=int, default=200)
    p.add_argument("--seed", type=int, default=5)
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
        path = os.path.join(folder, "tokenizer.json")
        for number, case in enumerate(cases):
            with open(path, "wb") as f:
                f.write(case.encode("utf-8", "surrogatepass"))
            try:
                said = subprocess.run([o.heddle, "tokenize", path, "--json"], input=requests.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
            except subprocess.TimeoutExpired:
                failures.append("case %d: not done after 120 s: %s" % (number, case[:300]))
                continue
            refused = said.returncode in (1, 3) and b"tokenizer.json" in said.stderr and len(said.stderr) < 4000
            answered = said.returncode == 0 and said.stdout.count(b"\n") == len(TEXTS) + 1
            used += answered
            if refused or answered:
                passed += 1
            else:
                failures.append("case %d: status %d, %r: %s" % (number, said.returncode, said.stderr[-300:], case[:300]))
    for failure in failures:
        print("FAIL " + failure)
    print("%d tokenizers, %d of them used, the others refused" % (len(cases), used))
    print("%d passed, %d failed" % (passed, len(failures)))
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
