"""The planted faults of the lowering: (what is wrong, source, right, wrong, the test that must fail)."""

LOOPS = "compiler/Conversion/Lowering/"

FAULTS = [(name, LOOPS + file, right, wrong, test) for name, file, right, wrong, test in [
    # barriers and shares
    ("nobody waits for the rows of a linear", "CPU/Linear/Linear.cpp", "l.noteCost([&] { return costOf(op); });\n  l.barrier(op.getLoc());\n", "", "linear.mlir"),
    ("two loops of a phase are dealt from one counter", "Frame/Lowering.cpp", "if (!machine.worksFromCounter || dealt)", "if (!machine.worksFromCounter)", "attention-padding.mlir"),
    ("attention begins before its keys are packed", "CPU/Attention/Attention.cpp", "    l.noteCost([&] { return bytesOfPacking(plan); });\n    l.barrier(loc);\n", "", "attention-step.mlir"),
    ("a thread's part ends where the next but one begins", "CPU/RegisterLanes.cpp", "c.add(team, 1)", "c.add(team, 2)", "maps.mlir"),
    ("what is collected is overwritten before it is copied", "Ops/ControlAndStates.cpp", "  // What is collected may be an old carried value, so those are replaced after a barrier.\n  if (copied)", "  if (false)", "repeat.mlir"),
    # what equal loops share
    ("loops that differ in a number are one function", "Language/StructuralText.cpp", "<< op->getName() << op->getAttrDictionary();", "<< op->getName();", "equal.mlir"),
    ("loops that read other values are one function", "Language/StructuralText.cpp", "os << ' ' << at->second;", "", "equal.mlir"),
    # strides and offsets
    ("panels are N apart, not K", "CPU/Linear/Linear.cpp", ": c.at(w, c.mul(panel, this->depth * width), word);", ": c.at(w, c.mul(panel, n * width), word);", "linear.mlir"),
    ("both numbers of a word are left in one place", "CPU/Linear/Linear.cpp", "c.constant((2 * behind + 1) * width + j * c.lanes)", "c.constant(2 * behind * width + j * c.lanes)", "linear-widened.mlir"),
    ("nobody reads the panel that was left in f32", "CPU/Linear/Linear.cpp", "first.to = rest.reals = widened;", "first.to = widened;", "linear-widened.mlir"),
    ("every tile leaves its panel in f32", "CPU/Linear/Linear.cpp", "      Value second = c.add(begin, tall);", "      Value second = whole;", "linear-widened.mlir"),
    ("two tiles leave their panel in f32", "CPU/Linear/Linear.cpp", "c.less(c.constant(kTilesToWiden - 1), high)", "c.less(c.constant(1), high)", "linear-widened.mlir"),
    ("steps of a turn multiply the weights of its first", "CPU/Linear/Linear.cpp", "c.constant((p * depth + behind) * width + j * c.lanes)", "c.constant(p * depth * width + j * c.lanes)", "linear.mlir"),
    ("steps of a turn multiply the features of its first", "CPU/Linear/Linear.cpp", "c.constant(behind * step.wordsAStep())", "c.constant(0)", "linear.mlir"),
    ("steps behind the last whole turn are left out", "Language/Code.cpp", "return turns(whole, to, 1, turns(from, whole, steps, init));", "return turns(from, whole, steps, init);", "linear.mlir"),
    ("steps of a turn meet the key's features of its first", "CPU/Attention/AttentionScores.cpp", "p * panelWords + behind * kPanel + v * lanes", "p * panelWords + v * lanes", "attention-groups.mlir"),
    ("steps of a turn meet the values of its first key", "CPU/Attention/AttentionOutput.cpp", "behind * valuePitch() + v * lanes", "v * lanes", "attention-groups.mlir"),
    ("steps of a turn have the weight of its first key", "CPU/Attention/AttentionOutput.cpp", "loadF32(weights, add(k, i * plan.scoreStride() + behind))", "loadF32(weights, add(k, i * plan.scoreStride()))", "attention-groups.mlir"),
    ("rows and columns of an item are swapped", "Ops/Matmul.cpp", "column = l.mul(l.rem(rest, panels), width);", "column = l.mul(l.div(rest, panels), width);", "matmul.mlir"),
    ("all layers have the parameters of the first", "Ops/ControlAndStates.cpp", "at = l.add(at, l.mul(i, stride));", "at = l.add(at, l.mul(i, int64_t(0)));", "repeat.mlir"),
    ("maxima lie where alpha does", "CPU/Attention/KernelShape.cpp", "atMax = reserve(rowTile);", "atMax = atScale;", "attention-step.mlir"),
    ("a slice begins at its first row", "Ops/DataMovement.cpp", "offset = *Size::parse(slice.getFrom()) * source[slice.getAxis()];", "offset = 0;", "moves.mlir"),
    ("new rows are written over the first ones", "Ops/ControlAndStates.cpp", "Value row = l.add(past, l.rem(i, fresh));", "Value row = l.rem(i, fresh);", "states.mlir"),
    # ends
    ("lanes past the last result are stored", "CPU/Linear/Linear.cpp", "  if (n % width == 0)\n    return {};", "  if (n)\n    return {};", "linear.mlir"),
    ("lanes past the end count in the variance", "Ops/Norms.cpp", "      v = l.select(mask, v, zero);", "      v = l.select(mask, v, v);", "norms.mlir"),
    ("a row that is left over is left out", "Ops/Matmul.cpp", "mr = lowerTile(tiles, tall); mr; mr", "mr = lowerTile(tiles, tall); mr > 1; mr", "matmul.mlir"),
    ("taps in front of the sound are read", "Ops/Conv.cpp", "arith::CmpIPredicate::ult, p,", "arith::CmpIPredicate::slt, p,", "conv.mlir"),
    ("taps behind the sound are read", "Ops/Conv.cpp", "to = l.min(tapsBefore(l.size(in.getSize(last))), l.constant(taps));", "to = l.constant(taps);", "conv-depthwise.mlir"),
    ("windows begin one place apart, whatever their stride", "Facts/LinearShape.cpp", "pitch = windows.getStride()[0] * *source", "pitch = *source", "conv.mlir"),
    ("numbers below 0 are in the table", "Ops/Gather.cpp", "arith::CmpIPredicate::uge", "arith::CmpIPredicate::sge", "tables.mlir"),
    # attention
    ("a group of rows looks at all keys", "CPU/Attention/AttentionScores.cpp", "c.toI64(hull.end ? hull.end : c.keys.count);", "c.toI64(c.keys.count);", "attention-causal.mlir"),
    ("a whole tile tests its mask", "CPU/Attention/AttentionKernel.cpp", "emitMaxima(c, tile, bias, Open::Nothing);", "emitMaxima(c, tile, bias, Open::All);", "attention-full.mlir"),
    ("tiles stand at key 0", "CPU/Attention/AttentionKernel.cpp", "mask::emitWalk(c.b, e, c.plan.mask, c.item.anchor, c.plan.keyTile, visit);", "mask::emitWalk(c.b, e, c.plan.mask, c.constant(0), c.plan.keyTile, visit);", "attention-padding.mlir"),
    ("a ring turns by where it is", "CPU/Attention/AttentionKernel.cpp", "start = c.sub(first, c.rem(first, this->ring));", "start = c.rem(first, this->ring);", "rings.mlir"),
    ("the first block of a ring stands once", "Ops/CachePart.cpp", "twin = l.add(place, layout.ring);", "twin = place;", "rings.mlir"),
    ("sums of weights keep their old scale", "CPU/Attention/AttentionWeights.cpp", "store(fma(load(vec(f32()), sumAt), scale, sum), sumAt);", "store(addf(load(vec(f32()), sumAt), sum), sumAt);", "attention-step.mlir"),
    ("alpha is not applied to the output", "CPU/Attention/AttentionOutput.cpp", "sums.push_back(mulf(before, splat(loadF32(scale, constant(i)))));", "sums.push_back(before);", "attention-step.mlir"),
    # matrix registers
    ("sums begin where the tile before has ended", "CPU/Linear/MatrixSums.cpp", "  for (int64_t i = 0; i < tile.high * vectors(tile); ++i)\n    Tiles::zero(c, i);\n  c.loop(", "  c.loop(", "matrix-linear.mlir"),
    ("both registers of rows are the first", "CPU/Linear/MatrixSums.cpp", "byte(left, a * Tiles::rows * rowBytes), rowBytes);", "byte(left, int64_t(0)), rowBytes);", "matrix-linear.mlir"),
    ("few rows are summed in another order", "CPU/Linear/Linear.cpp", "matrix && !record ? narrowMatrix() : narrow();", "narrow();", "matrix-linear.mlir"),
    ("registers are not given back", "CPU/Linear/LinearMatrix.cpp", "  if (most > 1)\n    c.loop(whole, to, 1, [&](Value panel) { tile(panel, 1); });\n  matrix->end();", "  if (most > 1)\n    c.loop(whole, to, 1, [&](Value panel) { tile(panel, 1); });", "matrix-linear.mlir"),
    ("every linear rounds its rows", "CPU/Linear/PreparedRows.cpp", "readers.empty() || readers.front() == op ? packRows", "true ? packRows", "matrix-linear.mlir"),
    ("weights of unseen keys stay what they were", "CPU/Attention/AttentionPairWeights.cpp", "    else if (plan.matrix)\n      hideUnseen(r);\n", "", "matrix-attention.mlir"),
    ("values behind the last key are what was there", "CPU/Attention/AttentionPack.cpp", "  if (!plan.paired || !plan.matrix)\n    return;", "  if (plan.paired)\n    return;", "matrix-attention.mlir"),
    ("alpha is not applied to the output of registers", "CPU/Attention/AttentionMatrix.cpp", "void MatrixSteps::outputs(Value pairs, Value guarded) {\n  shrink();", "void MatrixSteps::outputs(Value pairs, Value guarded) {", "matrix-attention.mlir"),
    ("values that are no numbers are multiplied", "CPU/Attention/AttentionMatrix.cpp", "        all(cleaned(pairs));", "        all(pairs);", "matrix-attention.mlir"),
    # rows that lie as linears read them
    ("rows of bf16 are as far apart as half of their length", "CPU/Linear/KeptRows.cpp", "c.mul(row, 2 * kept.pitch)", "c.mul(row, kept.pitch)", "kept-rows.mlir"),
    ("a norm writes f32 over the rows that it has rounded", "Ops/Norms.cpp", "if (!extra.alone)", "if (true)", "kept-rows.mlir"),
    ("an attention leaves f32 for a reader of bf16", "CPU/Attention/AttentionRows.cpp", "  if (kept)\n    storeKept(", "  if (false)\n    storeKept(", "kept-rows.mlir"),
    ("rows that lie rounded are rounded again", "CPU/Linear/PreparedRows.cpp", "  if (keptRows(op.getInput()))\n    return l.pointer(op.getInput());\n", "", "kept-rows.mlir"),
    ("rows that something else reads lie rounded", "CPU/Linear/KeptRows.cpp", "        !llvm::is_contained(readers, other))\n      return std::nullopt;", "        !llvm::is_contained(readers, other))\n      continue;", "../../Plan/plan-memory-kept.mlir"),
    # signs
    ("a bias is taken off", "CPU/Linear/Linear.cpp", "    sum = c.addf(sum, bias);", "    sum = c.subf(sum, bias);", "linear.mlir"),
    ("slopes climb", "CPU/Attention/AttentionBias.cpp", "Value distance = c.iota(c.sub(firstKey, row.own));", "Value distance = c.iota(c.sub(row.own, firstKey));", "attention-bias.mlir"),
    ("a rotation turns the other way", "Ops/Positions.cpp", "l.subf({l.mulf(u, c), l.mulf(v, s)})", "l.addf({l.mulf(u, c), l.mulf(v, s)})", "positions.mlir"),
]] + [(name, "compiler/Conversion/ToKernels/" + file, right, wrong, "../ToKernels/levels.mlir") for name, file, right, wrong in [
    # which phases are one kernel
    ("a place that is still read is written over", "Phases.cpp", "(mine.second || it->second)", "mine.second"),
    ("what a phase writes is read beside it", "Phases.cpp", "(mine.second || it->second)", "it->second"),
    ("a phase has the level of those that it needs", "Phases.cpp", "level = levels[i] + 1;", "level = levels[i];"),
    ("a kernel has the items of its first phase", "Items.cpp", "all = {count + more,", "all = {count,"),
    ("all phases of a kernel begin with its first team", "SplitKernels.cpp", "if (before && !tiled)", "if (before && tiled)"),
]] + [("rounded rows lie over an operand of f32", "compiler/Plan/PlanMemory.cpp", "operand.getType() || target.bytesOf(op->getResult(0)))\n    return false;", "operand.getType())\n    return false;", "../../Plan/plan-memory-kept.mlir")]
