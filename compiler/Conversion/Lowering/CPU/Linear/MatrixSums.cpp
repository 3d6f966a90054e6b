//===- MatrixSums.cpp - sums of a linear in matrix registers --------------===//
//
// A stretch is the features that share a scale of a row: 128. Its integers are multiplied before those of the stretch
// before it become f32, so that the matrix unit and the vector units work at the same time.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/CPU/Linear/MatrixSums.h"
#include "compiler/Conversion/Lowering/CPU/Linear/CodedSums.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;

bool heddle::loops::multipliesMatrices(model::LinearOp op) {
  model::Arithmetic arithmetic = model::arithmeticOf(op);
  int64_t k = featuresOf(op);
  if (!k)
    return false;
  if (arithmetic.integers()) {
    int64_t unit = arithmetic.unit(k);
    return unit % MatrixTiles::bytes == 0 && !arithmetic.coding.minima && MatrixTiles::has(op, "amx-int8");
  }
  return arithmetic.dots && !arithmetic.coding && k % (2 * MatrixTiles::words) == 0 && MatrixTiles::has(op, "amx-bf16");
}

llvm::StringRef heddle::loops::whyNoMatrices(model::LinearOp op) {
  model::Arithmetic arithmetic = model::arithmeticOf(op);
  if (multipliesMatrices(op) || !(MatrixTiles::has(op, "amx-bf16") || MatrixTiles::has(op, "amx-int8")))
    return "";
  if (!arithmetic.dots)
    return "its numbers are f32, or the rows are not rounded";
  if (!featuresOf(op))
    return "how many features it sums is known only when the program runs";
  if (!arithmetic.coding)
    return "its features do not fill rows of 32 pairs of bf16";
  if (!arithmetic.integers())
    return "its codes are decoded to reals";
  if (arithmetic.coding.minima)
    return "groups of its codes have minima";
  return "its codes have a scale for fewer than 64 features";
}

using Tiles = MatrixTiles;

static constexpr int64_t kAreaBytes = MatrixSums::mostRows * MatrixSums::mostResults * 4;

MatrixSums::MatrixSums(Code &c, const SumStep &step, const std::optional<IntegerRow> &record, int64_t panel)
    : c(c), step(step), record(record), panel(panel) {}

static Value stackOf(Code &c, int64_t bytes) {
  Value count = LLVM::ConstantOp::create(c.b, c.b.getI64Type(), c.b.getI64IntegerAttr(bytes));
  return LLVM::AllocaOp::create(c.b, c.pointer(), c.b.getI8Type(), count, 64);
}

void MatrixSums::begin() {
  configuration = stackOf(c, Tiles::bytes);
  area = stackOf(c, kAreaBytes);
  if (!record)
    return;
  if (record->coding.features(record->k) > record->block)
    inner = stackOf(c, kAreaBytes);
  for (Value &integers : integersOf)
    integers = stackOf(c, unitsOfStretch() * kAreaBytes);
}

void MatrixSums::configure(Value rows) { Tiles::configure(c, configuration, rows); }

int64_t MatrixSums::steps() const {
  if (!record)
    return step.depth() / Tiles::words;
  return record->units * record->unit / Tiles::bytes;
}

int64_t MatrixSums::unitsOfStretch() const { return record->block / record->unit; }

Value MatrixSums::at(const Tile &tile, Value row, int64_t j) {
  return byte(byte(area, c.mul(row, pitch(tile))), j * Tiles::bytes);
}

/// Leaves all sums of a tile at `to`.
void MatrixSums::stored(const Tile &tile, Value to) {
  int64_t line = pitch(tile);
  for (int64_t a = 0; a < tile.high; ++a)
    for (int64_t q = 0; q < vectors(tile); ++q) {
      Value place = byte(to, a * Tiles::rows * line + q * Tiles::bytes);
      Tiles::store(c, a * vectors(tile) + q, place, line);
    }
}

//===-- pairs --------------------------------------------------------------------===//

