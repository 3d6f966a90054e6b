"""old_files.py HEDDLE WORK: files that use a name which the language has a meaning for, or will be given one, go on compiling.

Takes the built-in names from `heddle reference` and writes descriptions of version 1 in which constants, dims, inputs, values and blocks are
called so: each is accepted, with a remark that names both places. The last line is `N passed, N failed`."""
import json
import os
import re
import subprocess
import sys

HEDDLE, WORK = sys.argv[1:]
os.makedirs(WORK, exist_ok=True)
page = subprocess.run([HEDDLE, "reference"], capture_output=True, text=True, check=True).stdout
listed = re.search(r"<!-- generated: names -->\n(.*?)<!-- end of names -->", page, re.S)[1]
names = {kind: re.findall("`([^`]+)`", rest) for kind, rest in re.findall(r"- (\w+): (.*)", listed)}
assert min(map(len, names.values())) > 9 and set(names) == {"functions", "masks", "ops", "blocks"}, names
words = names["functions"] + names["masks"]
good = bad = 0


def check(what, description, shadowed):
    global good, bad
    path = os.path.join(WORK, "model.json")
    with open(path, "w") as f:
        json.dump({"heddle": 1, "name": "old", **description}, f)
    r = subprocess.run([HEDDLE, "check", "--json", path], capture_output=True, text=True)
    said = [m for m in json.loads(r.stdout or "[]") if "is also a built-in" in m["message"]]
    places = {re.match("'([^']+)'", m["message"])[1] for m in said if m["line"] and m["file"] == path and m["notes"][0].get("line") and m["notes"][0]["file"] == "language.md"}
    wrong = r.returncode != 0 or places != set(shadowed)
    good, bad = good + (not wrong), bad + wrong
    if wrong:
        print("FAIL", what, r.returncode, r.stderr[:300], r.stdout[:600], sorted(set(shadowed) ^ places))


y = {"y": "=x * 2"}
check("constants", {"config": {n: 2 for n in words}, "inputs": {"x": "f32[B,4]"}, "body": [{"y": "=x * (" + " + ".join(words) + ")"}], "outputs": ["y"]}, words)
check("dims", {"inputs": {f"x{i}": f"f32[{n}]" for i, n in enumerate(words)}, "body": [{f"y{i}": f"=x{i} * real({n})"} for i, n in enumerate(words)],
               "outputs": [f"y{i}" for i in range(len(words))]}, words)
check("inputs", {"inputs": {n: "f32[B,4]" for n in words}, "body": [{"y": "=" + " + ".join(words)}], "outputs": ["y"]}, names["masks"][:2])
check("values", {"inputs": {"x": "f32[B,4]"}, "body": [{n: "=x * 2"} for n in words] + [{"y": "=" + " + ".join(words)}], "outputs": ["y"]}, names["masks"][:2])
check("a call beside it", {"config": {"grid": 2}, "inputs": {"x": "f32[B,T,4]"}, "outputs": ["y"],
                           "body": [{"y": {"attention": ["x", "x", "x"], "heads": 1, "mask": "=grid(grid, grid, 1)"}}]}, ["grid"])
for name in names["ops"] + names["blocks"]:
    # It calls nothing of its own name; `parameter` inside is the op, whatever the block is called.
    block = {"operands": ["x"], "attributes": {"by": 3}, "body": [{"z": "=x * by"}], "result": "z"}
    check("block " + name, {"inputs": {"x": "f32[B,4]"}, "blocks": {name: block}, "defaults": {name: {"by": 5}}, "body": [{"y": {name: "x"}}], "outputs": ["y"]},
          [name])
# In a block called as an op the op is meant, and so it is in the library's blocks.
twice = {"operands": ["x"], "attributes": {"axis": -1}, "body": [{"z": {"softmax": "x", "axis": "=axis"}}, {"z": "=z * 2"}], "result": "z"}
check("the op inside", {"inputs": {"x": "f32[B,4]"}, "blocks": {"softmax": twice}, "body": [{"y": {"softmax": "x"}}], "outputs": ["y"]}, ["softmax"])
cumsum = {"operands": ["x"], "body": [{"z": "=x * 0"}], "result": "z"}
check("the op in the library", {"inputs": {"m": "i64[B,T]"}, "blocks": {"cumsum": cumsum}, "body": [{"y": {"counted": "m"}}, {"z": {"cumsum": "m"}}], "outputs": ["y", "z"]},
      ["cumsum"])
print(f"{good} passed, {bad} failed")
sys.exit(bad > 0)
