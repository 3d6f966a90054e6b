"""check_is_compile.py TOOL FOLDER [--count N] [--first SEED]: writes every broken model of test/Import and test/Driver, and N models
with a mistake or two made at random in one of their files, and lets TOOL (CheckIsCompile.cpp) ask check and compile about all."""
import argparse
import copy
import json
import os
import random
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import spoil  # noqa: E402

WORDS = {"version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": {"type": "Whitespace"}, "post_processor": None, "decoder": None,
         "model": {"type": "WordLevel", "unk_token": "a", "vocab": {w: i for i, w in enumerate("abcdefghijk")}}}
GENERATION = {"eos_token_id": 2, "pad_token_id": 0, "temperature": 0.7, "top_k": 5, "do_sample": True}


def suite(folder):
    """Every test that spoils a model, as %spoil would write it."""
    for part in ("Import", "Driver"):
        for top, _, names in os.walk(os.path.join(HERE, os.pardir, part)):
            for name in sorted(names):
                path = os.path.join(top, name)
                if not name.endswith(".test"):
                    continue
                with open(path, encoding="utf-8") as f:
                    text = f.read()
                base = re.search(r"^BASE: (\w+)$", text, re.M)
                if not base or not os.path.isdir(os.path.join(spoil.INPUTS, base[1])):
                    continue
                to = os.path.join(folder, os.path.basename(top) + "-" + name[:-5])
                spoil.spoil(path, to)
                yield to


def places(value, path=()):
    yield path
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from places(value[key], path + (key,))


def spoilt(word, r):
    at = r.randrange(len(word) + 1)
    return word[:at] + r.choice(["", "s", ".", "{", "=", "x y"]) + word[at + r.randrange(2):]


def other(value, r):
    if isinstance(value, bool) or value is None:
        return r.choice([True, False, None, 1, "no"])
    if isinstance(value, (int, float)):
        return r.choice([0, -1, 1, value + 1, value - 1, value * 2, 2 ** 40, 0.5, str(value), [value]])
    if isinstance(value, str):
        return r.choice([spoilt(value, r), spoilt(value, r), value.upper(), "", 3, [value]])
    return r.choice([None, {}, [], 1, "x"])


def mutate(value, r):
    value = copy.deepcopy(value)
    path = r.choice([p for p in places(value) if p] or [()])
    if not path:
        return value
    at = value
    for key in path[:-1]:
        at = at[key]
    key = path[-1]
    how = r.randrange(4)
    if how == 0:
        del at[key]
    elif how == 1 and isinstance(at, dict):
        at[spoilt(key, r)] = at.pop(key)
    elif how == 2 and isinstance(at, list):
        at.insert(r.randrange(len(at) + 1), copy.deepcopy(at[key]))
    else:
        at[key] = other(at[key], r)
    return value


def mutant(seed, folder):
    r = random.Random(seed)
    kinds = sorted(k for k in os.listdir(spoil.INPUTS) if os.path.isdir(os.path.join(spoil.INPUTS, k)))
    model = spoil.Model(os.path.join(folder, "mutant-%d" % seed))
    model.base(kinds[seed % len(kinds)])
    if r.random() < 0.5:
        model.write("tokenizer.json", json.dumps(WORDS, indent=1).encode())
    if os.path.exists(model.path("config.json")) and r.random() < 0.5:
        model.write("generation_config.json", json.dumps(GENERATION, indent=1).encode())
    for _ in range(r.choice([1, 1, 1, 2])):
        file = r.choice(sorted(os.listdir(model.folder)) + ["model.json" if os.path.exists(model.path("model.json")) else "config.json"])
        if file == "model.safetensors" and model.tensors:
            name = r.choice(sorted(model.tensors))
            how = r.randrange(5)
            if how == 0:
                model.tensor(name, "drop")
            elif how == 1:
                model.tensor(name, "[%d]" % r.randrange(1, 9))
            elif how == 2:
                model.tensors[spoilt(name, r)] = model.tensors.pop(name)
                model.save()
            elif how == 3:
                model.write(file, model.read(file)[:r.randrange(200)])
            else:
                os.remove(model.path(file))
        elif os.path.exists(model.path(file)) and file.endswith(".json"):
            text = model.read(file)
            try:
                value = json.loads(text)
            except ValueError:
                continue
            if r.random() < 0.1:
                at = r.randrange(len(text))
                model.write(file, r.choice([text[:at], text[:at] + b"," + text[at:], text + text]))
            else:
                model.write(file, json.dumps(mutate(value, r), indent=1).encode())
    return model.folder


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("tool")
    p.add_argument("folder")
    p.add_argument("--count", type=int, default=500)
    p.add_argument("--first", type=int, default=0)
    o = p.parse_args()
    shutil.rmtree(o.folder, ignore_errors=True)
    os.makedirs(o.folder)
    models = list(suite(o.folder))
    broken = len(models)
    models += [mutant(seed, o.folder) for seed in range(o.first, o.first + o.count)]
    print("%d models of the suite, %d mutants" % (broken, o.count))
    sys.stdout.flush()
    # Messages name files as they were given; from inside the folder the names are short.
    r = subprocess.run([o.tool, "."], input="".join(os.path.basename(m) + "\n" for m in models), text=True, cwd=o.folder, timeout=110 + o.count // 5)
    good = r.returncode == 0 and broken > 150
    if good:
        shutil.rmtree(o.folder)
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
