"""heddle info on models of every kind: `info.py HEDDLE WORK`. One line a failure, then `N passed, N failed`.

What it says is compared with the files themselves, which are made here: names, numbers, bytes, licence."""
import json
import os
import re
import shutil
import subprocess
import sys
import time

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
import tensors
from checks import check, finish

heddle, work = sys.argv[1:]
ROOT = os.path.abspath(__file__).rpartition("/test/")[0]
EXAMPLES = os.path.join(ROOT, "examples")
os.makedirs(work)


def at(*names):
    return os.path.join(work, *names)


def info(path, *words, status=0):
    ran = subprocess.run([heddle, "info", path, *words], capture_output=True, text=True, timeout=60)
    check(ran.returncode == status, "%s: exit status %d: %s" % (path, ran.returncode, ran.stderr))
    if status:
        return ran.stderr
    check(not ran.stderr, "%s: %s" % (path, ran.stderr))
    return json.loads(ran.stdout) if "--json" in words else ran.stdout


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def copied(example, name):
    shutil.copytree(os.path.join(EXAMPLES, example), at(name))
    return at(name)


def has(text, *parts):
    for part in parts:
        check(part in text, "%r is missing in:\n%s" % (part, text))


# A Hugging Face directory.
stories = copied("stories", "stories")
held = tensors.read(os.path.join(stories, "model.safetensors"))
write(at("stories", "README.md"), "---\nlanguage:\n- en\nlicense: \"apache-2.0\"\n---\n# a model\nlicense: mit\n")
said = info(stories, "--json")
check(said["kind"] == "a Hugging Face directory" and said["compiles"] is True and said["problems"] == [], "stories: %s" % said)
check(said["license"] == "apache-2.0" and said["license_from"] == "README.md", "the licence is %s" % said["license"])
check(said["parameters"] == sum(t.size for t in held.values()), "parameters")
check(said["bytes"] == sum(t.nbytes for t in held.values()), "bytes")
check({t["name"]: t["shape"] for t in said["tensors"]} == {n: list(t.shape) for n, t in held.items()}, "tensors")
with open(at("stories", "config.json"), encoding="utf-8") as f:
    config = json.load(f)
check(said["model_type"] == config["model_type"] and said["family"] and said["architectures"] == config["architectures"], "family")
check(said["context"] == config.get("max_position_embeddings", config.get("n_positions")), "context %s" % said["context"])
check(said["tokenizer"] == "tokenizer.json" and said["ids"] > 100, "tokenizer")
text = info(stories)
has(text, "a Hugging Face directory", "license     apache-2.0 (README.md)", "compiles    yes: heddle compile", "tokenizer.json", ".*.")
check(len(text.splitlines()) < len(info(stories, "--tensors").splitlines()), "--tensors has more lines")
check(len(held) <= len(info(stories, "--tensors").splitlines()), "--tensors has all of them")

# Licences as model cards write them.
for card, licence in (("---\nlicense: mit\n---\n", "mit"), ("---\r\nlicense: mit\r\n---\r\n", "mit"), ("---\nlicense:\n- mit\n- apache-2.0\n---\n", "mit, apache-2.0"),
                      ("---\nlicense: [mit, 'bsd']\n---\n", "mit, bsd"), ("---\nlicense: other\nlicense_name: my-own\nlicense_link: LICENSE\n---\n", "other (my-own, LICENSE)"),
                      ("---\nextra:\n  license: mit\n---\n", None), ("# no front matter\nlicense: mit\n", None), ("---\nlicense: mit\n", None), ("---\n---\n", None),
                      ("---\nlicense: \"\x1b[31m\"\n---\n", "\\x1B[31m")):
    write(at("stories", "README.md"), card)
    got = info(stories, "--json")["license"]
    check(got == licence or (licence and got and "[31m" in licence and "\x1b" not in got), "the licence of %r is %r" % (card, got))
os.remove(at("stories", "README.md"))
write(at("stories", "LICENSE"), "words")
has(info(stories), "license     see the file (LICENSE)")

