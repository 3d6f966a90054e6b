//===- MaskBands.cpp - bands: causal, windows, prefixes and what they join to ----===//
//
// Leaves that are bands give their bounds as terms; reach, axes, proofs and text follow from the bounds.
//
//===----------------------------------------------------------------------===//

#include "dialects/Mask/IR/MaskBands.h"
#include "dialects/Mask/IR/MaskTables.h"
#include "dialects/Model/IR/TensorType.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace heddle::mask;
using heddle::model::ModelTensorType;
using heddle::model::typeOf;

//===-- what each name stands for ------------------------------------------------===//

/// Clamps a side of a window: beyond kUnbounded it is no limit, and sums stay far from overflow.
static int64_t limited(int64_t v) { return std::clamp(v, -kUnbounded, kUnbounded); }

/// The terms of a map of mask.band.
static TermGroup groupOf(AffineMap map, ValueRange values) {
  TermGroup group;
  for (AffineExpr e : map.getResults()) {
    Term t;
    if (auto sum = dyn_cast<AffineBinaryOpExpr>(e); sum && sum.getKind() == AffineExprKind::Add) {
      t.shift = limited(cast<AffineConstantExpr>(sum.getRHS()).getValue());
      e = sum.getLHS();
    }
    if (auto product = dyn_cast<AffineBinaryOpExpr>(e)) {
      t.chunk = limited(cast<AffineConstantExpr>(product.getRHS()).getValue());
      e = cast<AffineBinaryOpExpr>(product.getLHS()).getLHS();
    }
    if (auto c = dyn_cast<AffineConstantExpr>(e))
      t.shift = limited(c.getValue());
    else if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
      t.value = values[symbol.getPosition()];
    else
      t.row = true;
    group.push_back(t);
  }
  return group;
}

static Bound one(Term t) { return {TermGroup{t}}; }
static Sides sidesOf(bool lower, bool upper) {
  return Sides((lower ? unsigned(Sides::Lower) : 0) | (upper ? unsigned(Sides::Upper) : 0));
}

//===-- what follows from the bounds ---------------------------------------------===//

/// f(side, group) for every group of every side.
static void overGroups(MaskOpInterface band, llvm::function_ref<void(Sides, const TermGroup &)> f) {
  for (Sides side : {Sides::Lower, Sides::Upper})
    if (has(band.sides(), side))
      for (const TermGroup &group : band.bound(side))
        f(side, group);
}

/// Any term of a group may be its limit, so the farthest counts; of several groups the nearest.
static Reach reachOf(MaskOpInterface band) {
  Reach reach;
  overGroups(band, [&](Sides side, const TermGroup &group) {
    std::optional<int64_t> far = -kUnbounded;
    for (const Term &t : group)
      far = far && t.row ? std::optional(std::max(*far, side == Sides::Upper ? t.shift - 1 : t.chunk - 1 - t.shift))
                         : std::nullopt;
    std::optional<int64_t> &near = side == Sides::Upper ? reach.ahead : reach.behind;
    if (far)
      near = near ? std::min(*near, *far) : far;
  });
  return reach;
}

static Axes axesOfBand(MaskOpInterface band) {
  Axes a = axesRead(band) | Key;
  overGroups(band, [&](Sides, const TermGroup &group) {
    for (const Term &t : group)
      a = a | (t.row ? Query : None);
  });
  return a;
}

/// Bounds at the row's own position depend on the order of rows only; at a shift on distances; with
/// values or chunks on absolute positions.
static Positions positionsOf(MaskOpInterface band) {
  Positions all = Positions::Order;
  overGroups(band, [&](Sides side, const TermGroup &group) {
    for (const Term &t : group) {
      bool own = t.row && (t.shift == 0 || t.shift == 1);
      all = std::max(all, !t.row || t.chunk > 1 ? Positions::Absolute : own ? Positions::Order : Positions::Distance);
    }
  });
  return all;
}

/// The largest difference of i rounded down to a multiple of `a` and of i rounded down to one of `b`.
static int64_t mostPast(int64_t a, int64_t b) { return a % b == 0 ? 0 : b % a == 0 ? b - a : b - 1; }

