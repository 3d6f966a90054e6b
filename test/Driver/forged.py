"""forged.py HEDDLE WORK: names, labels, tensor names, tokens, templates, licences and paths that try to write lines of the card.

Each is either refused where it is declared, or the program has it as a text: its facts are those of the same model without it, it is what
was compiled (--verify), and `info --json` gives the text back byte by byte. One line a failure, then `N passed, N failed`."""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
from checks import check, finish
from spoil import safetensors

import numpy as np

heddle, work = sys.argv[1:]
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "examples")
CARD = "x\nmasked_rows zero\ndim B -\nentry run\ndims B\ninput x f32 [B, 1000000]\noutput y f32 [B, 1000000]\narena 64\nend\n"
TEXTS = ["x\nparameters 5", "x\r\nparameters 5", CARD, "x # comment", "\x1b[2J\x1b]0;owned\x07", "a\u202eb", "a\u2028end", "%0Aend", "%", " two  words ", "\u00e9\u4f60", "end"]
FACTS = ["parameters", "entries", "dims", "target", "weight_bytes", "masked_rows"]


def run(*words, cwd=work):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd, timeout=120)


def write(folder, files):
    folder = os.path.join(work, folder)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for name, content in files.items():
        data = content if isinstance(content, bytes) else content.encode() if isinstance(content, str) else json.dumps(content).encode()
        with open(os.path.join(folder, name), "wb") as f:
            f.write(data)
    return folder


def linear(**changes):
    """A description of one linear, and its weights."""
    weight = changes.pop("weight", "w.weight")
    doc = {"heddle": 1, "name": "the_model", "inputs": {"x": "f32[B,4]"}, "weights": "model.safetensors",
           "body": [{"y": {"linear": "x", "weight": "/" + weight, "bias": False}}], "outputs": ["y"]}
    doc.update(changes)
    return {"model.json": doc, "model.safetensors": safetensors({weight: np.ones((4, 4), "<f4")})}


def facts(program):
    """What a program says of itself; None after an error, which is a failure of `what`."""
    verified, info = run(program, "--verify"), run(program, "info", "--json")
    if verified.returncode or info.returncode:
        return None
    return json.loads(info.stdout)


def same(what, model, good, *flags):
    """Compiles; the facts are those of `good`. Returns all that info says."""
    done = run(heddle, "compile", model, "-o", os.path.join(work, "program"), *cached.quick(heddle), *flags)
    check(done.returncode == 0, "%s: exit %d, %s" % (what, done.returncode, done.stderr.decode(errors="replace")))
    said = facts(os.path.join(work, "program")) if done.returncode == 0 else None
    check(said is not None, what + ": the program does not run")
    for fact in FACTS if said and good else []:
        check(said.get(fact) == good.get(fact), "%s: %s is %r, not %r" % (what, fact, said.get(fact), good.get(fact)))
    return said or {}


def refused(what, model, code):
    for command in (["check", model], ["compile", model, "-o", os.path.join(work, "program")]):
        done = run(heddle, *command)
        said = done.stderr + done.stdout
        check(done.returncode == 1 and code in said, "%s, %s: exit %d, %r" % (what, command[0], done.returncode, said))
        check(all(b >= 32 or b == 10 for b in said) and "\u202e".encode() not in said, "%s, %s: raw bytes in the message" % (what, command[0]))


os.makedirs(work, exist_ok=True)
good = same("the good model", write("good", linear()) + "/model.json", None)

# The model's name, in a description and in the text of a stage.
for text in TEXTS + ["", "n" * 256, "a\x00b"]:
    fine = text and len(text) < 256 and all(c.isprintable() for c in text)
    model = write("named", linear(name=text)) + "/model.json"
    if fine:
        check(same("name %r" % text, model, good).get("name") == text, "name %r: info has another" % text)
    else:
        refused("name %r" % text, model, b"H0307")
stage = run(heddle, "compile", "good/model.json", "--emit=buffers").stdout.decode()
check('model.name = "the_model"' in stage, "the stage names its model")
quoted = lambda text: "".join("\\%02X" % b for b in text.encode())
for text in TEXTS:
    forged = write("stage", {"model.mlir": stage.replace('model.name = "the_model"', 'model.name = "%s"' % quoted(text))}) + "/model.mlir"
    if all(c.isprintable() for c in text):
        check(same("stage name %r" % text, forged, good).get("name") == text, "stage name %r: info has another" % text)
    else:
        refused("stage name %r" % text, forged, b"H0381")
