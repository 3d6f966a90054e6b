#!/usr/bin/python3
"""GGUF files alone against the directories that say the same.

    models.py --heddle BIN [--all] [SHARED]          (default: ../shared beside the tree)

Models of ../shared/gguf-cases/models are interpreted as a file and as the directory that ../shared/reference/gguf/to_hf.py makes of each: the bytes
must be equal. Damaged files are refused, and the commands do with a file what they do with a directory. With --all that is done with all models,
with a small one of every architecture, and all are compiled and run (../shared/gguf-cases/check.py).
Without SHARED it says so and ends well. Ends in `N passed, N failed`."""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import checks

# One of each kind of change: turned rows, experts, norms, joined and transposed matrices.
SAMPLE = ["llama-yarn-mixed", "mixtral-q4_k_m", "gemma2-q2_k", "gpt2-iq4_nl", "gpt-oss-mxfp4", "falcon-40b-q4_0", "deepseek_v2-q5_0", "bert-q8_0"]
HOSTILE = ["heads", "blocks", "layer-7", "shape", "no-", "rope", "architecture", "mmproj", "context", "split-0"]


def check(good, what, more=""):
    checks.check(good, what if good else "%s: %s" % (what, more))


def run(*command, cwd=None):
    p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd, timeout=3000)
    return p.returncode, p.stdout.decode("utf-8", "replace"), p.stderr.decode("utf-8", "replace")


def cases(shared, name):
    return os.path.join(shared, "gguf-cases", name)


def same(heddle, shared, work, name, file, inputs):
    """Whether the interpreter gives for a file the bytes that it gives for the directory of to_hf.py."""
    import numpy as np
    import safetensors_file
    folder, given, made = (os.path.join(work, n) for n in ("hf", "in", "out"))
    shutil.rmtree(folder, ignore_errors=True)
    run(sys.executable, "-B", os.path.join(shared, "reference", "gguf", "to_hf.py"), file, folder)
    safetensors_file.write(given, inputs)
    results = []
    for subject in (file, folder):
        status, out, err = run(heddle, "interpret", subject, "--math=wide", "-i", given, "-o", made)
        results.append(safetensors_file.read(made) if status == 0 else err)
    good = all(isinstance(x, dict) for x in results) and results[0] and all(np.array_equal(x, results[1][n]) for n, x in results[0].items())
    check(good, "%s computes what its directory computes" % name, results)


def models(heddle, shared, work, every):
    import safetensors_file
    for name in sorted(n[:-5] for n in os.listdir(cases(shared, "models")) if n.endswith(".gguf")):
        if every or name in SAMPLE:
            path = os.path.join(cases(shared, "models"), name)
            same(heddle, shared, work, name, path + ".gguf", {k[3:]: v for k, v in safetensors_file.read(path + ".safetensors").items() if k.startswith("in.")})


def coded(heddle, shared):
    """Which parameters keep the codes of their blocks: those of a stack of experts, too, and types of few values in few bits."""
    for name, parameter, how in (("gpt-oss-mxfp4", "model.layers.0.mlp.experts.gate_up_proj[0]", 'bits = 4, group = 32, scale = bf16, table = "e2m1"'),
                                 ("gpt-oss-mxfp4", "model.layers.0.mlp.experts.down_proj[1]", 'bits = 4, group = 32, scale = bf16, table = "e2m1"'),
                                 ("gemma2-q2_k", "model.layers.0.self_attn.q_proj.weight", "bits = 2, group = 16")):
        status, out, err = run(heddle, "compile", os.path.join(cases(shared, "models"), name + ".gguf"), "--emit=model", "--no-locations")
        line = next((line for line in out.splitlines() if '"%s"' % parameter in line), err)
        check(status == 0 and "#model.coded<" + how in line, "%s keeps the codes of %s" % (name, parameter), line)


def architectures(heddle, shared, work):
    """Each architecture of the table, small and with random weights."""
    import numpy as np
    import container
    import make_cases
    import make_models
    r = np.random.default_rng(4)
    file = os.path.join(work, "m.gguf")
    for name, (architecture, _) in make_models.MODELS.items():
        words = container.Joined(os.path.join(cases(shared, "models"), {"bert": "bert-q8_0", "t5": "t5-q5_1", "t5encoder": "t5-q5_1"}.get(architecture, "llama-f16") + ".gguf"))
        vocabulary = {k: v for k, v in words.values.items() if k.startswith("tokenizer.ggml")}
        count = len(vocabulary["tokenizer.ggml.tokens"])
        values, tensors = make_models.build(name, r, vocab=count, context=64)
        stored = make_models.stored(tensors, lambda n, x: "Q8_0", make_cases.Quantiser(None, r))
        container.write(file, {**values, **vocabulary}, stored, kinds={k: words.kinds[k] for k in vocabulary if k in words.kinds})
        ids = r.integers(4, count, (2, 7)).astype(np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        if architecture == "t5":
            inputs["decoder_input_ids"] = r.integers(4, count, (2, 4)).astype(np.int64)
        same(heddle, shared, work, name, file, inputs)


def commands(heddle, shared, work):
    file = os.path.join(work, "tale.gguf")
    shutil.copy(os.path.join(cases(shared, "models"), "stories260k-q8_0.gguf"), file)
    status, out, err = run(heddle, "compile", "tale.gguf", "--depfile=list", "-o", "x", "--quick", cwd=work)
    check(status == 0, "a file alone becomes a program", err)
    with open(os.path.join(work, "list")) as f:
        listed = [os.path.basename(w) for w in f.read().replace("\\\n", " ").split()[1:]]
    check(listed == ["tale.gguf"], "the file is all that the program is made of", listed)
    status, out, err = run(heddle, "compile", "tale.gguf", "--quick", cwd=work)
    check(status == 0 and os.path.exists(os.path.join(work, "tale")), "the program gets the name of the file", err)
    status, out, err = run(heddle, "check", "tale.gguf", cwd=work)
    check(status == 0 and "tale.gguf: accepted" in out, "check accepts it", out + err)
    status, out, err = run(heddle, "compile", "tale.gguf", "--emit=fused", "-o", "stage.mlir", cwd=work)
    status, out, err = run(heddle, "compile", "stage.mlir", "-o", "later", "--quick", cwd=work)
    check(status == 0, "a later stage finds weights and tokenizer in the file", err)
    texts = [run(os.path.join(work, b), "Once upon a time", "-n", "8", "--greedy")[1] for b in ("x", "later")]
    check(texts[0] and texts[0] == texts[1], "both tell the same", texts)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--heddle", required=True)
    p.add_argument("--all", action="store_true")
    p.add_argument("shared", nargs="?", default=os.path.join(ROOT, os.pardir, "shared"))
    a = p.parse_args()
    if not os.path.isdir(cases(a.shared, "models")):
        print("%s is not there: skipped\n1 passed, 0 failed" % cases(a.shared, "models"))
        return 0
    heddle = os.path.abspath(a.heddle)
    sys.path.insert(0, os.path.join(a.shared, "reference", "gguf"))
    sys.dont_write_bytecode = True
    with tempfile.TemporaryDirectory() as work:
        models(heddle, a.shared, work, a.all)
        commands(heddle, a.shared, work)
        coded(heddle, a.shared)
        if a.all:
            architectures(heddle, a.shared, work)
    for part, words in (("models", ["--same"]), ("hostile", [])) if a.all else (("hostile", ["--only", *HOSTILE]),):
        status, out, err = run(sys.executable, "-B", cases(a.shared, "check.py"), heddle, "--parts", part, *words)
        check(status == 0, "the cases of " + part, out + err)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
