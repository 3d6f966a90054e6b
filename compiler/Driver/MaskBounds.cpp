//===- MaskBounds.cpp - the bounds of runs as formulas --------------------===//
//
// Bounds of runs as formulas. A leaf emits its hull for a tile whose first and last row are unknowns, and the emitted
// arithmetic is read back as a form in t, the index of the tile. With the two rows exchanged, a leaf whose bounds do
// not decrease gives the keys that every row sees.
//===----------------------------------------------------------------------===//

#include "compiler/Driver/MaskReport.h"
#include "dialects/Mask/Emission/Emission.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle;
using heddle::model::ModelTensorType;
using heddle::model::Size;

namespace {
/// [begin, end); without a side it reaches to the end of the keys.
struct Interval {
  std::optional<Size> begin, end;
};
using Intervals = std::vector<Interval>;

class Reader {
public:
  Reader(attn::SdpaOp op, int64_t rowTile) : op(op), rowTile(rowTile), scratch(ModuleOp::create(op.getLoc())) {
    past = Size::parse(op.getPast()).value_or(Size(0));
    keyStart = Size::parse(op.getKeyStart()).value_or(Size(0));
    keys = cast<ModelTensorType>(op.getKey().getType()).getSize(1);
  }
  bool narrowed = false; ///< data hides keys inside of the formulas
  bool known = true;     ///< false if data decides where a leaf is full

  Intervals visible(Value mask) { return read(mask, false); }
  Intervals full(Value mask) { return read(mask, true); }
  Size keys;

private:
  attn::SdpaOp op;
  int64_t rowTile;
  OwningOpRef<ModuleOp> scratch;
  Size past, keyStart;
  llvm::DenseMap<Value, Size> atoms; ///< the forms of values in the emitted code

  Intervals read(Value mask, bool full);
  std::optional<Interval> leaf(mask::MaskOpInterface leaf, bool full);
  std::optional<Size> form(Value v, Size plus);
};
} // namespace

static Interval meet(const Interval &x, const Interval &y) {
  auto join = [](const std::optional<Size> &a, const std::optional<Size> &b, Size (*f)(const Size &, const Size &)) {
    return a && b ? std::optional(*a == *b ? *a : f(*a, *b)) : a ? a : b;
  };
  return {join(x.begin, y.begin, Size::max), join(x.end, y.end, Size::min)};
}

/// Intersects two unions of intervals; if that has too many, the result is conservative: unbounded, or nothing is full.
static Intervals meetAll(const Intervals &x, const Intervals &y, bool full) {
  Intervals all;
  for (const Interval &i : x)
    for (const Interval &j : y)
      all.push_back(meet(i, j));
  return all.size() <= 8 ? all : full ? Intervals{} : Intervals{Interval{}};
}

/// The complement of a union of intervals.
static Intervals outside(const Intervals &x, bool full) {
  Intervals all = {Interval{}};
  for (const Interval &i : x) {
    Intervals rest;
    if (i.begin)
      rest.push_back({std::nullopt, i.begin});
    if (i.end)
      rest.push_back({i.end, std::nullopt});
    all = meetAll(all, rest, full);
  }
  return all;
}

/// Whether a bound is what data is clamped to against overflow, and so no bound to a reader.
static bool unlimited(const Size &form) { return std::abs(form.constant().value_or(0)) >= mask::kUnbounded; }