/// Proves x <= y for all positions i in [0, lastRow].
bool heddle::mask::atMost(const Term &x, const Term &y, const Facts &facts) {
  if (x.row && y.row)
    return x.shift + mostPast(x.chunk, y.chunk) <= y.shift;
  if (x.value || y.value)
    return x.value == y.value && x.row == y.row && x.shift <= y.shift;
  if (x.row)
    return facts.lastRow && *facts.lastRow / x.chunk * x.chunk + x.shift <= y.shift;
  return x.shift <= y.shift;
}

/// Lower sides: every group has a term at or before the witness; upper ones: a term past it.
static bool seenByBand(MaskOpInterface band, Witness witness, const Facts &facts) {
  Term at{witness == Witness::Own, {}, 0}, past{at.row, {}, 1};
  bool seen = band.sides() != Sides::NotABand;
  overGroups(band, [&](Sides side, const TermGroup &group) {
    seen &= llvm::any_of(
        group, [&](const Term &t) { return side == Sides::Lower ? atMost(t, at, facts) : atMost(past, t, facts); });
  });
  return seen;
}

//===-- causal -------------------------------------------------------------------===//

Sides CausalOp::sides() { return Sides::Upper; }
Bound CausalOp::bound(Sides) { return one({true, {}, 1}); }
Reach CausalOp::reach() { return reachOf(*this); }
Axes CausalOp::dependsOn() { return axesOfBand(*this); }
Positions CausalOp::positions() { return positionsOf(*this); }
bool CausalOp::surelySees(Witness w, const Facts &facts) { return seenByBand(*this, w, facts); }

//===-- prefix -------------------------------------------------------------------===//

LogicalResult PrefixOp::verify() { return needsRank(*this, getLength(), 0, 1, "length"); } // prefix_c1
Sides PrefixOp::sides() { return Sides::Upper; }
Bound PrefixOp::bound(Sides) { return one({false, getLength(), 0}); }
SmallVector<Reading> PrefixOp::axesOf() { return {{0, {Batch}}}; }
Axes PrefixOp::dependsOn() { return axesOfBand(*this); }
Positions PrefixOp::positions() { return positionsOf(*this); }
Example PrefixOp::exampleData() { return Example::Length; }
bool PrefixOp::surelySees(Witness w, const Facts &facts) { return seenByBand(*this, w, facts); }

//===-- chunk --------------------------------------------------------------------===//

LogicalResult ChunkOp::verify() {
  if (int64_t(getSize()) < 1) // chunk_c1
    return emitOpError("expected a positive size, got ") << getSize();
  return success();
}
Sides ChunkOp::sides() { return Sides::Both; }
Bound ChunkOp::bound(Sides side) {
  int64_t size = limited(getSize());
  return one({true, {}, side == Sides::Lower ? 0 : size, size});
}
Reach ChunkOp::reach() { return reachOf(*this); }
Axes ChunkOp::dependsOn() { return axesOfBand(*this); }
Positions ChunkOp::positions() { return positionsOf(*this); }
bool ChunkOp::surelySees(Witness w, const Facts &facts) { return seenByBand(*this, w, facts); }
std::string ChunkOp::describe(TensorName) { return "chunk(" + std::to_string(getSize()) + ")"; }

//===-- window -------------------------------------------------------------------===//

LogicalResult WindowOp::verify() {
  if (getLabels() && failed(needsRank(*this, getLabels(), 1, 2, "labels"))) // window_c1
    return failure();
  if (getKeyLabels() && failed(needsRank(*this, getKeyLabels(), 1, 2, "key_labels"))) // window_c1
    return failure();
  if (getKeyLabels() && !getLabels()) // window_c3
    return emitOpError("expected labels of queries with the labels of keys, got none");
  if (getTable() && !getLabels()) // window_c3
    return emitOpError("a table is of labels");
  if (!getLabels())
    return success();
  Value keys = getKeyLabels() ? getKeyLabels() : getLabels();
  return fitsTable(*this, getTable(), labelTableType(typeOf(getLabels()), typeOf(keys))); // window_c2
}

