//===- AttentionRelative.cpp - dots with a table of distances -------------===//
//
// score(r, c) += x . R[zero + i - j], x the query's row or the key's. Over a tile the distance
// runs through (keys + rows) values: those rows of R become panels, and the dots are products
// of panels as the scores are. With m = c - c0 + (last row - r), which grows as distances fall,
// row r reads its dots at m: the skew is an unaligned load. A key's dots lie along rows instead
// and are transposed, 16 keys at a time.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ToLoops/AttentionKernel.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using model::ModelTensorType;
using model::Size;

static constexpr int64_t kMost = kKeyTile + kRowTile; ///< values of m, a multiple of 2 panels
static constexpr int64_t kKeyDots = 16 + kRowTile;    ///< values of m that 16 keys need

int64_t heddle::loops::relativeFloats(int64_t w, bool keySide) {
  // Whole vectors are read: 32 floats behind the last.
  return kMost * w + 2 * kPanel + (keySide ? kPanel * (kKeyDots + 1) + kRowTile * kScoreStride : kRowTile * kMost);
}

namespace {
/// Where things of one relative_dot lie behind plan.atBias, in floats.
struct Places {
  int64_t panels, dots, scores;
  Places(int64_t at, int64_t w) : panels(at), dots(at + kMost * w), scores(dots + kPanel * (kKeyDots + 1)) {}
};
} // namespace

static int64_t widthOf(attn::RelativeDotOp op) {
  auto x = cast<ModelTensorType>(op.getX().getType());
  return x.getSize(2).exactDiv(Size(int64_t(op.getHeads())))->constant().value_or(0);
}

/// First column of the tile's first panel.
static Value firstColumn(AttentionKernel &k, const AttentionKernel::Tile &tile) {
  return k.mul(k.div(k.sub(tile.begin, tile.at), k.constant(kPanel)), kPanel);
}

Value AttentionKernel::relativeAt(attn::RelativeDotOp op, int64_t at, const Row &row, Value column) {
  Places places(plan.atBias[at], widthOf(op));
  if (op.getKeySide())
    return loadVec(floats(places.scores), add(add(mul(row.index, kScoreStride), kScoreFront), column));
  Value m = sub(add(sub(column, relativeColumn), sub(count, constant(1))), row.index);
  return loadVec(floats(places.dots), add(mul(row.index, kMost), m));
}

/// The rows of R that the tile needs, as panels: m = 0, 1, .. for distances from `farthest` down.
void AttentionKernel::packDistances(attn::RelativeDotOp op, int64_t at, Value farthest, Value panels) {
  auto table = cast<ModelTensorType>(op.getTable().getType());
  int64_t w = widthOf(op), tableWidth = table.getSize(1).constant().value_or(w);
  const AttentionPlan::Lookup &lookup = plan.lookups[at];
  Value zero = length(Size::parse(op.getZero()).value_or(Size(0))), last = sub(length(table.getSize(0)), constant(1));
  Value source = tensor(op.getTable());
  if (tableWidth != w)
    source = this->at(source, mul(group, w), f32());
  loop(constant(0), panels, 1, [&](Value panel) {
    auto rowAt = [&](int64_t i) {
      Value distance = sub(farthest, add(mul(panel, kPanel), i));
      if (!lookup.entries.empty()) {
        Value n = min(max(add(distance, lookup.reach), constant(0)), constant(2 * lookup.reach));
        Value entry = load(b.getI32Type(), this->at(tensors[plan.tensors.size() + at], n, b.getI32Type()));
        distance = arith::IndexCastOp::create(b, b.getIndexType(), entry);
      } else {
        distance = mul(distance, plan.classes);
      }
      return this->at(source, mul(max(min(add(zero, distance), last), constant(0)), tableWidth), f32());
    };
    packPanel(*this, Stored::f32, rowAt, w, this->at(floats(Places(plan.atBias[at], w).panels), mul(panel, kPanel * w), f32()));
  });
}

/// Rows of w floats against `n` panels; one accumulator a dot, d ascending. Row after row.
Values AttentionKernel::dots(ArrayRef<Value> rows, Value panels, int64_t w, int64_t n) {
  int64_t perPanel = kPanel / lanes;
  Values init(rows.size() * n * perPanel, real(vec(f32()), 0.0));
  return loop(constant(0), constant(w), 1, init, [&](Value d, ValueRange carried) {
    Values next(carried.begin(), carried.end()), k;
    for (int64_t p = 0; p < n; ++p)
      for (int64_t v = 0; v < perPanel; ++v)
        k.push_back(loadVec(panels, add(mul(d, kPanel), p * kPanel * w + v * lanes)));
    for (size_t i = 0; i < rows.size(); ++i) {
      Value x = splat(loadF32(rows[i], d));
      for (size_t v = 0; v < k.size(); ++v)
        next[i * k.size() + v] = fma(x, k[v], next[i * k.size() + v]);
    }
    return next;
  });
}

