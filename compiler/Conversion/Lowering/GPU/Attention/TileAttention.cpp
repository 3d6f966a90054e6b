//===- TileAttention.cpp - attention through tiles ------------------------===//
//
// A tile is 64 packed rows of one key head (16 where there are no more), 16 of them a warp, and its outputs are up to
// 128 features: a head that has more has several tiles, each of which makes all scores (featuresOfTile). It takes the
// keys part by part (KeyParts.h); where rows are few each part is another tile's. In a part it walks the runs of keys
// that the mask leaves, a block of keys a round, while the next block arrives (dialects/Tile):
//   1. scores: queries times stored keys; scale, softcap, bias
//   2. in a block that some row does not see all of, the mask is asked about each element
//   3. online softmax: the row's maximum, weights, their sum
//   4. weights times values
// In f32 a product is a chain of fused products, components or keys ascending; dots of bf16 are units of 16 products,
// and queries and weights are rounded before. Parts begin at the first key that the batch element sees, and a block
// that a row sees nothing of adds 0 to it. So a row's bits are its own, whatever rows are next to it, in whatever
// tile.
//
// A weight of 0 times a value that is no number is no number. So if some output of a part is not finite, the part is
// done again: with the other values left out, then once for the rows that see +inf, and once for those that see -inf (a
// NaN is both).
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/GPU/Attention/TileAttention.h"
#include "compiler/Conversion/Lowering/GPU/Attention/KeyParts.h"
#include "compiler/Conversion/Lowering/GPU/Attention/ScoreBias.h"
#include "compiler/Conversion/Lowering/GPU/Linear/PackedRows.h"
#include "compiler/Conversion/Lowering/GPU/Linear/TileShapes.h"
#include "compiler/Conversion/Lowering/Language/Functions.h"
#include "compiler/Conversion/Lowering/Language/Halves.h"
#include "dialects/Mask/Emission/Emission.h"
#include "dialects/Tile/IR/Tile.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <cmath>

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using model::Size;
using tile::FragType, tile::SharedType, tile::Image, tile::Spread;

static constexpr int64_t kLowRows = KeyParts::kLowRows, kStages = 2;

namespace {
/// The passes over a part; those after the first only where an output is not finite.
enum Pass : int64_t { All, Finite, Plus, Minus, kPasses };

/// One tile while its code is written.
class AttentionTile {
public:
  /// `parts`: where what it makes of its part is left; null: it takes all parts, and its rows are done.
  AttentionTile(Lowering &l, const AttentionShape &plan, Value key, Value value, int64_t tileRows, Spread spread,
                const KeyParts *parts);
  /// The body of a launch: rows [block * tileRows, ..) of one group of heads of one batch element, which share of the
  /// features, and which part.
  void emit(Value batch, Value group, Value block, Value share, Value part);

private:
  Lowering &l;
  const AttentionShape &plan;
  attn::SdpaOp op;
  Value key, value; ///< element 0 of keys and values
  const KeyParts *parts;
  bool pairs;            ///< words of pieces are pairs of bf16, not f32
  bool groups;           ///< those of keys are in groups of four
  int64_t features;      ///< that it makes, or fewer in the last share
  Value rows, all, keys; ///< rows; packed rows; keys
  FragType scoreType, outType, rowType;
  SharedType queryPiece, keyPiece, valuePiece;

  Value batch, group, head, first; ///< of the tile: batch element, group and its first head, first packed row
  Value share, feature, columns;   ///< of the features, the first one, and how many there are
  Value part;                      ///< which it is at
  Value keyBase, valueBase;        ///< of this key head
  Value queries;                   ///< the piece
  Value most, sum, out, scores;    ///< variables
  Value allMost, allSum;           ///< the same of the parts so far, whose outputs are in the result
  Value pass;                      ///< which Pass this is

