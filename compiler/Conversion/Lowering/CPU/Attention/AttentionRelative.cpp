//===- AttentionRelative.cpp - dots with a table of distances -------------===//
//
// score(r, c) += x . R[zero + i - j], x the query's row or the key's. Over a tile the distance
// runs through (keys + rows) values: those rows of R become panels, and the dots are products
// of panels as the scores are. With m = c - c0 + (last row - r), which grows as distances fall,
// row r reads its dots at m: the skew is an unaligned load. A key's dots are along rows instead
// and are transposed, 16 keys at a time.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/CPU/Attention/AttentionBias.h"
#include "compiler/Conversion/Lowering/CPU/Attention/AttentionStored.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using model::ModelTensorType;
using model::Size;

static int64_t mostOf(const KernelShape &plan) {
  return plan.keyTile + plan.rowTile;
} ///< values of m, a multiple of 2 panels
static int64_t keyDotsOf(const KernelShape &plan) {
  return kPanel + plan.rowTile;
} ///< values of m that a panel of keys needs

int64_t heddle::loops::relativeFloats(const KernelShape &plan, int64_t w, bool keySide) {
  // Whole vectors are read: 32 floats after the last.
  int64_t most = mostOf(plan);
  return most * w + 2 * kPanel +
         (keySide ? kPanel * (keyDotsOf(plan) + 1) + plan.rowTile * plan.scoreStride() : plan.rowTile * most);
}

static int64_t widthOf(attn::RelativeDotOp op) {
  auto x = cast<ModelTensorType>(op.getX().getType());
  return x.getSize(2).exactDiv(Size(int64_t(op.getHeads())))->constant().value_or(0);
}

RelativeDots::RelativeDots(const ItemCode &item, attn::RelativeDotOp op, int64_t at)
    : ItemCode(item), op(op), number(at), w(widthOf(op)), panels(plan.atBias[at]), dots(panels + mostOf(plan) * w),
      scores(dots + kPanel * (keyDotsOf(plan) + 1)) {}

Value RelativeDots::atRow(const RowContext &row, Value column, Value first) {
  if (op.getKeySide())
    return loadVec({area.floats(scores), add(add(mul(row.index, plan.scoreStride()), kScoreFront), column)});
  Value m = sub(add({sub(column, first), sub(item.count, constant(1))}), row.index);
  return loadVec({area.floats(dots), add(mul(row.index, mostOf(plan)), m)});
}

/// The rows of R that the tile needs, as panels: m = 0, 1, .. for distances from `farthest` down.
void RelativeDots::packDistances(Value farthest, Value panelCount) {
  auto table = cast<ModelTensorType>(op.getTable().getType());
  int64_t tableWidth = table.getSize(1).constant().value_or(w);
  const KernelShape::Lookup &lookup = plan.lookups[number];
  Value zero = args.lengths[plan.indexOf(op)], last = sub(length(op.getTable(), 0), constant(1));
  Value source = tensor(op.getTable());
  if (tableWidth != w)
    source = at(source, mul(item.group, w), f32());
  loop(constant(0), panelCount, 1, [&](Value panel) {
    auto rowAt = [&](int64_t i) {
      Value distance = sub(farthest, add(mul(panel, kPanel), i));
      if (!lookup.entries.empty()) {
        Value n = min(max(add(distance, lookup.reach), constant(0)), constant(2 * lookup.reach));
        distance = toIndex(load(b.getI32Type(), at(args.lookups[number], n, b.getI32Type())));
      } else {
        distance = mul(distance, plan.classes);
      }
      return at(source, mul(max(min(add(zero, distance), last), constant(0)), tableWidth), f32());
    };
    Value target = at({area.floats(panels), mul(panel, kPanel * w)}, f32());
    packPanel(*this, Stored::f32, rowAt, w, target);
  });
}

/// Rows of w floats against `count` panels; one accumulator a dot, d ascending. Row after row.
Values RelativeDots::products(ArrayRef<Value> rows, Value panel, int64_t count) {
  int64_t perPanel = kPanel / lanes;
  Values init(rows.size() * count * perPanel, real(vec(f32()), 0.0));
  return loop(constant(0), constant(w), 1, init, [&](Value d, ValueRange carried) {
    Values next(carried.begin(), carried.end()), k;
    for (int64_t p = 0; p < count; ++p)
      for (int64_t v = 0; v < perPanel; ++v)
        k.push_back(loadVec(panel, add(mul(d, kPanel), p * kPanel * w + v * lanes)));
    for (size_t i = 0; i < rows.size(); ++i) {
      Value x = splat(loadF32(rows[i], d));
      for (size_t v = 0; v < k.size(); ++v)
        next[i * k.size() + v] = fma(x, k[v], next[i * k.size() + v]);
    }
    return next;
  });
}