/// With labels it is not a band at compile time: their order is known at run time only.
Sides WindowOp::sides() {
  return getLabels() ? Sides::NotABand : sidesOf(getLeft().has_value(), getRight().has_value());
}
Bound WindowOp::bound(Sides side) {
  return one({true, {}, side == Sides::Lower ? -limited(*getLeft()) : limited(*getRight()) + 1});
}
Reach WindowOp::reach() {
  if (getLabels())
    return {};
  Reach r;
  if (getRight())
    r.ahead = *getRight();
  if (getLeft())
    r.behind = *getLeft();
  return r;
}
SmallVector<Reading> WindowOp::axesOf() {
  if (!getLabels())
    return {};
  return {{0, {Batch, Query}, "labels"}, {getKeyLabels() ? 1u : 0u, {Batch, Key}, "labels"}};
}
Axes WindowOp::dependsOn() { return getLabels() ? axesRead(*this) : Query | Key; }
/// Labels may be positions, which padding would change.
Positions WindowOp::positions() { return Positions::Distance; }
Truth WindowOp::implies(KeysTruth) { return getLeft() || getRight() ? Truth::Unknown : Truth::Always; }
bool WindowOp::surelySees(Witness w, const Facts &facts) {
  if (!getLabels())
    return (!getLeft() && !getRight()) || seenByBand(*this, w, facts);
  // The window around a row's own label contains that label if it contains distance 0.
  return w == Witness::Own && facts.sameRows && !getKeyLabels() && int64_t(getLeft().value_or(0)) >= 0 &&
         int64_t(getRight().value_or(0)) >= 0;
}
Example WindowOp::exampleData() { return Example::Labels; }
std::string WindowOp::describe(TensorName tensor) {
  auto limit = [](std::optional<uint64_t> n) { return n ? std::to_string(int64_t(*n)) : std::string("null"); };
  return "window(" + limit(getLeft()) + ", " + limit(getRight()) + (getLabels() ? ", " + tensor(getLabels()) : "") +
         ")";
}
Value WindowOp::createTable(OpBuilder &b) {
  Value keys = getKeyLabels() ? getKeyLabels() : getLabels();
  if (getTable() || !getLabels() || !areLabels(getLabels(), keys))
    return {};
  return LabelTableOp::create(b, getLoc(), getLabels(), keys, getLeftAttr(), getRightAttr());
}
void WindowOp::setTable(Value table) { getTableMutable().assign(table); }
Value WindowOp::withKeys(OpBuilder &b, ValueRange operands, Value keys) {
  return WindowOp::create(b, getLoc(), getLeftAttr(), getRightAttr(), operands[0], keys, Value());
}

//===-- band: what the others join to --------------------------------------------------===//

/// i // n * n
static bool isChunk(AffineExpr e) {
  auto product = dyn_cast<AffineBinaryOpExpr>(e);
  if (!product)
    return false;
  auto quotient = dyn_cast<AffineBinaryOpExpr>(product.getLHS());
  auto size = dyn_cast<AffineConstantExpr>(product.getRHS());
  return quotient && size && product.getKind() == AffineExprKind::Mul &&
         quotient.getKind() == AffineExprKind::FloorDiv && size.getValue() > 0 && quotient.getRHS() == size &&
         isa<AffineDimExpr>(quotient.getLHS());
}
static bool isTerm(AffineExpr e) {
  if (auto sum = dyn_cast<AffineBinaryOpExpr>(e); sum && sum.getKind() == AffineExprKind::Add)
    return isa<AffineConstantExpr>(sum.getRHS()) &&
           (isa<AffineDimExpr, AffineSymbolExpr>(sum.getLHS()) || isChunk(sum.getLHS()));
  return isa<AffineDimExpr, AffineSymbolExpr, AffineConstantExpr>(e) || isChunk(e);
}

LogicalResult BandOp::verify() {
  if (!getFrom() && !getBelow()) // band_c3
    return emitOpError("expected a side `from`, `below` or both, got none");
  for (Value v : getBounds())
    if (cast<ModelTensorType>(v.getType()).getRank() > 1) // band_c3
      return emitOpError("expected bounds of rank 0 or 1, got ") << v.getType();
  for (std::optional<ArrayAttr> maps : {getFrom(), getBelow()})
    for (Attribute attr : maps ? maps->getValue() : ArrayRef<Attribute>()) {
      AffineMap map = cast<AffineMapAttr>(attr).getValue();
      if (map.getNumDims() != 1 || map.getNumSymbols() != getBounds().size() || map.getNumResults() == 0) // band_c1
        return emitOpError("maps need 1 dimension, ")
               << getBounds().size() << " symbols and a result, but one is " << attr;
      for (AffineExpr e : map.getResults())
        if (!isTerm(e)) { // band_c2
          std::string text;
          llvm::raw_string_ostream(text) << e;
          return emitOpError("bound '")
                 << text << "' is not a position, a chunk's first position, a value or nothing, plus a constant";
        }
    }
  return success();
}

