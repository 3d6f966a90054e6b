"""What rounding weights to 8 and 4 bits costs: the second half of storage.py, which calls `rows`.

The rule of GGUF's Q4_0 (the scale of a group is its largest number over -8) in the place of the search must cost more.
`stories` tells unseen stories (the grammar that it was trained on, another seed, where `../shared/examples-models/scripts` is there):
the Kullback-Leibler divergence of each next token from f32, in milli-nats, is printed and bounded, rows of 8 bits included. Greedy
stories of expected.json may leave f32's text only where f32's two best logits are near. The error that the compiler reports is
computed again from codes of an own search, `dates` and `sentiment` keep their answers."""
import json
import os
import random
import shutil
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
import tensors

SCRIPTS = os.path.join(ROOT, "..", "shared", "examples-models", "scripts")
STORIES = 24
# Milli-nats a token against f32: what numpy finds (0.036 and 0.92, of 24 stories) and a margin for other stories.
BOUND = {"int8": 0.06, "int4": 1.1}
NEAR = 0.1  # of f32's two best logits


def unseen(heddle):
    """Ids of stories that the model was not trained on; None where the grammar is not there."""
    if not os.path.exists(os.path.join(SCRIPTS, "stories_grammar.py")):
        return None
    sys.dont_write_bytecode = True
    sys.path.insert(0, SCRIPTS)
    import stories_grammar
    draw = random.Random(31337)
    texts = [stories_grammar.story(draw) for _ in range(STORIES)]
    said = subprocess.run([heddle, "tokenize", os.path.join(ROOT, "examples", "stories"), "--json"], check=True, text=True,
                          input="".join(json.dumps({"text": t}) + "\n" for t in texts), stdout=subprocess.PIPE).stdout
    return [([0] + json.loads(line)["ids"] + [0])[:256] for line in said.splitlines()]


def log_probabilities(binary, texts, work):
    """-> [T, vocabulary] of each text"""
    found, source, result = [], os.path.join(work, "text.safetensors"), os.path.join(work, "logits.safetensors")
    for ids in texts:
        tensors.write(source, {"input_ids": np.array([ids[:-1]], np.int64)})
        subprocess.run([binary, "run", "--input", source, "--output", result], check=True)
        logits = tensors.read(result)["logits"][0].astype(np.float64)
        logits -= logits.max(-1, keepdims=True)
        found.append(logits - np.log(np.exp(logits).sum(-1, keepdims=True)))
    return found


def divergence(whole, other):
    """Milli-nats a token."""
    sums = [(np.exp(a) * (a - b)).sum() for a, b in zip(whole, other)]
    return 1000 * sum(sums) / sum(len(a) for a in whole)


def half(x):
    return np.asarray(x, np.float16).astype(np.float64)


def searched(w, bits, group):
    """The least squared error of each group over the 34 scales that the compiler tries, each fitted again."""
    most = 1 << (bits - 1)
    x = np.pad(w, ((0, 0), (0, -w.shape[1] % group))).reshape(w.shape[0], -1, group).astype(np.float64)
    top = np.take_along_axis(x, np.abs(x).argmax(-1)[..., None], -1)
    codes = lambda s: np.clip(np.rint(np.divide(x, s, out=np.zeros_like(x), where=s != 0)), -most, most - 1)
    best = None
    for sign in (1, -1):
        for i in range(17):
            q = codes(top * sign * (0.72 + 0.02 * i) / -most)
            squares = (q * q).sum(-1, keepdims=True)
            s = half(np.divide((x * q).sum(-1, keepdims=True), squares, out=np.zeros_like(squares), where=squares > 0))
            error = ((x - codes(s) * s) ** 2).sum(-1)
            best = error if best is None else np.minimum(best, error)
    return best.sum()


def reported(heddle, binary, flags, check, name):
    """Compiles `stories` and holds the report to the weights."""
    done = subprocess.run([heddle, "compile", os.path.join(ROOT, "examples", "stories"), "-o", binary, "--json", *cached.flags(heddle), *flags], check=True, stdout=subprocess.PIPE)
    report = json.loads(done.stdout)["rounding"]
    weights = tensors.read(os.path.join(ROOT, "examples", "stories", "model.safetensors"))
    error = whole = 0
    for matrix in report["matrices"]:
        w = weights[matrix["name"]]
        if not matrix["name"].startswith("wte"):
            w = w.T  # GPT-2 stores [features, results]
        mine = searched(w, matrix["bits"], min(matrix["group"], w.shape[1]))
        size = (w.astype(np.float64) ** 2).sum()
        error, whole = error + mine, whole + size
        check("%s: the error of %s" % (name, matrix["name"]), abs(matrix["relative_error"] / np.sqrt(mine / size) - 1) < 2e-3,
              "%.5f, computed %.5f" % (matrix["relative_error"], np.sqrt(mine / size)))
    check("%s: the error of all" % name, report["matrices"] and abs(report["relative_error"] / np.sqrt(error / whole) - 1) < 2e-3, report["relative_error"])
    sizes = {m["name"]: (m["bits"], m["group"]) for m in report["matrices"]}
    check("%s: what is rounded" % name, len(sizes) == 17 and sizes["wte.weight"] == (8, 32) and "wpe.weight" not in sizes, sizes)
    return binary


