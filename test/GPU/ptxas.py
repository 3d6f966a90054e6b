#!/usr/bin/env python3
"""PTX of models, assembled: `ptxas.py --heddle HEDDLE [--chips sm_80,sm_90a] [--tiles] MODEL...`.

With --tiles also attentions in f32 and bf16 with heads 64, 128 and 256 wide (ATTENTIONS) and two of one linear each, 1024 x 512, in f32 and in bf16: kernels that do it must have just so many
instructions that multiply (PRODUCTS; GROUPED in machine code), or LLVM or ptxas has made something else of a tile.

For each model and chip a line: kernels, most registers. A kernel of tiles with stack or spills, another one with spills or with more stack than --stack (0), a
text that ptxas refuses or warns of, or one that holds what no text may hold (targets/GPU/README.md) counts as a failure. Ends in
`N passed, N failed[, N skipped]`; where there is no ptxas the assembling is skipped and said so."""
import argparse
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

FORBIDDEN = [(r"__nv_", "calls a device library"), (r"@-1\b", "a predicate that is none"),
             (r"\b(add|sub|mul|div|sqrt|fma)(\.ftz)?\.f32\b", "no rounding mode"), (r"\batom\.[a-z.]*(add|min|max)[a-z.]*\.f(16|32|64)\b", "float atomics")]


# Of the kernels of one linear: what a line holds, and how many lines do. f32: 4 steps of 8 x 8 sums a thread in a tall tile, 32 of one in a low
# one, twice where a round has 64. bf16: of a tall tile 2 steps of 4 x 4 units on sm_80 and 4 steps on sm_90a, of a low one 8 of one; each left side comes by one
# ldmatrix, and so do two right sides.
PAIRS, MATRICES, UNIT = ("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
                         "wgmma.mma_async.sync.aligned.m64n%dk16.f32.bf16.bf16")
GROUPS = UNIT % 128
PRODUCTS = {
    ("f32", "sm_80"): [("fma.rn.f32", 288, 320), (PAIRS, 0, 0), (GROUPS, 0, 0)],
    ("bf16", "sm_80"): [(PAIRS, 40, 40), (MATRICES, 24, 24), (GROUPS, 0, 0), ("fma.rn.f32", 0, 0)],
    ("f32", "sm_90a"): [("fma.rn.f32", 288, 320), (PAIRS, 0, 0), (GROUPS, 0, 0)],
    ("bf16", "sm_90a"): [(PAIRS, 8, 8), (MATRICES, 12, 12), (GROUPS, 4, 4), ("cp.async.bulk.shared::cluster", 6, 6), ("fma.rn.f32", 0, 0)],
}
# Of an attention, in a tall and in a low tile alike. bf16: of the scores 4 steps of 8 units (64 keys) or 8 of 4 (heads of 128, 32 keys), of the values as
# many; queries come by one ldmatrix a step, keys and values by one for two units. f32: of the scores 4 components of 8 or 4 pairs of keys (of 32 or 16) at
# a time, each for two rows; of the values 8 keys, each with 8 or 16 pairs of features, and both rows' weights from the lane that has them. The
# chains of the functions make the rest of the products. Of heads of 256 the scores have twice the steps, for 16 keys, and a tile makes 128 features.
TURNED, NEIGHBOURS, LANES = "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", "ld.shared.v2", "shfl.sync.idx"
ATTENTIONS = {
    ("f32", 64): [("fma.rn.f32", 640, 1280), (NEIGHBOURS, 160, 160), (LANES, 32, 96), (PAIRS, 0, 0)],
    ("f32", 128): [("fma.rn.f32", 1088, 1728), (NEIGHBOURS, 272, 272), (LANES, 32, 96), (PAIRS, 0, 0)],
    ("bf16", 64): [(PAIRS, 128, 128), (MATRICES, 40, 40), (TURNED, 32, 32)],
    ("f32", 256): [("fma.rn.f32", 1088, 1728), (NEIGHBOURS, 272, 272), (LANES, 32, 96), (PAIRS, 0, 0)],
    ("bf16", 128): [(PAIRS, 128, 128), (MATRICES, 48, 48), (TURNED, 32, 32)],
    ("bf16", 256): [(PAIRS, 96, 96), (MATRICES, 64, 64), (TURNED, 16, 16)],
}
# On sm_90a the tall tile of bf16 has units of 64 rows for either product, as many as the scores have steps of 16 components and the values of 16 keys,
# and what threads copy or put is shown to them in three places.
SHOWN = "fence.proxy.async.shared::cta"
UNITS = {64: [(PAIRS, 64, 64), (MATRICES, 20, 20), (TURNED, 16, 16), (UNIT % 64, 8, 8), (SHOWN, 3, 3)],
         128: [(PAIRS, 64, 64), (MATRICES, 24, 24), (TURNED, 16, 16), (UNIT % 32, 8, 8), (UNIT % 128, 2, 2), (SHOWN, 3, 3)],
         256: [(PAIRS, 48, 48), (MATRICES, 32, 32), (TURNED, 8, 8), (UNIT % 16, 16, 16), (UNIT % 128, 1, 1), (SHOWN, 3, 3)]}
