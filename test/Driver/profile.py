"""What `bench` counts: `profile.py BINARY [GPT2_DIRECTORY]`.

The bytes that a step of a GPT-2 reads are counted here from its config; the lines of `bench --profile` must add up to the
operations of a call, be one for each line of the card with the same place, and say no share above 1. Of a model in codes, the products of
integers are counted from its config."""
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
from checks import check, finish  # noqa: E402

def said(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    check(done.returncode == 0, "%s: %s" % (" ".join(command), done.stderr))
    return done.stdout


def entries(card):
    """{entry: {key: [lines]}} of the text of a card."""
    found, entry = {}, None
    for line in card.splitlines():
        key, _, rest = line.partition(" ")
        if key == "entry":
            entry = found.setdefault(rest, {})
        elif entry is not None:
            entry.setdefault(key, []).append(rest)
    return found


def value(form, **dims):
    return eval(form.split(" #")[0], {"max": max, "min": min}, dims)


def turns(line):
    return int(re.search(r" turns (\d+) ", line).group(1))


def text_of(word):
    return re.sub("%(..)", lambda m: chr(int(m.group(1), 16)), word)


def origin(line):
    """[place, statement, node, kernels] of a line `phase`."""
    words = line.split(" # ")[0].partition(" bytes ")[2].split(" ")[1:]
    at = words.index("by") if "by" in words else len(words)
    said = dict(zip(words[:at:2], words[1:at:2]))
    return [text_of(said.get(key, "")) for key in ("at", "in", "of")] + [[text_of(w) for w in words[at + 1:]]]


def main():
    binary = os.path.abspath(sys.argv[1])
    text = said(binary, "info", "--card")
    card, coded = entries(text), bool(re.search(r"^codes .* dots$", text, re.M))
    integers = None
    if len(sys.argv) > 2:
        with open(os.path.join(sys.argv[2], "config.json")) as f:
            c = json.load(f)
        width, layers, vocabulary = c["n_embd"], c["n_layer"], c["vocab_size"]
        # A layer has 12 width^2 weights and 13 width biases and gains; the head is the table, which tokens look up rows of, too.
        if coded:
            integers = 2 * 12 * layers * 12 * width * width + 2 * vocabulary * width
        weights = layers * (12 * width * width + 13 * width) + 2 * width + vocabulary * width
        for batch, past, new in () if coded else ((1, 0, 1), (3, 17, 1), (2, 100, 5)):
            looked_up = batch * new * 2 * width
            # Beside the cache: which of the keys are no padding, 8 bytes each.
            rows = batch * (past + new) * (layers * 2 * width * 4 + 8)
            found = value(card["step"]["reads"][0], B=batch, past=past, new=new, capacity=256)
            check(found == 4 * (weights + looked_up) + rows, "bytes of a step, %d x %d behind %d: %s" % (batch, new, past, found))
    for threads in ("1", "3"):
        steps = ["--new-tokens", "4"] if "step" in card else []
        figures = json.loads(said(binary, "bench", "--profile", "--json", "--prompt-tokens", "12", "--threads", threads, *steps))
        entry = {"encoder": "once", "prefill": "step" if steps else "run", "decode": "step"}
        done = 0
        for what in ("encoder",) * ("once" in card) + ("prefill", "decode")[: 1 + len(steps)]:
            rows = figures["profile_" + what]
            lines = card[entry[what]]["phase"]
            met = sum(r["phases"] for r in rows)
            check([origin(line) for line in lines] == [[r[k] for k in ("place", "statement", "node", "kernels")] for r in rows],
                  "origins of the lines: %s" % rows)
            worked = [r for r in rows if r["operations"] > 0]
            check(worked and all(r["place"].startswith("$.") for r in worked), "phases with products have places: %s" % rows)
            check(any(r["statement"] for r in worked) == (" in " in "".join(lines)), "statements of blocks: %s" % rows)
            check(any(r["kernels"] for r in rows), "functions that are called: %s" % rows)
            # What only padding needs is passed over.
            needed = sum(turns(line) for line in lines if not re.match("(un)?pack_rows ", line))
            check(needed <= met <= sum(map(turns, lines)), "phases: %d are needed, %d were met" % (needed, met))
            check(all((r["ms"] > 0) == (r["phases"] > 0) for r in rows), "each has taken time: %s" % rows)
            check(all(r["limit_fraction"] is None or 0 < r["limit_fraction"] <= 1 for r in rows), "a share above 1: %s" % rows)
            check(all(r["weight"] for r in rows if r["ops"] in ("linear", "layer_norm", "embedding")), "weights: %s" % rows)
            done += sum(r["operations"] for r in rows) if what != "decode" else 0
        check(done == figures["prefill_flops"], "operations: %s, not %s" % (done, figures["prefill_flops"]))
        found = figures["prefill_integers"]
        if integers:
            # A row with the phase in which its rows are rounded counts as integers, too: at the peak of bytes it takes at most as long.
            wide = [r for r in figures["profile_prefill"] if r["ops"] == "linear" and r["operations"] > 0]
            peak = figures["machine_integers_per_s"] or figures["machine_flops_per_s"]
            limits = wide and all(r["limit_ms"] <= 1.001e3 * max(r["operations"] / peak, r["bytes"] / figures["machine_bytes_per_s"]) for r in wide)
            check(limits, "limits of integers: %s" % wide)
        check(found == integers if integers else (found > 0) == coded, "integers: %s, not %s" % (found, integers))
    if len(sys.argv) > 2:
        table = said(binary, "bench", "--profile", "--prompt-tokens", "12", "--threads", "2")
        check(re.search(r"phases, [\d.]+ ms between their barriers\n +ms +% +phases", table), "a table: " + table)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