void MatrixSums::sumsOfPairs(const Tile &tile) {
  int64_t rowBytes = step.pitch * 4, line = panel * 4, panelBytes = step.depth() * line;
  for (int64_t i = 0; i < tile.high * vectors(tile); ++i)
    Tiles::zero(c, i);
  c.loop(c.constant(0), c.constant(steps()), 1, [&](Value at) {
    if (tile.meanwhile)
      tile.meanwhile(at);
    Value left = byte(tile.left, c.mul(at, Tiles::bytes)), lines = byte(tile.stream, c.mul(at, Tiles::words * line));
    for (int64_t a = 0; a < tile.high; ++a)
      Tiles::load(c, Tiles::firstLeft + a, byte(left, a * Tiles::rows * rowBytes), rowBytes);
    for (int64_t q = 0; q < vectors(tile); ++q) {
      int64_t weights = Tiles::firstWeights + q % 2, behind = q / tile.count * panelBytes;
      Tiles::load(c, weights, byte(lines, behind + (tile.first + q % tile.count) * Tiles::bytes), line);
      for (int64_t a = 0; a < tile.high; ++a)
        Tiles::multiplyPairs(c, a * vectors(tile) + q, Tiles::firstLeft + a, weights);
    }
  });
  stored(tile, area);
}

//===-- bytes --------------------------------------------------------------------===//

/// The products of unit `unit` of the rows, all features of a group or 128 of them.
void MatrixSums::integers(const Tile &tile, Value unit, Value to) {
  const Coding &coding = record->coding;
  int64_t line = panel * 4, inGroup = coding.features(record->k) / record->unit;
  int64_t turns = record->unit / Tiles::bytes;
  Value group = byte(tile.stream, c.mul(c.div(unit, c.constant(inGroup)), coding.sectionBytes(panel, record->k)));
  Value inside = c.mul(c.rem(unit, c.constant(inGroup)), record->unit * panel);
  Value codes = byte(byte(group, inside), coding.headBytes(panel));
  Value left = byte(tile.left, c.mul(unit, record->unit));
  for (int64_t i = 0; i < tile.high * vectors(tile); ++i)
    Tiles::zero(c, i);
  for (int64_t turn = 0; turn < turns; ++turn) {
    if (tile.meanwhile)
      tile.meanwhile(c.add(c.mul(unit, turns), turn));
    for (int64_t a = 0; a < tile.high; ++a)
      Tiles::load(c, Tiles::firstLeft + a, byte(left, a * Tiles::rows * record->bytes + turn * Tiles::bytes),
                  record->bytes);
    for (int64_t q = 0; q < vectors(tile); ++q) {
      int64_t weights = Tiles::firstWeights + q % 2;
      Tiles::load(c, weights, byte(codes, turn * Tiles::words * line + (tile.first + q) * Tiles::bytes), line);
      for (int64_t a = 0; a < tile.high; ++a)
        Tiles::multiplyBytes(c, a * vectors(tile) + q, Tiles::firstLeft + a, weights);
    }
  }
  stored(tile, to);
}

/// The scales of a group's results.
Values MatrixSums::scales(const Tile &tile, Value group) {
  Values all;
  for (int64_t q = 0; q < vectors(tile); ++q)
    all.push_back(
        loadedReals(c, record->coding.scale,
                    byte(group, (tile.first + q) * Tiles::results * int64_t(heddle::width(record->coding.scale)))));
  return all;
}

