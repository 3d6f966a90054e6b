#!/usr/bin/python3
"""nulls.py --heddle BIN [--all] [--record] [--only FAMILY,..]: what null of a key of config.json means, for every key that a family reads with `??`.

A published class gets null as None, past the default of its signature. nulls.json says for every such key which families refuse null (their
classes cannot work with None) and which take it; each is probed with a configuration of known.json, those that read the key in the same words once
(--all: each family). What a family's own `null`, or that of config_keys.json, says is held against the same configuration with that value
written out, or with the key left out: the stage `model` must be the same text. --record writes nulls.json anew: read the difference, and
look into the class. The last line is `N passed, N failed`."""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

import family_files as families

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import sparse  # noqa: E402

TABLE = os.path.join(families.HERE, "nulls.json")
READ = re.compile(r"(?<![\w.)\]'])([A-Za-z_][\w.]*)(?:\[\d\])*(?: // 2)?\s*\?\?")


def strings(value):
    if isinstance(value, str):
        yield value
    for v in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from strings(v)


def put(config, key, value, remove=False):
    config = json.loads(json.dumps(config))
    at, (*parents, last) = config, key.split(".")
    for p in parents:
        if not isinstance(at.get(p), dict):
            at[p] = {}
        at = at[p]
    if remove:
        at.pop(last, None)
    else:
        at[last] = value
    return config


def run(command):
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def refuses(heddle, work, number, config):
    path = os.path.join(work, f"{number}.json")
    with open(path, "w") as f:
        json.dump(config, f)
    r = run([heddle, "check", path])
    os.remove(path)
    return r.returncode, r.stderr


def stage(heddle, folder, config):
    """The stage `model` of a configuration with weights that are a hole, or why there is none."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "config.json"), "w") as f:
        json.dump(config, f)
    weights = os.path.join(folder, "model.safetensors")
    if not os.path.exists(weights):
        try:
            sparse.write(weights, sparse.listed(heddle, os.path.join(folder, "config.json")))
        except RuntimeError as error:
            return str(error)
    r = run([heddle, "compile", folder, "--emit=model", "--no-locations", "-o", "-"])
    return r.stdout if r.returncode == 0 else r.stderr[:600]


def written(meaning, config):
    """A value of `null` as JSON; expressions of the few forms that families have."""
    if not isinstance(meaning, str) or not meaning.startswith("="):
        return meaning
    def get(key):
        at = config
        for part in key.split("."):
            at = at.get(part) if isinstance(at, dict) else None
        return at
    for part in meaning[1:].split(" ?? "):
        quotient = re.fullmatch(r"(\w+) // (\w+)", part)
        value = get(quotient[1]) // get(quotient[2]) if quotient else None if part == "null" else get(part) if re.match("[a-z]", part) else float(part)
        if value is not None:
            return value
    return None


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--heddle", required=True)
    p.add_argument("--all", action="store_true")
    p.add_argument("--record", action="store_true")
    p.add_argument("--only")
    o = p.parse_args()
    table = {}
    if os.path.exists(TABLE):
        with open(TABLE) as f:
            table = json.load(f)
    configs, wrong, good, seen = families.known(), [], 0, set()
    probes, meanings = [], []
    for name in families.names():
        if o.only and name not in o.only.split(","):
            continue
        of = families.family(name)
        base = next((configs[t] for t in families.types(of) if t in configs), None)
        if base is None:
            continue
        texts = [s for s in list(strings(of.get("config", {}))) + list(strings(of["family"].get("require", {}))) if s.startswith("=")]
        for key in sorted({m[1] for s in texts for m in READ.finditer(s)}):
            said = of["family"].get("null", {}).get(key)
            words = (key, json.dumps(said), tuple(sorted(s for s in texts if key in s)))
            if o.all or o.record or words not in seen:
                probes.append((name, key, put(base, key, None)))
            seen.add(words)
        for key, meaning in of["family"].get("null", {}).items():
            meanings.append((name, key, meaning, base))
    with tempfile.TemporaryDirectory() as work:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(lambda a: refuses(o.heddle, work, a[0], a[1][2]), enumerate(probes)))
        found = {}
        for (name, key, _), (code, text) in zip(probes, answers):
            if code not in (0, 1, 3):
                wrong.append(f"{name} {key}: exit status {code}")
            found.setdefault(key, {}).setdefault("refused" if code else "taken", []).append(name)
            expected = "refused" if name in table.get(key, {}).get("refused", []) else "taken" if name in table.get(key, {}).get("taken", []) else "not in nulls.json"
            if not o.record and expected != ("refused" if code else "taken"):
                wrong.append(f"{name} {key}: {'refused' if code else 'taken'}, expected {expected}: {text[:300]}")
            good += 1
        if o.record:
            with open(TABLE, "w") as f:
                f.write("{\n" + ",\n".join(f' {json.dumps(k)}: {json.dumps({w: found[k][w] for w in sorted(found[k])})}' for k in sorted(found)) + "\n}\n")
            wrong = []
        for name, key, meaning, base in meanings:
            folder = os.path.join(work, name + "." + key)
            with_value = put(base, key, None, remove=True) if meaning == [] else put(base, key, written(meaning, base))
            want, got = stage(o.heddle, folder, with_value), stage(o.heddle, folder, put(base, key, None))
            # "=null" is what it is: no other spelling says it. The width of gpt-oss's heads is then odd, so both are refused alike.
            odd = (name, key) == ("gpt_oss", "head_dim")
            made = got.startswith("// ") or odd
            if odd: # the first line says what is odd; what follows shows the files, which differ
                want, got = want.split("\n")[0], got.split("\n")[0]
            if not made or (meaning != "=null" and got != want):
                wrong.append(f"{name} {key}: null is not {meaning}: {want[:200]!r}, {got[:200]!r}")
            good += 1
    for text in wrong:
        print("FAIL", text)
    print(f"{good - len(wrong)} passed, {len(wrong)} failed")
    return len(wrong) > 0


if __name__ == "__main__":
    sys.exit(main())
