"""sentence_vectors.py HEDDLE WORK: directories of sentence-transformers.

The old layout is found, with the settings next to its model. Scores of cross-encoders are what the activation of their config, or of
--activation, makes of them. (test/Execution/vectors.py holds vectors against numpy.)"""
import json
import os
import shutil
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, os.pardir, os.pardir)
sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
import tensors
from checks import check, finish

HEDDLE, WORK = sys.argv[1:]
SENTIMENT = os.path.join(ROOT, "examples", "sentiment")
TYPES = "sentence_transformers.models."


def write(home, name, value):
    path = os.path.join(home, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        json.dump(value, f)


def model(home, head, **changes):
    """examples/sentiment as a body (head: 0) or as a classifier of so many classes"""
    os.makedirs(home)
    with open(os.path.join(SENTIMENT, "config.json"), encoding="utf-8") as f:
        config = json.load(f)
    named = tensors.read(os.path.join(SENTIMENT, "model.safetensors"))
    if head:
        config["id2label"] = {str(i): "LABEL_%d" % i for i in range(head)}
        for part in ("weight", "bias"):
            named["classifier." + part] = named["classifier." + part][:head]
    else:
        config["architectures"] = ["BertModel"]
        config.pop("id2label", None)
        named = {n.removeprefix("bert."): v for n, v in named.items() if not n.startswith("classifier")}
    config.pop("label2id", None)
    write(home, "config.json", {**config, **changes})
    tensors.write(os.path.join(home, "model.safetensors"), named)
    shutil.copy(os.path.join(SENTIMENT, "tokenizer.json"), home)


def compiled(home):
    binary = os.path.join(WORK, os.path.basename(home) + ".program")
    p = subprocess.run([HEDDLE, "compile", home, "-o", binary, *cached.quick(HEDDLE)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    check(p.returncode == 0, "%s: %s" % (home, p.stderr))
    return binary, p.stderr


def call(*words):
    return subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def old_layout():
    """The model is in its first module's folder, with the settings of its texts."""
    old = os.path.join(WORK, "old")
    model(os.path.join(old, "0_Transformer"), 0)
    write(old, "0_Transformer/sentence_roberta_config.json", {"max_seq_length": 8, "do_lower_case": False})
    write(old, "modules.json", [{"idx": 0, "name": "0", "path": "0_Transformer", "type": TYPES + "Transformer"}, {"idx": 1, "name": "1", "path": "1_Pooling", "type": TYPES + "Pooling"}])
    write(old, "1_Pooling/config.json", {"word_embedding_dimension": 32, "pooling_mode_mean_tokens": True})
    binary, said = compiled(old)
    info = call(binary, "info").stdout
    check("vectors: mean of last_hidden_state, compared by cosine" in info and "cut to 8 tokens" in info, "the old layout: " + info)
    p = call(binary, "a good story of a good book and of a bad one, which is long", "--json")
    check(json.loads(p.stdout)["tokens"] == 8 and "cut" in p.stderr, "a text that is cut: %r" % p)


def scores():
    text, identity = "a good story", "torch.nn.modules.linear.Identity"
    sigmoid = lambda x: 1 / (1 + np.exp(-x))
    for name, changes, of in (("sigmoid", {}, sigmoid), ("logit", {"sentence_transformers": {"activation_fn": identity}}, None), ("older", {"sbert_ce_default_activation_function": identity}, None),
                              ("both", {"sentence_transformers": {"activation_fn": "torch.nn.modules.activation.Sigmoid"}, "sbert_ce_default_activation_function": identity}, sigmoid)):
        home = os.path.join(WORK, name)
        model(home, 1, **changes)
        binary = compiled(home)[0]
        label = json.loads(call(binary, text, "another one", "--json").stdout)["labels"][0]
        check(abs(label["score"] - (of or float)(label["logit"])) < 1e-6, "%s: %s" % (name, label))
    for flag, of in (("none", float), ("sigmoid", sigmoid), ("softmax", lambda x: 1.0)):
        label = json.loads(call(binary, text, "--json", "--activation", flag).stdout)["labels"][0]
        check(abs(label["score"] - of(label["logit"])) < 1e-6, "--activation %s: %s" % (flag, label))
    check(call(binary, text, "--activation", "tanh").returncode == 2, "an unknown --activation")
    home = os.path.join(WORK, "three")
    model(home, 3, sentence_transformers={"activation_fn": identity})
    binary = compiled(home)[0]
    labels = json.loads(call(binary, text, "--json").stdout)["labels"]
    check(all(l["score"] == l["logit"] for l in labels) and len(labels) == 3, "three scores as they are: %s" % labels)
    labels = json.loads(call(binary, text, "--json", "--activation=softmax").stdout)["labels"]
    check(abs(sum(l["score"] for l in labels) - 1) < 1e-6, "three scores under a softmax: %s" % labels)
    home = os.path.join(WORK, "odd")
    model(home, 1, sentence_transformers={"activation_fn": "mine.Activation"})
    p = call(HEDDLE, "check", home)
    check(p.returncode == 3 and "mine.Activation" in p.stdout + p.stderr, "an activation of one's own: %r" % p)


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(WORK)
    old_layout()
    scores()
    return finish()


if __name__ == "__main__":
    sys.exit(main())