  using Body = llvm::function_ref<Value(ValueRange)>;
  void body(Region &region, ArrayRef<Type> types, Body make);
  Value map(FragType type, ValueRange operands, Body make);
  Value get(Value variable) {
    return tile::GetOp::create(l.b, cast<tile::VarType>(variable.getType()).getFragment(), variable);
  }
  void set(Value variable, Value x) { tile::SetOp::create(l.b, variable, x); }
  Value variable(Value init) {
    return tile::VarOp::create(l.b, tile::VarType::get(l.b.getContext(), cast<FragType>(init.getType())), init);
  }
  Value constant(FragType type, double x);

  /// Of packed row `p` of the group (one after the end stands for the last): its row, its head.
  Value inside(Value p) { return l.min({p, l.sub(all, l.constant(1))}); }
  Value rowOf(Value p) { return l.div(inside(p), l.constant(plan.packed)); }
  Value headOf(Value p) { return l.add(head, l.rem(inside(p), l.constant(plan.packed))); }
  Value positionOf(Value p) { return l.add(l.size(plan.past), rowOf(p)); }
  ScoreBias scoreOf(Value p);
  Value placeOf(Value p); ///< of the row among rows of one head

  /// The element of the result, or of what is left of the part, for packed row `p` and a column of the share.
  Value outputAt(Value p, Value column);
  /// One number for each row that it has in front of a part: those of no keys, or of a sink.
  std::pair<Value, Value> before(bool sinks);
  Value outputSoFar(ValueRange at);
  void each(Value fragment, Value columns, Body make);

  void putQueries();
  void start();
  void onePart(mask::Emitter &e, Value anchor);
  void onePass(mask::Emitter &e, Value anchor);
  void join();
  void leave();
  void mark();
  void blocks(mask::Emitter &e, Value anchor, Value begin, Value end, Value need);
  void useBlock(mask::Emitter &e, Value at, Value k, Value v, Value begin, Value end, Value need);
  void hide(mask::Emitter &e, Value at, Value begin, Value end);
  void leaveOut(Value v);
  void finish();
};
} // namespace

static int64_t up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

AttentionTile::AttentionTile(Lowering &l, const AttentionShape &plan, Value key, Value value, int64_t tileRows,
                             Spread spread, const KeyParts *parts)
    : l(l), plan(plan), op(plan.op), key(key), value(value), parts(parts), pairs(plan.arithmetic.dots),
      groups(keysInGroups(l, plan.keyWords())), features(featuresOfTile(plan.valueWidth)), rows(l.size(plan.rows)),
      all(l.mul(rows, plan.packed)), keys(l.size(plan.keys)) {
  MLIRContext *context = op.getContext();
  Type word = pairs ? Type(l.b.getI32Type()) : l.f32();
  bool units = spread == Spread::wgmma; // they read all but the weights by themselves
  int64_t down = tileRows / (units ? 64 : 16), block = plan.keyTile;
  int64_t depth = up(plan.keyWords(), pairs && !units ? 16 : 8), wide = up(features, units ? 16 : pairs ? 32 : 8);
  scoreType = FragType::get(context, tileRows, block, spread, down, 1);
  outType = FragType::get(context, tileRows, wide, spread, down, 1);
  rowType = scoreType.ofRows();
  queryPiece = SharedType::get(context, tileRows, depth, word, pairs && !units ? Image::chunks : Image::left);
  keyPiece = SharedType::get(context, depth, block, word, groups ? Image::right : pairs ? Image::woven : Image::plain);
  valuePiece = SharedType::get(context, block, pairs ? wide / 2 : wide, word,
                               units   ? Image::left
                               : pairs ? Image::chunks
                                       : Image::plain);
}

//===-- writing bodies --------------------------------------------------------------------===//

void AttentionTile::body(Region &region, ArrayRef<Type> types, Body make) {
  OpBuilder::InsertionGuard guard(l.b);
  SmallVector<Location> places(types.size(), l.b.getLoc());
  Block *block = l.b.createBlock(&region, {}, types, places);
  Value made = make(block->getArguments());
  tile::YieldOp::create(l.b, made);
}

