#!/usr/bin/python3
"""Texts longer than a model was made for: refused, ended with a note, or made where --context says so.

    context.py --heddle BIN

A small Llama whose config.json bounds its texts, by itself and by rope_scaling; ids, texts, lines, files, conversations, and a server with
slots and without. Then the note of a text that nobody said the length of. Ends in `N passed, N failed`."""
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
import first_tokens
from checks import check, finish
from first_tokens import listed, text_of
from random_weights import tensors
from serving import Server

WORDS, MOST = 40, 8
#: rope_scaling → positions, where max_position_embeddings says 8
SCALED = [(None, 8), ({"rope_type": "linear", "factor": 4.0}, 32), ({"type": "dynamic", "factor": 2.0}, 16), ({"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4}, 16),
          ({"rope_type": "yarn", "factor": 4.0}, 32), ({"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 4}, 8)]


def call(binary, *words, stdin=None):
    p = subprocess.run([binary, *words], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    return p.returncode, p.stdout.decode().strip(), p.stderr.decode()


def compiled(heddle, work, name, *flags, **config):
    folder = os.path.join(work, "model")
    os.makedirs(folder, exist_ok=True)
    first_tokens.decoder(folder, WORDS, **config)
    binary = os.path.join(work, name)
    subprocess.run([heddle, "compile", folder, "-o", binary, *cached.quick(heddle), *flags], check=True, stderr=subprocess.DEVNULL)
    return binary


def made(text):
    return len(text.split(",")) if text else 0


def by_command(binary, work, ids):
    plain = ["--print-ids", "--ignore-eos", "--greedy"]
    for many, words, context, new in ((MOST, [], MOST, 1), (MOST - 2, [], MOST, 3), (1, [], MOST, MOST), (MOST, ["--context", "12"], 12, 5), (3, ["--context", "4"], 4, 2)):
        for way in (["generate", "--ids", listed(ids[:many])], ["generate", "--text", text_of(ids[:many])], [text_of(ids[:many])]):
            status, said, noted = call(binary, *way, "-n", "20", *plain, *words)
            check(status == 0 and made(said) == new and "reached the %d positions" % context in noted and "--context N" in noted, "%d tokens %s: %d, %r, %r" % (many, words, status, said, noted))
        status, said, noted = call(binary, *way, "-n", str(new), *plain, *words)
        check(status == 0 and made(said) == new and not noted, "%d tokens and just as many new ones as there is room for: %r %r" % (many, said, noted))
    whole = call(binary, "generate", "--ids", listed(ids[:4]), "-n", "20", "--context", "40", *plain)[1].split(",")
    check(call(binary, "generate", "--ids", listed(ids[:4]), "-n", "20", *plain)[1].split(",") == whole[:MOST - 3], "a text that ends at the bound begins as the whole does")
    for way in (["generate", "--ids", listed(ids)], ["generate", "--text", text_of(ids)], [text_of(ids)], ["--lines"]):
        status, said, noted = call(binary, *way, "-n", "1", *plain, stdin=text_of(ids).encode() if way[0] == "--lines" else None)
        check(status == 1 and "has %d tokens" % len(ids) in noted and "at most %d" % MOST in noted and "--context N" in noted, "a longer prompt is refused: %d %r %r" % (status, said, noted))
        status, said, noted = call(binary, *way, "-n", "1", "--context", str(len(ids)), *plain, stdin=text_of(ids).encode() if way[0] == "--lines" else None)
        check(status == 0 and made(said) == 1, "--context takes it: %d %r" % (status, noted))
    check(call(binary, text_of(ids), "--context", "0")[0] == 2, "--context 0 is refused")
    path, out = (os.path.join(work, n) for n in ("in.safetensors", "out.safetensors"))
    tensors.write(path, {"input_ids": np.array([ids[:6], ids[1:7]], np.int64)})
    status, _, noted = call(binary, "generate", "--input", path, "--output", out, "-n", "6", "--ignore-eos")
    got = tensors.read(out)["ids"].tolist() if status == 0 else None
    alone = [list(map(int, call(binary, "generate", "--ids", listed(row), "-n", "3", *plain)[1].split(","))) for row in (ids[:6], ids[1:7])]
    check(got == [row + new + [2] * 3 for row, new in zip((ids[:6], ids[1:7]), alone)] and "reached the 8 positions" in noted, "a file: %s, alone %s, %r" % (got, alone, noted))
    tensors.write(path, {"input_ids": np.array([ids], np.int64)})
    check(call(binary, "generate", "--input", path, "--output", out, "-n", "1")[0] == 1, "a file with longer prompts is refused")


def by_conversation(binary, ids):
    status, said, noted = call(binary, "chat", "--greedy", "-n", "2", stdin=(text_of(ids) + "\n").encode())
    check(status == 1 and "%d positions" % MOST in noted and "--context N" in noted, "a question that is too long: %d %r %r" % (status, said, noted))
    status, said, noted = call(binary, "chat", "--greedy", "-n", "2", stdin=(text_of(ids[:3]) + "\n").encode())
    check(status == 0 and len(said) == 2, "a question that is not too long: %d %r %r" % (status, said, noted))
    status, said, noted = call(binary, "chat", "--greedy", "-n", "2", "--context", "20", stdin=(text_of(ids) + "\n").encode())
    check(status == 0 and len(said) == 2, "chat --context: %d %r %r" % (status, said, noted))
    check(call(binary, text_of(ids), "-n", "1")[0] == 1, "a turn that is too long")


def by_server(binary, ids):
    for flags, context in (([], MOST), (["--context", "20"], 20)):
        with Server(binary, *flags) as server:
            check("%d positions a text" % context in server.line, "the first line: %r" % server.line)
            for many in (MOST, MOST + 1, 20, 21):
                prompt = (ids * 3)[:many]
                status, got = server.post("/v1/completions", {"prompt": prompt, "max_tokens": 100, "temperature": 0, "seed": 1})
                if many > context:
                    check(status == 400 and got["error"]["code"] == "context_length_exceeded", "%d tokens of %d: %s %s" % (many, context, status, got))
                    continue
                stopped = status == 200 and got["choices"][0]["finish_reason"] == "stop"
                check(stopped or (status == 200 and got["usage"]["completion_tokens"] == context - many + 1), "%d tokens of %d: %s %s" % (many, context, status, got))


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True)
    heddle = os.path.abspath(p.parse_args().heddle)
    with tempfile.TemporaryDirectory() as work:
        for scaling, positions in SCALED:
            binary = compiled(heddle, work, "scaled", "--without=serve,chat", max_position_embeddings=MOST, rope_scaling=scaling)
            got = json.loads(call(binary, "info", "--json")[1])["generate"].get("context")
            check(got == positions, "%s: %s positions, expected %d" % (scaling, got, positions))
        ids = np.random.default_rng(4).integers(3, WORDS, MOST + 1).tolist()
        with open(os.path.join(work, "template"), "w") as f:
            f.write("{{ messages[-1]['content'] }}")
        single, slots = (compiled(heddle, work, name, *flags, max_position_embeddings=MOST) for name, flags in (("single", ["--slots=none"]), ("slots", [])))
        by_command(single, work, ids)
        by_server(single, ids)
        by_server(slots, ids)
        by_conversation(compiled(heddle, work, "chat", "--template", os.path.join(work, "template"), max_position_embeddings=MOST), ids)
        long = compiled(heddle, work, "long", "--without=serve,chat", max_position_embeddings=400)
        for words, noted in (([], True), (["-n", "128"], False), (["-n", "3"], False), (["-n", "140"], False)):
            status, said, got = call(long, "generate", "--ids", "5", "--print-ids", "--ignore-eos", *words)
            check(status == 0 and ("ends after 128 new tokens" in got and "-n N" in got) == noted and (noted or not got), "%s: %r" % (words, got))
        first = call(long, "generate", "--ids", "5", "--print-ids", "--ignore-eos", "-n", "1")[1]
        ends = compiled(heddle, work, "ends", "--without=serve,chat", max_position_embeddings=400, eos_token_id=int(first))
        status, said, got = call(ends, "generate", "--ids", "5", "--print-ids")
        check(status == 0 and said == first and not got, "a text that the model ends is not noted: %r %r" % (said, got))
    return finish()


if __name__ == "__main__":
    sys.exit(main())
