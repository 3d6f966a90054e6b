#!/usr/bin/python3
"""Odd and hostile config.json files: no crash, and either accepted or refused with messages that have a place.

    hostile.py --heddle BIN [--count 200] [--first SEED] [--keep DIR] [--show]

Each file begins as a small config.json of one family, made from the keys that the family file itself mentions, and is then
damaged: keys get values of other types, huge, negative, zero, infinite, nested, empty or oversized ones, go missing, come twice
or under another spelling; or the text is cut, doubled or filled with bytes. `heddle check` reads it under a limit of memory and
of time. The last line is `N passed, N failed`. The same seed makes the same files everywhere."""
import argparse
import glob
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FAMILIES = os.path.join(ROOT, "compiler", "Families")
SECONDS, MEMORY = 60, 4 << 30

# What small models have, by the words in a key; the first that fits.
SIZES = [("layer_norm", 1e-5), ("_eps", 1e-5), ("num_hidden_layers|n_layer|encoder_layers|decoder_layers|num_layers", 2), ("heads|n_head", 2), ("vocab", 64),
         ("positions|max_position|n_ctx|seq", 64), ("token_id", 1), ("conv_dim", [8, 8]), ("conv_kernel", [3, 3]), ("conv_stride", [2, 2]), ("cutoffs", [10, 30]),
         ("act|feed_forward_proj", "gelu"), ("image_size", 16), ("patch_size", 4), ("theta|base", 10000.0), ("experts_per_tok", 1), ("num_experts|num_local_experts", 2),
         ("window", 8), ("block", 4), ("head_dim|d_kv|d_head", 8), ("intermediate|ffn|d_ff|d_inner|n_inner|hidden_dim", 32), ("num_mel_bins", 8), ("", 16)]
# Keys that say how, not how large: absent in the plain file.
OPTIONAL = re.compile("rope|scal|bias|tie|type|mode|layer_types|sliding|_from|is_|use_|add_|norm_|pos_att|labels|label|multi_query|alibi|relative|position_b|mlp_only|cap|conv_act")

ODD = [None, True, False, 0, -1, 1, 2**31, 2**63 - 1, 2**63, -2**63, 10**30, 1e-300, 1e308, -0.0, 0.5, 1e400, "", "x", "=1/0", "=head", "{i}", "gelu", "\u0000", "\U0001f9f6" * 50, "a" * 100000,
       [], [0], [None], [[]], [1, "x", {}], list(range(5000)), {}, {"a": 1}, {"rope_type": "yarn", "factor": "x"}, {"rope_type": "llama3"}, {"type": "linear", "factor": 0},
       {"rope_type": "longrope", "short_factor": [], "long_factor": [1]}, {"factor": {"factor": {"factor": 1}}}]


def families():
    """model type -> (class, keys that its file mentions)"""
    out = {}
    def read(name):
        with open(os.path.join(FAMILIES, name + ".json"), encoding="utf-8") as f:
            doc = json.load(f)
        return (read(doc["like"]) if "like" in doc else []) + [doc]
    for path in sorted(glob.glob(os.path.join(FAMILIES, "*.json"))):
        docs = read(os.path.basename(path)[:-5])
        family = {}
        for d in docs:
            family.update(d.get("family", {}))
        types = family["model_type"]
        mine = {}
        for d in docs: # null takes one of `like` away
            mine.update(d.get("family", {}).get("architectures", {}))
        classes = [re.sub(r"\*", "", c) or "Any" for c, v in mine.items() if v is not None]
        known = {n for d in docs for n in d.get("config", {})} | {"true", "false", "null", "and", "or", "not", "in", "head"}
        keys = set()
        for d in docs:
            for text in list(d.get("config", {}).values()) + list(d.get("family", {}).get("require", {}).values()):
                if isinstance(text, str) and text.startswith("="):
                    keys |= set(re.findall(r"(?<!['\w.])[a-z_][\w.]*(?!\w*\()", re.sub("'[^']*'", "''", text)))
            keys |= set(d.get("family", {}).get("require", {}))
        keys = {k for k in keys if not (k in known and "." not in k) and k not in ("len", "int", "sqrt", "log", "min", "max", "ceil")}
        out[types if isinstance(types, str) else types[0]] = (classes, sorted(keys))
    return out


def put(config, key, value):
    *parents, last = key.split(".")
    for p in parents:
        if not isinstance(config.get(p), dict):
            config[p] = {}
        config = config[p]
    config[last] = value


