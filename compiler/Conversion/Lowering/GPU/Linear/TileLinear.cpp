//===- TileLinear.cpp - linears through tiles -----------------------------===//
//
// y = x W + b and its epilogue, a tile of y at a time (dialects/Tile): pieces of x and of the panels of W stream
// through shared memory, sums stay in registers, and the epilogue is done on them. f32 is one chain of fused products
// an element, as in the general kernel; dots are units of 16 products, in the same order in any tile. So it is the
// number of rows, which only the device knows, that chooses between a tall tile and a low one of few columns, and
// the choice shows in no bit.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/GPU/Linear/TileLinear.h"
#include "compiler/Conversion/Lowering/GPU/Attention/TileAttention.h"
#include "compiler/Conversion/Lowering/GPU/Linear/Groups.h"
#include "compiler/Conversion/Lowering/GPU/Linear/RoundedRows.h"
#include "compiler/Conversion/Lowering/GPU/Linear/TileShapes.h"
#include "compiler/Conversion/Lowering/Language/Element.h"
#include "compiler/Conversion/Lowering/Ops/LinearCode.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::model;
using tile::FragType, tile::SharedType, tile::Image;

static constexpr int64_t kFewRows = 16; ///< up to these tall tiles would multiply mostly zeros

namespace {
class TileLinear {
public:
  TileLinear(Lowering &l, LinearOp op, const ReadyLinear &ready, Sides sides);
  /// Rows [0, rows) in tiles of one shape, on the chips that take it.
  void emit(const TileForm &form, const Length &rows);

private:
  Lowering &l;
  LinearOp op;
  const ReadyLinear &ready;
  int64_t n, width, depth; ///< results; those of a panel; words of a row of the left side
  Sides sides;

  FragType fragmentOf(const TileShape &s) {
    return FragType::get(op.getContext(), s.rows, s.columns, s.spread, s.down, s.across);
  }
  Value sum(const TileShape &shape, Value row, Value column, Value rows);
  void finish(Value x, Value row, Value column);
};
} // namespace

static int64_t lastOf(ModelTensorType t) { return *t.getSize(t.getRank() - 1).constant(); }

TileLinear::TileLinear(Lowering &l, LinearOp op, const ReadyLinear &ready, Sides sides)
    : l(l), op(op), ready(ready), n(lastOf(cast<ModelTensorType>(op->getResult(0).getType()))),
      width(weightLayoutOf(op).panel), depth(SumStep(arithmeticOf(op), lastOf(op.getInput().getType())).depth()),
      sides(sides) {}

/// The fragment of y at (row, column) without what finishes it.
Value TileLinear::sum(const TileShape &s, Value row, Value column, Value rows) {
  MLIRContext *context = op.getContext();
  Type word = sides == Sides::Reals ? l.f32() : Type(l.b.getI32Type()), index = l.b.getIndexType();
  bool groups = sides == Sides::Groups, together = groups || s.spread == tile::Spread::cyclic;
  Image rowsLie = together ? Image::left : sides == Sides::Pairs ? Image::chunks : Image::turned;
  Image weightsLie = together ? Image::right : sides == Sides::Pairs ? Image::woven : Image::plain;
  FragType fragment = fragmentOf(s);
  auto left = SharedType::get(context, s.rows, s.step, word, rowsLie);
  auto right = SharedType::get(context, s.step, s.columns, word, weightsLie);
  Value k = l.constant(depth), results = l.constant((n + width - 1) / width * width);
  Value zero = tile::ZeroOp::create(l.b, fragment);
  auto stream = tile::StreamOp::create(l.b, fragment, depth, s.step, s.stages, s.bulk, zero);
  OpBuilder::InsertionGuard guard(l.b);
  Location loc = op.getLoc();
  Block *fill = l.b.createBlock(&stream.getFill(), {}, {index, left, right}, {loc, loc, loc});
  Value at = fill->getArgument(0);
  tile::CopyOp::create(l.b, ready.input, row, at, rows, k, IntegerAttr(), groups, /*anywhere=*/false,
                       fill->getArgument(1));
  IntegerAttr panels = groups ? IntegerAttr() : l.b.getI64IntegerAttr(width);
  tile::CopyOp::create(l.b, ready.weight, at, column, k, results, panels, groups, /*anywhere=*/false,
                       fill->getArgument(2));
  tile::YieldOp::create(l.b, Value());
  Block *use = l.b.createBlock(&stream.getUse(), {}, {left, right, fragment}, {loc, loc, loc});
  Value next = tile::MmaOp::create(l.b, fragment, use->getArgument(0), use->getArgument(1), use->getArgument(2));
  tile::YieldOp::create(l.b, next);
  return stream;
}