Value AttentionTile::map(FragType type, ValueRange operands, Body make) {
  auto op = tile::MapOp::create(l.b, type, operands);
  SmallVector<Type> types(2, l.b.getIndexType());
  types.append(operands.size(), l.f32());
  body(op.getBody(), types, make);
  return op;
}

Value AttentionTile::constant(FragType type, double x) {
  return map(type, {}, [&](ValueRange) { return l.real(x); });
}

ScoreBias AttentionTile::scoreOf(Value p) { return ScoreBias(l, plan, batch, headOf(p), rowOf(p), positionOf(p)); }

Value AttentionTile::placeOf(Value p) {
  Value row = l.add(l.mul(batch, rows), rowOf(p));
  return l.add(l.mul(row, plan.heads), headOf(p));
}

Value AttentionTile::outputAt(Value p, Value column) {
  column = l.add(feature, column);
  if (parts)
    return l.at(parts->output(parts->rowOf(batch, group, part, p)), column, l.f32());
  return l.at({l.pointer(op->getResult(0)), l.add(l.mul(placeOf(p), plan.valueWidth), column)}, l.f32());
}

void AttentionTile::each(Value fragment, Value columns, Body make) {
  auto op = tile::EachOp::create(l.b, fragment, first, l.constant(0), all, columns, plan.valueWidth % 2 ? 1 : 2);
  Type index = l.b.getIndexType();
  body(op.getBody(), {index, index, l.f32()}, make);
}

//===-- a tile ----------------------------------------------------------------------------===//

void AttentionTile::emit(Value batchElement, Value groupOfHeads, Value block, Value ofFeatures, Value onlyPart) {
  batch = batchElement;
  group = groupOfHeads;
  share = ofFeatures;
  feature = l.mul(share, features);
  columns = l.constant(features);
  if (plan.valueWidth % features)
    columns = l.min({columns, l.sub(l.constant(plan.valueWidth), feature)});
  head = l.mul(group, plan.packed);
  first = l.mul(block, scoreType.getRows());
  Value keyHead = l.div(head, l.constant(plan.heads / plan.kvHeads)), element = plan.sharedKeys ? l.constant(0) : batch;
  Value owner = l.add(l.mul(element, plan.kvHeads), keyHead);
  keyBase = l.at({key, l.mul({owner, l.size(plan.keyRoom * Size(plan.keyWords()))})}, l.f32());
  valueBase = l.at({value, l.mul({owner, l.size(plan.valueRoom * Size(plan.valueWords()))})}, l.f32());
  putQueries();

  Value last = l.add(first, scoreType.getRows() - 1);
  ScoreBias score = scoreOf(first);
  auto load = [&](OpBuilder &b, Value operand, ArrayRef<Value> at) { return score.element(b, operand, at); };
  auto lengthOf = [&](Value t, int64_t axis) { return score.length(t, axis); };
  mask::Emitter e{l.b,
                  l.b,
                  l.b.getLoc(),
                  positionOf(first),
                  positionOf(last),
                  batch,
                  head,
                  l.size(plan.past),
                  rows,
                  keys,
                  l.size(plan.keyStart),
                  load,
                  lengthOf};
  Value anchor = score.firstKey();
  if (parts) {
    part = onlyPart;
    return onePart(e, anchor);
  }
  auto [least, none] = before(/*sinks=*/true);
  allMost = variable(least);
  allSum = variable(none);
  Value count = l.div(l.add(keys, kPartKeys - 1), l.constant(kPartKeys));
  l.Code::loop(l.constant(0), count, 1, [&](Value number) {
    part = number;
    onePart(e, anchor);
  });
  finish();
}

