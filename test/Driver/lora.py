"""Adapters merged while packing give the bytes that the merged directory gives: lora.py HEDDLE WORK

Small random bases with adapters as peft writes them; what merging means is computed here, in numpy, from peft's definitions. Each base is
compiled with --lora, the merged directory without, and the packed weights are compared byte by byte: in f32, bf16 and as codes."""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import numpy as np
import quantised as Q
from checks import check, finish

heddle, work = sys.argv[1:]
shutil.rmtree(work, ignore_errors=True)
W, INNER, ROWS, EXPERTS = 64, 96, 48, 2
LLAMA = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": W, "intermediate_size": INNER, "num_attention_heads": 4, "num_key_value_heads": 2,
         "num_hidden_layers": 1, "vocab_size": ROWS, "max_position_embeddings": 32, "rms_norm_eps": 1e-5, "tie_word_embeddings": False, "bos_token_id": 1, "eos_token_id": 2}
random = np.random.default_rng(37)
path = lambda *parts: os.path.join(work, *parts)


def number(*shape):
    """Multiples of 1/64: their products and sums are exact, so the order of sums does not matter."""
    return (random.integers(-64, 65, shape) / 64).astype(np.float32)


def llama(mixtral=False, biases=False, tied=False):
    p, s = "model.layers.0.", {"model.embed_tokens.weight": number(ROWS, W), "model.norm.weight": 1 + number(W) / 8}
    if not tied:
        s["lm_head.weight"] = number(ROWS, W)
    for name, rows in (("q", W), ("k", W // 2), ("v", W // 2), ("o", W)):
        s[p + "self_attn.%s_proj.weight" % name] = number(rows, W) / 8
        if biases and name != "o":
            s[p + "self_attn.%s_proj.bias" % name] = number(rows) / 8
    for e in range(EXPERTS if mixtral else 0):
        for name, shape in (("w1", (INNER, W)), ("w2", (W, INNER)), ("w3", (INNER, W))):
            s[p + "block_sparse_moe.experts.%d.%s.weight" % (e, name)] = number(*shape) / 8
    if mixtral:
        s[p + "block_sparse_moe.gate.weight"] = number(EXPERTS, W)
    else:
        for name, shape in (("gate", (INNER, W)), ("up", (INNER, W)), ("down", (W, INNER))):
            s[p + "mlp.%s_proj.weight" % name] = number(*shape) / 8
    for name in ("input_layernorm", "post_attention_layernorm"):
        s[p + name + ".weight"] = 1 + number(W) / 8
    return s


def gpt2():
    s = {"wte.weight": number(ROWS, W), "wpe.weight": number(32, W), "ln_f.weight": 1 + number(W) / 8, "ln_f.bias": number(W)}
    for name, shape in (("attn.c_attn", (W, 3 * W)), ("attn.c_proj", (W, W)), ("mlp.c_fc", (W, 4 * W)), ("mlp.c_proj", (4 * W, W))):
        s["h.0.%s.weight" % name], s["h.0.%s.bias" % name] = number(*shape) / 8, number(shape[1])
    for name in ("ln_1", "ln_2"):
        s["h.0.%s.weight" % name], s["h.0.%s.bias" % name] = 1 + number(W) / 8, number(W)
    return s


def write(folder, config, named):
    os.makedirs(path(folder))
    with open(path(folder, "config.json"), "w") as f:
        json.dump(config, f)
    Q.write(path(folder, "model.safetensors"), named)


def adapter(folder, named, **config):
    os.makedirs(path(folder))
    with open(path(folder, "adapter_config.json"), "w") as f:
        json.dump({"peft_type": "LORA", "base_model_name_or_path": "base", "lora_dropout": .05, **config}, f, indent=1)
    Q.write(path(folder, "adapter_model.safetensors"), {"base_model.model." + n: t for n, t in named.items()})


def pair(module, rank, inputs, outputs):
    return {module + ".lora_A.weight": number(rank, inputs), module + ".lora_B.weight": number(outputs, rank)}


def product(named, module):
    return named[module + ".lora_B.weight"].astype(np.float64) @ named[module + ".lora_A.weight"].astype(np.float64)


def run(*words):
    p = subprocess.run([str(w) for w in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return p.returncode, p.stdout


def weights(model, *words):
    """The packed weights, and what the compiler says."""
    status, said = run(heddle, "compile", model, "-o", path("out"), "--quick", "--no-embed", "--without=serve,chat,bench", *words)
    if status:
        return None, said
    with open(path("out.weights"), "rb") as f:
        return f.read(), said


def same(what, model, merged, adapters, *words):
    got, said = weights(model, *words, *("--lora=" + a for a in adapters))
    want, other = weights(merged, *words)
    plain, _ = weights(model, *words)
    check(got is not None and got == want, "%s: %s" % (what, said if got is None else other if want is None else "other bytes"))
    check(got != plain, what + ": the adapter changes nothing")
    return said


# Conv1D with DoRA and rslora: columns get their lengths; names of the checkpoint without `transformer.`
base, t = gpt2(), {}
merged = dict(base)
for module in ("attn.c_attn", "mlp.c_proj"):
    w = base["h.0.%s.weight" % module].astype(np.float64)
    t.update(pair("transformer.h.0." + module, 4, *w.shape))
    m = t["transformer.h.0.%s.lora_magnitude_vector" % module] = 1 + np.abs(number(w.shape[1]))
    v = w + 8 / 2 * product(t, "transformer.h.0." + module).T
    merged["h.0.%s.weight" % module] = (v * (m / np.sqrt((v * v).sum(0)))).astype(np.float32)
config = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_embd": W, "n_head": 4, "n_layer": 1, "n_positions": 32, "vocab_size": ROWS, "eos_token_id": 2, "bos_token_id": 1}
write("gpt2/base", config, base)
write("gpt2/merged", config, merged)
adapter("gpt2/a", t, r=4, lora_alpha=8, use_dora=True, use_rslora=True, fan_in_fan_out=True, target_modules=".*\\.(c_attn|mlp\\.c_proj)")
same("Conv1D with DoRA", path("gpt2/base"), path("gpt2/merged"), [path("gpt2/a")])

# Experts as transformers 5 has them, over a checkpoint of transformers 4; the router, and a table
base, p, r = llama(mixtral=True), "model.layers.0.", 2
e = p + "mlp.experts."
t = {e + "base_layer.lora_A.weight": number(EXPERTS * r, W), e + "base_layer.lora_B.weight": number(2 * INNER, r * EXPERTS),
     e + "lora_A.weight": number(EXPERTS * r, INNER), e + "lora_B.weight": number(W, r * EXPERTS), **pair(p + "mlp.gate", r, W, EXPERTS),
     "model.embed_tokens.lora_embedding_A": number(r, ROWS), "model.embed_tokens.lora_embedding_B": number(W, r)}
merged, parts = dict(base), lambda a, b: np.einsum("ore,eri->eoi", b.reshape(len(b), r, EXPERTS).astype(np.float64), a.reshape(EXPERTS, r, -1).astype(np.float64))
up = parts(t[e + "base_layer.lora_A.weight"], t[e + "base_layer.lora_B.weight"])
down = parts(t[e + "lora_A.weight"], t[e + "lora_B.weight"])
for i in range(EXPERTS):
    for name, d in (("w1", up[i, :INNER]), ("w3", up[i, INNER:]), ("w2", down[i])):
        name = p + "block_sparse_moe.experts.%d.%s.weight" % (i, name)
        merged[name] = (base[name] + .5 * d).astype(np.float32)
gate = p + "block_sparse_moe.gate.weight"
merged[gate] = (base[gate] + .5 * product(t, p + "mlp.gate")).astype(np.float32)
merged["model.embed_tokens.weight"] = (base["model.embed_tokens.weight"] + .5 * (t["model.embed_tokens.lora_embedding_B"].astype(np.float64) @ t["model.embed_tokens.lora_embedding_A"]).T).astype(np.float32)
config = {**LLAMA, "model_type": "mixtral", "architectures": ["MixtralForCausalLM"], "num_local_experts": EXPERTS, "num_experts_per_tok": 1, "sliding_window": None}
write("mixtral/base", config, base)
write("mixtral/merged", config, merged)
adapter("mixtral/a", t, r=r, lora_alpha=1, lora_dropout=0., target_modules=["gate", "embed_tokens"], target_parameters=["mlp.experts.gate_up_proj", "mlp.experts.down_proj"])
same("experts of transformers 5", path("mixtral/base"), path("mixtral/merged"), [path("mixtral/a")])

# Rows of a tied table, biases of lora_bias, a module that is excluded, an alpha by pattern; in f32, bf16 and codes
base = llama(biases=True, tied=True)
q, v = p + "self_attn.q_proj", p + "self_attn.v_proj"
t = {**pair(q, 4, W, W), **pair(v, 4, W, W // 2), q + ".lora_B.bias": number(W), v + ".lora_B.bias": number(W // 2),
     "model.embed_tokens.token_adapter.trainable_tokens_delta": number(3, W)}
merged = dict(base)
for module, s in ((q, 1), (v, 3)):
    merged[module + ".weight"] = (base[module + ".weight"] + s * product(t, module)).astype(np.float32)
    merged[module + ".bias"] = (base[module + ".bias"] + s * t[module + ".lora_B.bias"]).astype(np.float32)
merged["model.embed_tokens.weight"] = base["model.embed_tokens.weight"].copy()
merged["model.embed_tokens.weight"][[5, 47, 17]] = t["model.embed_tokens.token_adapter.trainable_tokens_delta"]
config = {**LLAMA, "model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"], "use_sliding_window": False, "tie_word_embeddings": True}
write("qwen2/base", config, {n: Q.stored(x, "BF16")[0] for n, x in base.items()})
write("qwen2/plain", config, base)
write("qwen2/merged", config, merged)
adapter("qwen2/a", t, r=4, lora_alpha=4, lora_bias=True, exclude_modules=["layers.0.self_attn.k_proj"], target_modules=["q_proj", "k_proj", "v_proj"], alpha_pattern={"v_proj": 12},
        trainable_token_indices={"embed_tokens": [5, 47, 17]})
for words in ([], ["--dtype=bf16"], ["--weights-dtype=int8"]):
    said = same("rows and biases %s" % words, path("qwen2/plain"), path("qwen2/merged"), [path("qwen2/a")], *words)
    check(("merged with adapters and rounded to bf16, relative error 0.00" in said) == (words == ["--dtype=bf16"]), "the rounding of bf16 is said: " + said)
status, said = run(heddle, "compile", path("qwen2/base"), "-o", path("out"), "--lora=" + path("qwen2/a") + ":.5")
check(status == 3 and "`trainable_token_indices`: the adapter replaces whole tensors" in said, "a scale with replaced rows: " + said)

# Two adapters in their order, the first with a scale; over codes of GPTQ only what they change is decoded
base, linears = llama(), {}
coded = {n: x for n, x in base.items()}
for n in [n for n in base if "_proj" in n]:
    pieces, values = Q.matrix("gptq", random, *base[n].shape, group=32)
    del coded[n]
    coded.update({n[:-len(".weight")] + end: x for end, x in pieces.items()})
    linears[n] = values
first, second = pair(q, 2, W, W), {**pair(q, 1, W, W), **pair(v, 1, W, W // 2)}
merged = {n: x for n, x in coded.items() if not n.startswith((q, v))}
merged[q + ".weight"] = (linears[q + ".weight"].astype(np.float64) + .25 * 2 * product(first, q) - product(second, q)).astype(np.float32)
merged[v + ".weight"] = (linears[v + ".weight"].astype(np.float64) - product(second, v)).astype(np.float32)
config = {**LLAMA, "quantization_config": Q.config("gptq", group=32)}
write("gptq/base", config, coded)
write("gptq/merged", config, merged)
adapter("gptq/a", first, r=2, lora_alpha=4, target_modules=["q_proj"])
adapter("gptq/b", second, r=1, lora_alpha=-1, target_modules=["q_proj", "v_proj"])
two = [path("gptq/a") + ":0.25", path("gptq/b")]
said = same("two adapters over GPTQ", path("gptq/base"), path("gptq/merged"), two, "--math=wide")
check("1 matrix that is stored as gptq, 4 bits and that %s changes: decoded" % path("gptq/a") in said, "GPTQ is said to be decoded: " + said)
got, said = weights(path("gptq/base"), "--weights-dtype=int8", *("--lora=" + a for a in two))
check(got is not None and "int8 in groups" in said and "codes of the file, as they are" in said, "merged matrices become codes, the others stay: " + said)

# One layer of two is changed: the other keeps its codes, whatever becomes of the changed matrix; passes change no result
base = {n.replace("layers.0.", "layers.%d." % i): x for i in range(2) for n, x in llama().items()}
coded, linears = dict(base), {}
for n in [n for n in base if "_proj" in n]:
    pieces, linears[n] = Q.matrix("gptq", random, *base[n].shape, group=32)
    del coded[n]
    coded.update({n[:-len(".weight")] + end: x for end, x in pieces.items()})
q1 = "model.layers.1.self_attn.q_proj"
change = pair(q1, 2, W, W)
merged = {n: x for n, x in coded.items() if not n.startswith(q1)}
merged[q1 + ".weight"] = (linears[q1 + ".weight"].astype(np.float64) + product(change, q1)).astype(np.float32)
config = {**config, "num_hidden_layers": 2}
write("layers/base", config, coded)
write("layers/merged", config, merged)
adapter("layers/a", change, r=2, lora_alpha=2, target_modules=["q_proj"], layers_to_transform=[1])


def codes(*words):
    """Bytes of codes of the file in a program, and of others."""
    weights(*words)
    found = json.loads(run(path("out"), "info", "--json")[1]).get("codes", [])
    return sum(c["bytes"] for c in found if c["bits"] == 4), sum(c["bytes"] for c in found if c["bits"] == 8)


same("one layer of two", path("layers/base"), path("layers/merged"), [path("layers/a")], "--math=wide")
every = codes(path("layers/base"))[0]
one = codes(path("layers/merged"))[0]
check(every > one > 0.8 * every, "the merged directory has all codes but those of one matrix: %d of %d bytes" % (one, every))
check(codes(path("layers/base"), "--lora=" + path("layers/a"))[0] == one, "with an adapter the same")
four, eight = codes(path("layers/base"), "--lora=" + path("layers/a"), "--weights-dtype=int8")
check(four == one and eight > 0, "and what changed becomes codes of 8 bits: %d of %d bytes, %d" % (four, every, eight))
Q.write(path("in.safetensors"), {"input_ids": random.integers(3, ROWS, (2, 7))})
for words in ([], ["--dtype=bf16"], ["--weights-dtype=int8"]):
    status, said = run(heddle, "verify", path("layers/base"), "--lora=" + path("layers/a"), "-i", path("in.safetensors"), "-n", "3", *words)
    check(status == 0 and "passes compared, all equal" in said, "verify %s: %s" % (words, said))

# The text of a stage names its adapters, as do the program, check and the rule of make
lora = ["--lora=" + a for a in two]
status, said = run(heddle, "compile", path("gptq/base"), *lora, "--emit=tiled", "-o", path("text.mlir"))
with open(path("text.mlir")) as f:
    check('model.adapters = ["%s:0.25", "%s:1"]' % (path("gptq/a"), path("gptq/b")) in f.read(), "the text names its adapters")
check(weights(path("text.mlir"))[0] == weights(path("gptq/base"), *lora)[0], "a stage's text gives the same weights")
with open(path("out"), "rb") as f:
    direct = f.read()
weights(path("text.mlir"))
with open(path("out"), "rb") as f:
    check(f.read() == direct, "a stage's text gives the same program")
check(run(path("out"), "info")[1].count("adapter: ") == 2, "info names the adapters")
status, said = run(heddle, "compile", path("text.mlir"), lora[0], "-o", path("out"))
check(status == 1 and "the text of a stage names its adapters itself" in said, "--lora with a stage: " + said)
status, said = run(heddle, "check", path("gptq/base"), *lora)
check(status == 0 and "with the adapter %s" % two[0] in said and "merged with an adapter: 2 tensors" in said, "check: " + said)
status, said = run(heddle, "compile", path("gptq/base"), *lora, "--emit=model", "-o", path("model.mlir"), "--depfile", path("rule.d"))
with open(path("rule.d")) as f:
    rule = f.read()
check(all(path("gptq", a, n) in rule for a in "ab" for n in ("adapter_config.json", "adapter_model.safetensors")), "the rule of make: " + rule)
status, said = run(heddle, "compile", path("gptq/base"), *lora, "-o", path("gptq/a/adapter_model.safetensors"))
check(status == 2 and "would replace a file of the model" in said, "an output in the place of an adapter: " + said)

# An adapter alone stands for its base with it
alone, said = weights(path("gptq/a"))
check("is a LoRA adapter; it is merged into %s" % path("gptq/base") in said, "an adapter alone finds its base: " + said)
check(alone is not None and alone == weights(path("gptq/base"), "--lora=" + path("gptq/a"))[0], "an adapter alone")
sys.exit(finish())
