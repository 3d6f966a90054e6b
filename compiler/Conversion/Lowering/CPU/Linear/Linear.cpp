//===- Linear.cpp - x W + b and what finishes it --------------------------===//
//
// y = x W + b and its epilogue. Weights are in panels of results, f32 or pairs of k in a word (WeightLayout.h,
// SumStep.h). A tile of rows x panels keeps its sums in registers while k ascends, with one accumulator for each
// element, never split, so a row's bits are the same in tiles of 8 rows and of 1, whatever the other rows are. Work
// items are (block of rows, panel). There is one kernel for each (K, N, epilogue), shared by all layers and entries.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/CPU/CPUTiles.h"
#include "compiler/Conversion/Lowering/CPU/Linear/CodedSums.h"
#include "compiler/Conversion/Lowering/CPU/Linear/LinearKernel.h"
#include "compiler/Conversion/Lowering/CPU/Linear/PreparedRows.h"
#include "compiler/Conversion/Lowering/CPU/Linear/UnpackPanel.h"
#include "compiler/Conversion/Lowering/Language/Element.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::model;
using Lower = heddle::loops::Lowering;

static constexpr int64_t kLineWords = 16; ///< of a line of the caches

/// Parts of k, in each of which a tile fetches some of what it touches when its sums are made.
static constexpr int64_t kParts = 8;

/// From so many on it pays to unpack codes for them.
static constexpr int64_t kTilesToUnpack = 2;
/// From so many tiles of most rows on it pays that the first one leaves its panel of 16 bits in f32 for the others:
/// writing the panel costs as much time as about 12 tiles save (README.md).
static constexpr int64_t kTilesToWiden = 16;

int64_t heddle::loops::fewRows(LinearOp op) {
  return multipliesMatrices(op) && !arithmeticOf(op).coding ? MatrixTiles::rows : kFewRows;
}

static int64_t lastOf(ModelTensorType t) { return *t.getSize(t.getRank() - 1).constant(); }

FunctionType LinearKernel::typeOf(LinearOp op, MLIRContext *ctx) {
  Type ptr = LLVM::LLVMPointerType::get(ctx), index = IndexType::get(ctx);
  SmallVector<Type> in{ptr, ptr, ptr, ptr}; // x, w, bias, y
  in.append(op.getExtras().size(), ptr);
  in.append({index, index, index}); // rows, items from, to
  if (preparationOf(op).panelBytes)
    in.push_back(ptr);
  return FunctionType::get(ctx, in, {});
}

LinearKernel::LinearKernel(LinearOp op, Code &c, int64_t registers, Block *block, func::FuncOp decoder)
    : op(op), c(c), step(stepOf(op)), tiles(scheduleOf(op)), depth(step.depth()), sumsAtOnce(sumRegisters(registers)),
      decoder(decoder) {
  n = lastOf(cast<ModelTensorType>(op->getResult(0).getType()));
  kept = keptRows(op->getResult(0));
  width = weightLayoutOf(op).panel;
  panels = (n + width - 1) / width;
  auto args = block->getArguments();
  if (step.arithmetic.integers())
    record.emplace(step.arithmetic, step.k, productsOf(op));
  manyRecord = record;
  if (unpacksPanels(op))
    manyRecord->coding = unpackedCoding(record->coding, record->products);
  if (multipliesMatrices(op))
    matrix.emplace(c, step, manyRecord, width);
  if (preparationOf(op).panelBytes) {
    (record ? unpacked : step.arithmetic.halves() ? widened : decoded) = args.back();
    args = args.drop_back();
  }
  x = args[0];
  w = args[1];
  bias = op.getBias() ? args[2] : Value();
  y = args[3];
  extras.assign(args.begin() + 4, args.begin() + 4 + op.getExtras().size());
  if (std::optional<unsigned> gate = gateOf(op))
    gates = extras[*gate];
  rows = args[args.size() - 3];
  from = args[args.size() - 2];
  to = args[args.size() - 1];
}

/// The lanes of the vector at `column` that exist; null when all surely do.
Value LinearKernel::maskOf(Value column) {
  if (n % width == 0)
    return {};
  return c.firstLanes(c.sub(c.constant(n), column));
}