/// The keys of a part in as many passes as it takes; then what they gave goes where it belongs.
void AttentionTile::onePart(mask::Emitter &e, Value anchor) {
  Value begin = l.add(anchor, l.mul(part, kPartKeys));
  e.within = {begin, l.add(begin, kPartKeys)};
  Type index = l.b.getIndexType();
  auto passes = scf::WhileOp::create(l.b, TypeRange{index, index}, ValueRange{l.constant(All), l.constant(1)});
  OpBuilder::InsertionGuard guard(l.b);
  SmallVector<Location> places(2, l.b.getLoc());
  Block *before = l.b.createBlock(&passes.getBefore(), {}, {index, index}, places);
  scf::ConditionOp::create(l.b, l.less(before->getArgument(0), before->getArgument(1)), before->getArguments());
  Block *after = l.b.createBlock(&passes.getAfter(), {}, {index, index}, places);
  pass = after->getArgument(0);
  onePass(e, anchor);
  auto any = tile::AnyOp::create(l.b, l.b.getI1Type(), get(out));
  body(any.getBody(), l.f32(), [&](ValueRange x) -> Value {
    Value size = math::AbsFOp::create(l.b, x[0]);
    return arith::CmpFOp::create(l.b, arith::CmpFPredicate::UGE, size, l.real(INFINITY));
  });
  Value again = arith::OrIOp::create(l.b, any.getResult(), l.less(l.constant(All), pass));
  Value end = l.select({again, l.constant(kPasses), l.constant(1)});
  Value twice = l.equal(pass, l.constant(Finite)), once = l.less(end, l.constant(kPasses));
  Value done = arith::OrIOp::create(l.b, twice, once);
  l.when(done, [&] { parts ? leave() : join(); }, [&] { l.when(l.less(l.constant(Finite), pass), [&] { mark(); }); });
  scf::YieldOp::create(l.b, ValueRange{l.add(pass, 1), end});
}

/// Queries, or rounded ones in pairs; rows after the end stand for the last one, components after the end are 0.
void AttentionTile::putQueries() {
  queries = tile::PieceOp::create(l.b, queryPiece);
  auto put = tile::PutOp::create(l.b, queries);
  Type index = l.b.getIndexType();
  Value from = l.pointer(op.getQuery());
  body(put.getBody(), {index, index, queryPiece.getWord()}, [&](ValueRange at) -> Value {
    Value row = l.mul(placeOf(l.add(first, at[0])), plan.width), even = l.mul(at[1], 2);
    auto component = [&](Value d) {
      Value there = l.less(d, l.constant(plan.width));
      Value x = l.loadF32(from, l.add(row, l.select(there, d, l.constant(0))));
      return l.select(there, x, l.real(0.0));
    };
    if (!pairs)
      return component(at[1]);
    Value low = component(even), high = component(l.add(even, 1));
    return bf16Pair(l, low, high);
  });
}

/// Nothing is seen yet; a sink is a score whose value is 0: it is there from the start.
std::pair<Value, Value> AttentionTile::before(bool withSinks) {
  Value least = constant(rowType, kLowest), none = constant(rowType, 0.0);
  if (Value sinks = withSinks ? op.getSinks() : Value()) {
    auto sinkOf = [&](Value i) { return l.loadF32(l.pointer(sinks), headOf(l.add(first, i))); };
    least = map(rowType, {}, [&](ValueRange at) { return larger(l, sinkOf(at[0]), l.real(kLowest)); });
    none = map(rowType, least, [&](ValueRange at) { return shrinkage(l, sinkOf(at[0]), at[2]); });
  }
  return {least, none};
}

void AttentionTile::start() {
  auto [least, none] = before(/*sinks=*/false);
  most = variable(least);
  sum = variable(none);
  out = variable(tile::ZeroOp::create(l.b, outType));
  scores = variable(tile::ZeroOp::create(l.b, scoreType));
}

void AttentionTile::onePass(mask::Emitter &e, Value anchor) {
  start();
  auto visit = [&](OpBuilder &, Value begin, Value end, Value need) { blocks(e, anchor, begin, end, need); };
  mask::emitWalk(l.b, e, plan.mask, anchor, plan.keyTile, visit);
}

