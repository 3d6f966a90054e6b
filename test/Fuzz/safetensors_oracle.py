"""Judges again what heddle_fuzz_safetensors --dump=FILE judged: accept or refuse, and by which rule.

Written from the table of rules, not from the reader: it lists every rule that a file breaks,
with Python's json and unbounded integers. The reader must accept exactly the files that break none,
and the rule it names must be one of those broken."""
import json
import struct
import sys

WIDTH = dict(F64=64, F32=32, F16=16, BF16=16, F8_E4M3=8, F8_E5M2=8, F8_E8M0=8, I64=64, I32=32, I16=16, I8=8, U8=8, BOOL=8)
FOREIGN = dict(F4=4, F6_E2M3=6, F6_E3M2=6, F8_E4M3FNUZ=8, F8_E5M2FNUZ=8, U16=16, U32=32, U64=64, C64=64)
TENSORS = 12


class Float(str):
    """A number that is no plain integer; as text, so that nothing rounds."""


class Special(Exception):
    """NaN or Infinity."""


class Pairs(list):
    """A JSON object with its duplicates."""


def special(word):
    raise Special(word)


def depth(text):
    deepest = level = 0
    quoted = escaped = False
    for c in text:
        if quoted:
            if escaped:
                escaped = False
            elif c == "\\":
                escaped = True
            elif c == '"':
                quoted = False
        elif c == '"':
            quoted = True
        elif c in "[{":
            level += 1
            deepest = max(deepest, level)
        elif c in "]}" and level:
            level -= 1
    return deepest


def surrogates(value):
    if isinstance(value, Float):
        return False
    if isinstance(value, str):
        return any(0xD800 <= ord(c) < 0xE000 for c in value)
    if isinstance(value, Pairs):
        return any(surrogates(k) or surrogates(v) for k, v in value)
    return isinstance(value, list) and any(surrogates(v) for v in value)


def twice(pairs):
    keys = [k for k, _ in pairs]
    return len(set(keys)) != len(keys)


class Int:
    """An integer token; no value when it has a sign."""

    def __init__(self, text):
        self.text = text
        self.value = int(text) if text.isdigit() else None


def tensor_rules(fields, room):
    broken, ranges = set(), None
    if twice(fields):
        # The earlier of two values is read before the second key is seen.
        broken |= {8} | tensor_rules([p for i, p in enumerate(fields) if p[0] not in dict(fields[:i])], room)[0]
    f = dict(fields)
    if set(f) != {"dtype", "shape", "data_offsets"}:
        broken.add(10)
    kind, shape, offsets = f.get("dtype"), f.get("shape"), f.get("data_offsets")
    bits = None
    if "dtype" in f:
        if type(kind) is not str or kind not in {**WIDTH, **FOREIGN}:
            broken.add(11)
        else:
            bits = {**WIDTH, **FOREIGN}[kind]
            if kind in FOREIGN:
                broken.add(11)
    size = None
    if "shape" in f:
        dims = None
        if isinstance(shape, Pairs) or type(shape) is not list or len(shape) > 16:
            broken.add(12)
        else:
            dims = [d.value if isinstance(d, Int) else None for d in shape]
            if any(d is None or d >= 2**63 for d in dims):
                broken.add(12)
                dims = None
        if dims is not None:
            product = 1
            for d in dims:
                product *= d or 1
            if product >= 2**63:
                broken.add(13)
            if 0 in dims:
                product = 0
            if bits:
                if product * bits >= 2**64 or product * bits % 8:
                    broken.add(14)
                size = product * bits // 8
    if "data_offsets" in f:
        if isinstance(offsets, Pairs) or type(offsets) is not list or len(offsets) != 2 or any(not isinstance(o, Int) or o.value is None or o.value >= 2**64 for o in offsets):
            broken.add(15)
        else:
            begin, end = (o.value for o in offsets)
            if begin > end:
                broken.add(16)
            if end > room:
                broken.add(17)
            if size is not None and end - begin != size:
                broken.add(18)
            ranges = (begin, end)
    return broken, ranges


def rules(data):
    """Every rule that the file breaks."""
    if len(data) < 8:
        return {1}
    n = int.from_bytes(data[:8], "little")
    if n > 100_000_000 or 8 + n > len(data):
        return {2}
    header, room = data[8:8 + n], len(data) - 8 - n
    broken = set()
    if header[:1] != b"{":
        broken.add(4)
    try:
        text = header.decode("utf-8")
    except UnicodeDecodeError:
        return broken | {3}
    if depth(text) > 4:
        broken.add(6)
    try:
        decoder = json.JSONDecoder(object_pairs_hook=Pairs, parse_int=Int, parse_float=Float, parse_constant=special)
        top, end = decoder.raw_decode(text)
    except (ValueError, Special, RecursionError):
        # What else is broken before that point is not known: any rule of the fields may come first.
        return broken | {6} | set(range(5, 25))
    if surrogates(top):
        return broken | {6} | set(range(5, 25))
    if text[end:].strip(" "):
        broken.add(5)
    if not isinstance(top, Pairs):
        return broken
    if twice(top):
        broken.add(7)
    ranges = []
    for name, fields in top:
        if name == "__metadata__":
            if not isinstance(fields, Pairs) or any(type(v) is not str for _, v in fields):
                broken.add(9)
            elif twice(fields):
                broken.add(8)
            continue
        if "\0" in name or len(name.encode()) > 4096:
            broken.add(23)
        if not isinstance(fields, Pairs):
            broken.add(10)
            continue
        more, where = tensor_rules(fields, room)
        broken |= more
        if where:
            ranges.append(where)
    if sum(name != "__metadata__" for name, _ in top) > TENSORS:
        broken.add(24)
    if not broken & {10, 15, 16, 17}:
        cursor = 0
        for begin, end in sorted(r for r in ranges if r[0] < r[1]):
            if begin != cursor:
                broken.add(19)
            cursor = max(cursor, end)
        if cursor != room:
            broken |= {20, 19}
        for begin, end in ranges:
            if begin == end and any(b < begin < e for b, e in ranges):
                broken.add(21)
            # An empty tensor off every seam lies in a gap or behind the end.
            elif begin == end and begin not in {0, *(e for b, e in ranges if b < e)}:
                broken.add(19)
    return broken


def main():
    judged = accepted = wrong = 0
    with open(sys.argv[1], "rb") as f:
        while True:
            head = f.read(8)
            if len(head) < 8:
                break
            size, words = struct.unpack("<II", head)
            data, verdict = f.read(size), f.read(words).decode()
            if verdict.startswith(("H", "index", "request", "S25")):
                continue
            judged += 1
            broken = rules(data)
            accepted += verdict == "file"
            good = not broken if verdict == "file" else verdict[0] == "S" and int(verdict[1:]) in broken
            if not good:
                wrong += 1
                if wrong <= 20:
                    print("%s, but it breaks %s: %r" % (verdict, sorted(broken), data))
    print("%d judged, %d accepted, %d disagreements" % (judged, accepted, wrong))
    return int(wrong > 0 or judged == 0)


if __name__ == "__main__":
    sys.exit(main())