void RelativeDots::emit(const Tile &tile, Value first) {
  auto x = cast<ModelTensorType>(op.getX().getType());
  int64_t heads = op.getHeads();
  Value columns = sub(sub(tile.end, tile.at), first), before = sub(item.count, constant(1));
  Value own = ownOf(add(item.firstRow, before)); // of the last row
  Value farthest = sub(own, add(tile.at, first));
  Value panelCount = div(add(add(columns, before), kPanel - 1), constant(kPanel));
  packDistances(farthest, panelCount);
  Value element = x.getSize(0).is(1) ? constant(0) : keys.batch;
  Value lines = length(op.getX(), 1), head = heads == 1 ? constant(0) : item.group;
  auto lineAt = [&](Value line) {
    return at({tensor(op.getX()), mul(add(mul(add(mul(element, lines), line), heads), head), w)}, f32());
  };
  if (!op.getKeySide())
    return queryDots(panelCount, lineAt);
  keyDots(first, columns, [&](Value column) {
    Value row = keyRow(add(add(tile.at, first), column));
    return lineAt(min(row, sub(lines, constant(1))));
  });
}

/// dots[r][m] for rows of queries.
void RelativeDots::queryDots(Value panelCount, llvm::function_ref<Value(Value)> lineAt) {
  int64_t perPanel = kPanel / lanes, most = mostOf(plan);
  byRowGroups([&](Value from, Value to, int64_t rows) {
    int64_t n = std::clamp<int64_t>(accumulators() / (rows * perPanel), 1, 2);
    loop(constant(0), panelCount, n, [&](Value panel) {
      Value panelAt = at({area.floats(panels), mul(panel, kPanel * w)}, f32());
      loop(from, to, rows, [&](Value r) {
        Values lines;
        for (int64_t i = 0; i < rows; ++i)
          lines.push_back(lineAt(rowOf(add(item.firstRow, add(r, i)))));
        Values sums = products(lines, panelAt, n);
        Value target = at({area.floats(dots), add({mul(r, most), mul(panel, kPanel)})}, f32());
        for (int64_t i = 0, v = n * perPanel; i < rows * v; ++i)
          store(sums[i], at(target, constant(i / v * most + i % v * lanes), f32()));
      });
    });
  });
}

/// scores[r][column] from rows of keys: 16 keys need m from their first column on.
void RelativeDots::keyDots(Value first, Value columns, llvm::function_ref<Value(Value)> lineAt) {
  int64_t perPanel = kPanel / lanes;
  int64_t rows = llvm::bit_floor(uint64_t(groupRows())), keyDots = keyDotsOf(plan);
  int64_t n = machine.registers >= 32 && lanes == 16 && keyDots / kPanel % 3 == 0 ? 3 : 1; // panels at once
  // The front of it is read by rows that are not there.
  Value dotsOf = at(area.floats(dots), constant(kPanel), f32());
  loop(constant(0), columns, kPanel, [&](Value column) {
    loop(constant(0), constant(kPanel), rows, [&](Value t) {
      Values lines;
      for (int64_t i = 0; i < rows; ++i)
        lines.push_back(lineAt(add(column, add(t, i))));
      for (int64_t panel = 0; panel < keyDots / kPanel; panel += n) {
        Value panelAt = at({area.floats(panels), mul(add(column, panel * kPanel), w)}, f32());
        Values sums = products(lines, panelAt, n);
        Value target = at(dotsOf, add(mul(t, keyDots), panel * kPanel), f32());
        for (int64_t i = 0, v = n * perPanel; i < rows * v; ++i)
          store(sums[i], at(target, constant(i / v * keyDots + i % v * lanes), f32()));
      }
    });
    transposeDots(dotsOf, column, first);
  });
}

/// Lanes of dots are rows, last first; transposed they are keys.
void RelativeDots::transposeDots(Value from, Value column, Value first) {
  loop(constant(0), item.count, lanes, [&](Value r) {
    for (int64_t half = 0; half < kPanel; half += lanes) {
      Values block;
      for (int64_t t = half; t < half + lanes; ++t)
        block.push_back(loadVec(from, add(sub(sub(item.count, constant(lanes)), r), t * (keyDotsOf(plan) + 1))));
      block = transpose(*this, block);
      for (int64_t i = 0; i < lanes; ++i) {
        Value row = add(mul(add(r, lanes - 1 - i), plan.scoreStride()), kScoreFront);
        Value target = add(row, add(add(column, first), half));
        store(block[i], at(area.floats(scores), target, f32()));
      }
    }
  });
}