for old, new in (('model.name = "y"', 'model.name = "y\\0Aparameters 5"'), ('model.name = "x"}', 'model.name = "x\\0Aend"}')):
    check(old in stage, "the stage has " + old)
    refused("stage " + new, write("stage", {"model.mlir": stage.replace(old, new)}) + "/model.mlir", b"H0381")

# Licences: of a model card, which shows what cannot be printed, and of the text of a stage.
for text in TEXTS[3:9:2]:
    carded = write("carded", dict(linear(), **{"README.md": "---\nlicense: \"%s\"\n---\n" % text}))
    got = same("the card's licence %r" % text, carded + "/model.json", good).get("license", "")
    check(got.isprintable() and (got == text or not text.isprintable()), "the card's licence %r: info has %r" % (text, got))
for text in TEXTS[:9:2]:
    forged = write("licence", {"model.mlir": stage.replace('model.name =', 'model.license = "%s", model.name =' % quoted(text), 1)})
    check(same("licence %r" % text, forged + "/model.mlir", good).get("license") == text, "licence %r: info has another" % text)

# Names of tensors.
for text in TEXTS[:9]:
    same("tensor %r" % text, write("tensor", linear(weight=text)) + "/model.json", good)

# Names of inputs and outputs.
for text in TEXTS[:9:2]:
    refused("input %r" % text, write("input", linear(inputs={text: "f32[B,4]"})) + "/model.json", b"H0307")
    refused("output %r" % text, write("output", linear(body=[{text: {"linear": "x", "weight": "/w.weight", "bias": False}}], outputs=[text])) + "/model.json", b"H0307")
refused("a long dim", write("dim", linear(inputs={"x": "f32[%s,4]" % ("B" * 300)})) + "/model.json", b"H03")

# Labels.
with open(os.path.join(EXAMPLES, "sentiment", "config.json")) as f:
    config = json.load(f)
files = {n: open(os.path.join(EXAMPLES, "sentiment", n), "rb").read() for n in ("model.safetensors", "tokenizer.json")}
plain = same("the good classifier", write("labels", dict(files, **{"config.json": config})), None)
for three in (TEXTS[at:at + 3] for at in range(0, len(TEXTS), 3)):
    labels = dict(config, id2label=dict(zip("012", three)), label2id=dict(zip(three, range(3))))
    said = same("labels %r" % three, write("labels", dict(files, **{"config.json": labels})), plain)
    check(said.get("labels") == three, "labels %r: info has %r" % (three, said.get("labels")))

# Tokens, and a chat template's turn.
stories = {n: open(os.path.join(EXAMPLES, "stories", n), "rb").read() for n in os.listdir(os.path.join(EXAMPLES, "stories")) if not n.endswith(".md")}
teller = same("the good teller", write("teller", stories), None)
tokenizer = json.loads(stories["tokenizer.json"])
for text in TEXTS[:3:2]:
    spoilt = json.loads(stories["tokenizer.json"])
    token = next(t for t in spoilt["added_tokens"])
    old, token["content"] = token["content"], text
    if old in spoilt["model"]["vocab"]:
        spoilt["model"]["vocab"][text] = spoilt["model"]["vocab"].pop(old)
    template = "{% for m in messages %}{{ m['content'] + '" + old + "' }}{% endfor %}"
    said = same("token %r" % text, write("teller", dict(stories, **{"tokenizer.json": spoilt})), teller)
    same("turn %r" % text, write("turns", dict(stories, **{"tokenizer.json": spoilt, "chat_template.jinja": template.replace(old, text.replace("\n", "\\n"))})), teller)

# A path, which the kernels of a GPU name.
for name in ("a\nend\nb", "a # b", "\x1b[2J"):
    folder = write(name, linear())
    said = same("path %r" % name, os.path.join(folder, "model.json"), None, "--target=cuda")
    check(said.get("parameters") == good.get("parameters"), "path %r: %r parameters" % (name, said.get("parameters")))
sys.exit(finish())
