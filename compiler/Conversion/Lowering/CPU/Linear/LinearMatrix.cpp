//===- LinearMatrix.cpp - a linear in matrix registers --------------------===//
//
// Tiles of 32 rows by a panel, or 16 where there are no more, whose sums are made in matrix registers (MatrixSums.h)
// and pass through memory to what finishes them. Bits are those of a row alone: garbage after the last row is not
// stored.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/CPU/Linear/LinearKernel.h"
#include "compiler/Conversion/Lowering/CPU/Linear/UnpackPanel.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;

static constexpr int64_t kLineBytes = 64;
/// Few rows wait for memory, which gives more where it is read in many places: 14 GB/s of 8 streams, 10 of one
/// (Sapphire Rapids). So panels are fetched in so many streams, to the second cache, while those before them are
/// multiplied.
static constexpr int64_t kStreams = 16;

/// Rows [row, row + count) of `tile`, which says how many panels and registers of rows; the rest is set here.
void LinearKernel::matrixTile(MatrixSums::Tile tile, Value row, Value panel, Value count) {
  Type i8 = c.b.getI8Type(), f32 = c.f32();
  int64_t vectors = width / c.lanes, most = std::max<int64_t>(MatrixTiles::sums / (tile.high * tile.panels), 1);
  auto meanwhile = tile.meanwhile;
  tile.left = c.at(x, c.mul(row, record ? record->bytes : step.pitch * 4), i8);
  tile.stream = unpacked ? unpacked : bytesOfPanel(panel);
  for (tile.first = 0; tile.first < vectors; tile.first += tile.count) {
    tile.count = std::min(most, vectors - tile.first);
    tile.meanwhile = tile.first ? nullptr : meanwhile; // the first pass fetches for all
    if (gates)
      c.when(anyOpen(row, count), [&] { matrix->sums(tile); });
    else
      matrix->sums(tile);
    Values columns, masks, biases;
    int64_t all = tile.panels * tile.count;
    auto offset = [&](int64_t j) { return (j / tile.count) * width + (tile.first + j % tile.count) * c.lanes; };
    Value column = c.mul(panel, width);
    for (int64_t j = 0; j < all; ++j) {
      columns.push_back(c.add(column, offset(j)));
      masks.push_back(maskOf(columns[j]));
      biases.push_back(bias ? c.loadLanes(f32, c.at(bias, columns[j], f32), masks[j]) : Value());
    }
    c.loop(c.constant(0), count, 1, [&](Value i) {
      Value r = c.add(row, i), out = resultAt(r, column);
      for (int64_t j = 0; j < all; ++j) {
        Value sum = c.loadLanes(f32, matrix->at(tile, i, j));
        finish(sum, r, columns[j], behind(out, offset(j)), biases[j], masks[j]);
      }
    });
  }
}

int64_t LinearKernel::panelBytes() const {
  return record ? record->coding.panelBytes(width, step.k) : depth * width * 4;
}

/// Where a panel of the weight begins.
Value LinearKernel::bytesOfPanel(Value panel) {
  Type i8 = c.b.getI8Type();
  Value panels = c.at(w, c.constant(record ? record->coding.orderBytes(step.k) : 0), i8);
  return c.at(panels, c.mul(panel, panelBytes()), i8);
}

/// Many rows: as wide. Each tile fetches its part of the next panel, and what its results go to.
void LinearKernel::wideMatrix() {
  constexpr int64_t most = MatrixSums::mostRows, half = MatrixTiles::rows;
  Type i8 = c.b.getI8Type();
  int64_t steps = matrix->steps();
  matrix->configure(c.constant(half));
  c.loop(from, to, 1, [&](Value item) {
    Value panel = c.rem(item, c.constant(panels)), begin = c.mul(c.div(item, c.constant(panels)), tiles.getBlock());
    Value end = c.min(c.add(begin, tiles.getBlock()), rows);
    Value turns = c.mul(c.div(c.add(c.sub(end, begin), most - 1), c.constant(most)), steps);
    Value share = c.mul(c.div(c.add(turns, panelBytes() / kLineBytes - 1), turns), kLineBytes); // bytes of a step
    Value next = c.at(bytesOfPanel(panel), c.constant(panelBytes()), i8);
    if (unpacked)
      unpackPanel(c, record->coding, record->products, step.k, width, bytesOfPanel(panel), unpacked);
    c.loop(begin, end, most, [&](Value row) {
      Value count = c.min(c.sub(end, row), c.constant(most));
      Value done = c.mul(c.div(c.sub(row, begin), c.constant(most)), steps);
      auto tile = [&](int64_t high) {
        auto meanwhile = [&](Value at) {
          Value mine = c.at(next, c.mul(c.add(done, at), share), i8);
          c.loop(c.constant(0), share, 2 * kLineBytes, [&](Value behind) {
            c.prefetch(c.at(mine, behind, i8));
            c.prefetch(c.at(mine, c.add(behind, kLineBytes), i8));
          });
          fetchEnds(row, panel, high * half, 0, std::min<int64_t>(width / c.lanes, 2), at, steps);
        };
        matrixTile({{}, {}, high, 1, 0, 0, meanwhile}, row, panel, count);
      };
      c.when(c.less(c.constant(half), count), [&] { tile(2); }, [&] { tile(1); });
    });
  });
  matrix->end();
}

/// Rows of one register: as narrow. Items are panels.
void LinearKernel::narrowMatrix() {
  Type i8 = c.b.getI8Type();
  int64_t most = std::max<int64_t>(MatrixTiles::sums / (width / c.lanes), 1);
  matrix->configure(rows);
  Value whole = c.add(from, c.mul(c.div(c.sub(to, from), c.constant(most)), most));
  auto tile = [&](Value panel, int64_t count) {
    int64_t part = count * panelBytes() / kStreams;
    int64_t share = llvm::alignTo((part + matrix->steps() - 1) / matrix->steps(), kLineBytes); // of a stream in a step
    auto fetch = [&](Value first, Value at) {
      Value begin = bytesOfPanel(first), mine = c.at(begin, c.mul(at, share), i8);
      for (int64_t stream = 0; stream < kStreams; ++stream)
        for (int64_t behind = 0; behind < share; behind += kLineBytes)
          LLVM::Prefetch::create(c.b, c.at(mine, c.constant(stream * part + behind), i8), /*rw=*/0, /*level 2=*/2,
                                 /*data=*/1);
    };
    if (count == most) // the first ones are not fetched yet
      c.when(c.equal(panel, from),
             [&] { c.loop(c.constant(0), c.constant(matrix->steps()), 1, [&](Value at) { fetch(panel, at); }); });
    auto meanwhile = [&](Value at) { fetch(c.add(panel, count), at); };
    matrixTile({{}, {}, 1, count, 0, 0, meanwhile}, c.constant(0), panel, rows);
  };
  c.loop(from, whole, most, [&](Value panel) { tile(panel, most); });
  if (most > 1)
    c.loop(whole, to, 1, [&](Value panel) { tile(panel, 1); });
  matrix->end();
}
