"""too_small.py FOLDER RESULTS FEATURES: writes a description of one linear of that size, with its weights, as FOLDER."""
import json
import os
import sys

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import tensors

folder, results, features = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
os.makedirs(folder, exist_ok=True)
with open(os.path.join(folder, "model.json"), "w", encoding="utf-8") as f:
    json.dump({"heddle": 1, "name": "one", "inputs": {"x": "f32[T,%d]" % features},
               "body": [{"y": {"linear": "x", "out": results, "bias": False, "weights": "m"}}], "outputs": ["y"], "weights": "model.safetensors"}, f)
tensors.write(os.path.join(folder, "model.safetensors"), {"m.weight": np.ones((results, features), np.float32)})
