"""sentence_vectors.py HEDDLE WORK: directories of sentence-transformers.

What of their modules is not computed stands in compile's remarks, in `info` and in the server's first line; the old layout is found; a score
of one class lies between 0 and 1 unless the config names another activation."""
import json
import os
import shutil
import signal
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


def first_line(binary):
    p = subprocess.Popen([binary, "serve", "--port", "0"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    line = p.stdout.readline()
    p.send_signal(signal.SIGTERM)
    p.wait(60)
    return line


def vectors():
    pooling = {"word_embedding_dimension": 32, "pooling_mode_mean_tokens": True}
    modules = [{"idx": 0, "name": "0", "path": "", "type": TYPES + "Transformer"}, {"idx": 1, "name": "1", "path": "1_Pooling", "type": TYPES + "Pooling"},
               {"idx": 2, "name": "2", "path": "2_Dense", "type": TYPES + "Dense"}]
    home = os.path.join(WORK, "dense")
    model(home, 0)
    write(home, "modules.json", modules)
    write(home, "1_Pooling/config.json", pooling)
    write(home, "config_sentence_transformers.json", {"prompts": {"query": "query: "}, "default_prompt_name": "query"})
    binary, said = compiled(home)
    lack = 'the default prompt "query: " in front of a text, the module Dense (2_Dense)'
    check("the module Dense is not computed" in said, "compile: " + said)
    check("without " + lack in call(binary, "info").stdout and json.loads(call(binary, "info", "--json").stdout)["vectors_lack"] == lack, "info: " + call(binary, "info").stdout)
    check("vectors without " + lack in first_line(binary), "the server's first line: " + first_line(binary))
    # The old layout has the model in its first module's folder.
    old = os.path.join(WORK, "old")
    model(os.path.join(old, "0_Transformer"), 0)
    write(old, "modules.json", [{**modules[0], "path": "0_Transformer"}, modules[1]])
    write(old, "1_Pooling/config.json", pooling)
    binary, said = compiled(old)
    info = call(binary, "info").stdout
    check("vectors: mean of last_hidden_state" in info and "without" not in info, "the old layout: " + info)


def scores():
    text, logits = "a good story", {}
    for name, changes in (("sigmoid", {}), ("logit", {"sentence_transformers": {"activation_fn": "torch.nn.modules.linear.Identity"}}), ("older", {"sbert_ce_default_activation_function": "torch.nn.modules.linear.Identity"}),
                          ("regression", {"problem_type": "regression"})):
        home = os.path.join(WORK, name)
        model(home, 1, **changes)
        label = json.loads(call(compiled(home)[0], text, "--json").stdout)["labels"][0]
        want = 1 / (1 + np.exp(-label["logit"])) if name == "sigmoid" else label["logit"]
        check(abs(label["score"] - want) < 1e-6, "%s: %s" % (name, label))


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(WORK)
    vectors()
    scores()
    return finish()


if __name__ == "__main__":
    sys.exit(main())
