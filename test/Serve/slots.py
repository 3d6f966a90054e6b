#!/usr/bin/python3
"""Every model of the oracle that can have slots: random requests in company, each against the same request alone.

    slots.py --heddle BIN --oracle DIR [--only NAME,...] [--least N] [--requests N] [--at SLOTS:THREADS,...] [--dtype f32|bf16] [-v]

Prompts are ids; each model is given a tokenizer whose tokens are single characters. Texts and log-probabilities must be, byte for
byte, those of a program without slots, as in company.py. A model of which `heddle compile --slots=require` says why it cannot have
them is passed over, but at least so many must have them. Ends in `N passed, N failed`."""
import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
from company import in_company, told
from serving import Counts, Server


def with_tokenizer(case, folder):
    """A copy of the case with a tokenizer of one character an id; the number of ids, or None where it makes no texts."""
    with open(os.path.join(case, "config.json")) as f:
        words = json.load(f).get("vocab_size")
    if not words:
        return None
    os.makedirs(folder)
    for name in ("config.json", "model.safetensors"):
        shutil.copy(os.path.join(case, name), folder)
    with open(os.path.join(folder, "tokenizer.json"), "w") as f:
        json.dump({"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None, "pre_tokenizer": None, "post_processor": None, "decoder": None,
                   "model": {"type": "BPE", "dropout": None, "unk_token": None, "vocab": {chr(0x4E00 + i): i for i in range(words)}, "merges": []}}, f)
    return words


def requests_for(draw, count, words):
    """Bodies of requests in ids, of up to 40 positions, most of which begin as another does."""
    openings = [[draw.randrange(3, words) for _ in range(draw.randint(1, 20))] for _ in range(max(count // 6, 2))]
    made = []
    for _ in range(count):
        prompt = draw.choice(openings)[:draw.randint(1, 20)] + [draw.randrange(3, words) for _ in range(draw.randint(0, 8))]
        how = {"temperature": 0} if draw.random() < 0.3 else {"temperature": 1.5, "seed": draw.randrange(1 << 30)}
        made.append(dict(how, prompt=prompt, max_tokens=draw.randint(1, 12), logprobs=3, n=draw.choice((1, 1, 2))))
    return made


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True)
    p.add_argument("--oracle", required=True)
    p.add_argument("--only", default="")
    p.add_argument("--least", type=int, default=1, help="models that have slots")
    p.add_argument("--requests", type=int, default=24)
    p.add_argument("--at", default="4:2", metavar="SLOTS:THREADS,...")
    p.add_argument("--dtype", default="f32")
    p.add_argument("-v", action="store_true")
    o = p.parse_args()
    t, heddle, without = Counts(o.v), os.path.abspath(o.heddle), 0
    names = o.only.split(",") if o.only else sorted(n for n in os.listdir(o.oracle) if os.path.exists(os.path.join(o.oracle, n, "config.json")))
    with tempfile.TemporaryDirectory(prefix="heddle-slots-") as work:
        for name in names:
            folder, program = os.path.join(work, name), os.path.join(work, name + ".program")
            words = with_tokenizer(os.path.join(o.oracle, name), folder)
            compiled = words and subprocess.run([heddle, "compile", folder, "--dtype", o.dtype, "--slots=require", "-o", program, *cached.quick(heddle)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if not words or compiled.returncode:
                said = compiled.stdout.decode() if words else "no slots: there are no ids"
                why = said[max(said.find("no slots"), 0):].split("\n")[0]
                without += t.check("%s: %s" % (name, why), "no slots" in said, said)
                continue
            bodies = requests_for(random.Random(name), o.requests, words)
            single = program + ".single"
            subprocess.run([heddle, "compile", folder, "--dtype", o.dtype, "--slots=none", "-o", single, *cached.quick(heddle)], check=True)
            with Server(single) as server:
                answers = [server.post("/v1/completions", body) for body in bodies]
            wrong = [(body, got) for body, (status, got) in zip(bodies, answers) if status != 200]
            if not t.check("%s: alone" % name, not wrong, wrong[:1]):
                continue
            want = [[told(c) for c in got["choices"]] for _, got in answers]
            for at in o.at.split(","):
                slots, threads = map(int, at.split(":"))
                in_company(t, name, program, bodies, want, slots, threads, slots)
    t.check("%d models of %d have slots" % (len(names) - without, len(names)), len(names) - without >= o.least, "expected %d" % o.least)
    return t.end()


if __name__ == "__main__":
    sys.exit(main())