/// Where an element of the result is, and one that is `columns` after it.
Value LinearKernel::resultAt(Value row, Value column) {
  return kept ? keptAt(c, y, *kept, row, column) : c.at(y, c.add(c.mul(row, n), column), c.f32());
}
Value LinearKernel::behind(Value address, int64_t columns) {
  return c.at(address, c.constant(columns), kept ? c.b.getI16Type() : c.f32());
}

/// What follows a sum of lanes of `row` from `column` on, to its `address`.
void LinearKernel::finish(Value sum, Value row, Value column, Value address, Value bias, Value mask) {
  if (bias)
    sum = c.addf(sum, bias);
  if (!op.getEpilogue().empty()) {
    Values in{sum};
    for (auto [value, base] : llvm::zip_equal(op.getExtras(), extras)) {
      Type element = cast<ModelTensorType>(value.getType()).getElementType();
      auto at = [&, &base = base](Value index) { return c.at(base, index, element); };
      switch (kindOf(op, value)) {
      case Extra::Scalar: in.push_back(c.splat(c.load(element, base))); break;
      case Extra::Row: in.push_back(c.splat(c.load(element, at(row)))); break;
      case Extra::Column: in.push_back(c.loadLanes(element, at(column), mask)); break;
      default: in.push_back(c.loadLanes(element, at(c.add(c.mul(row, n), column)), mask));
      }
    }
    sum = emitRegion(c, op.getEpilogue(), in);
  }
  if (kept)
    storeKept(c, sum, address, mask);
  else
    c.storeLanes(sum, address, mask);
}

/// Rows [row, row + mr) x panels [panel, panel + pn). Panels wider than the registers hold sums of (a target
/// next to this one may want wider ones) are passed over more than once.
void LinearKernel::tile(Value row, Value panel, int64_t mr, int64_t pn, bool stream, Source source) {
  int64_t vectors = width / c.lanes, most = std::max<int64_t>(sumsAtOnce / (mr * pn), 1);
  int64_t passes = (vectors + most - 1) / most, count = (vectors + passes - 1) / passes;
  for (int64_t first = 0; first < vectors; first += count)
    pass(row, panel, mr, pn, stream, source, first, std::min(count, vectors - first));
}

/// Which tile of its block the one at `row` is.
Value LinearKernel::turnOfTile(Value row) {
  return c.div(c.rem(row, c.constant(tiles.getBlock())), c.constant(tiles.getRows()));
}

/// The sums of a tile of codes; its share is bytes a turn of the inner loop.
Values LinearKernel::sumsOfCodes(Value row, Value panel, int64_t mr, int64_t pn, bool stream, Source source,
                                 int64_t first, int64_t count) {
  Type i8 = c.b.getI8Type();
  CodedSums codes(c, source.codes ? *manyRecord : *record, width);
  CodedSums::Tile tile{{}, {}, mr, pn, first, count, stream, 0, {}, {}, {}};
  tile.left = c.at(x, c.mul(row, record->bytes), i8);
  Value panels = c.at(w, c.constant(record->coding.orderBytes(step.k)), i8);
  Value stored = c.at(panels, c.mul(panel, record->coding.panelBytes(width, step.k)), i8);
  tile.stream = source.codes ? source.codes : stored;
  if (!stream && !isSmall())
    tile.meanwhile = [=](Value part, int64_t parts) { fetchEnds(row, panel, mr, first, count, part, parts); };
  if (stream) {
    tile.ahead = tiles.getAhead() * width * 4;
  } else if (!first) {
    Value part = c.mul(c.mul(turnOfTile(row), codes.turns()), source.share);
    tile.next = c.at(stored, c.add(part, source.distance), i8);
    tile.share = source.share;
  }
  return codes.sums(tile);
}

