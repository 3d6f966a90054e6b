"""Quantised checkpoints for the tests: random codes as each method stores them, and what they mean.

`matrix(method, random, n, k, **options)` gives the pieces of a module (the end of each name -> tensor) and its matrix [n, k] as
f32, computed from the codes and not from the pieces; `config(method, **options)` the quantization_config that goes with them.
K: inputs, N: outputs. Every rounding here is one operation of numpy in float32, as in the published programs."""
import json
import os
import sys

import numpy as np

NAMES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1", "U8": "u1", "BOOL": "?"}


class Bits:
    """A tensor of a type that numpy lacks: its bits, and the type's name in safetensors."""

    def __init__(self, bits, kind):
        self.bits, self.kind, self.shape = bits, kind, bits.shape


def kind_of(t):
    return t.kind if isinstance(t, Bits) else next(n for n, d in NAMES.items() if np.dtype(d) == t.dtype)


def bytes_of(t):
    return np.ascontiguousarray(t.bits if isinstance(t, Bits) else t).tobytes()


def file_of(named):
    """The bytes of a safetensors file."""
    head, blobs, at = {}, [], 0
    for name, t in sorted(named.items()):
        data = bytes_of(t)
        head[name] = {"dtype": kind_of(t), "shape": list(t.shape), "data_offsets": [at, at + len(data)]}
        blobs.append(data)
        at += len(data)
    text = json.dumps(head, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + b"".join(blobs)


def write(path, named):
    with open(path, "wb") as f:
        f.write(file_of(named))


# ---- numbers
def _float(bits, exponent, fraction, bias):
    """A small float: 2^(e - bias) * 1.m, subnormals where e is 0."""
    e, m = bits >> fraction & (1 << exponent) - 1, bits & (1 << fraction) - 1
    x = np.ldexp((e > 0) * (1 << fraction) + m, np.maximum(e, 1) - bias - fraction)
    return np.where(bits >> exponent + fraction & 1, -x, x).astype(np.float32)


E4M3 = _float(np.arange(256), 4, 3, 7)  # 0x7f and 0xff, NaN, are not used
E5M2 = _float(np.arange(256), 5, 2, 15)
E2M1 = _float(np.arange(16), 2, 1, 1)
NF4 = np.array([-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
                0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0], np.float32)
FP4 = (np.array([0, .0625, 8, 12, 4, 6, 2, 3, -0., -.0625, -8, -12, -4, -6, -2, -3], np.float32) / 12).astype(np.float32)


def stored(x, kind):
    """Numbers rounded to a type: the tensor, and the values that it holds as f32."""
    if kind == "BF16":
        b = np.ascontiguousarray(x, np.float32).view(np.uint32)
        b = ((b + (((b >> 16) & 1) + 0x7FFF)) >> 16).astype(np.uint16)
        return Bits(b, kind), (b.astype(np.uint32) << 16).view(np.float32)
    t = np.asarray(x).astype(NAMES[kind])
    return t, t.astype(np.float32)


def scales(r, shape, k, spread, kind="F16"):
    return stored(np.exp(r.uniform(-.7, .7, shape)) * 1.3 / np.sqrt(k) / spread, kind)


# ---- fields of words, lowest bits first
def words(codes, bits, axis):
    """Codes along `axis` as one stream of bits in I32."""
    v = np.moveaxis(codes, axis, -1).astype(np.uint64)
    pad = -v.shape[-1] * bits % 32
    stream = ((v[..., None] >> np.arange(bits, dtype=np.uint64)) & np.uint64(1)).reshape(*v.shape[:-1], -1)
    stream = np.pad(stream, [(0, 0)] * (v.ndim - 1) + [(0, pad)]).reshape(*v.shape[:-1], -1, 32)
    w = np.bitwise_or.reduce(stream.astype(np.uint32) << np.arange(32, dtype=np.uint32), axis=-1)
    return np.ascontiguousarray(np.moveaxis(w, -1, axis)).view(np.int32)


def groups_of(r, k, size, mixed):
    g = np.arange(k) // size
    return r.permutation(g) if mixed else g


# ---- methods: (random, n, k, options) -> pieces, matrix
def gptq(r, n, k, bits=4, group=32, sym=True, act_order=False, version=1, said=None, g_idx=True, scale="F16", bias=False):
    size = k if group == -1 else group
    count = -(-k // size)
    q = r.integers(0, 1 << bits, (k, n))
    z = np.full((count, n), 1 << bits - 1) if sym else r.integers(0 if version == 2 or bits != 3 else 1, 1 << bits, (count, n))
    s, values = scales(r, (count, n), k, 2 ** bits / 3.5, scale)
    g = groups_of(r, k, size, act_order)
    zeros = words(z, bits, 1)
    if version == 1:  # less one: one subtraction from each word, of 3 bits from each code
        ones = np.uint32(sum(1 << i for i in range(0, 32, bits)))
        zeros = words((z - 1) & 7, 3, 1) if bits == 3 else (zeros.view(np.uint32) - ones).view(np.int32)
    pieces = {".qweight": words(q, bits, 0), ".qzeros": zeros, ".scales": s}
    if g_idx:
        pieces[".g_idx"] = g.astype(np.int32)
    if bias:  # older programs wrote one to every module
        pieces[".bias"] = np.zeros(n, np.float16)
    return pieces, ((q - z[g]).astype(np.float32) * values[g]).T


def awq(r, n, k, group=32, zero_point=True, scale="F16"):
    size = k if group == -1 else group
    q = r.integers(0, 16, (k, n))
    z = r.integers(0, 16, (k // size, n)) if zero_point else np.full((k // size, n), 8)
    s, values = scales(r, (k // size, n), k, 4.6, scale)
    turn = lambda v: words(v.reshape(v.shape[0], -1, 8)[..., [0, 2, 4, 6, 1, 3, 5, 7]].reshape(v.shape), 4, 1)
    pieces = {".qweight": turn(q), ".qzeros": turn(z), ".scales": s}
    if not zero_point:
        del pieces[".qzeros"]
    g = np.arange(k) // size
    return pieces, ((q - z[g]).astype(np.float32) * values[g]).T


def packed(r, n, k, bits=4, group=32, asym=False, order=None, scale="F16", zeros="I32"):
    size = k if group == -1 else group
    count, half = k // size, 1 << bits - 1
    q = r.integers(-half, half, (n, k))
    s, values = scales(r, (n, count), k, 2 ** bits / 3.5, scale)
    z = r.integers(-half, half, (n, count)) if asym else np.zeros((n, count), int)
    g = groups_of(r, k, size, order == "mixed")
    pieces = {".weight_packed": words(q + half, bits, 1), ".weight_scale": s, ".weight_shape": np.array([n, k], np.int64)}
    if asym:
        pieces[".weight_zero_point"] = z.astype(np.int8) if zeros == "I8" else words(z + half, bits, 0)
    if order:
        pieces[".weight_g_idx"] = np.full(k, -1, np.int32) if order == "none" else g.astype(np.int32)
    return pieces, (q - z[:, g]).astype(np.float32) * values[:, g]


def shared(strategy, n, k, group, block):
    """The shape of scales, and which of them each element has."""
    rows, features = {"tensor": (n, k), "channel": (1, k), "group": (1, group), "block": block}[strategy]
    at = np.arange(n)[:, None] // rows, np.arange(k)[None, :] // features
    return (-(-n // rows), -(-k // features)), at


def integers(r, n, k, strategy="channel", group=32, asym=False, scale="BF16", flat=False):
    shape, at = shared(strategy, n, k, group, None)
    q = r.integers(-128, 128, (n, k))
    s, values = scales(r, shape, k, 74, scale)
    z = r.integers(-20, 20, shape) if asym else np.zeros(shape, int)
    pieces = {".weight": q.astype(np.int8), ".weight_scale": s}
    if asym:
        pieces[".weight_zero_point"] = z.astype(np.int8)
    if flat:  # [1] or [n]
        pieces[".weight_scale"] = Bits(s.bits.reshape(-1), s.kind) if isinstance(s, Bits) else s.reshape(-1)
    return pieces, (q - z[at]).astype(np.float32) * values[at]


def floats(r, n, k, strategy="channel", group=32, block=(128, 128), scale="BF16", kind="F8_E4M3", name=".weight_scale"):
    shape, at = shared(strategy, n, k, group, block)
    b = r.integers(0, 2, (n, k)) << 7 | r.integers(8, 110, (n, k))
    b = np.where(r.random((n, k)) < .02, r.choice([0, 128, 1, 3, 129], (n, k)), b).astype(np.uint8)
    s, values = scales(r, shape, k, 20, scale)
    return {".weight": Bits(b, kind), name: s}, (E4M3 if kind == "F8_E4M3" else E5M2)[b] * values[at]


def nvfp4(r, n, k):
    b, glob = r.integers(0x40, 0x70, (n, k // 16)).astype(np.uint8), np.array([r.uniform(200, 400)], np.float32)
    q = r.integers(0, 16, (n, k))
    pieces = {".weight_packed": (q[:, ::2] | q[:, 1::2] << 4).astype(np.uint8), ".weight_scale": Bits(b, "F8_E4M3"), ".weight_global_scale": glob}
    return pieces, E2M1[q] * np.repeat(E4M3[b] / glob[0], 16, 1)


def four_bits(r, n, k, kind="nf4", double=False, block=64, storage="U8"):
    count = -(-n * k // block)
    table = NF4 if kind == "nf4" else FP4
    q = r.integers(0, 16, n * k)
    a, _ = scales(r, (count,), k, .6, "F32")
    state = {"quant_type": kind, "blocksize": block, "dtype": "bfloat16", "shape": [n, k]}
    even = np.append(q, 0) if len(q) % 2 else q
    b = (even[::2] << 4 | even[1::2]).astype(np.uint8)
    pieces = {".weight.quant_map": table}
    if double:
        inner, outer = r.integers(0, 256, count).astype(np.uint8), r.uniform(.5, 1, -(-count // 256)).astype(np.float32) * np.float32(.6 * a.mean())
        means, offset = np.sort(r.uniform(-1, 1, 256)).astype(np.float32), np.float32(a.mean())
        state.update(nested_blocksize=256, nested_dtype="float32", nested_offset=float(offset))
        pieces.update({".weight.absmax": inner, ".weight.nested_absmax": outer, ".weight.nested_quant_map": means})
        a = means[inner] * outer[np.arange(count) // 256] + offset
    else:
        pieces[".weight.absmax"] = a
    pieces[".weight"] = b.reshape(-1, 1) if storage == "U8" else Bits(b.view(np.uint16).reshape(-1, 1), storage)
    pieces[".weight.quant_state.bitsandbytes__" + kind] = np.frombuffer(json.dumps(state).encode(), np.uint8)
    return pieces, (table[q] * a[np.arange(n * k) // block]).reshape(n, k)


def eight_bits(r, n, k):
    q, (s, _) = r.integers(-127, 128, (n, k)).astype(np.int8), scales(r, (n,), k, .6, "F32")
    pieces = {".weight": q, ".SCB": s, ".weight_format": np.array(0, np.uint8)}
    return pieces, (q.astype(np.float64) * (s.astype(np.float64) / 127)[:, None]).astype(np.float32)


METHODS = {f.__name__: f for f in (gptq, awq, packed, integers, floats, nvfp4, four_bits, eight_bits)}


def matrix(method, r, n, k, **options):
    return METHODS[method](r, n, k, **options)


def config(method, **o):
    """What config.json says."""
    if method == "gptq":
        out = {"quant_method": "gptq", "bits": o.get("bits", 4), "group_size": o.get("group", 32), "desc_act": o.get("act_order", False), "sym": o.get("sym", True), "true_sequential": True}
        said = o.get("said") or {1: "gptq", 2: "gptq_v2"}[o.get("version", 1)]
        return {**out, "checkpoint_format": said} if said != "nothing" else out
    if method == "awq":
        return {"quant_method": "awq", "bits": 4, "group_size": o.get("group", 32), "zero_point": o.get("zero_point", True), "version": "gemm"}
    if method in ("four_bits", "eight_bits"):
        return {"quant_method": "bitsandbytes", "load_in_4bit": method == "four_bits", "load_in_8bit": method == "eight_bits", "bnb_4bit_quant_type": o.get("kind", "nf4")}
    if o.get("name") == ".weight_scale_inv":
        return {"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": list(o.get("block", (128, 128)))}
    weights = {"num_bits": o.get("bits", 4 if method in ("packed", "nvfp4") else 8), "type": "int" if method in ("packed", "integers") else "float", "strategy": o.get("strategy", "group"),
               "group_size": o.get("group") if o.get("group", -1) != -1 else None, "block_structure": list(o["block"]) if "block" in o else None, "symmetric": not o.get("asym", False)}
    kind = {"packed": "pack-quantized", "integers": "int-quantized", "floats": "float-quantized", "nvfp4": "nvfp4-pack-quantized"}[method]
    return {"quant_method": "compressed-tensors", "format": kind, "ignore": ["lm_head"], "kv_cache_scheme": None,
            "config_groups": {"group_0": {"targets": ["Linear"], "weights": weights, "input_activations": None}}}


# ---- GGUF
def gguf_row(q, d, kind):
    """Blocks of 32 codes a row [n, k]: signed bytes, or nibbles 8 too large."""
    n, k = q.shape
    d = d.astype(np.float16).reshape(n, -1, 1).view(np.uint8)
    q = q.reshape(n, -1, 32)
    body = q.astype(np.int8).view(np.uint8) if kind == "Q8_0" else (q[..., :16] + 8 | q[..., 16:] + 8 << 4).astype(np.uint8)
    return np.concatenate([d, body], -1).tobytes()


def gguf_tensor(r, n, k, kind, plain=None):
    """Random blocks, or `plain` in F32, F16 or BF16: the bytes, and the values as f32."""
    if kind in ("Q8_0", "Q4_0"):
        q = r.integers(-128, 128, (n, k)) if kind == "Q8_0" else r.integers(-8, 8, (n, k))
        d, values = scales(r, (n, k // 32), k, 74 if kind == "Q8_0" else 4.6, "F16")
        return gguf_row(q, d, kind), q.astype(np.float32) * np.repeat(values, 32, 1)
    t, values = stored(plain, kind)
    return bytes_of(t), values


GGUF_TYPES = {"F32": 0, "F16": 1, "Q4_0": 2, "Q8_0": 8, "Q8_K": 15, "BF16": 30}


def gguf_file(numbers, named, version=3, alignment=32):
    """`numbers`: key -> a text, a whole number or a list of texts; `named`: name -> (kind, shape, bytes), the slowest dimension first."""
    text = lambda s: len(s.encode()).to_bytes(8, "little") + s.encode()
    u32, u64 = (lambda x: int(x).to_bytes(4, "little")), (lambda x: int(x).to_bytes(8, "little"))
    head = b"GGUF" + u32(version) + u64(len(named)) + u64(len(numbers))
    for key, value in numbers.items():
        if isinstance(value, str):
            head += text(key) + u32(8) + text(value)
        elif isinstance(value, list):
            head += text(key) + u32(9) + u32(8) + u64(len(value)) + b"".join(map(text, value))
        elif isinstance(value, float):
            head += text(key) + u32(6) + np.float32(value).tobytes()
        else:
            head += text(key) + u32(4) + u32(value)
    at, blobs = 0, []
    for name, (kind, shape, data) in named.items():
        head += text(name) + u32(len(shape)) + b"".join(u64(d) for d in reversed(shape)) + u32(GGUF_TYPES[kind]) + u64(at)
        data += b"\0" * (-len(data) % alignment)
        blobs.append(data)
        at += len(data)
    return head + b"\0" * (-len(head) % alignment) + b"".join(blobs)