def plain(kind, classes, keys, r):
    config = {"model_type": kind, "architectures": [r.choice(classes)]}
    for k in keys:
        if not OPTIONAL.search(k.rsplit(".", 1)[-1]):
            put(config, k, next(v for words, v in SIZES if re.search(words, k)))
    return config


def damage(config, keys, r):
    """the text of a file; how it was damaged"""
    how = []
    for _ in range(r.choice([0, 1, 1, 1, 2, 2, 3, 6])):
        key = r.choice(sorted(keys) + ["architectures", "model_type", "id2label", "torch_dtype"] + sorted(config))
        what = r.choice(["odd", "odd", "odd", "odd", "drop", "misspell", "nest", "many"])
        if what == "odd":
            put(config, key, r.choice(ODD))
        elif what == "drop":
            config.pop(key.split(".")[0], None)
        elif what == "misspell":
            put(config, key + r.choice(["s", "_", " ", "\t", "\u00e9"]), r.choice(ODD))
        elif what == "nest":
            value = {}
            for _ in range(r.choice([3, 60, 70, 3000])):
                value = [value] if r.random() < 0.5 else {key: value}
            put(config, key, value)
        else:
            for n in range(2000):
                config["%s_%d" % (key, n)] = n
        how.append("%s %s" % (what, key))
    sys.setrecursionlimit(20000)
    text = json.dumps(config)
    last = r.choice(["none"] * 14 + ["cut", "twice", "bytes", "double", "array", "deep"])
    if last == "cut":
        text = text[:r.randrange(len(text))]
    elif last == "twice":
        text = text[:-1] + ', "model_type": "bert"}'
    elif last == "bytes":
        at = r.randrange(len(text))
        return text[:at].encode() + bytes(r.randrange(256) for _ in range(20)) + text[at:].encode(), how + [last]
    elif last == "double":
        text += text
    elif last == "array":
        text = "[" + text + "]"
    elif last == "deep":
        text = text[:-1] + ', "x": ' + "[" * 100000 + "]" * 100000 + "}"
    return text.encode("utf-8", "surrogatepass"), how + ([last] if last != "none" else [])


def limits():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def judge(heddle, path):
    try:
        r = subprocess.run([heddle, "check", "--json", path], capture_output=True, timeout=SECONDS, preexec_fn=limits)
    except subprocess.TimeoutExpired:
        return "no answer in %d s" % SECONDS, False
    if r.returncode not in (0, 1, 3):
        return "exit status %d: %s" % (r.returncode, r.stderr[-300:].decode("utf-8", "replace")), False
    try:
        messages = json.loads(r.stdout.decode("utf-8") or "[]")
    except ValueError as e:
        return "its JSON does not read: %s" % e, False
    if (r.returncode == 0) != (not messages):
        return "exit status %d with %d messages" % (r.returncode, len(messages)), False
    for m in messages:
        placed = m.get("line") or ": byte " in m.get("message", "") or "file" in m.get("message", "") or m.get("file", "").startswith("--")
        if not m.get("message") or not m.get("file") or not placed:
            return "a message without a place: %s" % str(m)[:300], False
    return None, r.returncode == 0


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--heddle", required=True)
    p.add_argument("--count", type=int, default=200)
    p.add_argument("--first", type=int, default=0)
    p.add_argument("--keep", help="leave the files that failed here")
    p.add_argument("--show", action="store_true", help="a line for each file")
    o = p.parse_args()
    known = families()
    kinds = sorted(known)
    failed = accepted = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "config.json")
        for seed in range(o.first, o.first + o.count):
            r = random.Random(seed)
            kind = kinds[seed % len(kinds)]
            classes, keys = known[kind]
            text, how = damage(plain(kind, classes, keys, r), keys, r)
            with open(path, "wb") as f:
                f.write(text)
            problem, good = judge(o.heddle, path)
            accepted += good
            if o.show or problem:
                print("%s %d %s, %s: %s" % ("FAIL" if problem else "ok", seed, kind, "; ".join(how)[:200] or "as it is", problem or ("accepted" if good else "refused")))
            if problem:
                failed += 1
                if o.keep:
                    os.makedirs(o.keep, exist_ok=True)
                    with open(os.path.join(o.keep, "%d.json" % seed), "wb") as f:
                        f.write(text)
    print("%d accepted, %d refused" % (accepted, o.count - accepted - failed))
    if accepted < o.count // 20:  # files that are all refused at the door would test the door only
        print("FAIL too few are accepted for the others to be read far")
        failed += 1
    print("%d passed, %d failed" % (o.count - failed, failed))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