/// The sums of these, row by row. `stream`: few rows, so the weights come
/// from memory a fixed distance ahead; otherwise each tile fetches its part of the next panel, a share of words a step.
Values LinearKernel::sumsOf(Value row, Value panel, int64_t mr, int64_t pn, bool stream, Source source, int64_t first,
                            int64_t count) {
  int64_t nv = count * pn;
  Type f32 = c.f32(), word = f32;
  SumStep step = source.reals ? this->step.ofReals() : this->step;
  int64_t depth = step.depth();
  Value a = c.at(x, c.mul(row, step.pitch), word);
  Value stored = decoded ? decoded : c.at(w, c.mul(panel, this->depth * width), word);
  Value b = source.reals ? source.reals : stored;
  Value next;
  if (!stream && !decoded) {
    Value part = c.mul(c.mul(turnOfTile(row), depth), source.share);
    next = c.at(c.at(stored, source.distance, word), part, word);
  }
  Value zero = c.real(c.vec(f32), 0.0);
  auto multiply = [&](Value at, int64_t behind, ValueRange carried) {
    Values weights, even, odd, acc(carried.begin(), carried.end());
    Value line = c.at(b, c.mul(at, width), word);
    for (int64_t p = 0; p < pn; ++p)
      for (int64_t j = first; j < first + count; ++j)
        weights.push_back(c.at(line, c.constant((p * depth + behind) * width + j * c.lanes), word));
    if (source.to) {
      Value both = c.at(source.to, c.mul(at, 2 * width), word);
      for (int64_t j = first; j < first + count; ++j) {
        even.push_back(c.at(both, c.constant(2 * behind * width + j * c.lanes), word));
        odd.push_back(c.at(both, c.constant((2 * behind + 1) * width + j * c.lanes), word));
      }
    }
    Value left = c.at(a, c.constant(behind * step.wordsAStep()), word);
    step.multiply(c, left, at, weights, mr, acc, even, odd);
    return acc;
  };
  // What a stream of few rows needs `ahead` steps later. Past the end of a panel comes what the group of panels after
  // it begins with.
  auto fetchAhead = [&](Value at) {
    Value ahead = c.add(at, tiles.getAhead());
    Value over = c.less(c.constant(depth - 1), ahead);
    Value skip = c.select(over, c.constant((pn - 1) * depth * width), c.constant(0));
    Value line = c.at(b, c.add(c.mul(ahead, width), skip), word);
    for (int64_t p = 0; p < pn; ++p)
      for (int64_t q = 0; q < width; q += 16)
        c.prefetch(c.at(line, c.constant(p * depth * width + q), word));
  };
  // This tile's share of the next panel.
  auto fetchShare = [&](Value at) {
    auto one = [&] { c.prefetch(c.at(next, c.mul(at, source.share), word)); };
    auto lines = [&] {
      Value before = c.mul(c.mul(turnOfTile(row), depth), source.share);
      fetchLines(stored, c.add(before, c.mul(at, source.share)));
    };
    if (width > 32)
      c.when(c.less(c.constant(16), source.share), lines, one);
    else
      one();
  };
  auto fetch = [&](Value at, int64_t steps) {
    if (decoded || first || (stream && !tiles.getAhead()))
      return; // a near cache has it, an earlier pass fetched it, or the processor sees by itself what comes next
    if (stream)
      return fetchAhead(at);
    if (steps == 1)
      return fetchShare(at);
    auto each = [&] {
      for (int64_t i = 0; i < steps; ++i)
        fetchShare(c.add(at, i));
    };
    Value oneLine = c.less(c.mul(source.share, steps), c.constant(kLineWords + 1));
    c.when(oneLine, [&] { fetchShare(at); }, each);
  };
  Values sums(mr * nv, zero);
  Value end = c.constant(step.whole());
  if (stream || isSmall()) {
    sums = c.loopInTurns(c.constant(0), end, 1, true, sums, multiply, fetch);
  } else {
    int64_t parts = std::min(kParts, mr * linesOf(count)), length = (step.whole() + parts - 1) / parts;
    bool whole = length * parts == step.whole();
    sums = c.loop(c.constant(0), c.constant(parts), 1, sums, [&](Value part, ValueRange carried) {
      fetchEnds(row, panel, mr, first, count, part, parts);
      Value begin = c.mul(part, length), behind = c.add(begin, length);
      if (!whole) { // the last parts may be short, or empty
        begin = c.min(begin, end);
        behind = c.min(behind, end);
      }
      int64_t steps = mr < tiles.getRows() ? 1 : kStepsInTurn;
      return c.loopInTurns(begin, behind, steps, steps == 1 || (whole && length % steps == 0), carried, multiply,
                           fetch);
    });
  }
  if (step.whole() < depth)
    sums = multiply(c.constant(step.whole()), 0, sums);
  return sums;
}