UNITS_IN_CODE = {64: (4, 4), 128: (8, 2), 256: (16, 1)} # HGMMA of that tile, and those with their left side in registers
# The kernels of one linear, and opcodes of machine code: the low 12 bits of an instruction of 16 bytes. A product of a group of warps with its left side in
# registers is among what ptxas before 13.3 may get wrong: `overwritten` looks for it.
KERNELS = {"f32": ["low tiles", "tall tiles"], "bf16": ["rounding", "low tiles", "tall tiles"]}
OPCODES = {"FFMA": 0x223, "HMMA": 0x23C, "HGMMA": 0x9F0, "HGMMA with registers": 0xDF0}
GROUPED = {("bf16", "sm_90a", "tall tiles"): 4}
# Instructions whose bits 16 to 23 name no register that they write: branches, barriers, products of groups, predicates, uniform registers.
WRITES_NONE = {0x947, 0x94D, 0x918, 0x9C5, 0x5A7, 0x9A7, 0xB1D, 0x88C, 0x28C, 0x20C, 0x80C, 0xC0C, 0x20B, 0x80B, 0x81C, 0x51D, 0x882, 0xC82, 0x890, 0x892,
               0x897, 0x899, 0x89A, 0x291, 0x290, 0x287, 0x2CA, 0x8A5, 0x887, 0xAB9, 0x9F0, 0xDF0, 0x844}
WAIT, BRANCH = 0x9C5, 0x947
SLACK = 8 # registers that a kernel may differ from the table by


def one_linear(folder):
    """The path of a model of one linear; its weights are zero."""
    sides = {"heddle": 1, "name": "tiles", "inputs": {"x": "f32[n,1024]"}, "weights": {"file": "model.safetensors"},
             "body": [{"y": {"linear": "x", "out": 512, "weights": "w"}}], "outputs": ["y"]}
    header = json.dumps({"w.weight": {"dtype": "F32", "shape": [512, 1024], "data_offsets": [0, 1 << 21]},
                         "w.bias": {"dtype": "F32", "shape": [512], "data_offsets": [1 << 21, (1 << 21) + 2048]}}).encode()
    with open(os.path.join(folder, "model.safetensors"), "wb") as f:
        f.write(len(header).to_bytes(8, "little") + header + bytes((1 << 21) + 2048))
    with open(os.path.join(folder, "model.json"), "w") as f:
        json.dump(sides, f)
    return f.name


def one_attention(folder, width):
    """The path of a model of one attention, of grouped heads in texts with padding."""
    sides = {name: "f32[B,T,%d]" % (heads * width) for name, heads in (("q", 4), ("k", 2), ("v", 2))}
    with open(os.path.join(folder, "attention%d.json" % width), "w") as f:
        json.dump({"heddle": 1, "name": "tiles", "inputs": {**sides, "seen": "i64[B,T]"}, "outputs": ["y"],
                   "body": [{"y": {"attention": ["q", "k", "v"], "heads": 4, "kv_heads": 2, "mask": "=causal and keys(seen)"}}]}, f)
    return f.name


def miscounts(text, products):
    return ["%d x %s, not %d%s" % (found, what, low, " to %d" % high if high > low else "") for what, low, high in products
            if not low <= (found := text.count(what)) <= high]


