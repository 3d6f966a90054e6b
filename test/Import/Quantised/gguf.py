"""GGUF files that are damaged, or hold what is not read: `gguf.py HEDDLE WORK`. Each is refused with one error, which names the
file, the tensor and what is wrong; the good file that they are made of is accepted. The last line is `N passed, N failed`."""
import os
import shutil
import struct
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
import quantised as Q

heddle, work = sys.argv[1:]
shutil.rmtree(work, ignore_errors=True)
os.makedirs(work)
shutil.copy(os.path.join(HERE, os.pardir, "Inputs", "coded", "config.json"), work)
h, inner, kv, v, passed, failed = 64, 128, 32, 40, 0, 0


def good():
    r, named = np.random.default_rng(3), {}
    shapes = {"token_embd": (v, h), "output": (v, h), "output_norm": (h,), "blk.0.attn_norm": (h,), "blk.0.ffn_norm": (h,), "blk.0.attn_q": (h, h), "blk.0.attn_k": (kv, h), "blk.0.attn_v": (kv, h),
              "blk.0.attn_output": (h, h), "blk.0.ffn_gate": (inner, h), "blk.0.ffn_up": (inner, h), "blk.0.ffn_down": (h, inner)}
    for name, shape in shapes.items():
        kind = "F32" if len(shape) == 1 else "Q8_0" if "attn" in name else "Q4_0"
        data, _ = Q.gguf_tensor(r, int(np.prod(shape[:-1])), shape[-1], kind, np.ones(shape))
        named[name + ".weight"] = (kind, shape, data)
    return {"general.architecture": "llama", "llama.attention.head_count": 2, "llama.attention.head_count_kv": 1}, named


def check(what, data, status, *says):
    global passed, failed
    path, out = os.path.join(work, "model.gguf"), os.path.join(work, "x")
    with open(path, "wb") as f:
        f.write(data)
    p = subprocess.run([heddle, "compile", work, "--weights=" + path, "-o", out, *cached.quick(heddle)], capture_output=True, text=True)
    right = p.returncode == status and all(s in p.stderr for s in says) and p.stderr.count("error[") == (status > 0) and os.path.exists(out) == (status == 0)
    passed, failed = passed + right, failed + (not right)
    if not right:
        print("FAIL %s: exit status %d: %s" % (what, p.returncode, p.stderr))
    if os.path.exists(out):
        os.remove(out)


def changed(what, status, change, *says, **container):
    """`change` takes the values and the tensors of a good file and damages them, or gives other bytes of it."""
    numbers, named = good()
    data = change(numbers, named)
    check(what, data if isinstance(data, bytes) else Q.gguf_file(numbers, named, **container), status, *says)


def tensor(name, kind=None, shape=None, data=None):
    def change(numbers, named):
        k, s, d = named[name]
        named[name] = (kind or k, shape or s, d if data is None else data(d))
    return change


def whole(change):
    return lambda numbers, named: change(Q.gguf_file(numbers, named))