/// One element of y.
void TileLinear::finish(Value x, Value row, Value column) {
  Value place = l.add(l.mul(row, n), column);
  if (op.getBias())
    x = l.addf(x, l.loadF32(ready.bias, column));
  if (!op.getEpilogue().empty()) {
    Values in{x};
    for (auto [value, base] : llvm::zip_equal(op.getExtras(), ready.extras)) {
      Type element = cast<ModelTensorType>(value.getType()).getElementType();
      Extra kind = kindOf(op, value);
      Value index = kind == Extra::Scalar   ? l.constant(0)
                    : kind == Extra::Row    ? row
                    : kind == Extra::Column ? column
                                            : place;
      in.push_back(l.load(element, l.at(base, index, element)));
    }
    x = emitRegion(l, op.getEpilogue(), in);
  }
  l.store(x, l.at(ready.result, place, l.f32()));
}

void TileLinear::emit(const TileForm &form, const Length &rows) {
  const TileShape &s = form.shape;
  int64_t across = (n + s.columns - 1) / s.columns;
  Length count = l.mul(l.parts(rows, s.rows), across);
  ArrayAttr on = form.on.empty() ? ArrayAttr() : l.b.getStrArrayAttr(form.on);
  IntegerAttr together = s.together ? l.b.getI64IntegerAttr(s.together) : IntegerAttr();
  auto launch = tile::LaunchOp::create(l.b, count, Value(), fragmentOf(s).threads(), together, on);
  noteItems(l, launch, count, fragmentOf(s).threads());
  OpBuilder::InsertionGuard guard(l.b);
  Location loc = op.getLoc();
  Type index = l.b.getIndexType();
  Block *body = l.b.createBlock(&launch.getBody(), {}, {index}, {loc});
  Value number = body->getArgument(0);
  Value row = l.mul(l.div(number, l.constant(across)), s.rows),
        column = l.mul(l.rem(number, l.constant(across)), s.columns);
  Value y = sum(s, row, column, rows);
  int64_t run = cast<FragType>(y.getType()).run();
  while (n % run)
    run /= 2;
  auto each = tile::EachOp::create(l.b, y, row, column, rows, l.constant(n), run);
  tile::YieldOp::create(l.b, Value());
  Block *element = l.b.createBlock(&each.getBody(), {}, {index, index, l.f32()}, {loc, loc, loc});
  finish(element->getArgument(2), element->getArgument(0), element->getArgument(1));
  tile::YieldOp::create(l.b, Value());
}

/// Small sides leave most of a tile empty; numbers that are widened and rows that overlap are the general kernel's.
llvm::StringRef heddle::loops::untiledLinear(LinearOp op) {
  model::Arithmetic arithmetic = arithmeticOf(op);
  if (arithmetic.dots)
    return "";
  if (arithmetic.halves())
    return untiledNumbers(arithmetic);
  if (LeftSide(op).windows)
    return "windows";
  TileForm tall = tallTiles(Sides::Reals, model::targetOf(op->getParentOfType<ModuleOp>())).front();
  bool small = lastOf(op.getInput().getType()) < tall.shape.step ||
               lastOf(cast<ModelTensorType>(op->getResult(0).getType())) < 32;
  return small ? "small" : "";
}

LogicalResult heddle::loops::lowerTiledLinear(Lowering &l, LinearOp op) {
  Sides sides = isGrouped(op) ? Sides::Groups : arithmeticOf(op).dots ? Sides::Pairs : Sides::Reals;
  FailureOr<ReadyLinear> ready = readyLinear(l, op, roundedRows);
  if (failed(ready))
    return failure();
  Length rows = l.size(LeftSide(op).rows);
  model::Arithmetic arithmetic = arithmeticOf(op);
  TileLinear tiles(l, op, *ready, sides);
  SmallVector<TileForm> tallForms = tallTiles(sides, model::targetOf(op->getParentOfType<ModuleOp>()));
  bool general = !untiledLinear(op).empty();
  Length tall = l.number(0);
  if (!general) {
    Length many = l.min(l.div(rows, kFewRows + 1), l.number(1));
    tall = l.mul(rows, many);
  }
  Length few = l.sub(rows, tall);
  // Either phase is the whole product, or has no items.
  auto whole = [&] {
    Cost cost = costOf(op);
    if (arithmetic.dots) // the rows as packRows has left them
      cost.read = cost.read - bytesWhereItLies(op.getInput()) + LinearScratch(op).rows;
    if (general && arithmetic.halves()) // otherwise it is small or a convolution
      cost.untiled = untiledNumbers(arithmetic);
    return cost;
  };
  l.noteCost(whole);
  if (general)
    emitLinear(l, op, *ready, few);
  else
    tiles.emit({lowTile(sides), {}}, few);
  l.barrier(op.getLoc());
  if (general)
    return success();
  // A kernel of its own, so that few rows, which wait for memory, have the registers of many threads.
  l.noteCost(whole);
  for (const TileForm &form : tallForms)
    tiles.emit(form, tall);
  l.barrier(op.getLoc());
  return success();
}
