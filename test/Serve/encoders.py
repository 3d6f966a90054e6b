#!/usr/bin/python3
"""The server of models that read texts: vectors, labels, words, answers.

    encoders.py --heddle BIN [-v]

What is served is, byte for byte, what the command line says of the text alone, and of many requests at once each gets what it gets
alone. One line a failure, then `N passed, N failed`."""
import argparse
import base64
import json
import os
import struct
import subprocess
import sys
import tempfile
import threading

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
from abuse import fuzz
from determinism import tensors
from serving import Counts, Server, compile_example
from texts import VOCABULARY, bert

TEXTS = ["a cat sat", "who is in the house ?", "the cat", "a tree", "all day long a cat saw it and the tree under the mat", "where", "it sat on the mat . the cat saw it all day long .", "a cat sat"]


def said(binary, *words):
    """The line that the command line prints, as bytes."""
    return subprocess.run([binary, "--json", *words], check=True, stdout=subprocess.PIPE).stdout.rstrip(b"\n")


def together(server, path, bodies):
    """The answers to many requests that are sent at the same time."""
    got = [None] * len(bodies)

    def ask(i):
        got[i] = server.request("POST", path, bodies[i])[2]

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(len(bodies))]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return got


def company(t, server, path, bodies):
    """Each body gets alone what it gets in company, and as one of a list what the others of it do not change."""
    alone = [server.request("POST", path, body)[2] for body in bodies]
    before = server.metric("heddle_batch_rows_count")
    t.check("%s: in company" % path, together(server, path, bodies * 6) == alone * 6)
    return alone, server.metric("heddle_batch_rows_count") - before


def judged(t, server, binary, path, texts, pair=None, more=()):
    """Labels, words or stretches: the JSON of the command line."""
    words = [[text] + ([pair] if pair else []) for text in texts]
    want = [said(binary, *w) for w in words]
    body = lambda text, **fields: dict({"input": text}, **dict({"pair": pair} if pair else {}, **fields))
    alone, _ = company(t, server, path, [body(text) for text in texts])
    t.check("%s: as the command line" % path, alone == want, (alone[0], want[0]))
    status, _, data = server.request("POST", path, body(texts))
    t.check("%s: a list" % path, status == 200 and data == b'{"data":[' + b",".join(want) + b"]}", data[:200])
    if pair:
        status, _, data = server.request("POST", path, {"input": texts, "pair": [pair] * len(texts)})
        t.check("%s: a list of pairs" % path, status == 200 and json.loads(data)["data"] == [json.loads(w) for w in want])
    status, _, data = server.request("POST", path, body(texts[0], top=1))
    t.check("%s: top" % path, data == said(binary, "--top", "1", *words[0]), data)
    fuzz(t, server, path, body(texts[0]), ["model", "input", "pair", "top"], 150)
    for what, wrong, words in (("no input", {}, "missing"), ("a number", {"input": 5}, "text"), ("ids", {"input": [1, 2]}, "text"), ("no texts", {"input": []}, "list"), ("an empty text in a list", {"input": ["a", 5]}, "text"),
                               ("too long", {"input": "a " * 100, "pair": "a"}, "48"), ("top 0", {"input": "a", "top": 0}, "top"), ("pairs", {"input": "a", "pair": ["a", "b"]}, "pair"),
                               ("another model", {"input": "a", "model": "gpt-4"}, "gpt-4"), *more):
        status, got = server.post(path, wrong)
        t.check("%s: %s" % (path, what), status in (400, 404) and words in got["error"]["message"], got)