/// The blocks of keys of a run.
void AttentionTile::blocks(mask::Emitter &e, Value anchor, Value begin, Value end, Value need) {
  Value whole = l.mul(l.div(l.sub(begin, anchor), l.constant(plan.keyTile)), plan.keyTile);
  auto rounds = tile::RoundsOp::create(l.b, l.add(anchor, whole), end, plan.keyTile, kStages);
  SmallVector<Type> types{l.b.getIndexType(), keyPiece, valuePiece};
  body(rounds.getFill(), types, [&](ValueRange given) -> Value {
    Value at = given[0], left = l.sub(keys, at), none = l.constant(0);
    auto placeIn = [&](int64_t ring) { return ring ? l.rem(at, l.constant(ring)) : at; };
    Value place = placeIn(plan.keyRing), words = l.constant(plan.keyWords());
    tile::CopyOp::create(l.b, keyBase, none, place, words, l.add(place, left), l.b.getI64IntegerAttr(kPanel), groups,
                         /*anywhere=*/!groups, given[1]);
    place = placeIn(plan.valueRing);
    words = l.constant(plan.valueWords());
    Value column = l.mul(share, pairs ? features / 2 : features);
    tile::CopyOp::create(l.b, valueBase, place, column, l.add(place, left), words, IntegerAttr(), /*groups=*/false,
                         /*anywhere=*/false, given[2]);
    return {};
  });
  body(rounds.getUse(), types, [&](ValueRange given) -> Value {
    useBlock(e, given[0], given[1], given[2], begin, end, need);
    return {};
  });
}

void AttentionTile::useBlock(mask::Emitter &e, Value at, Value k, Value v, Value begin, Value end, Value need) {
  Value none = tile::ZeroOp::create(l.b, scoreType), lastKey = l.sub(keys, l.constant(1));
  Value s = tile::MmaOp::create(l.b, scoreType, queries, k, none);
  s = map(scoreType, s, [&](ValueRange x) {
    Value there = l.min({l.add(at, x[1]), lastKey}); // a column without a key looks at one that exists
    return scoreOf(l.add(first, x[0])).finished(x[2], there);
  });
  set(scores, s);
  Value open = arith::CmpIOp::create(l.b, arith::CmpIPredicate::ne, need, l.integer(need.getType(), 0));
  Value early = l.less(at, begin), late = l.less({end, l.add(at, plan.keyTile)});
  Value cut = arith::OrIOp::create(l.b, early, late), partial = arith::OrIOp::create(l.b, open, cut);
  l.when(partial, [&] { hide(e, at, begin, end); });
  s = get(scores);

  Value before = get(most), top = tile::FoldOp::create(l.b, rowType, tile::Join::most, s);
  Value now = map(rowType, {top, before}, [&](ValueRange x) { return larger(l, x[2], x[3]); });
  Value shrunk = map(rowType, {before, now}, [&](ValueRange x) { return Functions(l).exp(l.subf(x[2], x[3])); });
  Value p = map(scoreType, {s, now}, [&](ValueRange x) -> Value {
    Value weight = Functions(l).exp(l.subf(x[2], x[3]));
    if (!pairs)
      return weight;
    return arith::BitcastOp::create(l.b, l.f32(), bf16Word(l, weight));
  });
  Value added = tile::FoldOp::create(l.b, rowType, tile::Join::sum, p);
  set(most, now);
  set(sum, map(rowType, {get(sum), shrunk, added}, [&](ValueRange x) { return l.fma(x[2], x[3], x[4]); }));
  Value o = map(outType, {get(out), shrunk}, [&](ValueRange x) { return l.mulf(x[2], x[3]); });
  l.when(l.less(l.constant(All), pass), [&] { leaveOut(v); });
  set(out, tile::MmaOp::create(l.b, outType, p, v, o));
}