def overwritten(code):
    """How many products have their left side in registers that something writes before all products are waited for."""
    count = 0
    for i, (low, _) in enumerate(code):
        if low & 0xFFF != OPCODES["HGMMA with registers"]:
            continue
        first = low >> 24 & 255
        for below, above in code[i + 1:]:
            opcode = below & 0xFFF
            if (opcode == WAIT and below >> 47 & 1 and above >> 8 & 255 == 0) or (opcode == BRANCH and below >> 12 & 15 == 7):
                break
            if opcode not in WRITES_NONE and first <= below >> 16 & 255 < first + 4:
                count += 1
                break
    return count


def machine_code(path):
    """kernel -> how often each of OPCODES is in it, and how many registers are `overwritten`, of a cubin, which is an ELF file."""
    with open(path, "rb") as f:
        file = f.read()
    start, (size, count, names) = struct.unpack_from("<Q", file, 40)[0], struct.unpack_from("<HHH", file, 58)
    sections = [struct.unpack_from("<IIQQQQ", file, start + i * size) for i in range(count)]
    kernels = {}
    for name, _, _, _, offset, length in sections:
        at = sections[names][4] + name
        text = file[at:file.index(b"\0", at)].decode()
        if text.startswith(".text."):
            code = [struct.unpack_from("<QQ", file, i) for i in range(offset, offset + length, 16)]
            found = [low & 0xFFF for low, _ in code]
            kernels[text[6:]] = {**{what: found.count(number) for what, number in OPCODES.items()}, "overwritten": overwritten(code)}
    return kernels


