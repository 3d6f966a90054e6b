#!/usr/bin/python3
"""A prompt of a length that a model does not take is refused before anything runs, in every way in which a prompt comes.

    length_admission.py --heddle BIN [--only NAME,..]

Three models, each with a condition on the length of its prompt: a decoder that makes many texts at once (`slots`: an output beside the logits needs five
tokens), one that makes them one by one (`alone`: the logits need five), an encoder-decoder whose source goes through a filter of three taps
(`source`). Ids, text, lines, files, beams, conversations, and the server with slots and without, whole and as a stream: a prompt that is too short is
refused with the op's place and the length, status 1 or 400, and one that fits says the same in all ways. Ends in `N passed, N failed`."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
from checks import check, finish
from first_tokens import listed, text_of, tokenizer
from random_weights import Weights, tensors
from serving import Server

WORDS, WIDTH, NEW = 40, 16, 4
EMBED = {"rows": WORDS, "width": WIDTH}
LOGITS = [{"y": {"attend": ["x", "x"], "heads": 2, "mask": "=causal", "weights": "self"}}, {"logits": {"linear": "=x + y", "out": WORDS, "weights": "out"}}]
# name: statements before and behind the logits, outputs beside them, the dim that the message names, the least length
MODELS = {"slots": ([], [{"late": "=ids[:, 4:5]"}], ["late"], "T", 5), "alone": ([{"x": "=x + x[:, 4:5]"}], [], [], "T", 5),
          "source": ([{"s": dict({"embedding": "said"}, **EMBED, weights="words")}, {"s": {"conv": "s", "out": WIDTH, "taps": 3, "bias": False, "weights": "taps"}},
                      {"z": {"attend": ["x", "s"], "heads": 2, "weights": "cross"}}, {"x": "=x + z"}], [], [], "S", 3)}


def described(folder, name):
    before, behind, beside, _, _ = MODELS[name]
    w, source = Weights(folder, 3), name == "source"
    for table in ["embed"] + ["words"] * source:
        w.table(table + ".weight", WORDS, WIDTH)
    for attention in ["self"] + ["cross"] * source:
        w.attention(attention, WIDTH)
    if source:
        w.linear("taps", WIDTH, WIDTH, 3, bias=False)
    w.linear("out", WORDS, WIDTH)
    w.write({})
    inputs = {"said": "i64[B,S]"} if source else {}
    generate = {"tokens": "ids", "logits": "logits", "eos": WORDS - 1}
    model = {"heddle": 1, "name": name, "inputs": dict(inputs, ids="i64[B,T]"), "weights": "model.safetensors", "body": [{"x": dict({"embedding": "ids"}, **EMBED, weights="embed")}] + before + LOGITS + behind,
             "outputs": ["logits"] + beside, "generate": dict(generate, source="said", start=1) if source else generate}
    with open(os.path.join(folder, "model.json"), "w") as f:
        f.write(json.dumps(model, indent=1))
    tokenizer(folder, WORDS)
    with open(os.path.join(folder, "template"), "w") as f:
        f.write("{{ messages[-1]['content'] }}")


class Admission:
    def __init__(self, heddle, work, name):
        self.name, self.work = name, work
        _, _, _, self.dim, least = MODELS[name]
        described(work, name)
        self.short, self.long = list(range(3, 2 + least)), list(range(3, 5 + least))
        self.binary = os.path.join(work, "program")
        flags = ["--template", os.path.join(work, "template")] if name != "source" else []
        p = subprocess.run([heddle, "compile", os.path.join(work, "model.json"), "-o", self.binary, *cached.quick(heddle), *flags, *(["--slots=require"] if name == "slots" else [])], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.good = check(p.returncode == 0, "%s: compile: %s" % (name, p.stdout.decode()[-1500:]))

    def is_refusal(self, said, ids):
        return "these lengths do not fit the model" in said and "%s is %d" % (self.dim, len(ids)) in said and " takes " in said

    def run(self, *words, stdin=None):
        p = subprocess.run([self.binary, *words, "-n", str(NEW), "--ignore-eos", *(["--greedy"] * ("--num-beams" not in words))], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        return p.returncode, p.stdout.decode(), p.stderr.decode()

    def refused(self, way, *words, stdin=None, before=""):
        status, said, error = self.run(*words, stdin=stdin)
        check(status == 1 and said.strip() == before and self.is_refusal(error, self.short), "%s, %s: status %d, %r, %s" % (self.name, way, status, said, error[-300:]))

    def says(self, way, want, *words, stdin=None):
        status, said, error = self.run(*words, stdin=stdin)
        check(status == 0 and said.strip() == want, "%s, %s: status %d, %r, expected %r; %s" % (self.name, way, status, said, want, error[-300:]))

    def commands(self):
        """What the command line says of a prompt that fits -> its ids and text"""
        short, long = text_of(self.short), text_of(self.long)
        raw = ["--raw"] * (self.name != "source")
        for ways in ([], ["--num-beams", "3"]):
            self.refused("ids %s" % ways, "generate", "--ids", listed(self.short), *ways)
            self.refused("a text %s" % ways, short, *ways, *raw)
            path, out = (os.path.join(self.work, f) for f in ("in.safetensors", "out.safetensors"))
            name = "said" if self.name == "source" else "ids"
            for ids in (self.short, self.long):
                tensors.write(path, {name: np.array([ids, ids[::-1]], np.int64)})
                if os.path.exists(out):
                    os.remove(out)
                if ids is self.short:
                    self.refused("a file %s" % ways, "generate", "--input", path, "--output", out, *ways)
                    check(not os.path.exists(out), "%s: a file was written" % self.name)
                else:
                    self.says("a file %s" % ways, "", "generate", "--input", path, "--output", out, *ways)
        ids = tensors.read(out)["ids"][0, -NEW:] # of beams
        self.says("beams", listed(ids), "generate", "--ids", listed(self.long), "--num-beams", "3", "--print-ids")
        status, said, error = self.run("generate", "--ids", listed(self.long))
        check(status == 0 and len(said.strip()) == NEW, "%s, a prompt that fits: %d %r %s" % (self.name, status, said, error[-300:]))
        want = said.strip()
        begun = want if self.name == "source" else long + want  # a text is shown with what it goes on from
        self.says("a text", begun, long, *raw)
        self.refused("lines", "--lines", *raw, stdin=("%s\n%s\n%s\n" % (long, short, long)).encode(), before=begun)
        if self.name != "source":
            self.refused("a turn", short)
            self.says("a turn", want, long)
            status, said, error = self.run("chat", stdin=("%s\n%s\n%s\n" % (long, short, long)).encode())
            check(said.split() == [want] and status == 1 and self.is_refusal(error, self.short), "%s, a conversation: status %d, %r, expected %r; %s" % (self.name, status, said, want, error[-300:]))
        return want

    def served(self, want, *flags):
        """Requests that fit beside requests that do not; a stream that cannot begin has a status of its own, too."""
        short, long, plain = text_of(self.short), text_of(self.long), {"temperature": 0, "max_tokens": NEW, "ignore_eos": True}
        ways = [("/v1/completions", lambda text: {"prompt": text})]
        if self.name != "source":
            ways.append(("/v1/chat/completions", lambda text: {"messages": [{"role": "user", "content": text}]}))
        with Server(self.binary, *flags) as server:
            for path, asked in ways:
                for more in ({}, {"n": 2}, {"stream": True}):
                    what = "%s, %s, %s %s" % (self.name, " ".join(flags), path, more)
                    status, _, data = server.request("POST", path, dict(plain, **asked(short), **more))
                    check(status == 400 and self.is_refusal(data.decode(), self.short), "%s: %d %r" % (what, status, data[:300]))
                    status, _, data = server.request("POST", path, dict(plain, **asked(long), **more))
                    check(status == 200, "%s: %d %r" % (what, status, data[:300]))
                    if not more:
                        choice = json.loads(data)["choices"][0] if status == 200 else {}
                        said = choice.get("text") or choice.get("message", {}).get("content")
                        check(said == want, "%s: %r, expected %r" % (what, said, want))
            status, got = server.post("/v1/completions", dict(plain, prompt=[long, short]))
            check(status == 400 and self.is_refusal(json.dumps(got), self.short), "%s: the second of two: %d %r" % (self.name, status, got))
            ids = {"prompt": self.short if self.name == "source" else [self.short, self.long]}
            status, got = server.post("/v1/completions", dict(plain, **ids))
            check(status == 400 and self.is_refusal(json.dumps(got), self.short), "%s: ids: %d %r" % (self.name, status, got))
            read = sum(server.metric('heddle_tokens_total{kind="%s"}' % kind) for kind in ("prompt", "reused"))
            check(read == len(self.long) * 4 * len(ways), "%s: %d tokens of prompts were read, expected %d" % (self.name, read, len(self.long) * 4 * len(ways)))
            check(server.stop() == 0, "%s: the server ends well" % self.name)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True)
    p.add_argument("--only", default=",".join(MODELS))
    o = p.parse_args()
    for name in o.only.split(","):
        with tempfile.TemporaryDirectory() as work:
            case = Admission(os.path.abspath(o.heddle), work, name)
            if not case.good:
                continue
            want = case.commands()
            case.served(want)
            if name == "slots":
                case.served(want, "--slots", "3")
                case.served(want, "--slots", "1")
    return finish()


if __name__ == "__main__":
    sys.exit(main())
