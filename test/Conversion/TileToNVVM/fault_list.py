"""The planted faults of tiles: (what is wrong, source, right, wrong)."""

TILES, GPU = "compiler/Conversion/TileToNVVM/", "compiler/Conversion/ToLoops/Gpu/"

FAULTS = [
    # rings
    ("nobody waits for copies", TILES + "TileToNVVM.cpp", "  NVVM::CpAsyncWaitGroupOp::create(b, b.getI32IntegerAttr(int32_t(pending)));\n", ""),
    ("copies are waited for a round too late", TILES + "TileToNVVM.cpp", "    waitFor(stages - 2);\n    Value later", "    waitFor(stages - 1);\n    Value later"),
    ("each thread waits for its own copies only", TILES + "TileToNVVM.cpp", "int32_t(pending)));\n  NVVM::BarrierOp::create(b);\n", "int32_t(pending)));\n"),
    ("a slot is filled while others read it", TILES + "TileToNVVM.cpp",
     "    waitFor(stages - 2);\n    Value later = c.add(round, stages - 1);\n    c.when(c.less(later, c.constant(rounds)), [&] { good = failed(good) ? good : fill(op, later, slot(later)); });\n    NVVM::CpAsyncCommitGroupOp::create(b);\n",
     "    Value later = c.add(round, stages - 1);\n    c.when(c.less(later, c.constant(rounds)), [&] { good = failed(good) ? good : fill(op, later, slot(later)); });\n    NVVM::CpAsyncCommitGroupOp::create(b);\n    waitFor(stages - 1);\n"),
    ("a tile begins while others are at the one before", TILES + "TileToNVVM.cpp", "  NVVM::BarrierOp::create(b); // the memory was that of the stream before\n  for (int64_t round = 0; round < stages - 1; ++round)", "  for (int64_t round = 0; round < stages - 1; ++round)"),
    ("a round behind the end is no group", TILES + "TileToNVVM.cpp", "fill(op, later, slot(later)); });\n    NVVM::CpAsyncCommitGroupOp::create(b);\n", "fill(op, later, slot(later)); NVVM::CpAsyncCommitGroupOp::create(b); });\n"),
    ("the last round is left out", TILES + "TileToNVVM.cpp", "  if (rest) {\n    waitFor", "  if (rest > step) {\n    waitFor"),
    # fragments and pieces
    ("columns of a unit are dealt out like rows", TILES + "Fragments.cpp", "j / 2 * 8 + j % 2", "j % 2 * 8 + j / 2"),
    ("lower rows of a unit are its second ones", TILES + "Fragments.cpp", "16 * warps), half = mul(rem(i, constant(2)), 8);", "16 * warps), half = rem(i, constant(2));"),
    ("squares stand one behind the other", TILES + "Fragments.cpp", "add(mul(mine, 4), j / 4 * 4 * type.getAcross() + j % 4)", "add(mul(mine, 4), j)"),
    ("what is outside of a matrix is its first word", TILES + "Pieces.cpp", "bytes = select(inside, full, none)", "bytes = full"),
    ("panels are as far apart as the matrix is wide", TILES + "Pieces.cpp", "Value before = mul(panel, w.rows);", "Value before = mul(panel, w.columns);"),
    # products
    ("k descends", TILES + "Products.cpp", "Value at = add(first, k);", "Value at = add(first, count - 1 - k);"),
    ("halves of k are swapped on the left", TILES + "Products.cpp", "second = mul(div(lane, constant(16)), 4)", "second = sub(constant(4), mul(div(lane, constant(16)), 4))"),
    ("upper and lower rows are one", TILES + "Products.cpp", "line = rem(lane, constant(16))", "line = rem(lane, constant(8))"),
    ("sums of lower rows go to upper ones", TILES + "Products.cpp", "Values now{sums[top], sums[top + 1], sums[low], sums[low + 1]};", "Values now{sums[low], sums[low + 1], sums[top], sums[top + 1]};"),
    # elements
    ("a column beyond the end is stored", TILES + "TileToNVVM.cpp", "c.when(c.less(first, all), [&] {", "c.when(c.less(first, c.add(all, 1)), [&] {"),
    ("rows of a thread take their turn twice", TILES + "TileToNVVM.cpp", "    Values next(held.begin() + columns, held.end());\n    next.append(held.begin(), held.begin() + columns);\n", "    Values next(held.begin(), held.end());\n"),
    # copies in bulk
    ("all bytes of a piece are announced, also those behind the end", TILES + "Bulk.cpp", "toI32(*this, mul(bytes, there))", "toI32(*this, mul(bytes, groups))"),
    ("a part is as long as the piece, not as what is left of the matrix", TILES + "Bulk.cpp", "Value inside = min({sub(all, first), constant(across)});", "Value inside = constant(across);"),
    ("groups are as far apart as the piece is wide", TILES + "Bulk.cpp", "place = mul(add(mul(number, all), first), 4);", "place = mul(add(mul(number, across), first), 4);"),
    ("a barrier waits for one piece of a round", TILES + "TileToNVVM.cpp", "op.getFill().getNumArguments() - 1);", "1);"),
    ("a phase is that of the round before", TILES + "TileToNVVM.cpp", "c.rem(phase, c.constant(2)));", "c.rem(c.add(phase, 1), c.constant(2)));"),
    ("each tile begins with the first phase", TILES + "TileToNVVM.cpp", "Value before = c.mul(turn, rounds),", "Value before = c.constant(0),"),
    ("barriers are not made known", TILES + "TileToNVVM.cpp", "    NVVM::FenceMbarrierInitOp::create(b);\n", ""),
    ("a slot is filled while its product is under way", TILES + "TileToNVVM.cpp", "      NVVM::WgmmaWaitGroupSyncOp::create(b, 1);", "      NVVM::WgmmaWaitGroupSyncOp::create(b, 2);"),
    ("a slot is filled while other warps multiply it", TILES + "TileToNVVM.cpp", "      NVVM::WgmmaWaitGroupSyncOp::create(b, 1);\n    NVVM::BarrierOp::create(b);\n", "      NVVM::WgmmaWaitGroupSyncOp::create(b, 1);\n"),
    # products of groups
    ("no fence in front of a product", TILES + "Groups.cpp", "  NVVM::WgmmaFenceAlignedOp::create(b);\n", ""),
    ("a product is no group", TILES + "Groups.cpp", "  NVVM::WgmmaGroupSyncAlignedOp::create(b);\n", ""),
    ("sums are not waited for", TILES + "TileToNVVM.cpp", "open ? c.settle(now) : now;", "now;"),
    ("a descriptor's steps are swapped", TILES + "Groups.cpp", "number(leading << 16 | stride << 32)", "number(stride << 16 | leading << 32)"),
    ("a unit along k begins half a unit too late", TILES + "Groups.cpp", "getI64IntegerAttr(k / 4 * pitch / 4)", "getI64IntegerAttr(k / 8 * pitch / 4)"),
    ("both groups of warps multiply the first rows", TILES + "Groups.cpp", "add(down, i / 2 * 64)", "constant(i / 2 * 64)"),
    ("registers take the columns of a row first", TILES + "Groups.cpp", "      for (int64_t place : {i * columns + j, (i + 1) * columns + j})\n        held.append", "      for (int64_t place : {(i + 1) * columns + j, i * columns + j})\n        held.append"),
    # groups
    ("rows lie one behind the other", GPU + "PackGroups.cpp", "Value row = l.rem(item, rows), group = l.div(item, rows);", "Value group = l.rem(item, l.constant(step.depth() / kWords)), row = l.div(item, l.constant(step.depth() / kWords));"),
    ("right sides of two units are swapped", TILES + "Products.cpp", "mul(rem(div(lane, constant(8)), constant(2)), 4), k)", "mul(sub(constant(1), rem(div(lane, constant(8)), constant(2))), 4), k)"),
    # the program
    ("few rows are computed by both programs", GPU + "TileLinear.cpp", "Value few = l.sub(rows, tall);", "Value few = rows;"),
    ("a residual is read along the row", GPU + "TileLinear.cpp", "kind == Extra::Column ? column : place;", "kind == Extra::Column ? column : column;"),
]
