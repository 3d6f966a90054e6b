#!/usr/bin/python3
"""What clients of other servers send, and what they mean by it: log-probabilities of a prompt, ends of a text by id, turns that go on.

    clients.py --heddle BIN [-v]

Each is asked of a server with slots and of one without. One line a failure, then `N passed, M failed`."""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
from serving import ROOT, Counts, Server, compile_example

PATH, TALK = "/v1/completions", "/v1/chat/completions"
PROMPT = "Once upon a time"
# One that trims what a turn says, and one that does not; both would write None.
TRIMS = "{% for m in messages %}{{ m.role }}: {{ m.content | trim }}<|endoftext|>{% endfor %}{% if add_generation_prompt %}assistant:{% endif %}"
PLAIN = "{% for m in messages %}{{ m.role + ': ' + (m.content | string) }}\n{% endfor %}{% if add_generation_prompt %}assistant:{% endif %}"


def prompts(t, server, ids):
    """`echo` with `logprobs`: those of the prompt are those that its tokens had when they were made."""
    greedy = {"prompt": PROMPT, "temperature": 0, "logprobs": 2}
    made = server.post(PATH, dict(greedy, max_tokens=40))[1]["choices"][0]
    whole = PROMPT + made["text"]
    for name, extra in (("nothing new", {"max_tokens": 0}), ("a new token", {"max_tokens": 1}), ("drawn tokens", {"max_tokens": 4, "temperature": 1, "seed": 3})):
        status, got = server.post(PATH, dict(greedy, prompt=whole, echo=True, **extra))
        told, new = got["choices"][0]["logprobs"], extra["max_tokens"]
        first, count = len(ids), len(made["logprobs"]["tokens"])
        t.check("echo and " + name, status == 200 and len(told["tokens"]) == first + count + new and got["usage"]["completion_tokens"] == new, told)
        t.check("its first token has none, with " + name, told["token_logprobs"][0] is None and told["top_logprobs"][0] is None and None not in told["token_logprobs"][1:])
        for key in ("tokens", "token_logprobs", "top_logprobs"):
            t.check("%s of a prompt, with %s" % (key, name), told[key][first:first + count] == made["logprobs"][key], (told[key][first:], made["logprobs"][key]))
        text = got["choices"][0]["text"]
        t.check("offsets with " + name, text.startswith(whole) and all(text[at:].startswith(piece) for piece, at in zip(told["tokens"], told["text_offset"])), told["text_offset"])
        alone = server.post(PATH, dict({k: v for k, v in greedy.items() if k != "logprobs"}, prompt=whole, **extra))[1]["choices"][0]["text"]
        t.check("the text with " + name, text == whole + alone, (text, alone))
        pieces = server.stream(PATH, dict(greedy, prompt=whole, echo=True, **extra))[1][:-1]
        probabilities = [x for e in pieces for x in (e["choices"][0]["logprobs"] or {"token_logprobs": []})["token_logprobs"]]
        t.check("its stream with " + name, "".join(e["choices"][0]["text"] for e in pieces) == text and probabilities == told["token_logprobs"], pieces[:1])
    # Many prompts at once, as harnesses ask: each as alone.
    several = [PROMPT, whole, "The old cat", PROMPT]
    got = server.post(PATH, dict(greedy, prompt=several, echo=True, max_tokens=0))[1]["choices"]
    single = [server.post(PATH, dict(greedy, prompt=p, echo=True, max_tokens=0))[1]["choices"][0] for p in several]
    t.check("several prompts", [c["logprobs"] for c in got] == [c["logprobs"] for c in single])
    got = server.post(PATH, dict(greedy, prompt=[ids[0]], echo=True, max_tokens=0))[1]["choices"][0]["logprobs"]
    t.check("a prompt of one token", got["token_logprobs"] == [None] and got["text_offset"] == [0], got)