/// v + plus as a form; constants go inside min and max, where they are easier to read.
std::optional<Size> Reader::form(Value v, Size plus) {
  if (auto it = atoms.find(v); it != atoms.end())
    return it->second + plus;
  Operation *def = v.getDefiningOp();
  if (!def)
    return std::nullopt;
  auto both = [&](Value x, Value y, Size px, Size py) -> std::optional<std::pair<Size, Size>> {
    std::optional<Size> a = form(x, px), b = form(y, py);
    return a && b ? std::optional(std::pair(*a, *b)) : std::nullopt;
  };
  return llvm::TypeSwitch<Operation *, std::optional<Size>>(def)
      .Case([&](arith::ConstantOp c) -> std::optional<Size> {
        auto n = dyn_cast<IntegerAttr>(c.getValue());
        return n ? std::optional(Size(n.getInt()) + plus) : std::nullopt;
      })
      .Case([&](arith::AddIOp o) -> std::optional<Size> {
        std::optional<Size> y = form(o.getRhs(), 0);
        return y ? form(o.getLhs(), plus + *y) : std::nullopt;
      })
      .Case([&](arith::SubIOp o) -> std::optional<Size> {
        std::optional<Size> y = form(o.getRhs(), 0);
        return y ? form(o.getLhs(), plus - *y) : std::nullopt;
      })
      .Case([&](arith::MulIOp o) -> std::optional<Size> {
        auto p = both(o.getLhs(), o.getRhs(), 0, 0);
        return p ? std::optional(p->first * p->second + plus) : std::nullopt;
      })
      .Case<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp>([&](auto o) -> std::optional<Size> {
        auto p = both(o.getLhs(), o.getRhs(), 0, 0);
        return p ? std::optional(p->first.floorDiv(p->second) + plus) : std::nullopt;
      })
      .Case([&](arith::MinSIOp o) -> std::optional<Size> {
        auto p = both(o.getLhs(), o.getRhs(), plus, plus);
        return p ? std::optional(unlimited(p->second - plus) ? p->first : Size::min(p->first, p->second))
                 : std::nullopt;
      })
      .Case([&](arith::MaxSIOp o) -> std::optional<Size> {
        auto p = both(o.getLhs(), o.getRhs(), plus, plus);
        return p ? std::optional(unlimited(p->second - plus) ? p->first : Size::max(p->first, p->second))
                 : std::nullopt;
      })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(
          [&](auto o) { return form(o.getIn(), plus); })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<Interval> Reader::leaf(mask::MaskOpInterface leaf, bool full) {
  OpBuilder b(op.getContext());
  Location loc = op.getLoc();
  Block *block = scratch->getBody();
  b.setInsertionPointToEnd(block);
  auto unknown = [&](const Size &form) {
    // An opaque op: the value means what `atoms` says.
    Value v = UnrealizedConversionCastOp::create(b, loc, TypeRange{b.getIndexType()}, ValueRange{}).getResult(0);
    atoms[v] = form;
    return v;
  };
  Size first = past + Size(rowTile) * Size::dim("t"), last = first + Size(rowTile - 1);
  mask::Emitter e{b, b, loc};
  e.first = unknown(full ? last : first);
  e.last = unknown(full ? first : last);
  e.batch = unknown(Size::dim("b"));
  e.head = unknown(Size::dim("h"));
  e.past = unknown(past);
  e.queries = unknown(cast<ModelTensorType>(op.getQuery().getType()).getSize(1));
  e.keys = unknown(keys);
  e.keyStart = unknown(keyStart);
  auto load = [&](OpBuilder &o, Value tensor, ArrayRef<Value> at) -> Value {
    Type type = cast<ModelTensorType>(tensor.getType()).getElementType();
    Value v = UnrealizedConversionCastOp::create(o, loc, TypeRange{type}, ValueRange{}).getResult(0);
    std::string name = describeTensor(tensor);
    for (char &c : name)
      if (!llvm::isAlnum(c) && c != '_')
        c = '_';
    atoms[v] = Size::dim(name);
    return v;
  };
  auto lengthOf = [&](Value t, int64_t axis) { return unknown(cast<ModelTensorType>(t.getType()).getSize(axis)); };
  e.load = load;
  e.lengthOf = lengthOf;
  mask::Hull hull = mask::emitHull(e, leaf->getResult(0));
  Interval out;
  if (hull.begin && !(out.begin = form(hull.begin, 0)))
    return std::nullopt;
  if (hull.end && !(out.end = form(hull.end, 0)))
    return std::nullopt;
  return out;
}

Intervals Reader::read(Value mask, bool full) {
  if (mask::Truth always = mask::truthOf(mask); always != mask::Truth::Unknown)
    return always == mask::Truth::Always ? Intervals{Interval{}} : Intervals{};
  Operation *def = mask.getDefiningOp();
  if (isa<mask::OrOp, mask::AddOp>(def)) {
    Intervals all = read(def->getOperand(0), full);
    for (Interval &i : read(def->getOperand(1), full))
      all.push_back(i);
    for (const Interval &i : all)
      if (!i.begin && !i.end)
        return {Interval{}};
    return all;
  }
  if (isa<mask::AndOp>(def))
    return meetAll(read(def->getOperand(0), full), read(def->getOperand(1), full), full);
  if (auto n = dyn_cast<mask::NotOp>(def))
    return outside(read(n.getOperand(), !full), full);
  auto ask = cast<mask::MaskOpInterface>(def);
  bool reads = llvm::any_of(def->getOperands(), [](Value v) { return isa<ModelTensorType>(v.getType()); });
  bool band = ask.sides() != mask::Sides::NotABand;
  narrowed |= reads && !band;
  if (full && !band) {
    known &= !reads;
    return {};
  }
  if (std::optional<Interval> i = leaf(ask, full))
    return {*i};
  return full ? Intervals{} : Intervals{Interval{}};
}

/// "min(8*t+8,T)" -> "min(8*t + 8, T)".
static std::string spaced(StringRef form) {
  std::string text;
  for (size_t i = 0; i < form.size(); ++i) {
    char c = form[i], before = i ? form[i - 1] : '(';
    bool sign = (c == '+' || c == '-') && before != '(' && before != ',';
    text += sign ? std::string(" ") + c + " " : c == ',' ? std::string(", ") : std::string(1, c);
  }
  return text;
}

MaskBounds heddle::boundsOf(attn::SdpaOp op, Value mask, int64_t rowTile) {
  Reader reader(op, rowTile);
  auto text = [&](Intervals all) {
    std::vector<MaskInterval> out;
    for (const Interval &i : all) {
      if (i.begin && i.end && (*i.end - *i.begin).constant().value_or(1) <= 0)
        continue; // empty, whatever t is
      Size zero(0);
      bool clip = i.begin && !i.begin->constant();
      Size begin = !i.begin ? zero
                   : clip   ? Size::max(zero, *i.begin)
                            : Size(std::max<int64_t>(0, *i.begin->constant()));
      Size end = i.end ? Size::min(reader.keys, *i.end) : reader.keys;
      out.push_back({spaced(begin.str()), spaced(end.str())});
    }
    return out;
  };
  MaskBounds bounds;
  if (!mask) {
    bounds.visible = bounds.full = text({Interval{}});
    return bounds;
  }
  bounds.visible = text(reader.visible(mask));
  bounds.full = text(reader.full(mask));
  bounds.fullKnown = reader.known;
  bounds.narrowed = reader.narrowed;
  return bounds;
}
