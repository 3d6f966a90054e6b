"""control_bytes.py HEDDLE WORK [--all]: what a terminal gets where the files of a model hold bytes that would steer it. One line a failure, then `N passed, N failed`.

Every text and every name in the JSON files beside a model is given an escape sequence, one at a time, and so are chat templates; what `check`, `tokenize`
and `template` then write to a terminal, results and messages, has none of its bytes. Messages have none in a pipe either, and results have all of them. By
itself this tries one place of eight, --all every one (minutes)."""
import copy
import json
import os
import pty
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
from checks import check, finish
from terminals import drain

heddle, work = sys.argv[1:3]
EVERY = 1 if "--all" in sys.argv else 8
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "examples")
EVIL = "\x1b]0;o\x07\x9b31m\u202e"
STEERS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
BESIDE = {"tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": {"content": "</s>", "lstrip": False, "special": True}, "add_bos_token": True,
                                    "added_tokens_decoder": {"0": {"content": "<x>", "special": True, "lstrip": False}}, "chat_template": "{{ messages[0].content }}", "model_max_length": 12},
          "special_tokens_map.json": {"bos_token": "<s>", "pad_token": {"content": "<p>"}}, "added_tokens.json": {"<a>": 1, "<b>": 2000},
          "generation_config.json": {"eos_token_id": 1, "stop_strings": ["x"], "foo": "bar", "do_sample": True, "cache_implementation": "x"}}
TEMPLATES = ["{{ %s }}", "{%% %s %%}", "{{ x|%s }}", "{{ x is %s }}", "{{ messages.%s() }}", "{%% if x %%}%s{%% endif", "{{ '%s' }", "{%% for %s in %s %%}", "{%% macro %s() %%}", "{{ raise_exception('%s') }}",
             "{%% set %s = 1 %%}", "%s{{", "{{ '%s' + 1 }}", "{%% include '%s' %%}", "{{ strftime_now('%s') }}", "{{ messages['%s'].x.y }}", "%s"]
TURN = b'{"messages": [{"role": "user", "content": "hi"}]}\n'
# What is always tried: kinds of parts, tokens of a template, merges, pieces.
ALWAYS = (["type"], ["SpecialToken", "id"], ["merges"], ["bos_token"])


def at_terminal(words, stdin):
    """The status, and what a terminal gets of both streams."""
    master, slave = pty.openpty()
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=slave, stderr=slave)
    os.close(slave)
    try:
        process.stdin.write(stdin)
        process.stdin.close()
    except OSError:  # it reads nothing
        pass
    got = drain(master)
    return process.wait(timeout=60), got.decode(errors="surrogateescape")


def judge(what, words, stdin=b""):
    status, seen = at_terminal(words, stdin)
    bad = next((line for line in seen.split("\n") if STEERS.search(line)), None)
    check(status in (0, 1, 3) and not bad, "%s, %s: status %d, a terminal gets %r" % (what, words[1], status, bad))


def places(value, at=()):
    """Where texts and names stand; of long lists and tables the first ones."""
    if isinstance(value, dict):
        for key in list(value)[:40]:
            yield at + (key,), True
            yield from places(value[key], at + (key,))
    elif isinstance(value, list):
        for i in range(min(len(value), 2)):
            yield from places(value[i], at + (i,))
    else:
        yield at, False


def spoiled(value, at, name):
    value = copy.deepcopy(value)
    around = value
    for key in at[:-1]:
        around = around[key]
    if name:
        items = [(EVIL + key if key == at[-1] else key, inner) for key, inner in around.items()]
        around.clear()
        around.update(items)
    else:
        around[at[-1]] = EVIL + str(around[at[-1]])
    return value


def sweep(home, file, commands, content=None):
    path, kept = os.path.join(home, file), None
    if content is None:
        with open(path) as f:
            kept = f.read()
        content = json.loads(kept)
    for number, (at, name) in enumerate(places(content)):
        known = not name and any(list(at[-len(a):]) == a or list(at[-len(a) - 1:-1]) == a for a in ALWAYS)
        if number % EVERY and not known:
            continue
        with open(path, "w", encoding="utf-8") as f:
            json.dump(spoiled(content, at, name), f, ensure_ascii=False)
        for words, stdin in commands:
            judge("%s %s%s" % (file, "/".join(map(str, at)), ", the name" if name else ""), words, stdin)
    os.remove(path)
    if kept:
        with open(path, "w") as f:
            f.write(kept)


shutil.rmtree(work, ignore_errors=True)
for example in ("stories", "sentiment", "dates") if EVERY == 1 else ("stories",):
    home = os.path.join(work, example)
    shutil.copytree(os.path.join(EXAMPLES, example), home)
    described = "config.json" if example != "dates" else "model.json"
    checked = ([heddle, "check", home if example != "dates" else os.path.join(home, described)], b"")
    both = [checked, ([heddle, "tokenize", home], b"Once upon\n")]
    sweep(home, "tokenizer.json", both)
    sweep(home, described, [checked])
    for file, content in BESIDE.items():
        sweep(home, file, [checked] if file == "generation_config.json" else both, content)

home = os.path.join(work, "stories")
for number, text in enumerate(TEMPLATES):
    text = text.replace("%s", "a" + EVIL).replace("%%", "%")
    with open(os.path.join(home, "chat_template.jinja"), "w", encoding="utf-8") as f:
        f.write(text)
    judge("the template %r" % text, [heddle, "template", home], TURN)
    if number % EVERY == 0:
        judge("the template %r" % text, [heddle, "check", home])
piped = subprocess.run([heddle, "template", home], input=TURN, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
check(piped == ("a" + EVIL + "\n").encode(), "a pipe gets the bytes of a template's text: %r" % piped)
status, seen = at_terminal([heddle, "template", home], TURN)
check(seen == "a\\u001b]0;o\\u0007\\u009b31m\\u202e\n", "a terminal gets %r of them" % seen)

with open(os.path.join(home, "tokenizer.json")) as f:
    tokenizer = json.load(f)
with open(os.path.join(home, "tokenizer.json"), "w", encoding="utf-8") as f:
    json.dump(dict(tokenizer, model=dict(tokenizer["model"], type=EVIL)), f, ensure_ascii=False)
said = subprocess.run([heddle, "tokenize", home], input=b"", stdout=subprocess.PIPE, stderr=subprocess.PIPE).stderr.decode()
check("unsupported model" in said and not STEERS.search(said), "a message in a pipe: %r" % said)
sys.exit(finish())