/// Adds the integers of `units` units at `from`, those of stretch `number`, to the sums.
void MatrixSums::reals(const Tile &tile, Value number, int64_t units, Value from) {
  const Coding &coding = record->coding;
  int64_t inGroup = coding.features(record->k) / record->unit, groupBytes = coding.sectionBytes(panel, record->k);
  Type f32 = c.f32(), i32 = c.b.getI32Type(), lanes = c.vec(f32);
  Value first = c.mul(number, unitsOfStretch());
  SmallVector<Values> zeros, scalesOf;
  for (int64_t v = 0; v < units; ++v) {
    Value unit = c.add(first, v);
    Value group = byte(tile.stream, c.mul(c.div(unit, c.constant(inGroup)), groupBytes));
    if (inGroup == 1)
      scalesOf.push_back(scales(tile, group));
    zeros.emplace_back();
    for (int64_t q = 0; coding.zeros && q < vectors(tile); ++q) {
      int64_t place = panel * int64_t(heddle::width(coding.scale)) + (tile.first + q) * Tiles::results * 2;
      zeros.back().push_back(loadedReals(c, PackedType::F16, byte(group, place)));
    }
  }
  Value to = inGroup == 1 ? area : inner;
  c.loop(c.constant(0), c.constant(tile.high * Tiles::rows), 1, [&](Value row) {
    Value line = byte(tile.left, c.mul(row, record->bytes)), words = c.mul(row, pitch(tile));
    Value unitWords = byte(line, c.mul(first, 4));
    auto word = [&](Value base, int64_t at, Type type) { return c.splat(c.load(type, byte(base, at))); };
    Values all(vectors(tile), c.real(lanes, 0.0));
    Value scale = word(byte(line, c.mul(number, 4)), record->scalesAt, f32);
    for (int64_t v = 0; v < units; ++v) {
      Value offset = word(unitWords, record->offsetsAt + 4 * v, i32);
      for (int64_t q = 0; q < vectors(tile); ++q) {
        Value sums = c.loadLanes(i32, byte(byte(from, words), v * kAreaBytes + q * Tiles::bytes));
        Value t = arith::SIToFPOp::create(c.b, lanes, Value(arith::AddIOp::create(c.b, sums, offset)));
        if (coding.zeros)
          t = c.fma(zeros[v][q], word(unitWords, record->sumsAt + 4 * v, f32), t);
        all[q] = inGroup == 1 ? c.fma(t, scalesOf[v][q], all[q]) : t;
      }
    }
    for (int64_t q = 0; q < vectors(tile); ++q) {
      Value place = byte(byte(to, words), q * Tiles::bytes);
      c.storeLanes(c.fma(all[q], scale, c.loadLanes(f32, place)), place);
    }
  });
  if (inGroup == 1)
    return;
  Value last = c.equal(c.rem(number, c.constant(inGroup)), c.constant(inGroup - 1));
  c.when(last, [&] {
    Values mine = scales(tile, byte(tile.stream, c.mul(c.div(number, c.constant(inGroup)), groupBytes)));
    c.loop(c.constant(0), c.constant(tile.high * Tiles::rows), 1, [&](Value row) {
      Value words = c.mul(row, pitch(tile));
      for (int64_t q = 0; q < vectors(tile); ++q) {
        Value sums = byte(byte(area, words), q * Tiles::bytes), group = byte(byte(inner, words), q * Tiles::bytes);
        Value x = c.loadLanes(f32, group), y = c.loadLanes(f32, sums);
        c.storeLanes(c.fma(x, mine[q], y), sums);
        c.storeLanes(c.real(lanes, 0.0), group);
      }
    });
  });
}

void MatrixSums::sumsOfBytes(const Tile &tile) {
  int64_t many = unitsOfStretch(), whole = record->units / many, rest = record->units % many;
  Value zero = c.real(c.vec(c.f32()), 0.0);
  c.loop(c.constant(0), c.constant(tile.high * Tiles::rows * vectors(tile)), 1, [&](Value i) {
    Value place = c.mul(i, Tiles::bytes);
    c.storeLanes(zero, byte(area, place));
    if (inner)
      c.storeLanes(zero, byte(inner, place));
  });
  auto multiply = [&](Value stretch, int64_t units, Value to) {
    for (int64_t v = 0; v < units; ++v) {
      Value unit = c.add(c.mul(stretch, many), v);
      integers(tile, unit, byte(to, v * kAreaBytes));
    }
  };
  auto buffer = [&](Value stretch) {
    Value odd = c.equal(c.rem(stretch, c.constant(2)), c.constant(1));
    return c.select(odd, integersOf[1], integersOf[0]);
  };
  multiply(c.constant(0), whole ? many : rest, integersOf[0]);
  if (whole) {
    Value last = c.constant(whole - 1);
    c.loop(c.constant(0), last, 1, [&](Value stretch) {
      Value next = c.add(stretch, 1);
      multiply(next, many, buffer(next));
      reals(tile, stretch, many, buffer(stretch));
    });
    if (rest)
      multiply(c.constant(whole), rest, integersOf[whole % 2]);
    reals(tile, last, many, integersOf[(whole - 1) % 2]);
  }
  if (rest)
    reals(tile, c.constant(whole), rest, integersOf[whole % 2]);
}
