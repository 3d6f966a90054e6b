#!/usr/bin/python3
"""A server under load: what clients that come together get, and when.

    load.py --heddle BIN MODEL [--slots 1,4,8] [--threads N] [--prompt 128] [--shared 0,512] [--new 64] [--seconds 20] [--compile "FLAGS"]
            [--rival URL] [--llamacpp DIR [--kind f32]]

MODEL is a directory, of random weights (make_gpt2.py, make_llama.py). For each number of slots a server of its own is started, and as many clients ask it, each
the next thing as soon as it has its answer: `--prompt` ids that no other request has, behind `--shared` ids that all have. Tokens
come as a stream. A line a row: requests and new tokens a second, milliseconds to the first token and between two (median, 99th of
a hundred), memory of the process, tokens of prompts that were not computed, and how many different texts eight equal requests
get. `--rival` is another server with OpenAI's API on this machine, which is asked in turns with ours; `--llamacpp` is llama-server, out
of the folder of llamacpp.py, started with as many slots and the same weights as GGUF."""
import argparse
import http.client
import json
import os
import random
import shlex
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from urllib.parse import urlparse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
from serving import Server


# Of random weights the likeliest token is always the same one, and may show nothing.
DRAWN = {"temperature": 1, "top_k": 40, "top_p": 1, "seed": 5}


def fail(why):
    """Ends all threads."""
    print("load.py: error: %s" % why, file=sys.stderr, flush=True)
    os._exit(1)