changed("the good file", 0, lambda n, t: None)
changed("version 2", 0, lambda n, t: None, version=2)
changed("another alignment", 0, lambda n, t: n.update({"general.alignment": 64}), alignment=64)
changed("a type of working memory", 3, tensor("blk.0.ffn_up.weight", kind="Q8_K"), "error[H0507]", "type Q8_K (15), which is not read", "(tensor `blk.0.ffn_up.weight`)", "such as Q4_K_M")
changed("another architecture", 3, lambda n, t: n.update({"general.architecture": "mamba"}), "error[H0507]", "architecture `mamba` are not read")
changed("version 1", 3, lambda n, t: None, "error[H0507]", "version 1 of GGUF is not read, 2 and 3 are", version=1)
changed("the other order of bytes", 3, lambda n, t: None, "error[H0507]", "other order of bytes", version=3 << 24)
changed("cut in the data", 1, whole(lambda b: b[:-100]), "error[H0244]", "the tensor ends behind the file's", "byte", "tensor `blk.0.ffn_down.weight`")
changed("cut in the header", 1, whole(lambda b: b[:300]), "error[H0244]", "the file ends inside of")
changed("four bytes", 1, whole(lambda b: b[:4]), "error[H0244]", "the file ends inside of its header")
changed("a tensor twice", 1, whole(lambda b: b.replace(b"blk.0.attn_v", b"blk.0.attn_k")), "error[H0244]", "the tensor occurs twice", "tensor `blk.0.attn_k.weight`")
changed("a key twice", 1, lambda n, t: Q.gguf_file({**n, "a.one": 1, "a.two": 2}, t).replace(b"a.two", b"a.one"), "error[H0244]", "the key `a.one` occurs twice")
changed("an alignment of 3", 1, lambda n, t: n.update({"general.alignment": 3}), "error[H0244]", "the alignment is 3, a power of two up to 2^20 is needed")
changed("offsets that are not aligned", 1, lambda n, t: n.update({"general.alignment": 64}), "error[H0244]", "does not begin at a multiple of 64")
changed("rows that are no blocks", 1, tensor("blk.0.attn_v.weight", shape=(h, kv + 1)), "error[H0244]", "which are not whole blocks of 32", "tensor `blk.0.attn_v.weight`")
changed("tensors that overlap", 1, tensor("blk.0.attn_v.weight", shape=(kv * 2, h)), "error[H0244]", "the tensor overlaps `blk.0.attn_v.weight`")
changed("an odd number of heads", 1, lambda n, t: n.update({"llama.attention.head_count": 7}), "error[H0244]", "7 heads (`llama.attention.head_count`) do not divide its 64 rows into pairs", "tensor `blk.0.attn_q.weight`")
changed("no number of heads", 1, lambda n, t: n.pop("llama.attention.head_count"), "error[H0244]", "`llama.attention.head_count`: a number of heads is needed")
changed("a scale without end", 1, tensor("blk.0.attn_q.weight", data=lambda d: d[:34] + b"\x00\x7c" + d[36:]), "error[H0244]", "a number that is not finite: row 0, element 32", "byte", "tensor `blk.0.attn_q.weight`")
changed("a norm in two dimensions", 1, tensor("blk.0.attn_norm.weight", shape=(h // 2, 2)), "error[", "input_layernorm")
changed("a tensor that is missing", 1, lambda n, t: t.pop("blk.0.attn_v.weight"), "error[H0341]", "blk.0.attn_v.weight")
changed("a tensor that nothing reads", 1, lambda n, t: t.update({"blk.0.ssm_in.weight": t["blk.0.attn_q.weight"]}), "error[H0343]", "blk.0.ssm_in.weight")
changed("another model's width", 1, tensor("blk.0.attn_v.weight", shape=(h, kv)), "error[")

# What the file says of its model, against config.json: each fits in all shapes, or is no matter of shapes.
SAID = {"block_count": 1, "embedding_length": h, "feed_forward_length": inner, "vocab_size": v, "context_length": 16, "attention.layer_norm_rms_epsilon": 1e-6, "rope.freq_base": 10000.0,
        "attention.key_length": 32}
changed("the same numbers as config.json", 0, lambda n, t: n.update({"llama." + k: x for k, x in SAID.items()}))
for key, other, here in (("attention.head_count", 1, "num_attention_heads: is 2"), ("attention.head_count_kv", 2, "num_key_value_heads: is 1"), ("block_count", 2, "num_hidden_layers: is 1"),
                         ("attention.layer_norm_rms_epsilon", 1e-5, "rms_norm_eps: is 1e-06"), ("rope.freq_base", 500000.0, "rope_theta: is 10000"), ("context_length", 32, "max_position_embeddings: is 16")):
    changed("another " + key, 1, lambda n, t: n.update({"llama." + key: other}), "error[H0362]", "config.json." + here, "'llama." + key + "' of '", "byte ", "of one model and one revision")
print("%d passed, %d failed" % (passed, failed))
sys.exit(failed > 0)