def ends(t, server, heddle):
    """Ends of a text by id, least lengths, and numbers as others write them."""
    greedy = {"prompt": PROMPT, "temperature": 0, "max_tokens": 40}
    ask = lambda **fields: server.post(PATH, dict(greedy, **fields))
    base = ask()[1]["choices"][0]["text"]
    line = json.dumps({"text": base}) + "\n"
    ids = json.loads(subprocess.run([heddle, "tokenize", os.path.join(ROOT, "examples", "stories"), "--json"], input=line, check=True, stdout=subprocess.PIPE, text=True).stdout)["ids"]
    piece = lambda count: json.loads(subprocess.run([heddle, "tokenize", os.path.join(ROOT, "examples", "stories"), "--json"], input=json.dumps({"ids": ids[:count]}) + "\n",
                                                    check=True, stdout=subprocess.PIPE, text=True).stdout)["text"]
    at = next(i for i in range(5, len(ids)) if ids[i] not in ids[:i])
    got = ask(stop_token_ids=[ids[at]])[1]["choices"][0]
    t.check("stop_token_ids", (got["text"], got["finish_reason"]) == (piece(at), "stop"), got)
    got = ask(stop_token_ids=[ids[at]], min_tokens=at + 3)[1]
    t.check("min_tokens holds ends back", got["usage"]["completion_tokens"] >= at + 3, got)
    got = ask(stop=[base[10:16]], min_tokens=30)[1]
    t.check("min_tokens holds stop texts back", got["usage"]["completion_tokens"] >= 30, got)
    long = ask(max_tokens=-1)[1]
    t.check("max_tokens -1", long["choices"][0]["finish_reason"] == "stop" and long["choices"][0]["text"].startswith(base), long)
    more = long["usage"]["completion_tokens"] + 6
    got = ask(max_tokens=more, ignore_eos=True)[1]
    t.check("ignore_eos", got["usage"]["completion_tokens"] == more and got["choices"][0]["finish_reason"] == "length", got)
    got = ask(max_tokens=more, min_tokens=more)[1]
    t.check("min_tokens holds the model's end back", got["usage"]["completion_tokens"] == more, got)
    got = ask(max_tokens=more, stop=["<|endoftext|>"], ignore_eos=True)[1]
    t.check("a stop text that is a special token", got["choices"][0] == dict(long["choices"][0], index=0), got)
    t.check("max_tokens 2.0", ask(max_tokens=2.0)[1]["usage"]["completion_tokens"] == 2)
    t.check("max_tokens 2.5", ask(max_tokens=2.5)[0] == 400)
    sampled = ask(temperature=1, seed=5)[1]
    t.check("top_k -1", ask(temperature=1, seed=5, top_k=-1)[1]["choices"] == ask(temperature=1, seed=5, top_k=0)[1]["choices"])
    t.check("seed 5.0", ask(temperature=1, seed=5.0)[1]["choices"] == sampled["choices"])
    status, fields, _ = server.request("POST", PATH, dict(greedy, temperature=1, seed=-1, max_tokens=2))
    t.check("seed -1 is drawn", status == 200 and int(fields["heddle-seed"]) >= 0)
    for name, fields in (("min_tokens over max_tokens", {"min_tokens": 9, "max_tokens": 8}), ("an id that is a text", {"stop_token_ids": ["a"]}), ("seed -2", {"seed": -2})):
        t.check(name, ask(**fields)[0] == 400)
    for stream in (False, True):
        status, got = server.post(PATH, dict(greedy, prompt="a b c d " * 400, stream=stream))
        t.check("a prompt that is too long", status == 400 and got["error"]["code"] == "context_length_exceeded" and got["error"]["param"] == "prompt", got)
    got = ask(max_tokens=1, logprobs=20)[1]["choices"][0]["logprobs"]["top_logprobs"][0]
    t.check("20 tokens beside one", len(got) == 20, got)


def endless(t, heddle, work):
    """An `eos_token_id` of null in generation_config.json: nothing ends a text, whatever config.json says."""
    folder, binary = os.path.join(work, "endless"), os.path.join(work, "endless.bin")
    shutil.copytree(os.path.join(ROOT, "examples", "stories"), folder)
    with open(os.path.join(folder, "generation_config.json"), "w") as file:
        file.write('{"eos_token_id": null}')
    subprocess.run([heddle, "compile", folder, "-o", binary, *cached.flags(heddle)], check=True)
    made = subprocess.run([binary, "generate", "--text", PROMPT, "-n", "170", "--greedy", "--print-ids"], check=True, stdout=subprocess.PIPE, text=True).stdout
    t.check("eos_token_id null", len(made.split(",")) == 170, made)