/// Of the panel after the one at `panel`, of which tiles have fetched `done` words, fetches the lines that a tile owes
/// at a step, in eight parts of the panel in turn: where there are few tiles memory is the limit, and gives more where
/// it is read in several places.
void LinearKernel::fetchLines(Value panel, Value done) {
  constexpr int64_t line = 16, streams = 8;
  int64_t words = depth * width, part = words / line / streams * line;
  Value first = c.div(done, c.constant(line));
  for (int64_t i = 0; i < width / line; ++i) {
    Value number = c.add(first, i), stream = c.mul(c.rem(number, c.constant(streams)), part);
    Value place = c.add(stream, c.mul(c.div(number, c.constant(streams)), line));
    Value address = c.at(panel, c.add(place, words), c.f32());
    LLVM::Prefetch::create(c.b, address, /*rw=*/0, /*level 2=*/2, /*data=*/1);
  }
}

/// Of the lines of results, and of extras of their shape, which a tile touches when its sums are made, fetches the
/// `part`-th of `parts`. All of them at once are more than a core can wait for, and what it loads would wait, too.
void LinearKernel::fetchEnds(Value row, Value panel, int64_t mr, int64_t first, int64_t count, Value part,
                             int64_t parts) {
  int64_t inRow = linesOf(count), lines = mr * inRow, share = (lines + parts - 1) / parts;
  Value column = c.add(c.mul(panel, width), first * c.lanes);
  for (int64_t i = 0; i < share; ++i) {
    Value line = c.add(c.mul(part, share), i);
    if (share * parts > lines)
      line = c.min(line, c.constant(lines - 1));
    Value r = c.add(row, c.div(line, c.constant(inRow)));
    Value there = c.add(column, c.mul(c.rem(line, c.constant(inRow)), 16)), place = c.add(c.mul(r, n), there);
    for (auto [value, base] : llvm::zip_equal(op.getExtras(), extras))
      if (Type type = cast<ModelTensorType>(value.getType()).getElementType(); kindOf(op, value) == Extra::Element)
        c.prefetch(c.at(base, place, type));
    c.prefetch(kept ? resultAt(r, there) : c.at(y, place, c.f32()), /*write=*/true);
  }
}

/// Whether any of these rows has a gate that is not 0.
Value LinearKernel::anyOpen(Value row, int64_t count) {
  Value any, zero = c.real(0.0);
  for (int64_t i = 0; i < count; ++i) {
    Value gate = c.loadF32(gates, c.add(row, i));
    Value open = arith::CmpFOp::create(c.b, arith::CmpFPredicate::UNE, gate, zero);
    any = any ? Value(arith::OrIOp::create(c.b, any, open)) : open;
  }
  return any;
}

/// The same of a number of rows that is known when the code runs.
Value LinearKernel::anyOpen(Value row, Value count) {
  Value no = c.integer(c.b.getI1Type(), 0), zero = c.real(0.0);
  return c.loop(c.constant(0), count, 1, no, [&](Value i, ValueRange any) {
    Value gate = c.loadF32(gates, c.add(row, i));
    Value open = arith::CmpFOp::create(c.b, arith::CmpFPredicate::UNE, gate, zero);
    return Values{arith::OrIOp::create(c.b, any[0], open)};
  })[0];
}

