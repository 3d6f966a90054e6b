"""Writes the codebooks of IQ1, IQ2 and IQ3 as Codebooks.inc: `codebooks.py codebooks.npz > Codebooks.inc`.

The file has an array a table, [entries, 4 or 8], as the header of ggml has them (ggml-common.h; the ggml authors, MIT licence). An
entry becomes one number: for each element the index of its level, the first element in the lowest bits."""
import sys

import numpy as np

NAMES = ["IQ1_S", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S"]

print("""// The codebooks of ggml (ggml-common.h; the ggml authors, MIT licence), which their authors chose; no rule gives them.
// Made by codebooks.py: an entry is a number, for each element the index of its level, the first in the lowest bits.
// clang-format off""")
with np.load(sys.argv[1]) as tables:
    for name in NAMES:
        table = tables[name].astype(np.int64)
        levels = np.unique(table)
        bits = 2 if len(levels) <= 4 else 3
        entries = (np.searchsorted(levels, table) << bits * np.arange(table.shape[1])).sum(1)
        print("\nconstexpr uint16_t entriesOf%s[%d] = {" % (name.replace("_", ""), len(entries)))
        for i in range(0, len(entries), 14):
            print("    " + " ".join("0x%x," % e for e in entries[i:i + 14]))
        print("};\nconstexpr Codebook %s = {entriesOf%s, %d, {%s}};" % (name, name.replace("_", ""), bits, ", ".join(map(str, levels))))
print("// clang-format on")