/// What is not seen has the score -inf, and so the weight 0.
void AttentionTile::hide(mask::Emitter &e, Value at, Value begin, Value end) {
  Value s = get(scores), lastKey = l.sub(end, l.constant(1));
  auto keep = tile::KeepOp::create(l.b, scoreType, s, l.b.getF32FloatAttr(-INFINITY));
  Type index = l.b.getIndexType();
  body(keep.getBody(), {index, index}, [&](ValueRange x) -> Value {
    Value k = l.add(at, x[1]), there = l.min({l.max(k, begin), lastKey}), seen = l.equal(k, there);
    if (Value mask = plan.mask) {
      mask::Emitter here = e; // of this element alone
      here.kept.clear();
      here.tile = here.step = l.b;
      Value sees = mask::emitContains(here, mask, positionOf(l.add(first, x[0])), there);
      l.b.setInsertionPointToEnd(l.b.getInsertionBlock());
      seen = arith::AndIOp::create(l.b, seen, sees);
    }
    return seen;
  });
  set(scores, keep);
}

/// What a pass makes of the values of a block: those that are numbers, or 1 for each that is what it looks for. A bf16
/// has the upper bits of an f32.
void AttentionTile::leaveOut(Value v) {
  auto put = tile::PutOp::create(l.b, v);
  Type index = l.b.getIndexType(), word = l.b.getI32Type();
  int64_t exponent = 0x7f80, fraction = 0x7f, sign = 0x8000, unit = 0x3f80;
  if (!pairs)
    exponent = 0x7f800000, fraction = 0x7fffff, sign = INT32_MIN, unit = 0x3f800000;
  auto is = [&](Value x, int64_t mask, int64_t what) -> Value {
    return arith::CmpIOp::create(l.b, arith::CmpIPredicate::eq,
                                 Value(arith::AndIOp::create(l.b, x, l.integer(word, mask))), l.integer(word, what));
  };
  body(put.getBody(), {index, index, valuePiece.getWord()}, [&](ValueRange at) -> Value {
    Value none = l.integer(word, 0), one = l.integer(word, unit), finite = l.equal(pass, l.constant(Finite));
    Value wanted = l.select(l.equal(pass, l.constant(Plus)), none, l.integer(word, sign));
    auto left = [&](Value h) {
      Value number = is(h, exponent, exponent), infinite = is(h, fraction, 0);
      Value mine = arith::CmpIOp::create(l.b, arith::CmpIPredicate::eq,
                                         Value(arith::AndIOp::create(l.b, h, l.integer(word, sign))), wanted);
      Value sought = l.select(l.select(infinite, mine, number), one, none);
      return l.select({number, l.select(finite, none, sought), l.select(finite, h, none)});
    };
    if (!pairs) {
      Value bits = arith::BitcastOp::create(l.b, word, at[2]);
      return arith::BitcastOp::create(l.b, l.f32(), left(bits));
    }
    Value low = left(arith::AndIOp::create(l.b, at[2], l.integer(word, 0xffff))),
          high = left(arith::ShRUIOp::create(l.b, at[2], l.integer(word, 16)));
    return arith::OrIOp::create(l.b, low, Value(arith::ShLIOp::create(l.b, high, l.integer(word, 16))));
  });
}