/// The sums of a tile, or `count` zeros where all of its rows are closed: its weights are not read.
Values LinearKernel::sumsWhereOpen(Value row, int64_t mr, int64_t count, llvm::function_ref<Values()> sums) {
  SmallVector<Type> types(count, c.vec(c.f32()));
  auto op = scf::IfOp::create(c.b, types, anyOpen(row, mr), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(c.b);
  c.b.setInsertionPointToStart(op.thenBlock());
  scf::YieldOp::create(c.b, sums());
  c.b.setInsertionPointToStart(op.elseBlock());
  scf::YieldOp::create(c.b, Values(count, c.real(c.vec(c.f32()), 0.0)));
  return Values(op.getResults().begin(), op.getResults().end());
}

/// Of each of the panels the vectors [first, first + count): sums, and what finishes them.
void LinearKernel::pass(Value row, Value panel, int64_t mr, int64_t pn, bool stream, Source source, int64_t first,
                        int64_t count) {
  int64_t nv = count * pn;
  Type f32 = c.f32();
  auto made = [&] {
    return record ? sumsOfCodes(row, panel, mr, pn, stream, source, first, count)
                  : sumsOf(row, panel, mr, pn, stream, source, first, count);
  };
  Values sums = gates ? sumsWhereOpen(row, mr, mr * nv, made) : made();
  // A long epilogue is one loop over the rows instead of a copy for each accumulator: the sums
  // pass through a piece of stack. (The result cannot hold them: an extra may be there.)
  int64_t ops = op.getEpilogue().empty() ? 0 : int64_t(op.getEpilogue().front().getOperations().size());
  bool functions = false;
  if (ops)
    op.getEpilogue().walk([&](FunctionOp) { functions = true; });
  Value column = c.mul(panel, width);
  auto offset = [&](int64_t j) { return (j / count) * width + (first + j % count) * c.lanes; };
  Values columns, masks, biases;
  for (int64_t j = 0; j < nv; ++j) {
    columns.push_back(c.add(column, offset(j)));
    masks.push_back(maskOf(columns[j]));
    biases.push_back(bias ? c.loadLanes(f32, c.at(bias, columns[j], f32), masks[j]) : Value());
  }
  if (functions && mr > 1) {
    Value stack;
    {
      OpBuilder::InsertionGuard guard(c.b);
      Block *entry = &c.b.getInsertionBlock()->getParentOp()->getParentOfType<func::FuncOp>().getBody().front();
      c.b.setInsertionPointToStart(entry);
      Value count = LLVM::ConstantOp::create(c.b, c.b.getI64Type(), c.b.getI64IntegerAttr(mr * nv * c.lanes));
      stack = LLVM::AllocaOp::create(c.b, c.pointer(), f32, count, 64);
    }
    for (int64_t i = 0; i < mr * nv; ++i)
      c.storeLanes(sums[i], c.at(stack, c.constant(i * c.lanes), f32));
    c.loop(c.constant(0), c.constant(mr), 1, [&](Value i) {
      Value r = c.add(row, i), line = c.at(stack, c.mul(i, nv * c.lanes), f32), out = resultAt(r, column);
      for (int64_t j = 0; j < nv; ++j) {
        Value sum = c.loadLanes(f32, c.at(line, c.constant(j * c.lanes), f32));
        finish(sum, r, columns[j], behind(out, offset(j)), biases[j], masks[j]);
      }
    });
    return;
  }
  for (int64_t i = 0; i < mr; ++i) {
    Value r = c.add(row, i), out = resultAt(r, column);
    for (int64_t j = 0; j < nv; ++j)
      finish(sums[i * nv + j], r, columns[j], behind(out, offset(j)), biases[j], masks[j]);
  }
}

/// Many rows: items are (block of rows, panel), panels side by side.
void LinearKernel::wide() {
  int64_t tall = tiles.getRows(), block = tiles.getBlock();
  c.loop(from, to, 1, [&](Value item) {
    Value panel = c.rem(item, c.constant(panels));
    Value begin = c.mul(c.div(item, c.constant(panels)), block);
    Value end = c.min(c.add(begin, block), rows);
    Value whole = c.add(begin, c.mul(c.div(c.sub(end, begin), c.constant(tall)), tall));
    // Words, or bytes, of the next panel that a tile owes at each step. Where there is one tile its half would be all
    // that comes: a processor that follows a stretch of memory by itself is not told of another.
    Value high = c.max(c.div(c.sub(whole, begin), c.constant(tall)), c.constant(1));
    int64_t size = depth * width, step = width;
    if (record) {
      CodedSums codes(c, *record, width);
      size = codes.panelBytes();
      step = (size + codes.turns() - 1) / codes.turns();
    }
    Source source{c.max(c.div(c.constant(step), high), c.constant(1)), c.constant(size), {}, {}, {}};
    if (!tiles.getAhead())
      source.distance = c.select(c.less(high, c.constant(2)), c.constant(0), source.distance);
    decode(panel);
    auto tallTiles = [&](Value begin, Value end, const Source &from) {
      c.loop(begin, end, tall, [&](Value row) { tile(row, panel, tall, 1, false, from); });
    };
    auto throughReals = [&] {
      Value second = c.add(begin, tall);
      Source first = source, rest = source;
      rest.share = c.max(c.div(c.constant(step / 2), high), c.constant(1));
      first.to = rest.reals = widened;
      tallTiles(begin, second, first);
      tallTiles(second, whole, rest);
    };
    auto throughBytes = [&] {
      CodedSums codes(c, *manyRecord, width);
      Source open = source;
      open.codes = unpacked;
      open.share = c.max(c.div(c.constant((size + codes.turns() - 1) / codes.turns()), high), c.constant(1));
      unpackPanel(c, record->coding, record->products, this->step.k, width, bytesOfPanel(panel), unpacked);
      tallTiles(begin, whole, open);
    };
    if (unpacked)
      c.when(c.less(c.constant(kTilesToUnpack - 1), high), throughBytes, [&] { tallTiles(begin, whole, source); });
    else if (widened)
      c.when(c.less(c.constant(kTilesToWiden - 1), high), throughReals, [&] { tallTiles(begin, whole, source); });
    else
      tallTiles(begin, whole, source);
    if (isSmall()) {
      c.loop(whole, end, 1, [&](Value row) { tile(row, panel, 1, 1, false, source); });
      return;
    }
    Value at = whole;
    for (int64_t mr = lowerTile(tiles, tall); mr; mr = lowerTile(tiles, mr)) {
      Value fits = c.less(c.add(at, mr - 1), end);
      c.when(fits, [&] { tile(at, panel, mr, 1, false, source); });
      at = c.select(fits, c.add(at, mr), at);
    }
  });
}

/// Up to `kFewRows` rows: memory is the limit. Several panels stream at once where the code fetches ahead, one where
/// the processor does. Items are panels.
void LinearKernel::narrow() {
  // Integer sums, sums of 16 bits and codes share 16 registers. Panels one by one are one stretch of memory, which a
  // processor can follow by itself.
  int64_t most = !tiles.getAhead() ? 1 : record && sumsAtOnce < 16 ? 2 : 4;
  for (int64_t mr = 1; mr <= kFewRows; ++mr) {
    c.when(c.equal(rows, c.constant(mr)), [&] {
      int64_t pn = decoded ? 1 : mr == 1 ? most : mr == 2 ? std::max<int64_t>(most / 2, 1) : 1;
      Value whole = c.add(from, c.mul(c.div(c.sub(to, from), c.constant(pn)), pn));
      c.loop(from, whole, pn, [&](Value panel) {
        if (gates && decoded)
          c.when(anyOpen(c.constant(0), mr), [&] { decode(panel); });
        else
          decode(panel);
        tile(c.constant(0), panel, mr, pn, true, {});
      });
      if (pn > 1)
        c.loop(whole, to, 1, [&](Value panel) { tile(c.constant(0), panel, mr, 1, true, {}); });
    });
  }
}

void LinearKernel::emit() {
  if (matrix)
    matrix->begin();
  if (isSmall())
    return matrix ? wideMatrix() : wide();
  auto many = [&] { matrix ? wideMatrix() : wide(); };
  auto few = [&] { matrix && !record ? narrowMatrix() : narrow(); };
  c.when(c.less(c.constant(fewRows(op)), rows), many, few);
}

/// "_codes4_by_32_2", and what else its code depends on.
static std::string textOf(const Coding &coding) {
  std::string text = "_codes" + std::to_string(coding.bits) + "_by_" + std::to_string(coding.group) + "_" +
                     std::to_string(int(coding.scale));
  if (coding.super)
    text += "_of_" + std::to_string(coding.super);
  if (coding.table != CodeTable::None)
    text += "_table_" + std::to_string(int(coding.table));
  else if (coding.zeroCode != Coding::kMiddle)
    text += "_from_" + std::to_string(coding.zeroCode);
  return text + (coding.zeros ? "_zeros" : "") + (coding.minima ? "_minima" : "") + (coding.ordered ? "_ordered" : "");
}

/// The function that decodes a panel of the weight of `op`: (matrix, number of the panel, to). In the function of the
/// kernel its constants would take registers of the tiles.
static func::FuncOp decoderOf(Lower &l, LinearOp op, int64_t k) {
  Coding coding = arithmeticOf(op).coding;
  int64_t width = weightLayoutOf(op).panel;
  std::string name = "heddle_decode_" + std::to_string(k) + "_" + std::to_string(width) + textOf(coding);
  Type pointer = l.Code::pointer();
  auto type = FunctionType::get(op.getContext(), {pointer, l.b.getIndexType(), pointer}, {});
  return l.kernel(op.getLoc(), name, type, [&](Code &c, Block *block) {
    decodePanel(c, coding, k, width, block->getArgument(0), block->getArgument(1), block->getArgument(2));
  });
}

/// Equal texts, equal kernels: epilogues are told apart by how they print.
static std::string kernelName(LinearOp op, int64_t k, int64_t n) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << (op.getBias() ? "b" : "");
  for (Value extra : op.getExtras())
    os << int(kindOf(op, extra)) << cast<ModelTensorType>(extra.getType()).getElementType();
  if (!op.getEpilogue().empty()) {
    llvm::DenseMap<Value, int> numbers;
    Block &block = op.getEpilogue().front();
    for (BlockArgument arg : block.getArguments())
      numbers[arg] = numbers.size();
    for (Operation &o : block) {
      os << ";" << o.getName() << o.getAttrDictionary();
      for (Value v : o.getOperands())
        os << " " << numbers[v];
      for (Value v : o.getResults()) {
        numbers[v] = numbers.size();
        os << v.getType();
      }
    }
  }
  SumStep step = stepOf(op);
  std::string name = "heddle_linear_" + std::to_string(k) + "_" + std::to_string(n) + step.suffix().str();
  if (const Coding &coding = step.arithmetic.coding)
    name += textOf(coding);
  if (multipliesMatrices(op))
    name += "_matrix";
  else if (!step.arithmetic.integers() && step.pitch != SumStep(step.arithmetic, k).pitch)
    name += "_every_" + std::to_string(step.pitch);
  if (std::optional<KeptRows> kept = keptRows(op->getResult(0)))
    name += "_rounded_" + std::to_string(kept->pitch);
  if (scheduleOf(op) != plan::targetOf(op)->tilesOf(op))
    llvm::raw_string_ostream(text) << scheduleOf(op);
  return text.empty() ? name : name + "_" + llvm::utohexstr(llvm::xxh3_64bits(text), true);
}