def vectors(t, heddle, work, architecture, pooled):
    """Embeddings against what `run` says of the same ids."""
    folder, binary = os.path.join(work, architecture), os.path.join(work, architecture + ".bin")
    bert(folder, architecture)
    subprocess.run([heddle, "compile", folder, "-o", binary, *cached.flags(heddle)], check=True, stderr=subprocess.DEVNULL)
    help_text = subprocess.run([binary, "--help"], check=True, stdout=subprocess.PIPE, text=True).stdout
    t.check("the help of a headless encoder", "--similarity" in help_text and "a vector of each text" in help_text, help_text[:300])
    given, result = os.path.join(work, "ids.safetensors"), os.path.join(work, "out.safetensors")

    def hidden(ids):
        tensors.write(given, {"input_ids": np.array([ids], np.int64)})
        subprocess.run([binary, "run", "--input", given, "--output", result], check=True)
        return tensors.read(result)

    with Server(binary, "--no-truncate", "--queue", "64") as server:
        path = "/v1/embeddings"
        ids = [VOCABULARY.index(w) for w in ["[CLS]"] + TEXTS[1].split() + ["[SEP]"]]
        out = hidden(ids)
        mean = out["last_hidden_state"][0].astype(np.float64).mean(0)
        unit = lambda v: v / np.sqrt((v * v).sum())
        vector = lambda body: np.array(server.post(path, body)[1]["data"][0]["embedding"], np.float64)
        t.check("mean", np.abs(vector({"input": TEXTS[1], "pooling": "mean", "normalize": True}) - unit(mean)).max() < 1e-6)
        t.check("mean, not of length 1", np.abs(vector({"input": TEXTS[1], "pooling": "mean"}) - mean).max() < 1e-6)
        default = out["pooler_output"][0].astype(np.float64) if pooled else mean
        t.check("the model's own", np.abs(vector({"input": TEXTS[1]}) - default).max() < 1e-6)
        t.check("ids", (vector({"input": ids}) == vector({"input": TEXTS[1]})).all())
        status, got = server.post(path, {"input": TEXTS[1], "encoding_format": "base64", "dimensions": 16})
        packed = struct.unpack("<16f", base64.b64decode(got["data"][0]["embedding"], validate=True))
        line = [float(x) for x in subprocess.run([binary, TEXTS[1]], check=True, stdout=subprocess.PIPE, text=True).stdout.split()]
        t.check("the command line's", line == vector({"input": TEXTS[1]}).tolist(), line)
        t.check("base64", list(packed) == [float(np.float32(x)) for x in vector({"input": TEXTS[1]})], packed)
        t.check("the object", got["object"] == "list" and got["data"][0]["object"] == "embedding" and got["model"] == os.path.basename(binary) and got["usage"] == {"prompt_tokens": 8, "total_tokens": 8}, got)

        alone, batches = company(t, server, path, [{"input": text} for text in TEXTS])
        t.check("batches", batches < 6 * len(TEXTS), batches)
        status, got = server.post(path, {"input": TEXTS})
        t.check("a list", [d["embedding"] for d in got["data"]] == [json.loads(a)["data"][0]["embedding"] for a in alone] and [d["index"] for d in got["data"]] == list(range(len(TEXTS))))
        status, got = server.post(path, {"input": [ids, ids[:3] + ids[-1:]]})
        t.check("lists of ids", status == 200 and len(got["data"]) == 2)
        before = server.metric("heddle_batch_rows_count")
        status, got = server.post(path, {"input": (TEXTS * 25)[:200]})
        t.check("200 texts in batches of at most 64", status == 200 and len(got["data"]) == 200 and server.metric("heddle_batch_rows_count") - before == 4 and
                [d["embedding"] for d in got["data"][:8]] == [json.loads(a)["data"][0]["embedding"] for a in alone])
        # The last position of this model is not a number: one text's fault is not another's.
        long = [VOCABULARY.index("cat")] * 48
        got = together(server, path, [{"input": long}] + [{"input": text} for text in TEXTS])
        t.check("a NaN is its own", got[1:] == alone and (pooled or b"NaN" in got[0]), got[0])
        for what, body, param in (("an unknown id", {"input": [10 ** 6]}, "input"), ("too many ids", {"input": [5] * 49}, "input"), ("a list with a wrong one", {"input": ["a", "a " * 60]}, "input[1]"),
                                  ("format", {"input": "a", "encoding_format": "f16"}, "encoding_format"), ("dimensions", {"input": "a", "dimensions": 17}, "dimensions"),
                                  ("pooling", {"input": "a", "pooling": "avg"}, "pooling"), ("prompt", {"input": "a", "prompt_name": "query"}, "prompt_name"), ("no input", {}, "input"), ("no texts", {"input": []}, "input")):
            status, got = server.post(path, body)
            t.check("embeddings: " + what, status == 400 and got["error"]["param"] == param, got)
        status, got = server.post("/v1/chat/completions", {"messages": [{"role": "user", "content": "a"}]})
        t.check("no chat", status == 404 and got["error"]["code"] == "not_served" and path in got["error"]["message"], got)
        fuzz(t, server, path, {"input": "a cat"}, ["model", "input", "encoding_format", "normalize", "pooling", "dimensions", "user"], 300)
        t.check("metrics", server.metric('heddle_requests_total{path="/v1/embeddings",code="200"}') > 20)
        t.check("stops", server.stop() == 0)


