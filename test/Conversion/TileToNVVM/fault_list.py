"""The planted faults of tiles: (what is wrong, source, right, wrong)."""

TILES, GPU = "compiler/Conversion/TileToNVVM/", "compiler/Conversion/ToLoops/Gpu/"

FAULTS = [
    # rings
    ("nobody waits for copies", TILES + "TileToNVVM.cpp", "  NVVM::CpAsyncWaitGroupOp::create(b, b.getI32IntegerAttr(int32_t(pending)));\n", ""),
    ("copies are waited for a round too late", TILES + "TileToNVVM.cpp", "    waitFor(stages - 2);\n    Value later", "    waitFor(stages - 1);\n    Value later"),
    ("each thread waits for its own copies only", TILES + "TileToNVVM.cpp", "int32_t(pending)));\n  NVVM::BarrierOp::create(b);\n", "int32_t(pending)));\n"),
    ("a slot is filled while others read it", TILES + "TileToNVVM.cpp",
     "    waitFor(stages - 2);\n    Value later = c.add(round, stages - 1);\n    c.when(c.less(later, c.constant(rounds)), [&] { good = failed(good) ? good : fill(op, later); });\n    NVVM::CpAsyncCommitGroupOp::create(b);\n",
     "    Value later = c.add(round, stages - 1);\n    c.when(c.less(later, c.constant(rounds)), [&] { good = failed(good) ? good : fill(op, later); });\n    NVVM::CpAsyncCommitGroupOp::create(b);\n    waitFor(stages - 1);\n"),
    ("a tile begins while others are at the one before", TILES + "TileToNVVM.cpp", "  NVVM::BarrierOp::create(b); // the memory was that of the stream before\n", ""),
    ("a round behind the end is no group", TILES + "TileToNVVM.cpp", "fill(op, later); });\n    NVVM::CpAsyncCommitGroupOp::create(b);\n", "fill(op, later); NVVM::CpAsyncCommitGroupOp::create(b); });\n"),
    ("the last round is left out", TILES + "TileToNVVM.cpp", "  if (rest) {", "  if (rest > step) {"),
    # fragments and pieces
    ("columns of a unit are dealt out like rows", TILES + "Fragments.cpp", "j / 2 * 8 + j % 2", "j % 2 * 8 + j / 2"),
    ("lower rows of a unit are its second ones", TILES + "Fragments.cpp", "Value piece = mul(div(i, constant(2)), 16), half = mul(rem(i, constant(2)), 8);", "Value piece = mul(div(i, constant(2)), 16), half = rem(i, constant(2));"),
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
    # the program
    ("few rows are computed by both programs", GPU + "TileLinear.cpp", "Value few = l.sub(rows, tall);", "Value few = rows;"),
    ("a residual is read along the row", GPU + "TileLinear.cpp", "kind == Extra::Column ? column : place;", "kind == Extra::Column ? column : column;"),
]