/// Element (row, column) of the result as the parts before have left it; 0 where there is none.
Value AttentionTile::outputSoFar(ValueRange at) {
  Value p = l.add(first, at[0]), inRow = l.less(p, all), inColumn = l.less(at[1], columns);
  Value inside = arith::AndIOp::create(l.b, inRow, inColumn);
  auto read = scf::IfOp::create(l.b, TypeRange{l.f32()}, inside, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(l.b);
  l.b.setInsertionPointToStart(read.thenBlock());
  Value old = l.load(l.f32(), outputAt(p, at[1]));
  scf::YieldOp::create(l.b, old);
  l.b.setInsertionPointToStart(read.elseBlock());
  Value none = l.real(0.0);
  scf::YieldOp::create(l.b, none);
  return read.getResult(0);
}

/// The part joins those before it.
void AttentionTile::join() {
  Value before = get(allMost);
  Value now = map(rowType, {get(most), before}, [&](ValueRange x) { return larger(l, x[2], x[3]); });
  auto towards = [&](ValueRange x) { return shrinkage(l, x[2], x[3]); };
  Value old = map(rowType, {before, now}, towards), own = map(rowType, {get(most), now}, towards);
  set(allMost, now);
  set(allSum, map(rowType, {get(allSum), old, get(sum), own}, [&](ValueRange x) {
        Value kept = l.mulf(x[2], x[3]), more = l.mulf(x[4], x[5]);
        return l.addf(kept, more);
      }));
  Value isFirst = l.equal(part, l.constant(0));
  Value y = map(outType, {get(out), old, own}, [&](ValueRange x) {
    Value there = outputSoFar(x), kept = shrunk(l, l.select(isFirst, l.real(0.0), there), x[3]);
    Value more = shrunk(l, x[2], x[4]);
    return l.addf(kept, more);
  });
  each(y, columns, [&](ValueRange x) -> Value {
    l.store(x[2], outputAt(x[0], x[1]));
    return {};
  });
}

/// The part is left for the kernel after this one.
void AttentionTile::leave() {
  each(get(out), columns, [&](ValueRange x) -> Value {
    l.store(x[2], outputAt(x[0], x[1]));
    return {};
  });
  Value numbers = map(outType, {get(most), get(sum)},
                      [&](ValueRange x) { return l.select({l.equal(x[1], l.constant(0)), x[2], x[3]}); });
  auto store = [&](ValueRange x) -> Value {
    l.store(x[2], l.at(parts->numbers(parts->rowOf(batch, group, part, x[0])), x[1], l.f32()));
    return {};
  };
  Value isFirst = l.equal(share, l.constant(0)); // all shares have the same
  l.when(isFirst, [&] { each(numbers, l.constant(2), store); });
}

/// An infinity that a row sees in this pass joins what the row has.
void AttentionTile::mark() {
  each(get(out), columns, [&](ValueRange x) -> Value {
    Value at = outputAt(x[0], x[1]), old = l.load(l.f32(), at), sees = l.lessf(l.real(0.0), x[2]);
    Value sought = l.select(l.equal(pass, l.constant(Plus)), l.real(INFINITY), l.real(-INFINITY));
    l.store(l.select(sees, l.addf(old, sought), old), at);
    return {};
  });
}

/// The rows of the result.
void AttentionTile::finish() {
  Value fill = l.real(op.getMaskedRows() == attn::MaskedRows::zero ? 0.0 : std::nan(""));
  Value y = map(outType, {get(allSum)}, [&](ValueRange x) {
    Value empty = arith::CmpFOp::create(l.b, arith::CmpFPredicate::OEQ, x[2], l.real(0.0));
    Value there = outputSoFar(x);
    return l.select({empty, fill, l.divf(there, x[2])});
  });
  each(y, columns, [&](ValueRange x) -> Value {
    l.store(x[2], outputAt(x[0], x[1]));
    return {};
  });
}

//===-- the program -----------------------------------------------------------------------===//

/// Into how many shares features fall, each another tile's.
static int64_t sharesOf(const AttentionShape &plan) {
  int64_t features = featuresOfTile(plan.valueWidth);
  return (plan.valueWidth + features - 1) / features;
}

/// Rows [0, rows) in tiles of `tileRows`, each with all keys or with one of `parts`, on the chips of `form`.
static void emitTiles(Lowering &l, const AttentionShape &plan, Value key, Value value, int64_t tileRows,
                      const Length &rows, const AttentionForm &form, const KeyParts *parts) {
  int64_t groups = plan.groups(), shares = sharesOf(plan);
  Length blocks = l.parts(rows, tileRows), outer = l.mul(l.size(plan.batch), groups);
  AttentionTile tile(l, plan, key, value, tileRows, form.spread, parts);
  Length count = l.mul(l.mul(outer, blocks), shares);
  if (parts)
    count = l.mul(count, parts->count);
  auto launch = tile::LaunchOp::create(l.b, count, Value(), 2 * tileRows, l.b.getI64IntegerAttr(1),
                                       form.on.empty() ? ArrayAttr() : l.b.getStrArrayAttr(form.on));
  noteItems(l, launch, count, 2 * tileRows);
  OpBuilder::InsertionGuard guard(l.b);
  Block *body = l.b.createBlock(&launch.getBody(), {}, {l.b.getIndexType()}, {l.b.getLoc()});
  Value number = body->getArgument(0), last = l.sub(blocks, l.constant(1)), part;
  if (parts) {
    part = l.rem(number, parts->count);
    number = l.div(number, parts->count);
  }
  Value share = l.rem(number, l.constant(shares)); // neighbours read the same keys
  number = l.div(number, l.constant(shares));
  // The last rows see most where a text grows: they come first.
  Value block = l.sub({last, l.div(number, outer)}), rest = l.rem(number, outer);
  Value group = l.rem(rest, l.constant(groups)), batch = l.div(rest, l.constant(groups));
  tile.emit(batch, group, block, share, part);
  tile::YieldOp::create(l.b, Value());
}

void heddle::loops::emitTileAttention(Lowering &l, const AttentionShape &plan, Value key, Value value) {
  attn::SdpaOp op = plan.op;
  Location loc = op->getLoc();
  Size unpacked = 0, packed = 0; // bytes of keys and values that come as rows of a tensor
  auto pack = [&](bool keys, Value operand, Value rows) {
    unpacked = unpacked + bytesWhereItLies(operand);
    packed = packed + bytesWhereItLies(operand).floorDiv(Size(plan.arithmetic.halves() ? 2 : 1));
    return packOperand(l, plan, keys, rows);
  };
  bool rowsOfKeys = plan.keySource == Source::Rows, rowsOfValues = plan.valueSource == Source::Rows;
  if (rowsOfKeys)
    key = pack(/*keys=*/true, op.getKey(), key);
  if (rowsOfValues)
    value = pack(/*keys=*/false, op.getValue(), value);
  if (rowsOfKeys || rowsOfValues) {
    l.noteCost([&] { return Cost{"sdpa", 0, false, unpacked, packed}; });
    l.barrier(loc);
  }
  // How many rows there are only the device knows; which tiles they go through shows in no bit.
  Length rows = l.size(plan.rows), all = l.mul(rows, plan.packed), one = l.number(1);
  Length many = l.min(l.div(all, kLowRows + 1), one), tall = l.mul(all, many), few = l.sub(one, many);
  // Few rows and many are each all of it, or nothing.
  auto whole = [&](Size left) {
    Cost cost = costOf(op);
    cost.dots = plan.arithmetic.dots;
    int64_t once = plan.width + plan.valueWidth, all = plan.width * sharesOf(plan) + plan.valueWidth;
    cost.operations = all == once ? cost.operations : (cost.operations * Size(all)).floorDiv(Size(once));
    cost.read = cost.read - unpacked + packed;
    cost.written = left.is(0) ? cost.written : left;
    return cost;
  };
  KeyParts parts(l, plan);
  Size left = KeyParts::leftBytes(plan);
  l.noteCost([&] { return whole(left); });
  emitTiles(l, plan, key, value, kLowRows, l.sub(all, tall), {Spread::mma, {}}, &parts);
  l.barrier(loc);
  l.noteCost([&] { return Cost{"sdpa", 0, false, left, costOf(op).written}; });
  emitJoin(l, parts, l.mul(rows, few));
  l.barrier(loc);
  l.noteCost([&] { return whole(Size(0)); });
  model::TargetAttr target = model::targetOf(op->getParentOfType<ModuleOp>());
  for (const AttentionForm &form : tallAttention(keysInGroups(l, plan.keyWords()), target))
    emitTiles(l, plan, key, value, plan.rowTile, tall, form, nullptr);
  l.barrier(loc);
}
