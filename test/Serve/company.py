#!/usr/bin/python3
"""A server's answers never depend on company: random requests that come together, each against the same request alone.

    company.py --heddle BIN [--requests N] [--at SLOTS:THREADS,...] [--only MODEL] [--seed N] [-v]

Texts come from the command line, log-probabilities from a program that was compiled without slots and makes one text at a
time; every byte counts. Requests share beginnings, differ in length, come at random times, ask for up to three choices, whole
or as a stream, greedy or drawn, and some clients go away in the middle. Three models: `examples/stories`, whose states hold every
position, and two small ones of random weights: a Mistral whose sliding window keeps its states in rings, and a BLOOM, which
counts positions from the mask of the tokens. One line a failure, then `N passed, N failed`."""
import argparse
import http.client
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
import random_model
from serving import ROOT, Counts, Server, compile_example

WORDS = "Once upon a time there was an old cat who lived in the village of Willowmere. Mia walked to the river, and Tom the weaver looked for his key.".split()


def windowed(work):
    """A Mistral with random weights and the tokenizer of stories; texts of up to 2,000 positions, of which 24 are seen."""
    folder = os.path.join(work, "windowed")
    width, heads, kv, inner, layers = 32, 4, 2, 48, 3
    tensors = [("model.embed_tokens.weight", (1024, width), 0), ("model.norm.weight", (width,), 1), ("lm_head.weight", (1024, width), 0)]
    for i in range(layers):
        at = "model.layers.%d." % i
        tensors += [(at + "input_layernorm.weight", (width,), 1), (at + "post_attention_layernorm.weight", (width,), 1)]
        for name, out, into in (("self_attn.q_proj", width, width), ("self_attn.k_proj", width * kv // heads, width), ("self_attn.v_proj", width * kv // heads, width),
                                ("self_attn.o_proj", width, width), ("mlp.gate_proj", inner, width), ("mlp.up_proj", inner, width), ("mlp.down_proj", width, inner)):
            tensors.append((at + name + ".weight", (out, into), 0))
    random_model.write(folder, {"architectures": ["MistralForCausalLM"], "model_type": "mistral", "hidden_act": "silu", "hidden_size": width, "intermediate_size": inner,
                                "max_position_embeddings": 2000, "num_attention_heads": heads, "num_key_value_heads": kv, "num_hidden_layers": layers, "rms_norm_eps": 1e-6,
                                "rope_theta": 10000.0, "sliding_window": 24, "tie_word_embeddings": False, "vocab_size": 1024, "eos_token_id": 0, "bos_token_id": 0}, tensors)
    shutil.copy(os.path.join(ROOT, "examples", "stories", "tokenizer.json"), folder)
    return folder


def counted(work):
    """A BLOOM with random weights and the tokenizer of stories: the places that its scores are moved by are sums of the mask."""
    folder = os.path.join(work, "counted")
    width, layers = 32, 2
    tensors = [("word_embeddings.weight", (1024, width), 0), *random_model.norm("word_embeddings_layernorm", width), *random_model.norm("ln_f", width)]
    for i in range(layers):
        at = "h.%d." % i
        for name in ("input_layernorm", "post_attention_layernorm"):
            tensors += random_model.norm(at + name, width)
        for name, out, into in (("self_attention.query_key_value", 3 * width, width), ("self_attention.dense", width, width),
                                ("mlp.dense_h_to_4h", 4 * width, width), ("mlp.dense_4h_to_h", width, 4 * width)):
            tensors += random_model.linear(at + name, out, into)
    random_model.write(folder, {"architectures": ["BloomForCausalLM"], "model_type": "bloom", "hidden_size": width, "n_head": 4, "n_layer": layers, "vocab_size": 1024,
                                "layer_norm_epsilon": 1e-5, "eos_token_id": 0, "bos_token_id": 0, "pad_token_id": 0}, tensors)
    shutil.copy(os.path.join(ROOT, "examples", "stories", "tokenizer.json"), folder)
    return folder


def requests_for(draw, count, longest):
    """Bodies of requests, most of which begin as another does."""
    openings = [" ".join(draw.choices(WORDS, k=draw.randint(1, longest))) for _ in range(max(count // 6, 2))]
    made = []
    for _ in range(count):
        opening = draw.choice(openings)
        prompt = draw.choice((opening, opening[:draw.randint(1, len(opening))], opening + " " + " ".join(draw.choices(WORDS, k=draw.randint(1, 12)))))
        body = {"prompt": prompt, "max_tokens": draw.randint(1, 24), "logprobs": draw.choice((0, 3)), "n": draw.choice((1, 1, 1, 2, 3))}
        if draw.random() < 0.4:
            body["temperature"] = 0
        else:
            body.update(temperature=draw.choice((0.5, 1.5)), top_k=draw.choice((0, 5)), seed=draw.randint(0, 1 << 30))
        if draw.random() < 0.3:
            body[draw.choice(("frequency_penalty", "repetition_penalty"))] = 1.3
        made.append(body)
    return made


def told(choice):
    """What must not depend on company, of a choice."""
    p = choice["logprobs"]
    return choice["text"], choice["finish_reason"], json.dumps([p["tokens"], p["token_logprobs"], p["top_logprobs"]])


def of_stream(events):
    """The same of the events of a stream."""
    choices = {}
    for event in events:
        for choice in event["choices"]:
            text, end, p = choices.setdefault(choice["index"], ["", None, [[], [], []]])
            choices[choice["index"]][0] = text + choice["text"]
            choices[choice["index"]][1] = choice["finish_reason"] or end
            for mine, key in zip(p, ("tokens", "token_logprobs", "top_logprobs")):
                mine += (choice["logprobs"] or {}).get(key, [])
    return [(text, end, json.dumps(p)) for _, (text, end, p) in sorted(choices.items())]


def go_away(port, body, after):
    """Reads a stream for a while and closes the connection."""
    text = json.dumps(dict(body, stream=True)).encode()
    with socket.create_connection(("127.0.0.1", port), timeout=60) as s:
        s.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(text) + text)
        got = b""
        while len(got) < after and not got.endswith(b"0\r\n\r\n"):
            piece = s.recv(4096)
            if not piece:
                break
            got += piece


def in_company(t, what, binary, bodies, want, slots, threads, seed):
    draw = random.Random(seed)
    order = list(range(len(bodies)))
    draw.shuffle(order)
    plans = [(i, draw.random() * 0.03, draw.random()) for i in order]
    turn, lock, wrong = iter(plans), threading.Lock(), []

    def client():
        while True:
            with lock:
                plan = next(turn, None)
            if plan is None or len(wrong) > 3:
                return
            i, pause, way = plan
            time.sleep(pause)
            try:
                if way < 0.15:
                    go_away(server.port, bodies[i], 100 + int(way * 20000))
                elif way < 0.5:
                    status, events = server.stream("/v1/completions", bodies[i])
                    if status != 200 or events[-1] != "[DONE]" or of_stream(events[:-1]) != want[i]:
                        wrong.append((i, bodies[i], events[-1] if status == 200 else events))
                else:
                    status, got = server.post("/v1/completions", bodies[i])
                    if status != 200 or [told(c) for c in got["choices"]] != want[i]:
                        wrong.append((i, bodies[i], got))
            except (OSError, ValueError, http.client.HTTPException) as e:
                wrong.append((i, bodies[i], repr(e)))

    with Server(binary, "--slots", str(slots), "--threads", str(threads), "--queue", "1000") as server:
        clients = [threading.Thread(target=client) for _ in range(slots + 4)]
        for one in clients:
            one.start()
        for one in clients:
            one.join()
        t.check("%s, %d slots, %d threads: as alone" % (what, slots, threads), not wrong, wrong[:1])
        reused, computed = server.metric('heddle_tokens_total{kind="reused"}'), server.metric('heddle_tokens_total{kind="prompt"}')
        t.check("%s, %d slots, %d threads: beginnings are kept" % (what, slots, threads), reused > computed / 10, (reused, computed))
        t.check("%s, %d slots, %d threads: ends" % (what, slots, threads), server.stop() == 0)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True)
    p.add_argument("--requests", type=int, default=60)
    p.add_argument("--at", default="1:1,8:1,4:2", metavar="SLOTS:THREADS,...")
    p.add_argument("--only", default="", help="stories, windowed or counted")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("-v", action="store_true")
    o = p.parse_args()
    t = Counts(o.v)
    heddle = os.path.abspath(o.heddle)
    with tempfile.TemporaryDirectory(prefix="heddle-company-") as work:
        models = [("stories", os.path.join(ROOT, "examples", "stories"), 60), ("windowed", windowed(work), 900), ("counted", counted(work), 60)]
        for name, folder, longest in models:
            if o.only not in name:
                continue
            binary, single = os.path.join(work, name + ".slots"), os.path.join(work, name + ".single")
            subprocess.run([heddle, "compile", folder, "--slots=require", "-o", binary, *cached.flags(heddle)], check=True)
            subprocess.run([heddle, "compile", folder, "--slots=none", "-o", single, *cached.flags(heddle)], check=True)
            draw = random.Random(o.seed)
            bodies = requests_for(draw, o.requests, longest)
            want = []
            with Server(single) as server:
                for body in bodies:
                    status, got = server.post("/v1/completions", body)
                    if status != 200:
                        raise RuntimeError(got)
                    want.append([told(c) for c in got["choices"]])
            # A few of them as the command line has them.
            for body, choices in list(zip(bodies, want))[:8]:
                if body.keys() & {"frequency_penalty", "repetition_penalty"} or choices[0][1] == "stop":
                    continue
                flags = ["--greedy"] if body["temperature"] == 0 else ["--temp", str(body["temperature"]), "--top-k", str(body["top_k"]), "--seed", str(body["seed"])]
                out = subprocess.run([binary, "generate", "--text", body["prompt"], "-n", str(body["max_tokens"]), *flags], check=True, stdout=subprocess.PIPE).stdout.decode()
                t.check("%s: the command line's text" % name, out[:-1] == body["prompt"] + choices[0][0], (out, choices[0][0]))
            for at in o.at.split(","):
                slots, threads = map(int, at.split(":"))
                in_company(t, name, binary, bodies, want, slots, threads, o.seed + slots)
    return t.end()


if __name__ == "__main__":
    sys.exit(main())
