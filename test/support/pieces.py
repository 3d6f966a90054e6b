"""SentencePiece models, written as the library writes them, and what Marian's published tokenizer makes of a text with one."""
import struct

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
SPACE = "\u2581"


def varint(n):
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)


def field(number, value):
    """a field of a protocol buffer: a number, a float, or bytes"""
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    return varint(number << 3) + varint(value) if isinstance(value, int) else varint(number << 3 | 2) + varint(len(value)) + value


def model(pieces, kind=1, prefix=True, collapse=True, escape=True, suffix=False, charsmap=b""):
    """`pieces`: (text, score, what for)"""
    list_ = b"".join(field(1, field(1, text.encode()) + field(2, float(score)) + (field(3, what) if what != NORMAL else b"")) for text, score, what in pieces)
    return list_ + field(2, field(3, kind) + field(24, int(suffix))) + field(3, field(1, b"mine") + field(2, charsmap) + field(3, int(prefix)) + field(4, int(collapse)) + field(5, int(escape)))


def cut(pieces, text, prefix=True, collapse=True):
    """the likeliest pieces of a text; characters that are none become one where they touch"""
    if collapse:
        text = " ".join(w for w in text.split(" ") if w)
    text = (SPACE + text if prefix and text else text).replace(" ", SPACE)
    scores = {t: struct.unpack("<f", struct.pack("<f", s))[0] for t, s, what in pieces if what == NORMAL}
    unknown = min(scores.values()) - 10
    best = [(0.0, 0, True)] + [None] * len(text)
    for i in range(len(text)):
        for j in range(i + 1, len(text) + 1):
            known = text[i:j] in scores
            if not known and j > i + 1:
                continue
            total = best[i][0] + (scores[text[i:j]] if known else unknown)
            if best[j] is None or total > best[j][0]:
                best[j] = (total, i, known)
    found, at = [], len(text)
    while at:
        _, begin, known = best[at]
        if found and not known and not found[-1][1]:
            found[-1] = (text[begin:at] + found[-1][0], False)
        else:
            found.append((text[begin:at], known))
        at = begin
    return [piece for piece, _ in reversed(found)]


def marian_ids(pieces, ids, text, **how):
    return [ids.get(piece, ids["<unk>"]) for piece in cut(pieces, text, **how)] + [ids["</s>"]]