void AttentionKernel::emitDots(attn::RelativeDotOp op, int64_t at, const Tile &tile) {
  auto x = cast<ModelTensorType>(op.getX().getType());
  int64_t heads = op.getHeads(), w = widthOf(op);
  Places places(plan.atBias[at], w);
  relativeColumn = firstColumn(*this, tile);
  Value columns = sub(sub(tile.end, tile.at), relativeColumn), before = sub(count, constant(1));
  Value farthest = sub(ownOf(add(firstRow, before)), add(tile.at, relativeColumn)); // of the last row
  Value panels = div(add(add(columns, before), kPanel - 1), constant(kPanel));
  packDistances(op, at, farthest, panels);
  Value element = x.getSize(0).is(1) ? constant(0) : batch;
  Value lines = length(x.getSize(1)), head = heads == 1 ? constant(0) : group;
  auto lineAt = [&](Value line) {
    return this->at(tensor(op.getX()), mul(add(mul(add(mul(element, lines), line), heads), head), w), f32());
  };
  if (op.getKeySide())
    keyDots(places.panels, places.dots, places.scores, w, columns, [&](Value column) {
      return lineAt(min(keyRow(add(add(tile.at, relativeColumn), column)), sub(lines, constant(1))));
    });
  else
    queryDots(places.panels, places.dots, w, panels, lineAt);
}

/// dots[r][m] for rows of queries.
void AttentionKernel::queryDots(int64_t panelsAt, int64_t dotsAt, int64_t w, Value panels, llvm::function_ref<Value(Value)> lineAt) {
  int64_t perPanel = kPanel / lanes, room = machine.registers >= 32 ? 16 : 8;
  byRowGroups([&](Value from, Value to, int64_t rows) {
    int64_t n = std::clamp<int64_t>(room / (rows * perPanel), 1, 2);
    loop(constant(0), panels, n, [&](Value panel) {
      Value panelAt = at(floats(panelsAt), mul(panel, kPanel * w), f32());
      loop(from, to, rows, [&](Value r) {
        Values lines;
        for (int64_t i = 0; i < rows; ++i)
          lines.push_back(lineAt(rowOf(add(firstRow, add(r, i)))));
        Values sums = dots(lines, panelAt, w, n);
        Value target = at(floats(dotsAt), add(mul(r, kMost), mul(panel, kPanel)), f32());
        for (int64_t i = 0, v = n * perPanel; i < rows * v; ++i)
          store(sums[i], at(target, constant(i / v * kMost + i % v * lanes), f32()));
      });
    });
  });
}

/// scores[r][column] from rows of keys: 16 keys need m from their first column on.
void AttentionKernel::keyDots(int64_t panelsAt, int64_t dotsAt, int64_t scoresAt, int64_t w, Value columns,
                              llvm::function_ref<Value(Value)> lineAt) {
  int64_t perPanel = kPanel / lanes;
  int64_t rows = machine.registers >= 32 ? 8 : 4, n = machine.registers >= 32 && lanes == 16 ? 3 : 1;
  // The front of it is read by rows that are not there.
  Value dotsOf = at(floats(dotsAt), constant(kPanel), f32());
  loop(constant(0), columns, kPanel, [&](Value column) {
    loop(constant(0), constant(kPanel), rows, [&](Value t) {
      Values lines;
      for (int64_t i = 0; i < rows; ++i)
        lines.push_back(lineAt(add(column, add(t, i))));
      for (int64_t panel = 0; panel < kKeyDots / kPanel; panel += n) {
        Value panelAt = at(floats(panelsAt), mul(add(column, panel * kPanel), w), f32());
        Values sums = dots(lines, panelAt, w, n);
        Value target = at(dotsOf, add(mul(t, kKeyDots), panel * kPanel), f32());
        for (int64_t i = 0, v = n * perPanel; i < rows * v; ++i)
          store(sums[i], at(target, constant(i / v * kKeyDots + i % v * lanes), f32()));
      }
    });
    // Lanes are rows, last first; transposed they are keys.
    loop(constant(0), count, lanes, [&](Value r) {
      for (int64_t first = 0; first < kPanel; first += lanes) {
        Values block;
        for (int64_t t = first; t < first + lanes; ++t)
          block.push_back(loadVec(dotsOf, add(sub(sub(count, constant(lanes)), r), t * (kKeyDots + 1))));
        block = transpose(*this, block);
        for (int64_t i = 0; i < lanes; ++i) {
          Value target = add(add(mul(add(r, lanes - 1 - i), kScoreStride), kScoreFront), add(add(column, relativeColumn), first));
          store(block[i], at(floats(scoresAt), target, f32()));
        }
      }
    });
  });
}
