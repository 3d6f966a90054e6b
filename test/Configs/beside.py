#!/usr/bin/python3
"""The files that lie beside a config.json, odd and hostile: no crash, and either used or refused with a message.

    beside.py --heddle BIN [--count 200] [--first SEED] [--show]

Directories of the examples, with a tokenizer as it was before tokenizer.json, get one of these files damaged: values of other types,
huge, nested or missing ones, the text cut, bytes put in. `heddle tokenize` reads the tokenizer, `heddle compile --emit=model` all else, under
a limit of memory and of time. The last line is `N passed, N failed`. The same seed makes the same files everywhere."""
import argparse
import copy
import json
import os
import random
import subprocess
import sys
import tempfile

from hostile import ODD, ROOT, SECONDS, limits

EXAMPLES = os.path.join(ROOT, "examples")


def model_of(example):
    with open(os.path.join(EXAMPLES, example, "tokenizer.json"), encoding="utf-8") as f:
        return json.load(f)


def directories():
    """example -> the files beside its config.json, as text or as JSON"""
    stories, words = model_of("stories")["model"], model_of("sentiment")["model"]["vocab"]
    token = {"content": "<|endoftext|>", "lstrip": False, "rstrip": False, "normalized": False, "single_word": False, "special": True}
    last = stories["vocab"]["<|endoftext|>"]
    return {
        "stories": {
            "vocab.json": {k: v for k, v in stories["vocab"].items()},
            "merges.txt": "#version: 0.2\n" + "".join((m if isinstance(m, str) else " ".join(m)) + "\n" for m in stories["merges"]),
            "tokenizer_config.json": {"tokenizer_class": "GPT2Tokenizer", "add_bos_token": False, "add_prefix_space": False, "eos_token": token, "bos_token": "<|endoftext|>",
                                      "added_tokens_decoder": {str(last): token}, "additional_special_tokens": ["<|endoftext|>"]},
            "special_tokens_map.json": {"unk_token": token, "pad_token": "<|endoftext|>", "additional_special_tokens": [token]},
            "added_tokens.json": {"<|endoftext|>": last},
            "generation_config.json": {"do_sample": True, "temperature": 0.7, "top_k": 40, "top_p": 0.9, "eos_token_id": [last], "bos_token_id": last, "max_length": 40,
                                       "repetition_penalty": 1.1, "suppress_tokens": [1, 2], "num_beams": 1, "early_stopping": False, "length_penalty": 1.0},
        },
        "sentiment": {
            "vocab.txt": "\n".join(sorted(words, key=words.get)) + "\n",
            "tokenizer_config.json": {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "strip_accents": None, "tokenize_chinese_chars": True, "do_basic_tokenize": True,
                                      "cls_token": "[CLS]", "sep_token": {"content": "[SEP]", "lstrip": False}},
            "special_tokens_map.json": {"unk_token": "[UNK]", "mask_token": {"content": "[MASK]", "lstrip": True}},
        },
        "shapes": {"preprocessor_config.json": json.load(open(os.path.join(EXAMPLES, "shapes", "preprocessor_config.json"), encoding="utf-8"))},
    }


def places(value, path=()):
    """every place in `value`, outermost first"""
    yield path
    for key in (sorted(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()):
        yield from places(value[key], path + (key,))


def put(value, path, new):
    for key in path[:-1]:
        value = value[key]
    if new is places:
        del value[path[-1]]
    else:
        value[path[-1]] = new


def damage(content, r):
    """the bytes of a file; how it was damaged"""
    how, value = [], None
    if not isinstance(content, str):
        value = json.loads(json.dumps(content))
        for _ in range(r.choice([0, 1, 1, 1, 2, 3])):
            inside = [p for p in places(value) if p]
            if not inside:
                break
            few = [p for p in inside if len(p) > 1] or inside
            path = r.choice(r.choice([inside[:200], few]))
            new = copy.deepcopy(r.choice(ODD + [places]))  # `places`: gone
            put(value, path, new)
            how.append("%s: %s" % (".".join(map(str, path))[:40], "gone" if new is places else json.dumps(new)[:30]))
    text = (content if value is None else json.dumps(value)).encode("utf-8", "surrogatepass")
    last = r.choice(["none"] * (2 if value is None else 9) + ["cut", "bytes", "twice", "empty", "lines", "array"])
    at = r.randrange(len(text))
    if last == "cut":
        text = text[:at]
    elif last == "bytes":
        text = text[:at] + bytes(r.randrange(256) for _ in range(20)) + text[at:]
    elif last == "twice":
        text += text
    elif last == "empty":
        text = b""
    elif last == "lines":
        text = text.replace(b"\n", b"\r\n").replace(b" ", b"  ", 3)
    elif last == "array":
        text = b"[" + text + b"]"
    return text, how + [last]


def problem_of(command, given=b""):
    try:
        r = subprocess.run(command, input=given, capture_output=True, timeout=SECONDS, preexec_fn=limits)
    except subprocess.TimeoutExpired:
        return "%s: no answer in %d s" % (command[1], SECONDS), False
    if r.returncode not in (0, 1, 3):
        return "%s: exit status %d: %s" % (command[1], r.returncode, r.stderr[-300:].decode("utf-8", "replace")), False
    if r.returncode and not r.stderr:
        return "%s: refused without a word" % command[1], False
    return None, r.returncode == 0


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--heddle", required=True)
    p.add_argument("--count", type=int, default=200)
    p.add_argument("--first", type=int, default=0)
    p.add_argument("--show", action="store_true", help="a line for each file")
    o = p.parse_args()
    homes = directories()
    files = [(example, name) for example in homes for name in homes[example]]
    failed = used = 0
    for seed in range(o.first, o.first + o.count):
        r = random.Random(seed)
        example, damaged = files[seed % len(files)]
        with tempfile.TemporaryDirectory() as home:
            for name in ("config.json", "model.safetensors"):
                os.symlink(os.path.join(EXAMPLES, example, name), os.path.join(home, name))
            for name, content in homes[example].items():
                text = (content if isinstance(content, str) else json.dumps(content)).encode()
                if name == damaged:
                    text, how = damage(content, r)
                with open(os.path.join(home, name), "wb") as f:
                    f.write(text)
            problem, good = None, True
            if example != "shapes":
                problem, good = problem_of([o.heddle, "tokenize", home], b"One day [MASK] <|endoftext|> caf\xc3\xa9\n")
            if not problem:
                problem, compiled = problem_of([o.heddle, "compile", home, "--emit=model"])
                good = good and compiled
        used += good
        failed += problem is not None
        if o.show or problem:
            print("%s %d %s/%s, %s: %s" % ("FAIL" if problem else "ok", seed, example, damaged, "; ".join(how)[:200], problem or ("used" if good else "refused")))
    print("%d used, %d refused" % (used, o.count - used - failed))
    if used < o.count // 20:
        print("FAIL too few are used for the others to be read far")
        failed += 1
    print("%d passed, %d failed" % (o.count - failed, failed))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
