"""Masks at their rims are legal and mean what `heddle reference` says: `rims.py HEDDLE SCRATCH [PART OF]`: every OF-th case, from PART on.

Each case is one attention of one model; the data is as hostile as data can be (lengths below 0, labels at the ends of i64, block
numbers that no block has, NaN). The compiled program and the interpreter must agree with the formula, and a row that sees
nothing must be exactly 0. One line a failure, then `N passed, N failed`."""
import json
import os
import re
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
import tensors  # noqa: E402

B, T, S, H, W = 2, 9, 6, 2, 4
FAR = 2**63 - 1
nan = float("nan")
INPUTS = {
    "x": ("f32[B,T,8]", None), "memory": ("f32[B,S,8]", None),
    "none": ("i64[B,T]", np.zeros((B, T), int)), "real": ("i64[B,T]", np.array([[1] * 9, [0, 0, 0, 1, 1, 1, 0, 1, -1]])),
    "level": ("f32[B,T]", np.array([[nan, 0, -0.0, 1e-45, -1, 0, 0, 0, np.inf], [0] * 9])),
    "n": ("i64[B]", np.array([-3, 10**15])), "zero": ("i64[B]", np.array([0, 4])),
    "wild": ("i64[B,T]", np.array([[FAR, -FAR - 1, 0, FAR, -1, 7, -FAR - 1, 7, 0], [5, 5, 5, 5, 5, 5, 5, 5, 5]])),
    "some": ("i64[B,S]", np.array([[7, 0, FAR, -2, -FAR - 1, 7], [1, 2, 3, 4, 6, 7]])),
    "lists": ("i64[5,2]", np.array([[0, 1], [-1, 99], [FAR, 2], [-FAR - 1, -2], [4, 4]])),
    "few": ("i64[2,1]", np.array([[1], [0]])),
    "pairs": ("f32[T,T]", np.where(np.eye(T) > 0, nan, 0.0)),
}
D = {name: value for name, (_, value) in INPUTS.items()}
i, j, c = np.arange(T)[:, None], np.arange(T)[None, :], np.arange(S)[None, :]
key = lambda t: (t != 0)[:, None, :]
label = lambda t, u: t[:, :, None] == u[:, None, :]
near = lambda t, u, left, right: np.array([[[-left <= int(k) - int(q) <= right for k in v] for q in r] for r, v in zip(t, u)])
listed = np.array([[k // 2 in D["lists"][q // 2] for k in range(T)] for q in range(T)])
past_lists = np.array([[q // 2 < 2 and k // 2 in D["few"][min(q // 2, 1)] for k in range(T)] for q in range(T)])

# the mask; what it lets through [B, T, keys]; whether keys are those of the memory
CASES = [
    ("keys(none)", key(D["none"]), 0), ("not keys(none)", ~key(D["none"]), 0), ("not keys(real)", ~key(D["real"]), 0),
    ("causal and not keys(real)", (j <= i) & ~key(D["real"]), 0), ("queries(none)", key(D["none"]).swapaxes(1, 2), 0),
    ("queries(real) and keys(real)", key(D["real"]) & key(D["real"]).swapaxes(1, 2), 0),
    ("keys(level)", key(D["level"]), 0), ("queries(level)", key(D["level"]).swapaxes(1, 2), 0), ("causal and keys(level)", (j <= i) & key(D["level"]), 0),
    ("prefix(n)", j < D["n"][:, None, None], 0), ("not prefix(n)", j >= D["n"][:, None, None], 0), ("prefix(zero) and causal", (j < D["zero"][:, None, None]) & (j <= i), 0),
    ("prefix(0)", j < 0, 0), ("prefix(99999999999999)", j >= 0, 0), ("prefix(0) or window(1, 0)", (i - j <= 1) & (j <= i), 0),
    ("window(-2, 5)", (j - i >= 2) & (j - i <= 5), 0), ("window(4, -3)", (j - i >= -4) & (j - i <= -3), 0), ("window(null, null)", j >= 0, 0),
    ("window(1073741823, 1073741823)", j >= 0, 0), ("window(-1073741823, null)", j < 0, 0), ("dilated(99999999999)", i == j, 0), ("dilated(1)", j >= 0, 0),
    ("document(wild)", label(D["wild"], D["wild"]), 0), ("not document(wild)", ~label(D["wild"], D["wild"]), 0), ("causal and document(wild)", (j <= i) & label(D["wild"], D["wild"]), 0),
    ("window(1, 1, wild)", near(D["wild"], D["wild"], 1, 1), 0), ("causal and window(0, 7, wild)", (j <= i) & near(D["wild"], D["wild"], 0, 7), 0),
    ("document(real != 0)", label(D["real"] != 0, D["real"] != 0), 0),
    ("blocks(2, lists)", listed, 0), ("not blocks(2, lists)", ~listed, 0), ("blocks(2, few)", past_lists, 0), ("causal and blocks(2, few)", past_lists & (j <= i), 0),
    ("blocks(2, [[[0], [1], [], [4], [4]], [[0], [1], [], [4], [4]]])", np.array([[k // 2 in [[0], [1], [], [4], [4]][q // 2] for k in range(T)] for q in range(T)]), 0),
    ("dense(pairs)", i == j, 0), ("not dense(pairs)", i != j, 0), ("not (all + all) or causal", j <= i, 0), ("T > 100 ? all : causal", j <= i, 0),
    ("causal", c <= i, 1), ("window(1, 1)", abs(c - i) <= 1, 1), ("not causal", c > i, 1), ("dilated(4)", (c - i) % 4 == 0, 1),
    ("document(wild, some)", label(D["wild"], D["some"]), 1), ("prefix(n)", c < D["n"][:, None, None], 1), ("causal and queries(none)", (c <= i) & key(D["none"]).swapaxes(1, 2), 1),
]


def attention(x, y, seen):
    q, k = (t.reshape(B, -1, H, W).astype(np.float64) for t in (x, y))
    scores = np.einsum("bthd,bshd->bhts", q, k) / np.sqrt(W)
    seen = np.broadcast_to(seen, (B, T, k.shape[1]))[:, None]
    top = np.where(seen, scores, -np.inf).max(axis=-1, keepdims=True)
    p = np.where(seen, np.exp(scores - np.where(np.isfinite(top), top, 0)), 0)
    total = p.sum(axis=-1, keepdims=True)
    p = np.divide(p, total, out=np.zeros_like(p), where=total > 0)
    return np.einsum("bhts,bshd->bthd", p, k).reshape(B, T, H * W)


def main():
    heddle, scratch, part, of = sys.argv[1:] + ["0", "1"][:5 - len(sys.argv)]
    cases = CASES[int(part)::int(of)]
    os.makedirs(scratch, exist_ok=True)
    random = np.random.default_rng(3)
    data = {n: np.asarray(v, np.float32 if t.startswith("f32") else np.int64) for n, (t, v) in INPUTS.items() if v is not None}
    data["x"], data["memory"] = (random.standard_normal((B, n, H * W)).astype(np.float32) for n in (T, S))
    body = [{"y%d" % n: {"attention": ["x", "memory", "memory"] if cross else ["x", "x", "x"], "heads": H, "mask": "=" + mask}} for n, (mask, _, cross) in enumerate(cases)]
    used = lambda name: name == "x" or any(re.search(r"\b%s\b" % name, mask) or cross and name == "memory" for mask, _, cross in cases)
    data = {n: t for n, t in data.items() if used(n)}
    model = {"heddle": 1, "name": "rims", "inputs": {n: t for n, (t, _) in INPUTS.items() if used(n)}, "body": body, "outputs": ["y%d" % n for n in range(len(cases))]}
    at = lambda name: os.path.join(scratch, name)
    with open(at("model.json"), "w", encoding="utf-8") as f:
        json.dump(model, f)
    tensors.write(at("in"), data)
    passed = failed = 0
    for way, commands in (("compiled", [[heddle, "compile", at("model.json"), "-o", at("bin"), *cached.quick(heddle)], [at("bin"), "run", "--input", at("in"), "--output", at("out")]]),
                          ("interpreted", [[heddle, "interpret", at("model.json"), "--input", at("in"), "--output", at("out")]])):
        for command in commands:
            p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
            if p.returncode:
                print("FAIL %s: exit %d: %s" % (way, p.returncode, p.stdout.decode()[:2000]))
                print("0 passed, 1 failed")
                return 1
        out = tensors.read(at("out"))
        for n, (mask, seen, cross) in enumerate(cases):
            have, want = out["y%d" % n].astype(np.float64), attention(data["x"], data["memory"] if cross else data["x"], seen)
            blind = ~np.broadcast_to(seen, (B, T, S if cross else T)).any(axis=-1)
            wrong = "differs by %g" % np.abs(have - want).max() if not np.abs(have - want).max() < 1e-5 else "rows that see nothing are not 0" if (have[blind] != 0).any() else None
            if wrong:
                print("FAIL %s: %s: %s" % (way, mask, wrong))
            passed, failed = passed + (not wrong), failed + bool(wrong)
    print("%d passed, %d failed" % (passed, failed))
    return int(failed > 0 or passed == 0)


if __name__ == "__main__":
    sys.exit(main())
