#!/usr/bin/python3
"""Tokenizers of GGUF files against those of the directories that say the same.

    vocabularies.py --heddle BIN [--count N] [--seed S] [SHARED]          (default: ../shared beside the tree)

The vocabularies of SHARED/gguf-cases/tokenizers are changed: kinds, scores and roles of tokens, flags, rules of words, merges, templates. Each
change is read by `heddle tokenize FILE.gguf` and, as the directory that the reference (vocabulary.py of SHARED) makes, by `heddle tokenize DIR`: the
ids must be equal, and what one refuses the other refuses too, by the same exit status, with one message that names a key. The same for the texts
of `heddle template`. Every name of a rule (tokenizer.ggml.pre) comes up. Without SHARED it says so and ends well. Ends in `N passed, N failed`."""
import argparse
import copy
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
from checks import check, finish

G = "tokenizer.ggml."
TEXTS = ["", " ", "Once upon a time", " the  cat's 12345 mats\n\n", "It's WE'LL iPhone14 1234567 3.14", "女孩看见了 2024 사과 ひらがな", "мальчик éa\u0301 ﬁ ½",
         "<s>a</s> <mask> b <|im_end|> c", "a\tb\r\n  c   ", "!!! ... ?\"'()[] #include <x.h>", "\u00a0x\u2003y\u3000z", "🙂🚀 naïve", "[CLS] a [SEP] b"]
CHATS = [{"messages": [{"role": "user", "content": "Hi"}], "add_generation_prompt": True}]
TEMPLATES = ["{% for m in messages %}{{ m.role }}: {{ m.content }}{{ eos_token }}{% endfor %}", "{{ bos_token }}{{ messages[0].content }}", "chatml", "{% for m in %}"]


def changed(values, r, pre):
    """A vocabulary with up to five changes. Roles are left to tokens that are used, since a directory has no place for others."""
    v = copy.deepcopy(values)
    tokens, n = v[G + "tokens"], len(v[G + "tokens"])
    v.setdefault(G + "token_type", [1] * n)
    if pre and v[G + "model"] == "gpt2":
        v[G + "pre"] = pre
    for _ in range(r.randrange(6)):
        k = r.randrange(14)
        i = r.randrange(n)
        if k == 0:
            v[G + r.choice(["add_bos_token", "add_eos_token", "add_sep_token", "add_space_prefix", "remove_extra_whitespaces"])] = r.random() < 0.5
        elif k == 1 and G + "token_type" in v:
            v[G + "token_type"][i] = r.choice([1, 2, 3, 4, 6])
        elif k == 2 and G + "scores" in v:
            v[G + "scores"][i] = r.choice([0.0, -1.5, -1e9, r.uniform(-20, 0), v[G + "scores"][r.randrange(n)]])
        elif k == 3:
            v[G + r.choice(["bos", "eos", "unknown", "seperator", "padding", "mask", "cls", "eot"]) + "_token_id"] = r.choice([i, i, i, n, -1])
        elif k == 4:
            v.pop(r.choice(sorted(key for key in v if key.startswith(G) and key[len(G):] not in ("tokens", "model"))))
        elif k == 5:
            v["general.name"] = r.choice(["Phi-3 mini", "my-phi3", "Qwen"])
        elif k == 6:
            tokens[i] = r.choice(["", "<mask>", "</s>", "<|im_end|>", tokens[r.randrange(n)], "x y", "a\u0301", "<|endoftext|>"])
        elif k == 7 and v.get(G + "merges"):
            v[G + "merges"][r.randrange(len(v[G + "merges"]))] = r.choice(["a", " a", "a ", "a b", tokens[i], r.choice(v[G + "merges"])])
        elif k == 8:
            v["tokenizer.chat_template"] = r.choice(TEMPLATES)
        elif k == 9:
            v["tokenizer.chat_template"] = TEMPLATES[0]
            v["tokenizer.chat_templates"] = ["rag", "tool_use"]
            v["tokenizer.chat_template.rag"] = v["tokenizer.chat_template.tool_use"] = TEMPLATES[1]
        elif k == 10 and G + "token_type" in v:
            used = {v.get(G + role + "_token_id") for role in ("bos", "eos", "unknown", "seperator", "padding", "mask", "cls")}
            if i > 110 and i not in used:
                v[G + "token_type"][i] = 5
        elif k == 11:
            v[G + r.choice(["normalizer.lowercase", "normalizer.strip_accents"])] = r.random() < 0.5
        elif k == 12:
            v[G + "model"] = r.choice(["llama", "gpt2", "bert", "t5", "rwkv", "zebra", "none"])
        elif k == 13 and r.random() < 0.3:
            v[G + r.choice(["token_type", "scores"])] = [1] * (n - 1)
    return v