void heddle::loops::emitLinear(Lower &l, LinearOp op, const ReadyLinear &ready, const Length &rows) {
  int64_t n = lastOf(cast<ModelTensorType>(op->getResult(0).getType())), k = lastOf(op.getInput().getType());
  Arithmetic arithmetic = arithmeticOf(op);
  func::FuncOp decoder = arithmetic.coding && !arithmetic.dots ? decoderOf(l, op, k) : func::FuncOp();
  auto f = l.kernel(op.getLoc(), kernelName(op, k, n), LinearKernel::typeOf(op, op.getContext()),
                    [&](Code &c, Block *block) { LinearKernel(op, c, l.machine.registers, block, decoder).emit(); });
  int64_t block = scheduleOf(op).getBlock(), width = weightLayoutOf(op).panel;
  Length items = l.mul(l.parts(rows, block), (n + width - 1) / width);
  Values operands{ready.input, ready.weight, ready.bias, ready.result};
  operands.append(ready.extras);
  LeftSide left(op);
  if (left.batch.is(1)) {
    // Of few rows every thread streams its own panels.
    Value parts = l.select(l.less(l.constant(fewRows(op)), rows), items, l.nth);
    l.forStretches(op.getLoc(), items, parts, [&](Value from, Value to) {
      Values mine = operands;
      mine.append({rows, from, to});
      if (ready.decoded)
        mine.push_back(ready.decoded);
      l.call(f, mine);
    });
    return;
  }
  auto [from, to] = l.share(items);
  operands.append({rows, from, to});
  if (ready.decoded)
    operands.push_back(ready.decoded);
  l.loop(op.getLoc(), l.constant(0), l.size(left.batch), 1, [&](Value element) {
    Values mine = operands;
    Value row = l.mul(element, rows), place = l.mul(row, n);
    mine[0] = l.at(ready.input, l.mul(element, l.size(left.between)), l.f32());
    mine[3] = l.at(ready.result, place, l.f32());
    for (auto [i, extra] : llvm::enumerate(op.getExtras())) {
      Type type = cast<ModelTensorType>(extra.getType()).getElementType();
      Extra kind = kindOf(op, extra);
      if (kind == Extra::Row || kind == Extra::Element)
        mine[4 + i] = l.at(ready.extras[i], kind == Extra::Row ? row : place, type);
    }
    l.call(f, mine);
  });
}

LogicalResult heddle::loops::lowerLinear(Lower &l, LinearOp op) {
  if (arithmeticOf(op).dots && !arithmeticOf(op).coding && l.lanes != 16)
    return op.emitOpError("'model.math' is \"dots\", which needs vectors of 16 f32, but the target has ") << l.lanes;
  FailureOr<ReadyLinear> ready = readyLinear(l, op, preparedRows);
  if (failed(ready))
    return failure();
  emitLinear(l, op, *ready, l.size(LeftSide(op).rows));
  l.noteCost([&] { return costOf(op); });
  l.barrier(op.getLoc());
  return success();
}