# Shards.
names = sorted(held)
tensors.write(at("stories", "model-00001-of-00002.safetensors"), {n: held[n] for n in names[:3]})
tensors.write(at("stories", "model-00002-of-00002.safetensors"), {n: held[n] for n in names[3:]})
write(at("stories", "model.safetensors.index.json"), json.dumps({"metadata": {}, "weight_map": {n: "model-0000%d-of-00002.safetensors" % (1 if n in names[:3] else 2) for n in names}}))
os.remove(at("stories", "model.safetensors"))
again = info(stories, "--json")
check(again["parameters"] == said["parameters"] and len(again["files"]) == 2 and again["compiles"], "shards: %s" % again["files"])

# A family that is not known, and a key that the family does not implement.
unknown = copied("stories", "unknown")
write(at("unknown", "config.json"), json.dumps(dict(config, model_type="stories_of_tomorrow")))
said = info(unknown, "--json")
check(not said["compiles"] and said["family"] is None and said["problems"][0]["code"] == "H0502" and said["parameters"] > 0, "unknown: %s" % said["problems"])
has(info(unknown), "family      none known (model type stories_of_tomorrow", "compiles    no, for 1 reason", "needs       a description")
broken = copied("stories", "broken")
write(at("broken", "config.json"), json.dumps(dict(config, an_unheard_of_key=3)))
said = info(broken, "--json")
check(not said["compiles"] and said["family"] and any("an_unheard_of_key" in p["message"] for p in said["problems"]), "broken: %s" % said["problems"])

# Without weights, and with a config.json alone.
os.remove(at("broken", "model.safetensors"))
write(at("broken", "config.json"), json.dumps(config))
said = info(broken, "--json")
check(said["parameters"] == 0 and not said["compiles"] and said["tensors"] == [], "without weights: %s" % said)
said = info(at("broken", "config.json"), "--json")
check(said["kind"] == "a config.json" and said["family"], "config.json: %s" % said)

# A description, with and without its weights.
said = info(os.path.join(EXAMPLES, "dates", "model.json"), "--json")
check(said["kind"] == "a description in Heddle's language" and said["compiles"] and said["parameters"] > 100000, "dates: %s" % said["problems"])
bare = at("bare")
os.mkdir(bare)
shutil.copy(os.path.join(EXAMPLES, "dates", "model.json"), bare)
said = info(os.path.join(bare, "model.json"), "--json")
check(not said["compiles"] and (said["needs"] or said["problems"]), "a description without weights: %s" % said)

# Tensors alone.
tensors.write(at("alone.safetensors"), {"layers.0.w": np.zeros((2, 3), np.float32), "layers.1.w": np.zeros((2, 3), np.float32), "ids": np.zeros(4, np.int64)})
said = info(at("alone.safetensors"), "--json")
check(said["kind"] == "tensors (safetensors)" and said["parameters"] == 16 and said["types"]["F32"] == {"tensors": 2, "numbers": 12, "bytes": 48}, "alone: %s" % said)
has(info(at("alone.safetensors")), "layers.*.w", "[2, 3]", "in 2", "needs       what is computed")

# GGUF files: what the file says, and what is made of it.
GGUF = os.path.join(ROOT, os.pardir, "shared", "gguf-cases", "models")
for name, kind in (("llama-q4_k_m", "Q4_K"), ("bert-q8_0", "Q8_0"), ("gpt-oss-mxfp4", "MXFP4"), ("stories260k-q4_0", "Q4_0")):
    path = os.path.join(GGUF, name + ".gguf")
    if not os.path.exists(path):
        print("there are no gguf-cases: GGUF files are not looked at")
        break
    said = info(path, "--json")
    check(said["kind"] == "a GGUF file" and said["compiles"] and kind in said["types"] and said["tokenizer"] == "in the file", "%s: %s" % (name, {k: v for k, v in said.items() if k != "tensors"}))
    family = {"llama": "llama", "bert": "bert", "gpt": "gpt_oss", "stories260k": "llama"}[name.split("-")[0]]
    check(said["family"] == family, "%s: the family is %s" % (name, said["family"]))
    has(info(path), "family      %s (architecture " % family)
    weights = json.loads(subprocess.run([heddle, "weights", path, "--json"], capture_output=True, text=True, timeout=60).stdout)
    check({w["dtype"] for w in weights} <= set(said["types"]) and kind in {w["dtype"] for w in weights}, "%s: the weights are of %s" % (name, {w["dtype"] for w in weights}))
    missing = [w["name"] for w in weights if not w["stored"] and not w.get("optional")]
    check(not missing, "%s: %s are missing" % (name, missing))
    check(said["bytes"] < os.path.getsize(path) and said["parameters"] > 1000 and said["context"], "%s: sizes" % name)

