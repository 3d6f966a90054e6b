"""terminal.py HEDDLE WORK: what a terminal is sent of texts that would steer it, and what pipes get. One line a failure, then `N passed, N failed`."""
import json
import os
import pty
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
from checks import check, finish
from terminals import drain

heddle, work = sys.argv[1:]
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "examples")
EVIL = "\x1b]0;owned\x07\x1b[31m\u202e"
SHOWN = b"\\u001b]0;owned\\u0007\\u001b[31m\\u202e"


def run(*words):
    return subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60).stdout


def at_terminal(*words):
    """What a terminal gets on standard output."""
    master, slave = pty.openpty()
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=slave, stderr=subprocess.DEVNULL)
    os.close(slave)
    got = drain(master)
    process.wait(timeout=60)
    return got


def folder(example, **changed):
    home = os.path.join(work, example)
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(os.path.join(EXAMPLES, example), home)
    for name, data in changed.items():
        with open(os.path.join(home, name.replace("_json", ".json")), "w") as f:
            json.dump(data, f)
    program = os.path.join(work, example + "-program")
    subprocess.run([heddle, "compile", home, "-o", program, *cached.flags(heddle)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return program


os.makedirs(work, exist_ok=True)
with open(os.path.join(EXAMPLES, "sentiment", "config.json")) as f:
    config = json.load(f)
labels = [EVIL + str(i) for i in range(len(config["id2label"]))]
program = folder("sentiment", config_json=dict(config, id2label={str(i): text for i, text in enumerate(labels)}, label2id={text: i for i, text in enumerate(labels)}))
for words in (["info"], ["a fine film"], ["--help"], ["--version"]):
    piped, seen = run(program, *words), at_terminal(program, *words)
    check(b"\x1b" not in seen and "\u202e".encode() not in seen, "%s: a terminal gets %r" % (words[0], seen))
    check((EVIL.encode() in piped) == (SHOWN in seen), "%s: a terminal gets %r, a pipe %r" % (words[0], seen, piped))
check(EVIL.encode() in run(program, "info"), "a pipe gets the bytes of labels")

# A token that the model makes: of its text, one that comes again and again.
with open(os.path.join(EXAMPLES, "stories", "tokenizer.json")) as f:
    tokenizer = json.load(f)
plain = folder("stories")
words = ["Once upon a time", "-n", "20", "--greedy"]
text = run(plain, *words).decode()
vocabulary = tokenizer["model"]["vocab"]
token = max((t for t in vocabulary if t.startswith("\u0120") and t[1:].isalpha() and " " + t[1:] + " " in text), key=len)
# Byte-level tokenizers spell ESC as \u011b.
vocabulary["\u0120\u011b[31m"] = vocabulary.pop(token)
tokenizer["model"]["merges"] = [m for m in tokenizer["model"]["merges"] if "".join(m if isinstance(m, list) else m.split(" ")) != token]
program = folder("stories", tokenizer_json=tokenizer)
piped = run(program, *words)
check(b"\x1b[31m" in piped, "a pipe gets the bytes of a text: %r" % piped)
seen = at_terminal(program, *words)
check(seen == piped.replace(b"\x1b", b"\\u001b"), "a terminal gets %r of the text %r" % (seen, piped))
raw = at_terminal(program, *words, "--raw")
check(raw == piped, "--raw gives a terminal %r of the text %r" % (raw, piped))
sys.exit(finish())
