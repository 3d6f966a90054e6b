"""The family files as they are after `like`, and a configuration of each; for the scripts beside it and test/Docs."""
import glob
import json
import os

HERE = os.path.dirname(os.path.abspath(__file__))
FAMILIES = os.path.join(HERE, "..", "..", "compiler", "Families")


def merged(base, patch):
    """RFC 7396."""
    if not isinstance(patch, dict):
        return patch
    out = dict(base) if isinstance(base, dict) else {}
    for key, value in patch.items():
        if value is None:
            out.pop(key, None)
        else:
            out[key] = merged(out.get(key), value)
    return out


def family(name):
    with open(os.path.join(FAMILIES, name + ".json"), encoding="utf-8") as f:
        own = json.load(f)
    like = own.pop("like", None)
    return merged(family(like), own) if like else own


def names():
    return sorted(os.path.basename(p)[:-5] for p in glob.glob(os.path.join(FAMILIES, "*.json")))


def types(of):
    of = of["family"]["model_type"]
    return [of] if isinstance(of, str) else of


def known():
    """Configurations of known.json by model type, the first of each."""
    with open(os.path.join(HERE, "known.json"), encoding="utf-8") as f:
        out = {}
        for value in json.load(f).values():
            if isinstance(value, dict):
                out.setdefault(value["model_type"], value)
        return out
