"""time_json.py HEDDLE MODEL WORK: --time=json and --time-trace agree with the table of stages and with each other."""
import json
import os
import subprocess
import sys


def main():
    heddle, model, work = sys.argv[1:]
    os.makedirs(work, exist_ok=True)
    trace_file = os.path.join(work, "trace.json")
    said = subprocess.run([heddle, "compile", model, "--quick", "-q", "-o", os.path.join(work, "out"), "--time=json", "--time-trace=" + trace_file],
                          check=True, stdout=subprocess.PIPE, text=True)
    times = json.loads(said.stdout)
    stages = [p for p in times["phases"] if p.get("kind") == "stage"]
    assert [s["name"] for s in stages] == ["model", "entries", "fused", "tiled", "buffers", "llvm"], stages
    assert {"import", "link"} <= {p["name"] for p in times["phases"]}
    assert sum(p["ms"] for p in times["phases"]) <= times["ms"] * 1.02, "phases take longer than the whole"
    for stage in stages:
        passes = [p for p in times["passes"] if p["stage"] == stage["name"]]
        assert passes and 0 < sum(p["ms"] for p in passes) <= stage["ms"], "the passes of %s take longer than it" % stage["name"]
    for last, now in zip(times["passes"], times["passes"][1:]):
        assert last["ops"][1] == now["ops"][0], (last, now)
    assert {"heddle_entry_run", ""} <= {f["name"] for f in times["functions"]}, times["functions"]

    with open(trace_file) as f:
        events = [e for e in json.load(f)["traceEvents"] if e["ph"] == "X"]
    passes = [e for e in events if "pipeline" in e.get("args", {})]
    assert sorted((e["name"], e["args"]["ops_before"], e["args"]["ops"]) for e in passes) == sorted((p["pass"], *p["ops"]) for p in times["passes"])
    functions = {e.get("args", {}).get("detail", ""): e["tid"] for e in events if e["name"] == "function"}
    assert set(functions) == {f["name"] for f in times["functions"]}, functions
    main_thread = {e["tid"] for e in passes}
    assert len(main_thread) == 1 and not main_thread & set(functions.values()), "functions are compiled by other threads"
    print("%d passes, %d functions, 0 failed" % (len(passes), len(functions)))


if __name__ == "__main__":
    sys.exit(main())
