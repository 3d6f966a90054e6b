#!/usr/bin/python3
"""Shapes that grow past what any machine holds, or has axes for: refused where they are made, at their token, and never a crash.

    growing.py HEDDLE WORK"""
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
from checks import check, finish

heddle, work = sys.argv[1:]
X = "f32[B,T,4]"


def said(name, body, inputs=None, verb="check"):
    model = {"heddle": 1, "name": "growing", "inputs": inputs or {"x": X}, "body": body, "outputs": ["y"]}
    path = os.path.join(work, "model.json")
    os.makedirs(work, exist_ok=True)
    with open(path, "w") as f:
        json.dump(model, f, indent=0)
    p = subprocess.run([heddle, verb, path] + (["-o", os.path.join(work, "program")] if verb == "compile" else []), capture_output=True, text=True, timeout=100)
    return p.returncode, p.stdout + p.stderr


def refused(name, body, words, inputs=None):
    for verb in ("check", "compile"):
        status, text = said(name, body, inputs, verb)
        check(status == 1 and "H0901" not in text and re.search(r"model\.json:\d+:\d+: error.*" + words, text), "%s, %s: status %d: %s" % (name, verb, status, text[-500:]))


def doubled(n, axis=2):
    return [{"y": "=x"}] + [{"y": {"concat": ["y", "y"], "axis": axis}} for _ in range(n)]


for n in (39, 41, 50, 58, 59, 60, 61, 62, 63, 64, 70):
    refused("doubled %d times" % n, doubled(n) + [{"y": {"sum": "y", "axis": 2}}], "2\\^42 bytes")
    refused("rows doubled %d times" % n, doubled(n, 1) + [{"y": {"sum": "y", "axis": 1}}], "2\\^42 bytes")
for n in (3, 20, 36, 38):
    status, text = said("doubled", doubled(n) + [{"y": {"sum": "y", "axis": 2}}], verb="compile")
    check(status == 0, "doubled %d times: status %d: %s" % (n, status, text[-500:]))
grown = "=x[" + ", ".join([":"] * 3 + ["null"] * 14) + "]"
refused("rank 17", [{"y": grown}], "17 axes, and a tensor has at most 16")
refused("rank 17 of an input", [{"y": "=x * 2"}], "17 axes", {"x": "f32[" + ",".join(["B"] * 17) + "]"})
refused("rank 17 by rearrange", [{"y": {"rearrange": "x", "pattern": "b t c -> b t c " + " ".join(["1"] * 14)}}], "17 axes")
status, text = said("rank 16", [{"y": grown.replace(", null", "", 1)}], verb="compile")
check(status == 0, "rank 16: status %d: %s" % (status, text[-300:]))
refused("a large input", [{"y": {"sum": "x", "axis": 2}}], "2\\^42 bytes", {"x": "f32[B,2,1099511627776]"})
refused("a large pad", [{"y": {"pad": "x", "axis": 1, "before": "=9223372036854775807"}}], "(2\\^42 bytes|64 bits)")
refused("two large pads", [{"y": {"pad": "x", "axis": 1, "before": "=9223372036854775807", "after": "=9223372036854775807"}}], "(2\\^42 bytes|64 bits)")
refused("a negative pad", [{"y": {"pad": "x", "axis": 1, "before": -1}}], "cannot pad by -1 and 0 rows")
refused("a product of lengths", [{"y": "=x * range(1099511627776 * T)[null, :, null]"}], "(2\\^42 bytes|64 bits)")
refused("a large range", [{"y": {"sum": "=range(1099511627776 + T)", "axis": 0}}, {"y": "=x + y"}], "2\\^42 bytes")
refused("numbers that wrap", [{"y": "=x * (T * 4611686018427387904 * 4)"}], "")
refused("a table", [{"y": {"matmul": ["=x[:, :, :, null, null] * range(2097152)[:, null]", "=range(2097152)[null] * 1.0"]}}], "2\\^42 bytes")
sys.exit(finish())