# An adapter alone is its base with the adapter.
ADAPTER = os.path.join(EXAMPLES, "contrary")
ran = subprocess.run([heddle, "info", ADAPTER, "--json"], capture_output=True, text=True, timeout=60)
said = json.loads(ran.stdout)
check(said["adapters"] == [ADAPTER + ":1"] and said["family"] == "bert" and said["compiles"] and "is a LoRA adapter" in ran.stderr, "an adapter: %s" % ran.stderr)

# What is no model.
write(at("text.txt"), "not a model")
info(at("text.txt"), status=1)
os.mkdir(at("empty"))
has(info(at("empty"), status=1), "H0106")
info(at("nowhere"), status=5)
subprocess.run([heddle, "compile", os.path.join(EXAMPLES, "dates", "model.json"), "-o", at("program"), *cached.flags(heddle)], check=True)
has(info(at("program"), status=1), "program info")

# What a call takes: the forms of the program's card, at the lengths that are said.
dates = os.path.join(EXAMPLES, "dates", "model.json")
with open(at("program"), "rb") as f:
    card = re.search(rb"heddle-card 1\nname .*?\nend\n", f.read(), re.S)[0].decode()
forms = {name: (re.search(r"^flops (.*)$", entry, re.M)[1], re.search(r"^reads (.*)$", entry, re.M)[1])
         for name, entry in re.findall(r"^entry (\w+)\n(.*?)(?=^entry |^end$)", card, re.M | re.S)}
costs = info(dates, "--json")["costs"]
check([(c["entry"], c["what"]) for c in costs] == [("once", "a source"), ("step", "a prompt of 16 tokens"), ("step", "then a new token")], "costs: %s" % costs)
for cost in costs:
    check((cost["operations_form"], cost["bytes_form"]) == forms[cost["entry"]], "the card has %s, info %s" % (forms[cost["entry"]], cost))
    lengths = dict(cost["dims"], min=min, max=max)
    check((eval(cost["operations_form"], {}, lengths), eval(cost["bytes_form"], {}, lengths)) == (cost["operations"], cost["bytes"]), "numbers of %s" % cost)
check([(c["dims"].get("S"), c["dims"].get("new"), c["dims"].get("past")) for c in costs] == [(48, None, None), (48, 16, 0), (48, 1, 15)], "lengths: %s" % costs)
shorter = info(dates, "--dims", "T=9,S=7", "--json")["costs"]
check(shorter[1]["dims"]["new"] == 9 and shorter[0]["operations"] < costs[0]["operations"], "--dims: %s" % shorter)
halves = info(dates, "--dtype=bf16", "--json")["costs"]
check(all(h["bytes"] < c["bytes"] and h["operations"] == c["operations"] for h, c in zip(halves, costs)), "bf16: %s" % halves)
has(info(dates), "cost        a source (S=48): ", "then a new token (S=48): ")
has(info(dates, "--dims", "R=2", status=1), "H0121", "no dim 'R'")
has(info(dates, "--dims", "T=99", status=1), "past its bound 16")
check(len(info(os.path.join(EXAMPLES, "seed000_encoder", "model.json"), "--json")["costs"]) == 1, "a call of an encoder")

# Of a hundred gigabytes only headers are read.
os.mkdir(at("large"))
shapes = {"l.%d.w" % i: [16384, 16384] for i in range(100)}
header = json.dumps({n: {"dtype": "F32", "shape": s, "data_offsets": [i << 30, (i + 1) << 30]} for i, (n, s) in enumerate(shapes.items())}).encode()
with open(at("large", "model.safetensors"), "wb") as f:
    f.write(len(header).to_bytes(8, "little") + header)
    f.truncate(8 + len(header) + (100 << 30))
write(at("large", "config.json"), json.dumps({"model_type": "none_of_ours"}))
start = time.monotonic()
said = info(at("large"), "--json")
check(said["bytes"] == 100 << 30 and time.monotonic() - start < 10, "large: %d bytes in %.1f s" % (said["bytes"], time.monotonic() - start))
os.remove(at("large", "model.safetensors"))
sys.exit(finish())