class Suite:
    def __init__(self, heddle, shared, work):
        sys.path.insert(0, os.path.join(shared, "reference", "gguf"))
        import container
        import to_hf
        import vocabulary
        self.heddle, self.work, self.container, self.to_hf, self.vocabulary = heddle, work, container, to_hf, vocabulary
        self.counts = {"read": 0, "refused": 0}
        self.bases = []
        folder = os.path.join(shared, "gguf-cases", "tokenizers")
        for name in sorted(n for n in os.listdir(folder) if n.endswith(".gguf")):
            f = container.File(os.path.join(folder, name))
            kinds = {k: "array[u8]" if k.endswith("charsmap") else "array[f32]" if k.endswith("scores") else "array[i32]" if k.endswith("token_type") else kind
                     for k, kind in f.kinds.items() if kind != "array" or k.endswith(("charsmap", "scores", "token_type"))}
            self.bases.append((name[:-5], f.values, kinds))

    def run(self, *words, lines):
        p = subprocess.run([self.heddle, *words], input="".join(json.dumps(x) + "\n" for x in lines).encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return p.returncode, p.stdout.decode(), p.stderr.decode()

    def directory(self, values):
        """-> exit status (0: the directory is made), names of templates"""
        folder = os.path.join(self.work, "hf")
        shutil.rmtree(folder, ignore_errors=True)
        try:
            vocab = self.to_hf.words(values, folder)
        except self.container.Unsupported:
            return 3, None
        except self.container.Damage:
            return 1, None
        except (KeyError, TypeError):  # a role whose token WordPiece lost to another
            return 1, None
        return 0, vocab

    def case(self, what, values, kinds):
        file = os.path.join(self.work, "x.gguf")
        kinds = {k: kind for k, kind in kinds.items() if k in values}
        for key, value in values.items():
            if isinstance(value, list) and value and isinstance(value[0], str):
                kinds[key] = "array[text]"
            if key.endswith("_token_id"):
                kinds[key] = "i32"
        self.container.write(file, values, {}, kinds=kinds)
        status, vocab = self.directory(values)
        lines = [{"text": t} for t in TEXTS] + [{"text": TEXTS[2], "pair": TEXTS[5]}, {"text": TEXTS[7], "add_special_tokens": False}]
        lines += [{"ids": list(range(0, len(values[G + "tokens"]), 7))}]
        got = self.run("tokenize", "--json", file, lines=lines)
        if status == 0 and (vocab is None or vocab.json is None):
            return check(got[0] != 0 and "error[" in got[2], "%s: no tokenizer, status %d" % (what, got[0]))
        if status == 0:
            want = self.run("tokenize", "--json", os.path.join(self.work, "hf"), lines=lines)
            status = want[0]
            if status == 0:
                self.counts["read"] += 1
                bad = [(x, g, w) for x, g, w in zip(lines, got[1].splitlines(), want[1].splitlines()) if g != w]
                check(got[0] == 0 and len(got[1]) == len(want[1]) and not bad, "%s: %r" % (what, bad[0] if bad else got[2]))
                if "tokenizer.chat_template" in values:
                    got, want = (self.run("template", "--json", subject, lines=CHATS) for subject in (file, os.path.join(self.work, "hf")))
                    check(got[:2] == want[:2], "%s template: %s, wanted %s" % (what, got, want))
                if "tokenizer.chat_templates" in values:
                    got = self.run("template", "--template=rag", file, lines=CHATS)
                    check(got[0] == 0 and got[1].endswith("Hi\n") and "user" not in got[1], "%s --template=rag: %s" % (what, got))
                return
        self.counts["refused"] += 1
        named = re.search(r"tokenizer\.|general\.", got[2])
        check(got[0] == status and got[2].count("error[") == 1 and named, "%s: status %d, wanted %d: %s" % (what, got[0], status, got[2]))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--heddle", required=True)
    p.add_argument("--count", type=int, default=100)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("shared", nargs="?", default=os.path.join(ROOT, "..", "shared"))
    a = p.parse_args()
    if not os.path.exists(os.path.join(a.shared, "gguf-cases")):
        print("%s is not there: skipped\n1 passed, 0 failed" % a.shared)
        return 0
    with tempfile.TemporaryDirectory() as work:
        suite = Suite(a.heddle, a.shared, work)
        names = [*suite.vocabulary.PRE, *suite.vocabulary.REFUSED_PRE, "zebra"]
        bytewise = [b for b in suite.bases if b[1][G + "model"] == "gpt2"]
        for n in range(a.count):
            r = random.Random(a.seed * 1000003 + n)
            pre = names[(n + a.seed) % len(names)] if n % 2 else None
            base, values, kinds = r.choice(bytewise if pre else suite.bases)
            suite.case("case %d (%s, pre %s)" % (n, base, pre), changed(values, r, pre), kinds)
        print(", ".join("%d %s" % (many, what) for what, many in suite.counts.items()))
    return finish()


if __name__ == "__main__":
    sys.exit(main())