def turns(t, heddle, work):
    for name, template in (("trims", TRIMS), ("plain", PLAIN)):
        folder = os.path.join(work, name)
        shutil.copytree(os.path.join(ROOT, "examples", "stories"), folder)
        with open(os.path.join(folder, "chat_template.jinja"), "w") as file:
            file.write(template)
        binary = os.path.join(work, name + ".bin")
        subprocess.run([heddle, "compile", folder, "-o", binary, *cached.flags(heddle)], check=True)
        with Server(binary) as server:
            def says(messages, **fields):
                status, got = server.post(TALK, dict({"messages": messages, "temperature": 0, "max_tokens": 12}, **fields))
                return got["choices"][0]["message"]["content"] if status == 200 else got["error"]
            def continues(text):
                return server.post(PATH, {"prompt": text, "temperature": 0, "max_tokens": 12})[1]["choices"][0]["text"]
            talk = [{"role": "user", "content": " Tell me. "}, {"role": "assistant", "content": "Once upon a "}]
            user = "user: Tell me.<|endoftext|>" if name == "trims" else "user:  Tell me. \n"
            last = "assistant: Once upon a" + ("" if name == "trims" else " ")
            t.check("continue_final_message, " + name, says(talk, continue_final_message=True) == continues(user + last), says(talk, continue_final_message=True))
            parts = [talk[0], {"role": "assistant", "content": [{"type": "text", "text": "Once upon a "}]}]
            t.check("of parts, " + name, says(parts, continue_final_message=True, add_generation_prompt=False) == continues(user + last))
            closed = user + last + ("<|endoftext|>" if name == "trims" else "\n")
            t.check("add_generation_prompt false, " + name, says(talk, add_generation_prompt=False) == continues(closed))
            t.check("both, " + name, "add_generation_prompt" in str(says(talk, add_generation_prompt=True, continue_final_message=True)))
            t.check("nothing to continue, " + name, "continued" in str(says([{"role": "assistant"}], continue_final_message=True)))
            call = [talk[0], {"role": "assistant", "content": None, "tool_calls": []}]
            empty = [talk[0], {"role": "assistant", "content": ""}]
            t.check("content null, " + name, says(call) == says(empty) and isinstance(says(call), str), says(call))
            if name == "plain":
                t.check("content null is no None", says(call) == continues(user + "assistant: \nassistant:"), says(call))
            got = server.post(TALK, {"messages": [{"role": "user", "content": "a b c d " * 400}]})
            t.check("a conversation that is too long, " + name, got[0] == 400 and got[1]["error"]["code"] == "context_length_exceeded" and got[1]["error"]["param"] == "messages", got)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True)
    p.add_argument("-v", action="store_true")
    o = p.parse_args()
    t, heddle = Counts(o.v), os.path.abspath(o.heddle)
    with tempfile.TemporaryDirectory(prefix="heddle-clients-") as work:
        said = subprocess.run([heddle, "tokenize", os.path.join(ROOT, "examples", "stories"), "--json"], input=json.dumps({"text": PROMPT}) + "\n",
                              check=True, stdout=subprocess.PIPE, text=True).stdout
        for flags in ([], ["--slots=none"]):
            binary = compile_example(heddle, work, flags=flags)
            with Server(binary) as server:
                listed = json.loads(server.request("GET", "/v1/models")[2])["data"]
                t.check("/v1/models has the program's name", [m["id"] for m in listed] == ["stories"], listed)
                prompts(t, server, json.loads(said)["ids"])
                ends(t, server, heddle)
        turns(t, heddle, work)
        endless(t, heddle, work)
    return t.end()


if __name__ == "__main__":
    sys.exit(main())