def sentence_transformers(t, heddle, work):
    """modules.json says how hidden states become a vector, where a request does not."""
    folder, binary = os.path.join(work, "sentences"), os.path.join(work, "sentences.bin")
    bert(folder, "BertModel")
    os.mkdir(os.path.join(folder, "1_Pooling"))
    with open(os.path.join(folder, "modules.json"), "w") as file:
        json.dump([{"idx": i, "name": str(i), "path": path, "type": "sentence_transformers.models." + kind}
                   for i, (path, kind) in enumerate((("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")))], file)
    given, result = os.path.join(work, "pooled.safetensors"), os.path.join(work, "hidden.safetensors")
    # Lengths one, odd and even, padded on the right where they share a batch.
    texts = [[VOCABULARY.index(w) for w in text.split()] for text in ("cat", "[CLS] a cat [SEP]", "[CLS] the cat sat on the mat [SEP]", "who is in the")]
    for word in ("mean", "cls", "max"):
        modes = {"cls_token": "cls", "mean_tokens": "mean", "max_tokens": "max"}
        with open(os.path.join(folder, "1_Pooling", "config.json"), "w") as file:
            json.dump(dict({"pooling_mode_" + key: mode == word for key, mode in modes.items()}, word_embedding_dimension=16), file)
        subprocess.run([heddle, "compile", folder, "-o", binary, *cached.flags(heddle)], check=True, stderr=subprocess.DEVNULL)
        t.check("info says " + word, json.loads(subprocess.run([binary, "info", "--json"], check=True, stdout=subprocess.PIPE).stdout)["pooling"] == word)
        with Server(binary, "--no-truncate") as server:
            status, got = server.post("/v1/embeddings", {"input": texts, "normalize": False})
            for ids, one in zip(texts, got["data"]):
                tensors.write(given, {"input_ids": np.array([ids], np.int64)})
                subprocess.run([binary, "run", "--input", given, "--output", result], check=True)
                hidden = tensors.read(result)["last_hidden_state"][0].astype(np.float64)
                want = {"mean": hidden.mean(0), "cls": hidden[0], "max": hidden.max(0)}
                for asked in modes.values():
                    # The default is that of modules.json, and a request may say another.
                    body = {"input": ids, "normalize": False, "pooling": asked}
                    vector = one["embedding"] if asked == word else server.post("/v1/embeddings", body)[1]["data"][0]["embedding"]
                    t.check("%s where %s is usual, %d tokens" % (asked, word, len(ids)), np.abs(np.array(vector) - want[asked]).max() < 1e-6)
            status, got = server.post("/v1/embeddings", {"input": [VOCABULARY.index("cat")] * 48})
            t.check("%s with a NaN" % word, status == 400 and "NaN" in got["error"]["message"], got)


