#!/usr/bin/python3
"""poolers.py --heddle BIN: encoders whose files lack the pooler, of every family that says which output goes without its weights.

Of each a configuration (known.json) as its bare class: the weights that `heddle weights` lists are accepted by `heddle check`; without those
that are optional they are, too, with a remark that names the output. The last line is `N passed, N failed`."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import family_files as families

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import sparse  # noqa: E402

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("--heddle", required=True)
o = p.parse_args()
configs, good, bad = families.known(), 0, 0
with tempfile.TemporaryDirectory() as work:
    for name in families.names():
        of = families.family(name)
        outputs = of["weights"].get("optional", {}) if isinstance(of.get("weights"), dict) else {}
        base = next((configs[t] for t in families.types(of) if t in configs), None)
        bare = next((c for c, v in of["family"]["architectures"].items() if v.get("head") in ("none", "pooler")), None)
        if not outputs or not base or not bare:
            continue
        model = os.path.join(work, name)
        os.mkdir(model)
        with open(os.path.join(model, "config.json"), "w") as f:
            json.dump({**base, "architectures": [bare.replace("*", "Any")], "is_decoder": False}, f)
        wrong = []
        try:
            weights = sparse.listed(o.heddle, os.path.join(model, "config.json"))
        except RuntimeError as error:
            weights, wrong = [], [str(error)]
        optional = [w for w in weights if w.get("optional")]
        for given, remarked in ((weights, 0), ([w for w in weights if w not in optional], 1)) if optional else ():
            sparse.write(os.path.join(model, "model.safetensors"), given)
            r = subprocess.run([o.heddle, "check", "--json", model], capture_output=True, text=True)
            said = [m["message"] for m in json.loads(r.stdout or "[]")]
            told = sum("is left out" in m and any(f"'{output}'" in m for output in outputs) for m in said)
            if r.returncode or told != remarked:
                wrong.append(f"{len(given)} of {len(weights)} weights: {r.returncode} {said}"[:600])
        good, bad = good + (not wrong and bool(optional)), bad + bool(wrong)
        if wrong:
            print("FAIL", name, *wrong, sep="\n  ")
print(f"{good} passed, {bad} failed")
sys.exit(bad > 0 or good < 15)