class Assembled:
    """What ptxas says of a text: a problem or "", and registers of each kernel."""

    def __init__(self, path, chip, tiles, stack):
        self.cubin, self.registers, self.problem = path + ".cubin", {}, ""
        p = subprocess.run(["ptxas", "-v", "-arch=" + chip, path, "-o", self.cubin], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if p.returncode:
            self.problem = "ptxas refuses it: " + p.stdout.strip().splitlines()[0]
            return
        self.registers = {name: int(n) for name, n in re.findall(r"entry function '(\w+)'(?:(?!entry function).)*?Used (\d+) registers", p.stdout, re.S)}
        frames = [(name, [int(n) for n in numbers]) for name, *numbers in re.findall(
            r"Function properties for (\w+)\s+(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", p.stdout)]
        named = {name for name, _ in frames}
        wrong = ["%s has no properties" % name for name in sorted(tiles - named)]
        wrong += ["%s: %d bytes of stack, %d and %d of spills" % (name, *numbers) for name, numbers in frames
                  if any(numbers[1:]) or numbers[0] > (0 if name in tiles else stack)]
        warned = [line for line in p.stdout.splitlines() if "warning" in line.lower() or "C75" in line]
        self.problem = "; ".join(wrong) or (warned[0] if warned else "")

    def units(self, expected):
        """What is wrong with products of groups of warps, of which all kernels have so many, and so many with registers."""
        code = machine_code(self.cubin).values()
        found = tuple(sum(kernel[what] for kernel in code) for what in ("HGMMA", "HGMMA with registers"))
        wrong = ["%d products of groups in machine code, %d with registers, not %d and %d" % (*found, *expected)] if found != expected else []
        spoiled = sum(kernel["overwritten"] for kernel in code)
        return wrong + (["registers of %d products are overwritten before they are waited for" % spoiled] if spoiled else [])

    def rows(self, dtype, chip):
        """Of the kernels of one linear: lines of the table of targets/GPU/figures.md, and problems."""
        code, lines, problems = machine_code(self.cubin), [], []
        for i, what in enumerate(KERNELS[dtype]):
            counts, registers = code["run_%d" % i], self.registers["run_%d" % i]
            lines.append((dtype, chip, what, registers, counts["FFMA"], counts["HMMA"], counts["HGMMA"]))
            expected = GROUPED.get((dtype, chip, what), 0)
            if counts["HGMMA"] != expected or counts["HGMMA with registers"]:
                problems.append("%s: %d products of groups in machine code, %d with registers, not %d and 0" %
                                (what, counts["HGMMA"], counts["HGMMA with registers"], expected))
        return lines, problems


def compare(lines, path):
    """How the table in a file differs from these lines."""
    with open(path) as f:
        table = {tuple(cells[:3]): [int(n) for n in cells[3:]] for line in f
                 if len(cells := [c.strip() for c in line.strip().strip("|").split("|")]) == 7 and cells[0] in KERNELS}
    print("| linear of 1024 x 512 | chip | kernel | registers | FFMA | HMMA | HGMMA |\n|---|---|---|---|---|---|---|")
    wrong = []
    for line in lines:
        print("| " + " | ".join(str(cell) for cell in line) + " |")
        there = table.pop(line[:3], None)
        if there is None or abs(there[0] - line[3]) > SLACK or there[1:] != list(line[4:]):
            wrong.append("%s: the table of %s says %s" % (" ".join(map(str, line)), os.path.basename(path), there))
    return wrong + ["%s: nothing is so called" % " ".join(key) for key in table]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--heddle", required=True)
    p.add_argument("--chips", default="sm_80,sm_90a")
    p.add_argument("--tiles", action="store_true")
    p.add_argument("--table", metavar="FILE", help="its table of the linears' kernels must be that of ptxas, up to %d registers" % SLACK)
    p.add_argument("--stack", type=int, default=0, metavar="N", help="bytes of stack that kernels without tiles may have; tiles may have none")
    p.add_argument("model", nargs="*")
    o = p.parse_args()
    own = tempfile.TemporaryDirectory()
    models = [(model, model, None, None) for model in o.model]
    if o.tiles:
        models += [("a linear in " + dtype, one_linear(own.name), dtype, None) for dtype in KERNELS]
        models += [("an attention in %s of heads %d wide" % (dtype, width), one_attention(own.name, width), dtype, width) for dtype, width in ATTENTIONS]
    lines = []
    there = shutil.which("ptxas")
    passed = failed = skipped = 0
    if not there:
        print("there is no ptxas: texts are looked at, not assembled")
    for name, model, dtype, width in models:
        for chip in o.chips.split(","):
            units = width and (dtype, chip) == ("bf16", "sm_90a")
            products = (UNITS[width] if units else ATTENTIONS[dtype, width]) if width else PRODUCTS.get((dtype, chip), [])
            with tempfile.TemporaryDirectory() as folder:
                path = folder + "/kernels.ptx"
                made = subprocess.run([o.heddle, "compile", model, "--target=cuda", "--mcpu=" + chip, "--emit=ptx", "-o", path]
                                      + (["--dtype=" + dtype] if dtype else []),
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                if made.returncode:
                    problem = made.stdout.strip().splitlines()[:1]
                    print("FAIL %s %s: %s" % (name, chip, problem[0] if problem else "exit status %d" % made.returncode))
                    failed += 1
                    continue
                with open(path) as f:
                    text = f.read()
                problems = [why for pattern, why in FORBIDDEN if re.search(pattern, text)]
                kernels = len(re.findall(r"^\.visible \.entry", text, re.M))
                if dtype:
                    problems += miscounts(text, products)
                if not kernels:
                    problems.append("no kernels")
                registers = "?"
                if there:
                    tiles = set(re.findall(r"\.entry (\w+)\([^{]*?\.maxntid", text)) # only kernels of tiles have blocks of a fixed size
                    done = Assembled(path, chip, tiles, o.stack)
                    registers = max(done.registers.values(), default=0)
                    problems += [done.problem] if done.problem else []
                    if not done.problem and len(done.registers) != kernels:
                        problems.append("%d of %d kernels were assembled" % (len(done.registers), kernels))
                    elif not done.problem and width:
                        problems += done.units(UNITS_IN_CODE[width] if units else (0, 0))
                    elif not done.problem and dtype:
                        more, wrong = done.rows(dtype, chip)
                        lines, problems = lines + more, problems + wrong
                else:
                    skipped += 1
                print("%s%s %s: %d kernels, at most %s registers%s" % ("FAIL " if problems else "", name, chip, kernels, registers,
                                                                       ": " + "; ".join(problems) if problems else ""))
                passed, failed = passed + (not problems), failed + bool(problems)
    if o.table and there:
        wrong = compare(lines, o.table)
        for line in wrong:
            print("FAIL " + line)
        passed, failed = passed + (not wrong), failed + bool(wrong)
    print("%d passed, %d failed%s" % (passed, failed, ", %d skipped" % skipped if skipped else ""))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