def padding_matters(t, heddle, work):
    """A model whose tokens see the mean over all columns, padding or not: no text is padded, and each still gets what it gets alone."""
    folder, binary = os.path.join(work, "means"), os.path.join(work, "means.bin")
    bert(folder, "BertModel")
    os.remove(os.path.join(folder, "config.json"))
    with open(os.path.join(folder, "model.json"), "w") as file:
        json.dump({"heddle": 1, "name": "means", "dims": {"T": 48}, "outputs": ["last_hidden_state"],
                   "inputs": {"input_ids": "i64[B,T]", "attention_mask": {"type": "i64[B,T]", "default": "=1"}},
                   "weights": {"file": "model.safetensors", "ignored": {"not of this model": ["bert.encoder.*", "bert.pooler.*", "bert.embeddings.L*", "bert.embeddings.p*", "bert.embeddings.t*"]}},
                   "body": [{"x": {"embedding": "input_ids", "rows": len(VOCABULARY), "width": 16, "weights": "bert.embeddings.word_embeddings"}},
                            {"m": {"mean": "x", "axis": 1, "keep": True}},
                            {"last_hidden_state": "=(x + m) * attention_mask[:, :, null]"}]}, file)
    subprocess.run([heddle, "compile", os.path.join(folder, "model.json"), "-o", binary, *cached.flags(heddle)], check=True)
    with Server(binary, "--no-truncate") as server:
        alone, _ = company(t, server, "/v1/embeddings", [{"input": text} for text in TEXTS])
        before = server.metric("heddle_batch_rows_count")
        status, got = server.post("/v1/embeddings", {"input": TEXTS})
        t.check("a list, unpadded", [d["embedding"] for d in got["data"]] == [json.loads(a)["data"][0]["embedding"] for a in alone])
        lengths = len({json.loads(a)["usage"]["prompt_tokens"] for a in alone})
        t.check("a batch a length", server.metric("heddle_batch_rows_count") - before == lengths, (server.metric("heddle_batch_rows_count") - before, lengths))


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True)
    p.add_argument("-v", action="store_true")
    o = p.parse_args()
    t, heddle = Counts(o.v), os.path.abspath(o.heddle)
    with tempfile.TemporaryDirectory(prefix="heddle-encoders-") as work:
        vectors(t, heddle, work, "BertModel", True)
        sentence_transformers(t, heddle, work)
        padding_matters(t, heddle, work)

        binary = compile_example(heddle, work, "sentiment")
        with Server(binary, "--no-truncate") as server:
            path, texts = "/v1/classify", ["a good film", "what a very bad and boring film this was", "it is a film"]
            want = [said(binary, text) for text in texts]
            alone, _ = company(t, server, path, [{"input": text} for text in texts])
            t.check("classify: as the command line", alone == want, (alone, want))
            t.check("classify: a list", server.request("POST", path, {"input": texts, "top": 5})[2] == b'{"data":[' + b",".join(want) + b"]}")
            t.check("classify: ignored fields are told", server.request("POST", path, {"input": "a", "user": "me"})[1].get("heddle-ignored") == "user")
        for architecture, path, texts, pair, more in (
                ("BertForMaskedLM", "/v1/fill", ["a [MASK] sat", "the [MASK] saw [MASK] under the mat all day long", "who is [MASK] ?"], None, [("no mask", {"input": "a cat"}, "[MASK]")]),
                ("BertForQuestionAnswering", "/v1/answer", ["who ?", "where is the cat", "who sat on the mat all day ?"], "a cat sat on the mat . it saw a tree .", [("no text", {"input": "who"}, "pair")]),
                ("BertForTokenClassification", "/v1/classify", ["a cat", "the cat sat on the mat", "where"], None, [])):
            folder, binary = os.path.join(work, architecture), os.path.join(work, architecture + ".bin")
            bert(folder, architecture, **({"id2label": {"0": "thing", "1": "other"}} if "Token" in architecture else {}))
            subprocess.run([heddle, "compile", folder, "-o", binary, *cached.flags(heddle)], check=True, stderr=subprocess.DEVNULL)
            with Server(binary, "--no-truncate") as server:
                judged(t, server, binary, path, texts, pair, more)
                t.check("%s: stops" % path, server.stop() == 0)
    return t.end()


if __name__ == "__main__":
    sys.exit(main())
