#!/usr/bin/python3
"""Texts in, words out, on small encoders with random weights: words behind masks, answers out of a text, one class, standard input.

    texts.py --heddle BIN

The ids of a text are written down here; `run` gives the logits for them, and from those follows, in numpy, what the binary must say
when it is given the text itself. One line a failure, then `N passed, N failed`."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
from reference import sigmoid
from checks import check, finish
from random_weights import Weights, tensors

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + "who is in the house a cat sat on mat ? . un ##der tree and saw it all day long where".split()
WIDTH, LAYERS, LONGEST = 16, 2, 48


def ids_of(*pieces):
    return np.array([[VOCABULARY.index(p) for p in pieces]], np.int64)


def bert(folder, architecture, **config):
    os.makedirs(folder)
    config.update(model_type="bert", architectures=[architecture], vocab_size=len(VOCABULARY), hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=2,
                  intermediate_size=24, max_position_embeddings=LONGEST, type_vocab_size=2, hidden_act="gelu", layer_norm_eps=1e-12, pad_token_id=0)
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as f:
        json.dump(config, f)
    with open(os.path.join(folder, "vocab.txt"), "w", encoding="utf-8") as f:
        f.write("\n".join(VOCABULARY) + "\n")
    with open(os.path.join(folder, "tokenizer_config.json"), "w", encoding="utf-8") as f:
        json.dump({"tokenizer_class": "BertTokenizer"}, f)
    w = Weights(folder, 7)
    for name, rows in (("word", len(VOCABULARY)), ("position", LONGEST), ("token_type", 2)):
        w.table("bert.embeddings.%s_embeddings.weight" % name, rows, WIDTH)
    w.named["bert.embeddings.position_embeddings.weight"][-1] = np.nan  # only the longest text meets it
    w.norm("bert.embeddings.LayerNorm", WIDTH)
    for i in range(LAYERS):
        at = "bert.encoder.layer.%d." % i
        for p in ("self.query", "self.key", "self.value", "output.dense"):
            w.linear(at + "attention." + p, WIDTH, WIDTH)
        w.norm(at + "attention.output.LayerNorm", WIDTH)
        w.linear(at + "intermediate.dense", 24, WIDTH)
        w.linear(at + "output.dense", WIDTH, 24)
        w.norm(at + "output.LayerNorm", WIDTH)
    if "Masked" in architecture or "PreTraining" in architecture:
        w.linear("cls.predictions.transform.dense", WIDTH, WIDTH)
        w.norm("cls.predictions.transform.LayerNorm", WIDTH)
        w.table("cls.predictions.bias", len(VOCABULARY))
    if "PreTraining" in architecture:
        w.linear("cls.seq_relationship", 2, WIDTH)
    if "Question" in architecture:
        w.linear("qa_outputs", 2, WIDTH)
    if "Sequence" in architecture or "Token" in architecture:
        w.linear("classifier", len(config["id2label"]), WIDTH)
    if "Sequence" in architecture or "PreTraining" in architecture or architecture == "BertModel":
        w.linear("bert.pooler.dense", WIDTH, WIDTH)
    w.write({})


def said(*command, stdin=None):
    return subprocess.run(command, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, stdin=None if stdin is not None else subprocess.DEVNULL)


def answer(*command, stdin=None):
    r = said(*command, stdin=stdin)
    check(r.returncode == 0, "%r: exit status %d, %r" % (command[1:], r.returncode, r.stderr))
    return json.loads(r.stdout) if r.returncode == 0 else None


def logits(binary, work, ids, types=None):
    given, made = os.path.join(work, "in.safetensors"), os.path.join(work, "out.safetensors")
    tensors.write(given, {"input_ids": ids} if types is None else {"input_ids": ids, "token_type_ids": types})
    r = said(binary, "run", "--input", given, "--output", made)
    check(r.returncode == 0, "run: %r" % r.stderr)
    return tensors.read(made)


def softmax(x):
    x = np.exp(x.astype(np.float64) - x.max())
    return x / x.sum()


def close(a, b):
    return abs(a - b) <= 1e-6


def words(binary, work, output):
    ids = ids_of("[CLS]", "the", "[MASK]", "sat", "on", "[MASK]", ".", "[SEP]")
    rows = logits(binary, work, ids)[output][0]
    found = answer(binary, "The [MASK] sat on [MASK].", "--json", "--top", "3")
    check(found and len(found["masks"]) == 2, "two masks: %r" % found)
    for mask, place in zip(found["masks"], (2, 5)):
        scores = softmax(rows[place])
        best = np.argsort(-scores, kind="stable")[:3]
        check([w["id"] for w in mask["words"]] == best.tolist(), "words at %d: %r, not %r" % (place, mask, best))
        check(all(w["word"] == VOCABULARY[w["id"]] and close(w["score"], scores[w["id"]]) for w in mask["words"]), "scores at %d: %r" % (place, mask))
    plain = said(binary, "the [MASK]", "--top", "2").stdout.decode().splitlines()
    scores = softmax(logits(binary, work, ids_of("[CLS]", "the", "[MASK]", "[SEP]"))[output][0, 2])
    check(plain == ["%6.2f %%  %s" % (100 * scores[i], VOCABULARY[i]) for i in np.argsort(-scores, kind="stable")[:2]], "plain words: %r" % plain)
    r = said(binary, "the cat")
    check(r.returncode == 1 and b"[MASK]" in r.stderr, "a text without mask: %r" % r)
    check("[MASK]" in said(binary, "--help").stdout.decode(), "help without [MASK]")


def questions(binary, work):
    question, text = ["where", "is", "the", "cat", "?"], ["a", "cat", "sat", "un", "##der", "the", "tree", "and", "saw", "it", "all", "day", "long", "in", "the", "house", "on", "a", "mat", "."]
    first = len(question) + 2
    types = np.array([[0] * first + [1] * (len(text) + 1)], np.int64)
    out = logits(binary, work, ids_of("[CLS]", *question, "[SEP]", *text, "[SEP]"), types)
    starts, ends = (softmax(np.append(out[n][0, first:first + len(text)], out[n][0, 0])) for n in ("start_logits", "end_logits"))
    spans = [(starts[i] * ends[j], -i, -j) for i in range(len(text)) for j in range(i, min(len(text), i + 15))]
    best = sorted(spans, reverse=True)[:4]
    context = "A cat sat under the tree and saw it all day long in the house on a mat."
    found = answer(binary, "Where is the cat?", context, "--json", "--top", "4")
    check(found and len(found["answers"]) == 4, "answers: %r" % found)
    for a, (score, i, j) in zip(found["answers"], best):
        words = " ".join(text[-i:-j + 1]).replace(" ##", "").replace(" .", ".")
        if words.startswith("##"):
            words = words[2:] if a["answer"] == words[2:] else words
        check((a["first"], a["last"], a["answer"]) == (first - i, first - j, words) and close(a["score"], score), "answer %r, not %r %r" % (a, words, (score, i, j)))
    check(answer(binary, "Where is the cat?", "-", "--json", "--top", "4", stdin=context.encode() + b"\n") == found, "the text on standard input")
    r = said(binary, "Where?")
    check(r.returncode == 2 and b"missing" in r.stderr, "a question alone: %r" % r)
    r = said(binary, "-", "-", stdin=b"x")
    check(r.returncode == 2, "standard input twice: %r" % r)


def one_class(binary, work):
    score = float(logits(binary, work, ids_of("[CLS]", "the", "cat", "[SEP]"))["logits"][0, 0])
    found = answer(binary, "the cat", "--json")["labels"]
    # as the library's pipeline scores a single class
    check(len(found) == 1 and found[0]["label"] == "good" and close(found[0]["logit"], score) and close(found[0]["score"], sigmoid(score)), "one class is a sigmoid: %r, the logit is %r" % (found, score))
    check(answer(binary, "-", "--json", stdin=b"the cat")["labels"] == found, "a text on standard input")


def not_a_number(binary, *texts):
    """Where a logit is NaN nothing is answered: whatever was, would look like an answer."""
    r = said(binary, *texts, "--json")
    check(r.returncode == 1 and not r.stdout and b"holds a NaN: nothing can be chosen from it" in r.stderr, "%s: logits that are NaN: %r" % (os.path.basename(binary), r))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--heddle", required=True)
    heddle = os.path.abspath(p.parse_args().heddle)
    with tempfile.TemporaryDirectory(prefix="heddle-texts-") as work:
        for name, architecture, config, test in (("words", "BertForMaskedLM", {}, lambda b: words(b, work, "logits")), ("both", "BertForPreTraining", {}, lambda b: words(b, work, "prediction_logits")),
                                                 ("questions", "BertForQuestionAnswering", {}, lambda b: questions(b, work)),
                                                 ("class", "BertForSequenceClassification", {"id2label": {"0": "good"}}, lambda b: one_class(b, work))):
            folder, binary = os.path.join(work, name), os.path.join(work, name + ".bin")
            bert(folder, architecture, **config)
            r = said(heddle, "compile", folder, "-o", binary, *cached.quick(heddle))
            check(r.returncode == 0, "%s: %r" % (name, r.stderr))
            if r.returncode == 0:
                test(binary)
                longest = "[MASK]" + " the" * (LONGEST - 3)
                not_a_number(binary, *(["who", longest[:-8]] if name == "questions" else [longest]))
    return finish()


if __name__ == "__main__":
    sys.exit(main())