BandOp heddle::mask::createBand(OpBuilder &b, Location loc, const Bound &from, const Bound &below) {
  llvm::SetVector<Value> values;
  for (const Bound *bound : {&from, &below})
    for (const TermGroup &group : *bound)
      for (const Term &t : group)
        if (t.value)
          values.insert(t.value);
  auto maps = [&](const Bound &bound) {
    SmallVector<AffineMap> maps;
    for (const TermGroup &group : bound) {
      SmallVector<AffineExpr> terms;
      for (const Term &t : group) {
        AffineExpr e = b.getAffineConstantExpr(0);
        if (t.row)
          e = b.getAffineDimExpr(0).floorDiv(t.chunk) * t.chunk;
        if (t.value)
          e = b.getAffineSymbolExpr(llvm::find(values, t.value) - values.begin());
        terms.push_back(e + t.shift);
      }
      maps.push_back(AffineMap::get(1, values.size(), terms, b.getContext()));
    }
    return maps.empty() ? ArrayAttr() : b.getAffineMapArrayAttr(maps);
  };
  return BandOp::create(b, loc, MaskType::get(b.getContext()), maps(from), maps(below), values.getArrayRef());
}

Sides BandOp::sides() { return sidesOf(getFrom().has_value(), getBelow().has_value()); }
Bound BandOp::bound(Sides side) {
  Bound bound;
  ArrayAttr maps = side == Sides::Lower ? getFromAttr() : getBelowAttr();
  for (Attribute map : maps)
    bound.push_back(groupOf(cast<AffineMapAttr>(map).getValue(), getBounds()));
  return bound;
}
Reach BandOp::reach() { return reachOf(*this); }
SmallVector<Reading> BandOp::axesOf() {
  SmallVector<Reading> all;
  for (unsigned n = 0; n < getBounds().size(); ++n)
    all.push_back({n, {Batch}, "bounds"});
  return all;
}
Axes BandOp::dependsOn() { return axesOfBand(*this); }
Positions BandOp::positions() { return positionsOf(*this); }
bool BandOp::surelySees(Witness w, const Facts &facts) { return seenByBand(*this, w, facts); }

/// A bound as text: `i + 1`, `max(i + 1, n)`.
static std::string describeBound(const Bound &bound, Sides side, TensorName tensor) {
  auto several = [](ArrayRef<std::string> all, StringRef name) {
    return all.size() == 1 ? all.front() : name.str() + "(" + llvm::join(all, ", ") + ")";
  };
  std::vector<std::string> groups;
  for (const TermGroup &group : bound) {
    std::vector<std::string> terms;
    for (const Term &t : group) {
      std::string n = std::to_string(t.chunk), chunk = t.chunk > 1 ? " // " + n + " * " + n : "";
      std::string base = t.row ? "i" + chunk : t.value ? tensor(t.value) : "";
      std::string plus = (t.shift > 0 ? " + " : " - ") + std::to_string(std::abs(t.shift));
      terms.push_back(base.empty() ? std::to_string(t.shift) : t.shift ? base + plus : base);
    }
    groups.push_back(several(terms, side == Sides::Lower ? "min" : "max"));
  }
  return several(groups, side == Sides::Lower ? "max" : "min");
}

/// `causal`, `window(l, r)`, or the bounds of k for row i.
std::string BandOp::describe(TensorName tensor) {
  // The c of a single bound i + c.
  auto shift = [&](Sides side) -> std::optional<int64_t> {
    Bound b = has(sides(), side) ? bound(side) : Bound();
    bool single = b.size() == 1 && b[0].size() == 1 && b[0][0].row && b[0][0].chunk == 1;
    return single ? std::optional(b[0][0].shift) : std::nullopt;
  };
  std::optional<int64_t> from = shift(Sides::Lower), below = shift(Sides::Upper);
  if (!getFrom() && below == 1)
    return "causal";
  if ((from || !getFrom()) && (below || !getBelow()))
    return "window(" + (from ? std::to_string(-*from) : "null") + ", " + (below ? std::to_string(*below - 1) : "null") +
           ")";
  auto words = [&](Sides side) { return describeBound(bound(side), side, tensor); };
  return (getFrom() ? words(Sides::Lower) + " <= " : std::string()) + "k" +
         (getBelow() ? " < " + words(Sides::Upper) : std::string());
}
