#!/usr/bin/python3
"""Planted faults of what ops ask of lengths: in each one condition is left out of dialects/Model/IR/Conditions.cpp, or is looser by one, and the
case of length_conditions.py that is named beside it must fail. One source is compiled and heddle linked for each (test/support/plant.py).

    nice test/Execution/length_faults.py BUILD_DIR [--only TEXT] [--list] [--keep-going-from N]
    test/Execution/length_faults.py --applies"""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
from plant import campaign

FILE = "dialects/Model/IR/Conditions.cpp"
FAULTS = [(what, FILE, right, wrong, case) for what, right, wrong, case in [
    ("a slice may end outside", "atLeastZero(have(o, o.getAxis()) - length(o.getTo()));", "", "row"),
    ("a slice may end one row outside", "atLeastZero(have(o, o.getAxis()) - length(o.getTo()));", "atLeastZero(have(o, o.getAxis()) - length(o.getTo()) + Size(1));", "rows_to"),
    ("a slice may begin outside", "atLeastZero(length(o.getFrom()));", "", "row_from_the_end"),
    ("a slice may end before it begins", "hasValue(axis); atLeastZero(axis);", "hasValue(axis); if (!isa<SliceOp>(op)) atLeastZero(axis);", "rows_by_a_length"),
    ("a pad may take away in front", "atLeastZero(length(o.getBefore()));", "length(o.getBefore());", "pad_before"),
    ("a pad may take away behind", "atLeastZero(length(o.getAfter()));", "length(o.getAfter());", "pad_behind"),
    ("a filter may be longer than what it runs over", "atLeastZero(x.getSize(1 + i) + Size(o.getPadding()[2 * i])", "(void)(x.getSize(1 + i) + Size(o.getPadding()[2 * i])", "taps"),
    ("windows may be longer than their axis", "atLeastZero(have(o, 1 + int64_t(i)) - ", "(void)(have(o, 1 + int64_t(i)) - ", "strided"),
    ("nothing may be resized", "atLeastZero(o.getInput().getType().getSize(1 + i) - Size(1));", "(void)(o.getInput().getType().getSize(1 + i) - Size(1));", "interpolate_rows"),
    ("the largest of nothing", "atLeastZero(have(o, axis) - Size(1));", "(void)(have(o, axis) - Size(1));", "max_of_rows,argmax_of_rows"),
    ("a constant position may lie outside", "atLeastZero(rows - Size(most) - Size(1));", "", "gather"),
    ("a range of positions may end outside", "atLeastZero(rows - length(range.getTo()));", "", "positions"),
    ("a divisor may be 0", "add(divisor, true);", "(void)divisor;", "divisor,remainder"),
    ("a length may be negative", "hasValue(axis); atLeastZero(axis);", "hasValue(axis);", "range,range_between,interpolate"),
    ("the last condition of an op counts", "if (llvm::any_of(all, [&](const Condition &known) { return saysNothing(c, known, bounds); })) continue;", "if (!all.empty()) continue;", "pad_both"),
]]


def fails(tool, cases):
    """What length_conditions.py says first, if anything fails"""
    said = subprocess.run(["/usr/bin/python3", os.path.join(HERE, "length_conditions.py"), "--heddle", tool, "--only", cases], capture_output=True, text=True, timeout=300)
    return None if said.returncode == 0 else said.stdout.split("\n")[0][:80]


def check(build, made, fault):
    tool = build.link("heddle", made)
    folder = os.path.join(build.scratch, "bin")  # heddle looks for the runtime beside it
    os.makedirs(folder, exist_ok=True)
    os.replace(tool, os.path.join(folder, "heddle"))
    if not os.path.exists(os.path.join(build.scratch, "lib")):
        os.symlink(os.path.join(build.path, "lib"), os.path.join(build.scratch, "lib"))
    return fails(os.path.join(folder, "heddle"), fault[4])


def sound(build):
    return fails(os.path.join(build.path, "bin", "heddle"), ",".join(sorted({f[4] for f in FAULTS})))


if __name__ == "__main__":
    sys.exit(campaign(FAULTS, ["heddle"], check, sound))