def by_rule(heddle, work, matrices, check):
    """`stories` in int4 with the codes of Q4_0's rule: the search, given the numbers that they mean, finds these codes again."""
    folder, binary = os.path.join(work, "by-rule"), os.path.join(work, "stories-by-rule")
    shutil.copytree(os.path.join(ROOT, "examples", "stories"), folder)
    file = os.path.join(folder, "model.safetensors")
    weights = tensors.read(file)
    for name in matrices:
        w = weights[name].T
        x = w.reshape(w.shape[0], -1, 32).astype(np.float64)
        s = half(np.take_along_axis(x, np.abs(x).argmax(-1)[..., None], -1) / -8)
        q = np.clip(np.rint(np.divide(x, s, out=np.zeros_like(x), where=s != 0)), -8, 7)
        weights[name] = np.ascontiguousarray((q * s).reshape(w.shape).T.astype(np.float32))
    os.chmod(file, 0o644)
    tensors.write(file, weights)
    done = subprocess.run([heddle, "compile", folder, "-o", binary, "--json", "--weights-dtype=int4", *cached.flags(heddle)], check=True, stdout=subprocess.PIPE)
    again = {m["name"]: m["relative_error"] for m in json.loads(done.stdout)["rounding"]["matrices"]}
    check("Q4_0's codes are found again", all(again[name] < 1e-6 for name in matrices), again)
    return binary


def greedy(binary, case):
    said = subprocess.run([binary, "generate", "--ids", ",".join(map(str, case["input_ids"])), "-n", "200", "--greedy", "--print-ids"], check=True, stdout=subprocess.PIPE).stdout
    return [int(x) for x in said.split(b",")]


def rows(heddle, work, check):
    """Calls check(what, good, more) for each thing that must hold."""
    whole = os.path.join(work, "stories-f32")
    subprocess.run([heddle, "compile", os.path.join(ROOT, "examples", "stories"), "-o", whole, *cached.flags(heddle)], check=True)
    texts = unseen(heddle)
    if texts is None:
        print("no %s: unseen stories are skipped" % os.path.relpath(SCRIPTS, ROOT))
    expected = texts and log_probabilities(whole, texts, work)
    with open(os.path.join(ROOT, "examples", "stories", "expected.json"), encoding="utf-8") as file:
        cases = json.load(file)["cases"]
    for dtype in ("int8", "int4"):
        binary = reported(heddle, os.path.join(work, "stories-" + dtype), ["--weights-dtype=" + dtype], check, dtype)
        share = os.path.getsize(binary) / os.path.getsize(whole)
        check("%s: size" % dtype, share < 0.6, "%.2f" % share)
        if texts:
            kl = divergence(expected, log_probabilities(binary, texts, work))
            print("stories in %s: %.3f milli-nats a token from f32" % (dtype, kl))
            check("%s: divergence" % dtype, 0 < kl <= BOUND[dtype], "%.3f milli-nats" % kl)
            halves = binary + "-bf16" # rows between linears and caches in 16 bits as well
            subprocess.run([heddle, "compile", os.path.join(ROOT, "examples", "stories"), "-o", halves, "--weights-dtype=" + dtype, "--dtype=bf16", *cached.flags(heddle)],
                           check=True, stdout=subprocess.DEVNULL)
            both = divergence(expected, log_probabilities(halves, texts, work))
            print("stories in %s beside bf16: %.3f milli-nats a token from f32" % (dtype, both))
            check("%s beside bf16: divergence" % dtype, 0 < both <= BOUND[dtype] and both != kl, "%.3f milli-nats" % both)
        if texts and dtype == "int4":
            matrices = ["h.%d.%s.weight" % (i, m) for i in range(4) for m in ("attn.c_attn", "attn.c_proj", "mlp.c_fc", "mlp.c_proj")]
            rule = divergence(expected, log_probabilities(by_rule(heddle, work, matrices, check), texts, work))
            print("stories by the rule of Q4_0: %.3f milli-nats a token from f32" % rule)
            check("int4: below the rule of Q4_0", kl < rule, "%.3f and %.3f milli-nats" % (kl, rule))
        if dtype == "int8":
            for case in cases:
                ours, theirs = greedy(binary, case), case["generated_ids"]
                at = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), None)
                if at is not None:
                    logits = log_probabilities(whole, [case["input_ids"] + theirs[:at] + [0]], work)[0][-1]
                    best = np.sort(logits)[-2:]
                    check("int8: %r leaves where two tokens are near" % case["prompt"], best[1] - best[0] < NEAR, "%.3f apart at %d" % (best[1] - best[0], at))
                else:
                    check("int8: %r" % case["prompt"], True)
    for name, script in (("dates", "check_generated.py"), ("sentiment", None)):
        folder = os.path.join(ROOT, "examples", name)
        source = os.path.join(folder, "model.json")
        binary = os.path.join(work, name + "-int8")
        subprocess.run([heddle, "compile", source if os.path.exists(source) else folder, "-o", binary, "--weights-dtype=int8", *cached.flags(heddle)], check=True, stdout=subprocess.DEVNULL)
        with open(os.path.join(folder, "expected.json"), encoding="utf-8") as file:
            wanted = json.load(file)["cases"]
        for case in wanted:
            said = subprocess.run([binary, case["text"]] + ([] if script else ["--json"]), check=True, stdout=subprocess.PIPE, text=True).stdout
            good = said.strip() == case["output"] if script else json.loads(said)["labels"][0]["label"] == case["label"]
            check("%s in int8: %r" % (name, case["text"]), good, said.strip()[:100])
