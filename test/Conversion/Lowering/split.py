"""split.py DIR: a model of many statements, and what its functions have become.

    split.py write N FILE     N statements, each a loop of its own
    split.py differ N FILE    the same, no two of which are equal
    split.py longest FILE     the lines of the longest function of a file of stage `llvm`, and how many there are"""
import json
import sys

if sys.argv[1] in ("write", "differ"):
    count, path = int(sys.argv[2]), sys.argv[3]
    body = [{"y": "=x"}] + [{"y": "=y*0.5 + y*0.%d" % (25000 + (sys.argv[1] == "differ") * n)} for n in range(count)]
    with open(path, "w") as f:
        json.dump({"heddle": 1, "name": "statements", "config": {}, "inputs": {"x": "f32[B,T]"}, "body": body + [{"output": "=y"}], "outputs": ["output"]}, f)
else:
    lines = [0]
    with open(sys.argv[2]) as f:
        for line in f:
            lines += [0] if line.startswith("  llvm.func") else []
            lines[-1] += 1
    print("functions %d, longest %d" % (len(lines) - 1, max(lines[1:])))
