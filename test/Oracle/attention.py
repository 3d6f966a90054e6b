"""An attention case of the oracle (`meta.json`, key `spec`) as a description in Heddle's language, a dozen lines each."""


def side(n, by):
    """A side of a window, moved by so many positions; none is no limit."""
    return "null" if n is None else str(n + by)


def mask(m, keys, base):
    """The oracle's tree of masks as an expression; `keys` is the dim of the key rows, `base` the position of query row 0."""
    op = m["op"]
    moved = m.get("offset", base) - base
    if op == "all" or (op == "causal" and not moved):
        return op
    if op == "causal":
        return "window(null, %d)" % moved
    if op in ("and", "or"):
        return "(" + (" %s " % op).join(mask(a, keys, base) for a in m["args"]) + ")"
    if op == "not":
        return "not " + mask(m["arg"], keys, base)
    if op == "window":
        return "window(%s, %s)" % (side(m["left"], -moved), side(m["right"], moved))
    if op == "lengths":
        leaf, axis = ("keys", keys) if m["side"] == "k" else ("queries", "T")
        return "%s(range(%s)[null, :] < %s[:, null])" % (leaf, axis, m["tensor"])
    if op == "starts":
        return "keys(range(%s)[null, :] >= %s[:, null])" % (keys, m["tensor"])
    if op == "document":
        return "document(%s, %s)" % (m["q"], m["k"])
    if op == "global":
        return "(keys(far) or queries(far))"
    if op == "prefix":  # of keys as they are counted; `prefix` speaks of positions
        return "prefix(%s)" % m["tensor"] if not base else "keys(range(%s)[null, :] < %s[:, null])" % (keys, m["tensor"])
    if op == "first_keys":
        return "keys(range(%s) < %d)" % (keys, m["n"])
    if op == "key_stride":
        return "keys(range(%s) %% %d == %d)" % (keys, m["stride"], m["residue"])
    if op == "dilated":
        reach = m["window"] * m["dilation"]
        return "(window(%d, %d) and dilated(%d))" % (reach, reach, m["dilation"])
    if op == "dense":
        return "dense(%s)" % m["tensor"]
    if op == "blocks":
        return "blocks(%d, seen_blocks)" % m["block_size"]
    raise ValueError("no mask op %r" % op)


def base_of(spec):
    """Where query row 0 stands among the keys. Windows may have an offset of their own, what counts distances or blocks may not."""
    fixed = {m.get("offset", 0) for m in members(spec["mask"], "op") if m["op"] in ("dilated", "blocks")}
    fixed |= {m["offset"] for m in members(spec["bias"], "offset")}
    if len(fixed) > 1:
        raise ValueError("offsets %s differ" % sorted(fixed))
    return min(fixed or {m["offset"] for m in members(spec["mask"], "offset")} or {0})


def bias(b, spec):
    if b["op"] == "alibi":
        return {"alibi": "=" + b["slopes"], "symmetric": b["symmetric"]}
    if b["op"] == "dense":
        return {"dense_bias": b["tensor"]}
    if b["op"] == "t5":
        return {"bucket_bias": [], "weight": "=table", "heads": spec["heads_q"], "buckets": b["num_buckets"],
                "max_distance": b["max_distance"], "two_sided": b["bidirectional"]}
    raise ValueError("no bias op %r" % b["op"])


def members(m, key):
    """Every object below m that has the key."""
    if isinstance(m, dict):
        if key in m:
            yield m
        m = list(m.values())
    if isinstance(m, list):
        for v in m:
            yield from members(v, key)


def describe(spec, tensors):
    base = base_of(spec)
    # A mask that names global tokens speaks of queries and keys as one sequence; elsewhere they are two.
    one = any(m["op"] == "global" for m in members(spec["mask"], "op"))
    keys = "T" if one else "S"
    q, k, v = (tensors[n].shape for n in "qkv")
    # Heads and widths are constants of a model; batch and lengths are dims.
    config = {"H": q[1], "G": k[1], "d": q[3], "w": v[3]}
    for m in members(spec["mask"], "visible_key_blocks_of_query_block"):
        config["seen_blocks"] = m["visible_key_blocks_of_query_block"]
    scores = {"B": q[0], "H": q[1], "T": q[2], keys: k[2]}

    def axes(name, t):
        known = {"q": "B,H,T,d", "k": "B,G,%s,d" % keys, "v": "B,G,%s,w" % keys, "doc_q": "B,T", "doc_k": "B," + keys,
                 "lengths": "B", "q_lengths": "B", "starts": "B", "prefix": "B", "slopes": "H", "sinks": "H"}
        if name in known:
            return known[name]
        if name in ("mask", "bias"):
            order = ["B", "H", "T", keys][-t.ndim:] if t.ndim != 3 else ["B", "T", keys]
            return ",".join(dim if n == scores[dim] else str(n) for dim, n in zip(order, t.shape))
        return ",".join(map(str, t.shape))

    kinds = {"f": "f32", "i": "i64", "b": "bool"}
    inputs = {n: "%s[%s]" % (kinds[t.dtype.kind], axes(n, t)) for n, t in tensors.items()}
    body = [{n: {"rearrange": n, "pattern": "b h t d -> b t (h d)"}} for n in "qkv"]
    if one:
        body.append({"far": {"max": "=int(range(T)[:, null] == global_positions[null, :])", "axis": 1}})
    call = {"attention": ["q", "k", "v"], "heads": "=H", "kv_heads": "=G", "scale": spec["scale"],
            "mask": "=" + mask(spec["mask"], keys, base), "key_start": -base}
    if spec["bias"]:
        body.append({"near": bias(spec["bias"], spec)})
        call["bias"] = "=near"
    if spec["softcap"]:
        call["softcap"] = spec["softcap"]
    if spec["sinks"]:
        call["sinks"] = "=" + spec["sinks"]["tensor"]
    body += [{"a": call}, {"out": {"rearrange": "a", "pattern": "b t (h d) -> b h t d", "sizes": {"h": "=H"}}}]
    return {"heddle": 1, "config": config, "inputs": inputs, "body": body, "outputs": ["out"]}
