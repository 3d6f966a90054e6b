#!/usr/bin/python3
"""Generation of compiled models against Hugging Face's definitions, written down here once more in numpy.

    generation.py --heddle build/bin/heddle

`stories` (decoder only) and `dates` (encoder and decoder) are compiled; every text is made twice: by the binary, with its cache and
its beams in one batch, and here from the logits of `run` on whole texts. The ids must be equal. Then the same through
generation_config.json, and what must be refused. The last line is `N passed, N failed`."""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
import tensors
from checks import check, finish

EXAMPLES = os.path.join(HERE, os.pardir, os.pardir, "examples")


class Model:
    """A binary, and what its logits are without any cache."""

    def __init__(self, binary, folder, source, tokens, start, eos):
        self.binary, self.folder, self.source, self.tokens, self.start, self.eos = binary, folder, source, tokens, start, eos
        self.known = {}

    def call(self, *words):
        return subprocess.run([self.binary] + list(words), stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def logits(self, prompt, texts):
        """the last row of logits of every text; all have one length"""
        new = [t for t in texts if (tuple(prompt), tuple(t)) not in self.known]
        if new:
            given = {self.tokens: np.array(new, np.int64)}
            if self.source:
                given[self.source] = np.array([prompt] * len(new), np.int64)
            path, out = os.path.join(self.folder, "in.safetensors"), os.path.join(self.folder, "out.safetensors")
            tensors.write(path, given)
            subprocess.run([self.binary, "run", "--input", path, "--output", out], check=True)
            for text, row in zip(new, tensors.read(out)["logits"][:, -1]):
                self.known[tuple(prompt), tuple(text)] = row
        return [self.known[tuple(prompt), tuple(t)].astype(np.float32) for t in texts]

    def begin(self, prompt):
        return [self.start] if self.source else list(prompt)

    def generate(self, prompt, n, *flags):
        """-> the new ids of the binary, up to and with an eos"""
        path, out = os.path.join(self.folder, "gin.safetensors"), os.path.join(self.folder, "gout.safetensors")
        tensors.write(path, {self.source or self.tokens: np.array([prompt], np.int64)})
        subprocess.run([self.binary, "generate", "--input", path, "--output", out, "-n", str(n)] + list(flags), check=True)
        return cut(tensors.read(out)["ids"][0, len(self.begin(prompt)):].tolist(), self.eos)


def cut(ids, eos):
    for i, token in enumerate(ids):
        if token in eos:
            return ids[:i + 1]
    return ids


def log_softmax(x):
    x = x.astype(np.float64)
    return x - x.max() - np.log(np.exp(x - x.max()).sum())


def rules(scores, text, made, o, eos, source):
    """the processors of generation_config.json in the library's order"""
    scores = np.array(scores, np.float64)
    if o.get("repetition_penalty", 1) != 1:
        for token in set(text):
            scores[token] = scores[token] * o["repetition_penalty"] if scores[token] < 0 else scores[token] / o["repetition_penalty"]
    n = o.get("no_repeat_ngram_size", 0)
    if n and len(text) + 1 >= n:
        for i in range(len(text) - n + 1):
            if text[i:i + n - 1] == text[len(text) - n + 1:]:
                scores[text[i + n - 1]] = -np.inf
    n = o.get("encoder_no_repeat_ngram_size", 0)
    for i in range(len(source) - n + 1 if n and len(text) + 1 >= n else 0):
        if source[i:i + n - 1] == text[len(text) - n + 1:]:
            scores[source[i + n - 1]] = -np.inf
    for word in o.get("bad_words_ids", []):
        if len(word) == 1 or text[len(text) - len(word) + 1:] == word[:-1]:
            scores[word[-1]] = -np.inf
    if made < o.get("min_new_tokens", 0):
        scores[list(eos)] = -np.inf
    for token in o.get("suppress_tokens", []):
        scores[token] = -np.inf
    if made == 0:
        for token in o.get("begin_suppress_tokens", []):
            scores[token] = -np.inf
    return scores


def greedy(model, prompt, n, o):
    text, made = model.begin(prompt), []
    while len(made) < n:
        token = int(np.argmax(rules(model.logits(prompt, [text])[0], text, len(made), o, model.eos, list(prompt))))
        made.append(token)
        text = text + [token]
        if token in model.eos:
            break
    return made


def beams(model, prompt, n, width, o):
    """BeamSearchScorer of the library, for one row"""
    penalty, early = o.get("length_penalty", 1.0), o.get("early_stopping", False)
    begin = model.begin(prompt)
    texts, sums, hyps = [begin] * width, [0.0] + [-1e9] * (width - 1), []

    def add(total, text):
        hyps.append((total / (len(text) - len(begin)) ** penalty, text))
        hyps.sort(key=lambda h: -h[0])
        del hyps[width:]

    for made in range(n):
        rows = [rules(log_softmax(l), t, made, o, model.eos, list(prompt)) for l, t in zip(model.logits(prompt, texts), texts)]
        if o.get("renormalize_logits"):
            rows = [log_softmax(r) for r in rows]
        flat = np.concatenate([s + r for s, r in zip(sums, rows)])
        order = np.argsort(-flat, kind="stable")[:max(2, 1 + len(model.eos)) * width]
        vocab, grown = len(rows[0]), []
        for rank, at in enumerate(order):
            beam, token = divmod(int(at), vocab)
            if token in model.eos:
                if rank < width:
                    add(flat[at], texts[beam] + [token])
                continue
            grown.append((flat[at], texts[beam] + [token]))
            if len(grown) == width:
                break
        sums, texts = [g[0] for g in grown], [g[1] for g in grown]
        if len(hyps) == width:
            length = n if early == "never" and penalty > 0 else made + 1
            if early is True or hyps[-1][0] >= flat[order[0]] / length ** penalty:
                break
    else:
        for total, text in zip(sums, texts):
            add(total, text)
    return max(hyps, key=lambda h: h[0])[1][len(begin):]


def flags_of(o):
    words = []
    for key, value in o.items():
        words += ["--" + key.replace("_", "-"), str(value).lower()]
    return words


def against_reference(stories, dates, prompts, sources):
    for o in ({"repetition_penalty": 1.5}, {"no_repeat_ngram_size": 2}, {"repetition_penalty": 0.9, "no_repeat_ngram_size": 3}):
        for prompt in prompts:
            want, got = greedy(stories, prompt, 24, o), stories.generate(prompt, 24, "--greedy", *flags_of(o))
            check(got == want, "greedy %s: expected %s, found %s" % (o, want, got))
    searches = [{}, {"length_penalty": 0.0}, {"length_penalty": 2.0, "early_stopping": "never"}, {"early_stopping": True},
                {"length_penalty": -1.0}, {"repetition_penalty": 1.3, "no_repeat_ngram_size": 2}, {"encoder_no_repeat_ngram_size": 1}]
    for n in (1, 2, 3):
        o = {"encoder_no_repeat_ngram_size": n}
        for model, inputs in ((dates, sources), (stories, prompts)):
            for prompt in inputs:
                want, got = greedy(model, prompt, 12, o), model.generate(prompt, 12, "--greedy", *flags_of(o))
                check(got == want, "greedy %s: expected %s, found %s" % (o, want, got))
    for model, inputs, n in ((dates, sources, 12), (stories, prompts[:2], 10)):
        for o in searches:
            for width in (2, 5):
                for prompt in inputs:
                    want, got = beams(model, prompt, n, width, o), model.generate(prompt, n, "--num-beams", str(width), *flags_of(o))
                    check(got == want, "%d beams %s: expected %s, found %s" % (width, o, want, got))


def lengths(heddle, folder, dates, sources):
    """Beginnings of different lengths in one batch, of a model that takes no mask and reads where a token stands: each row is what it is alone, in the binary
    and in the interpreter."""
    width = max(map(len, sources))
    given = np.array([s + [0] * (width - len(s)) for s in sources], np.int64)
    alone = [dates.generate(s, 10) for s in sources]
    kept = [0, 4, 2]
    begun = [[1] + a[:k] for a, k in zip(alone, kept)]
    path, out = os.path.join(folder, "lin.safetensors"), os.path.join(folder, "lout.safetensors")
    for side in ("right", "left"):
        pads = [[0] * (5 - len(b)) for b in begun]
        ids = np.array([b + p if side == "right" else p + b for b, p in zip(begun, pads)], np.int64)
        tensors.write(path, {"source_ids": given, "target_ids": ids})
        for flags in ([], ["--num-beams", "3"]):
            subprocess.run([dates.binary, "generate", "--input", path, "--output", out, "-n", "6"] + flags, check=True)
            got = tensors.read(out)["ids"]
            check((got[:, :5] == ids).all(), "the prompts stay as they were given: %s" % got.tolist())
            for row, (source, begin) in enumerate(zip(sources, begun)):
                tensors.write(path + "1", {"source_ids": np.array([source], np.int64), "target_ids": np.array([begin], np.int64)})
                subprocess.run([dates.binary, "generate", "--input", path + "1", "--output", out, "-n", "6"] + flags, check=True)
                want = tensors.read(out)["ids"][0, len(begin):].tolist()
                check(got[row, 5:].tolist() == want, "padded on the %s %s: row %d is %s, alone %s" % (side, flags, row, got[row, 5:].tolist(), want))
                check(flags or want == (alone[row][kept[row]:] + [0] * 6)[:6], "a beginning goes on as the whole did: %s, %s" % (want, alone[row]))
        for cache in ("auto", "none"):
            subprocess.run([heddle, "interpret", os.path.join(EXAMPLES, "dates", "model.json"), "-i", path, "-o", out, "-n", "6", "--cache=" + cache], check=True)
            got = tensors.read(out)["ids"][:, 5:].tolist()
            want = [(a[k:] + [0] * 6)[:6] for a, k in zip(alone, kept)]
            check(got == want, "interpreted with --cache=%s, padded on the %s: %s, expected %s" % (cache, side, got, want))
    subprocess.run([heddle, "verify", os.path.join(EXAMPLES, "dates", "model.json"), "-i", path, "-n", "3"], check=True, stdout=subprocess.DEVNULL)


def of_the_source(dates, sources):
    """The rows of a batch have sources of their own, and padding is none of them."""
    width = max(map(len, sources)) + 2
    given = np.array([s + [0] * (width - len(s)) for s in sources], np.int64)
    path, out, flags = os.path.join(dates.folder, "sin.safetensors"), os.path.join(dates.folder, "sout.safetensors"), ["--encoder-no-repeat-ngram-size", "1"]
    tensors.write(path, {"source_ids": given})
    plain = [dates.generate(s, 10) for s in sources]
    for how in ([], ["--num-beams", "3"], ["--temp", "1.3", "--seed", "3", "--top-k", "1"]):
        subprocess.run([dates.binary, "generate", "--input", path, "--output", out, "-n", "10"] + flags + how, check=True)
        for row, source in zip(tensors.read(out)["ids"][:, 1:].tolist(), sources):
            want = dates.generate(source, 10, *flags, *how)
            check(cut(row, dates.eos) == want and want != plain[sources.index(source)] and not set(want) & set(source), "%s of %s: %s, alone %s" % (how, source, row, want))


def sampling(model, prompt):
    ids = ",".join(map(str, prompt))
    def say(*flags):
        p = model.call("generate", "--ids", ids, "-n", "30", "--print-ids", *flags)
        return p.stdout.decode()
    plain = say("--greedy")
    check(plain and plain == say(), "greedy is what is done without flags")
    for flags in (["--top-k", "1"], ["--top-p", "0"], ["--min-p", "1"], ["--temp", "0"]):
        check(say(*flags) == plain, "%s is greedy" % flags)
    free = [say("--temp", "1.5", "--seed", str(seed)) for seed in range(6)]
    check(len(set(free)) > 4, "seeds differ")
    for threads in ("1", "2", "3"):
        check(say("--temp", "1.5", "--seed", "3", "--threads", threads) == free[3], "the seed decides, not %s threads" % threads)
    check(say("--temp", "1.5", "--seed", "3", "--min-p", "0.3") != free[3], "--min-p has an effect")


def text_out(model):
    full = model.call("Once upon a time", "-n", "60", "--greedy").stdout.decode()
    for stop in ("Tom", "village of", ". One", "w", "nowhere to be found"):
        said = model.call("Once upon a time", "-n", "60", "--greedy", "--stop", stop).stdout.decode()
        at = full.find(stop, len("Once upon a time"))
        want = full if at < 0 else full[:at] + "\n"
        check(said == want, "--stop %r: expected %r, found %r" % (stop, want, said))
    two = model.call("Once upon a time", "-n", "60", "--greedy", "--stop", "Tom", "--stop", "village").stdout.decode()
    check(two == full[:full.find("village")] + "\n", "two stop texts: found %r" % two)
    long = model.call("a b c d e f g " * 200, "-n", "1")
    check(long.returncode == 1 and re.search(rb"has \d+ tokens, and this model takes at most 256", long.stderr) and b"help" in long.stderr,
          "a prompt too long: %r" % long.stderr)


def configured(heddle, folder, said, prompts):
    """stories with a generation_config.json -> the model, or the words of the refusal"""
    home = os.path.join(folder, "configured")
    shutil.rmtree(home, ignore_errors=True)
    os.mkdir(home)
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        os.symlink(os.path.abspath(os.path.join(EXAMPLES, "stories", name)), os.path.join(home, name))
    with open(os.path.join(home, "generation_config.json"), "w") as f:
        f.write(said if isinstance(said, str) else json.dumps(said))
    binary = os.path.join(folder, "configured.bin")
    p = subprocess.run([heddle, "compile", home, "-o", binary, *cached.quick(heddle)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if p.returncode:
        return p.stdout.decode()
    return Model(binary, folder, None, "input_ids", None, {0})


def through_config(heddle, folder, plain, prompts):
    o = {"repetition_penalty": 1.2, "no_repeat_ngram_size": 3, "encoder_no_repeat_ngram_size": 4, "bad_words_ids": [[14], [297, 260]], "min_new_tokens": 4,
         "suppress_tokens": [12], "begin_suppress_tokens": [297, 260], "eos_token_id": [0, 341], "max_new_tokens": 24,
         "transformers_version": "4.44.0", "_from_model_config": True}
    model = configured(heddle, folder, o, prompts)
    if isinstance(model, str):
        return check(False, "a good generation_config.json: " + model)
    model.eos = {0, 341}
    for prompt in prompts:
        want, got = greedy(model, prompt, 24, o), model.generate(prompt, 24)
        check(got == want, "generation_config.json: expected %s, found %s" % (want, got))
        ids = model.call("generate", "--ids", ",".join(map(str, prompt)), "--print-ids").stdout.decode()
        check(ids.strip() == ",".join(map(str, want)), "max_new_tokens is the default of -n: found %s" % ids)
    o = {"do_sample": True, "temperature": 0.9, "top_k": 20, "top_p": 0.95, "min_p": 0.02}
    model = configured(heddle, folder, o, prompts)
    for seed in ("0", "5"):
        line = ["generate", "--ids", "910,681", "-n", "20", "--print-ids", "--seed", seed]
        same = plain.call(*line, "--temp", "0.9", "--top-k", "20", "--top-p", "0.95", "--min-p", "0.02").stdout
        check(model.call(*line).stdout == same and same, "do_sample and its settings are the flags of the same names")
    check(model.call("generate", "--ids", "910,681", "--print-ids", "-n", "9", "--greedy").stdout ==
          plain.call("generate", "--ids", "910,681", "--print-ids", "-n", "9").stdout, "--greedy goes without do_sample")
    model = configured(heddle, folder, {"num_beams": 3, "length_penalty": 0.5, "early_stopping": "never", "stop_strings": ["Tom", "é %"]}, prompts)
    for prompt in prompts:
        check(model.generate(prompt, 8) == beams(model, prompt, 8, 3, {"length_penalty": 0.5, "early_stopping": "never"}),
              "num_beams of generation_config.json")
    # Rules that leave a beam little make what is left likelier, where the scores count 1 again.
    o = {"num_beams": 3, "no_repeat_ngram_size": 1, "suppress_tokens": list(range(20, 700)), "renormalize_logits": True}
    model = configured(heddle, folder, o, prompts)
    differ = False
    for prompt in prompts:
        want = beams(model, prompt, 12, 3, o)
        check(model.generate(prompt, 12) == want, "renormalize_logits: expected %s" % want)
        differ |= want != beams(model, prompt, 12, 3, dict(o, renormalize_logits=False))
    check(differ, "renormalize_logits has no effect here")
    model = configured(heddle, folder, {"stop_strings": ["Tom", "é %"]}, prompts)
    path, out = os.path.join(folder, "gin.safetensors"), os.path.join(folder, "gout.safetensors")
    two = np.array([[910, 681, 13], [0, 910, 681]], np.int64)
    tensors.write(path, {"input_ids": two, "attention_mask": np.array([[1, 1, 1], [0, 1, 1]], np.int64)})
    subprocess.run([model.binary, "generate", "--input", path, "--output", out, "-n", "40"], check=True)
    for row, alone in zip(tensors.read(out)["ids"][:, 3:].tolist(), ("910,681,13", "910,681")):
        ids = model.call("generate", "--ids", alone, "-n", "40", "--print-ids").stdout.decode()
        ids = list(map(int, ids.split(",")))
        end = row.index(0) if 0 in row else len(row)
        check(row[:end] == ids[:end], "a row of a batch and the row alone begin alike: %s and %s" % (row, ids))
        said = plain.call("generate", "--ids", alone, "-n", "40").stdout.decode()
        check("Tom" in said and end < 40, "stop_strings end a row of a batch: %s, alone %r" % (row, said))
    card = model.call("info", "--card").stdout.decode()
    check("generate stop Tom %C3%A9%20%25" in card, "stop texts on the card")
    said = model.call("Once upon a time", "-n", "60", "--greedy").stdout.decode()
    check("Tom" not in said and len(said) > 30, "stop_strings end a text: %r" % said)
    for bad, words in (({"penalty_alpha": 0.6}, "penalty_alpha"), ({"num_beam_groups": 2}, "num_beam_groups"),
                       ({"temperature": "warm"}, "temperature"), ({"top_k": -5}, "top_k"), ({"eos_token_id": ["x"]}, "eos_token_id"),
                       ({"do_sample": True, "num_beams": 4}, "num_beams"), ({"bad_words_ids": [3]}, "bad_words_ids"), ("[1]", "an object expected"),
                       ("{", "configured/generation_config.json:1:"), ({"stop_strings": [""]}, "stop_strings"), ({"early_stopping": 3}, "early_stopping")):
        said = configured(heddle, folder, bad, prompts)
        check(isinstance(said, str) and words in said and "generation_config.json:1:" in said, "%s is refused by name: %r" % (bad, said))


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True)
    heddle = os.path.abspath(p.parse_args().heddle)
    with tempfile.TemporaryDirectory() as folder:
        built = {}
        for name, what in (("stories", "stories"), ("dates", "dates/model.json")):
            built[name] = os.path.join(folder, name)
            subprocess.run([heddle, "compile", os.path.join(EXAMPLES, what), "-o", built[name], *cached.quick(heddle)], check=True)
        stories = Model(built["stories"], folder, None, "input_ids", None, {0})
        dates = Model(built["dates"], folder, "source_ids", "target_ids", 1, {2})
        with open(os.path.join(EXAMPLES, "stories", "expected.json")) as f:
            prompts = [c["input_ids"] for c in json.load(f)["cases"][:3]]
        with open(os.path.join(EXAMPLES, "dates", "expected.json")) as f:
            sources = [c["input_ids"] for c in json.load(f)["cases"][:3]]
        against_reference(stories, dates, prompts, sources)
        lengths(heddle, folder, dates, sources)
        of_the_source(dates, sources)
        sampling(stories, prompts[0])
        text_out(stories)
        through_config(heddle, folder, stories, prompts)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
