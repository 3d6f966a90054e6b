"""A report held against itself and against the compiler's own formulas, at several choices of lengths.

`problems(report)` gives a line for each sum that does not hold: operations and reads of phases, bytes of parameters, places of the
arena that are in use together, phases without an op, IR that does not grow from its differences."""
import re

NAMES = re.compile(r"[A-Za-z_]\w*")
LENGTHS = (1, 7, 64, 200, 5000)


def value(form, n):
    """A form at the length n of every dim but a few."""
    env = {"min": min, "max": max, "past": 8, "B": 2, "threads": 2, "asked": 3, "slots": 4, "capacity": n + 64}
    for dim in NAMES.findall(form):
        env.setdefault(dim, n)
    return eval(form, {"__builtins__": {}}, env)  # of a report that we made: numbers, dims and + - * // % min max


def entry_problems(entry, name):
    device = any("device" in p for p in entry["phases"])
    for n in LENGTHS if not device else ():
        total = sum(p["turns"] * value(p["operations"], n) for p in entry["phases"])
        if total != value(entry.get("flops", "0"), n):
            yield "%s: the phases have %d operations at %d, the entry %d" % (name, total, n, value(entry["flops"], n))
    lost = [p["ops"] for p in entry["phases"] if p["node"] is None and p["ops"] != "-"]
    if lost:
        yield "%s: phases without a place in the model: %s" % (name, lost)
    rows = entry["memory"]["rows"]
    for n in LENGTHS:
        spans = [(r["first"], r["last"], value(r["offset"], n), value(r["offset"], n) + value(r["bytes"], n), r) for r in rows]
        if spans and max(s[3] for s in spans) > value(entry["arena"], n):
            yield "%s: a place ends behind the arena at %d" % (name, n)
        for i, a in enumerate(spans):
            for b in spans[i + 1:]:
                own = a[4]["in_place"] or b[4]["in_place"] or "model.repeat" in (a[4]["kind"], b[4]["kind"])
                if not own and a[0] < b[1] and b[0] < a[1] and a[2] < b[3] and b[2] < a[3]:
                    yield "%s: %s and %s are in one place at %d" % (name, a[4]["name"], b[4]["name"], n)


def applied(lines, edits):
    out, at = [], 0
    for kept, dropped, added in edits:
        out += lines[at:at + kept] + added
        at += kept + dropped
    if at > len(lines):
        raise ValueError("edits go beyond the text")
    return out + lines[at:]


def text_after(report, function, number):
    """The lines of a function after pass `number`."""
    lines = []
    for at, edits in report["functions"].get(function, []):
        if at <= number:
            lines = applied(lines, edits)
    return [text for _, text in lines]


def problems(report):
    model = report["model"]
    total = sum(p["bytes"] for p in report["parameters"])
    if total != model["blob_bytes"]:
        yield "the parameters have %d bytes, the blob %d" % (total, model["blob_bytes"])
    for entry in report["entries"]:
        yield from entry_problems(entry, "@" + entry["name"])
    for i, p in enumerate(report["passes"]):
        for name, dropped, added in p["functions"]:
            if name in report["thinned"]:
                continue
            edits = [edits for at, edits in report["functions"][name] if at == i]
            sums = [sum(e[1] for e in edits[0]), sum(len(e[2]) for e in edits[0])] if edits else None
            if sums != [dropped, added]:
                yield "pass %d (%s), @%s: %s lines in the edits, %s said" % (i, p["flag"], name, sums, [dropped, added])
    count = len(report["locs"])
    for name, changes in report["functions"].items():
        for _, edits in changes:
            for edit in edits:
                if any(not -1 <= loc < count for loc, _ in edit[2]):
                    yield "@%s: a line whose location is not there" % name
    for a, b in report["edges"]:
        if not (0 <= a < len(report["nodes"]) and 0 <= b < len(report["nodes"])):
            yield "an edge to a node that is not there"
