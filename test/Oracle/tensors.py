"""safetensors in and out for the tests, numpy only. BF16 and F16 are widened to float32."""
import json

import numpy as np

DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1", "U8": "u1", "BOOL": "?"}


def read(path):
    with open(path, "rb") as f:
        raw = f.read()
    size = int.from_bytes(raw[:8], "little")
    out = {}
    for name, t in json.loads(raw[8:8 + size].decode()).items():
        if name == "__metadata__":
            continue
        begin, end = (8 + size + o for o in t["data_offsets"])
        if t["dtype"] == "BF16":
            a = (np.frombuffer(raw[begin:end], "<u2").astype(np.uint32) << 16).view(np.float32)
        else:
            a = np.frombuffer(raw[begin:end], DTYPES[t["dtype"]])
            a = a.astype(np.float32) if t["dtype"] == "F16" else a
        out[name] = a.reshape(t["shape"])
    return out


def write(path, tensors):
    """Reals as F32, integers as I64, booleans as BOOL."""
    head, blobs, at = {}, [], 0
    for name, t in tensors.items():
        kind = {"f": "F32", "i": "I64", "u": "I64", "b": "BOOL"}[t.dtype.kind]
        data = np.ascontiguousarray(t).astype(DTYPES[kind]).tobytes()
        head[name] = {"dtype": kind, "shape": list(t.shape), "data_offsets": [at, at + len(data)]}
        blobs.append(data)
        at += len(data)
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(len(text).to_bytes(8, "little") + text + b"".join(blobs))


def differs_in_the_mean(expected, actual, limit):
    """None when the root of the mean square of the difference is at most `limit` times that of what is expected; NaN and
    infinities must stand in the same places."""
    if expected.shape != actual.shape or expected.dtype.kind in "iub" or actual.dtype.kind in "iub":
        return differs(expected, actual, 0, 0)
    e, a = expected.astype(np.float64), actual.astype(np.float64)
    with np.errstate(invalid="ignore"):
        odd = ~np.isfinite(e)
        if not np.array_equal(odd, ~np.isfinite(a)) or not np.array_equal(e[odd], a[odd], equal_nan=True):
            return "other elements are not finite"
    e, a = e[~odd], a[~odd]
    far, size = np.sqrt(np.mean((a - e) ** 2)) if e.size else 0, np.sqrt(np.mean(e ** 2)) if e.size else 0
    return None if far <= limit * size else "rms of the difference %.2e of %.2e" % (far, size)


def differs(expected, actual, atol, rtol):
    """None when every element passes, else what is wrong. An element passes when |a-e| <= atol + rtol*|e|, NaN only
    against NaN, an infinity only against the same one; integers and booleans must be equal."""
    if expected.shape != actual.shape:
        return "shape %s, expected %s" % (list(actual.shape), list(expected.shape))
    if expected.dtype.kind in "iub" or actual.dtype.kind in "iub":
        bad = expected.astype(np.float64) != actual.astype(np.float64)
        return "%d of %d differ" % (bad.sum(), bad.size) if bad.any() else None
    e, a = expected.astype(np.float64), actual.astype(np.float64)
    with np.errstate(invalid="ignore"):
        same = (np.isnan(e) & np.isnan(a)) | (e == a)
        far = np.abs(a - e)
        good = same | (np.isfinite(e) & (far <= atol + rtol * np.abs(e)))
    if good.all():
        return None
    finite = far[np.isfinite(far)]
    return "%d of %d past tolerance, largest difference %.2e" % ((~good).sum(), good.size, finite.max() if finite.size else np.inf)