def stream(host, port, body):
    """(times at which text came, text, tokens)."""
    connection = http.client.HTTPConnection(host, port, timeout=600)
    connection.request("POST", "/v1/completions", json.dumps(dict(body, stream=True, stream_options={"include_usage": True})), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    if answer.status != 200:
        fail("%d %s" % (answer.status, answer.read()[:300]))
    times, text, tokens = [], "", 0
    for line in answer:
        if line.startswith(b"data: {"):
            event = json.loads(line[6:])
            if "error" in event:
                fail(event["error"])
            if event["choices"] and not event["choices"][0].get("finish_reason"):
                times.append(time.monotonic())
                text += event["choices"][0]["text"]
            tokens = (event.get("usage") or {}).get("completion_tokens", tokens)
    connection.close()
    return times, text, tokens


def with_words(model, folder):
    """The model, with a word for each of its tokens, as models of random weights have none: the tokenizer of examples/stories and
    invented words. Returns the number of tokens."""
    os.makedirs(folder)
    for name in os.listdir(model):
        if not name.startswith("tokenizer"):
            os.symlink(os.path.abspath(os.path.join(model, name)), os.path.join(folder, name))
    with open(os.path.join(model, "config.json"), encoding="utf-8") as f:
        vocabulary = json.load(f)["vocab_size"]
    with open(os.path.join(HERE, "../../examples/stories/tokenizer.json"), encoding="utf-8") as f:
        tokenizer = json.load(f)
    words = tokenizer["model"]["vocab"]
    for number in range(len(words), vocabulary):
        words["w%d" % number] = number
    with open(os.path.join(folder, "tokenizer.json"), "w", encoding="utf-8") as f:
        json.dump(tokenizer, f)
    return vocabulary


def ids(draw, count, vocabulary):
    return [draw.randrange(300, vocabulary) for _ in range(count)]


def row(host, port, clients, o, shared, vocabulary):
    """What `clients` get in `o.seconds`."""
    first, between, done, lock = [], [], [0.0], threading.Lock()
    common = ids(random.Random(7), shared, vocabulary)
    end = time.monotonic() + o.seconds

    def client(number):
        draw = random.Random(1000 * number + clients)
        while time.monotonic() < end:
            asked = time.monotonic()
            times, _, made = stream(host, port, {"prompt": common + ids(draw, o.prompt, vocabulary), "max_tokens": o.new, "ignore_eos": True, **DRAWN})
            with lock:
                # Of the last request of a client, what came in time; then others are alone, and faster.
                done[0] += made * sum(at <= end for at in times) / len(times)
                first.append(times[0] - asked)
                between.extend(b - a for a, b in zip(times, times[1:]))

    threads = [threading.Thread(target=client, args=(i,)) for i in range(clients)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    texts, together = set(), []
    equal = {"prompt": common + ids(random.Random(8), o.prompt, vocabulary), "max_tokens": 32, **DRAWN}
    for _ in range(8):
        together.append(threading.Thread(target=lambda: texts.add(stream(host, port, equal)[1])))
        together[-1].start()
    for one in together:
        one.join()
    at = lambda values, share: sorted(values)[min(int(len(values) * share), len(values) - 1)] * 1e3
    return "%.2f | %.1f | %.0f / %.0f | %.1f / %.1f" % (done[0] / o.seconds / o.new, done[0] / o.seconds, at(first, 0.5), at(first, 0.99), at(between, 0.5), at(between, 0.99)), len(texts)


def resident(process):
    with open("/proc/%d/statm" % process) as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("model")
    p.add_argument("--heddle", required=True)
    p.add_argument("--slots", default="1,4,8")
    p.add_argument("--threads", type=int, default=os.cpu_count())
    p.add_argument("--prompt", type=int, default=128)
    p.add_argument("--shared", default="0,512")
    p.add_argument("--new", type=int, default=64)
    p.add_argument("--seconds", type=float, default=20)
    p.add_argument("--compile", default="")
    p.add_argument("--rival")
    p.add_argument("--llamacpp", metavar="DIR")
    p.add_argument("--kind", default="f32", help="how its weights are stored: f32, bf16, q8_0, q4_0")
    o = p.parse_args()
    if o.llamacpp:
        import llamacpp
        other = llamacpp.LlamaCpp(o.llamacpp)
        other.install(server=True)
    print("| server | clients | shared | requests/s | tokens/s | first token, ms | between, ms | memory, MB | reused | texts of 8 |\n|---|---|---|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory(prefix="heddle-load-") as work:
        folder, binary = os.path.join(work, "folder"), os.path.join(work, "model")
        vocabulary = with_words(o.model, folder)
        subprocess.run([os.path.abspath(o.heddle), "compile", folder, "-o", binary, *shlex.split(o.compile)], check=True)
        if o.llamacpp:
            with open(os.path.join(o.model, "config.json"), encoding="utf-8") as f:
                kind = json.load(f)["model_type"]
            words = os.path.join(work, "words.gguf")
            getattr(llamacpp.gguf, kind)(o.model, words, o.kind, words=True)
        for clients in map(int, o.slots.split(",")):
            for shared in map(int, o.shared.split(",")):
                with Server(binary, "--slots", str(clients), "--threads", str(o.threads)) as server:
                    figures, distinct = row("127.0.0.1", server.port, clients, o, shared, vocabulary)
                    reused, computed = (server.metric('heddle_tokens_total{kind="%s"}' % kind) for kind in ("reused", "prompt"))
                    print("| heddle | %d | %d | %s | %.0f | %.0f %% | %d |" % (clients, shared, figures, server.resident() / 1e6, 100 * reused / (reused + computed), distinct), flush=True)
                if o.llamacpp:
                    with other.serving(words, clients, shared + o.prompt + o.new, o.threads) as (port, process):
                        figures, distinct = row("127.0.0.1", port, clients, o, shared, vocabulary)
                        print("| llama-server %s | %d | %d | %s | %.0f | | %d |" % (o.kind, clients, shared, figures, resident(process) / 1e6, distinct), flush=True)
                if o.rival:
                    url = urlparse(o.rival)
                    figures, distinct = row(url.hostname, url.port, clients, o, shared, vocabulary)
                    print("| rival | %d | %d | %s | | | %d |" % (clients, shared, figures, distinct), flush=True)


if __name__ == "__main__":
    main()
