//===- MaskBounds.cpp - the bounds of runs as formulas --------------------===//
//
// Bounds of runs as formulas. A leaf emits its hull for a tile whose first and last row are unknowns, and the emitted
// arithmetic is read back as a form in t, the index of the tile. With the two rows exchanged, a leaf whose bounds do
// not decrease gives the keys that every row sees. Remainders, which forms do not have, are dims with names of their
// own until the text is written.
//===----------------------------------------------------------------------===//

#include "compiler/MaskReport/MaskReport.h"
#include "dialects/Mask/Emission/Emission.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

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

/// Reads the masks of one attention. `rowTile` is the number of rows of a tile, t the number of a tile.
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
  /// The text of a form, with remainders written out.
  std::string text(const Size &form) const;
  Size keys;

private:
  attn::SdpaOp op;
  int64_t rowTile;
  OwningOpRef<ModuleOp> scratch;
  Size past, keyStart;
  llvm::DenseMap<Value, Size> atoms; ///< the forms of values in the emitted code
  struct Remainder {
    std::string name; ///< of the dim that stands for it
    Size of;
    int64_t by;
  };
  std::vector<Remainder> remainders;

  /// What a form may be in place of a value that is no form: the value itself, less, or more.
  enum class Instead { Nothing, Less, More };
  static Instead opposite(Instead i) {
    return i == Instead::Less ? Instead::More : i == Instead::More ? Instead::Less : i;
  }

  Intervals read(Value mask, bool full);
  std::optional<Interval> leaf(mask::MaskOpInterface leaf, bool full);
  std::optional<Size> form(Value v, Size plus, Instead instead = Instead::Nothing);
  std::optional<Size> choice(arith::SelectOp op, Size plus, Instead instead);
  std::optional<bool> decide(Value condition);
  Size remainder(const Size &of, int64_t by);
  Size extreme(const Size &x, const Size &y, bool most) const;
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

Size Reader::remainder(const Size &of, int64_t by) {
  if (of.mod(by).constant())
    return of.mod(by);
  for (const Remainder &r : remainders)
    if (r.of == of && r.by == by)
      return Size::dim(r.name);
  remainders.push_back({"_rest" + std::to_string(remainders.size()) + "_", of, by});
  return Size::dim(remainders.back().name);
}

std::string Reader::text(const Size &form) const {
  std::string out = form.str();
  for (const Remainder &r : llvm::reverse(remainders)) { // a later one may be of an earlier one
    std::string of = r.of.str();
    bool sum = StringRef(of).find_first_of("+-/") != StringRef::npos;
    std::string written = "(" + (sum ? "(" + of + ")" : of) + "%" + std::to_string(r.by) + ")";
    for (size_t at = out.find(r.name); at != std::string::npos; at = out.find(r.name, at + written.size()))
      out.replace(at, r.name.size(), written);
  }
  return out;
}

namespace {
/// The least and the greatest value that a form may have.
struct Extent {
  double least = -INFINITY, most = INFINITY;
};
} // namespace

static Extent rangeOf(char op, Extent x, Extent y) {
  auto times = [](double a, double b) { return a == 0 || b == 0 ? 0 : a * b; };
  switch (op) {
  case '+': return {x.least + y.least, x.most + y.most};
  case '-': return {x.least - y.most, x.most - y.least};
  case '*': {
    auto [least, most] =
        std::minmax({times(x.least, y.least), times(x.least, y.most), times(x.most, y.least), times(x.most, y.most)});
    return {least, most};
  }
  case 'M': return {std::max(x.least, y.least), std::max(x.most, y.most)};
  case 'm': return {std::min(x.least, y.least), std::min(x.most, y.most)};
  default: return {};
  }
}

/// The greater or the lesser of two forms: one of them where the ranges of remainders decide it.
Size Reader::extreme(const Size &x, const Size &y, bool most) const {
  auto constant = [](int64_t n) { return Extent{double(n), double(n)}; };
  auto dim = [&](StringRef name) {
    for (const Remainder &r : remainders)
      if (r.name == name)
        return Extent{0, double(r.by - 1)};
    return Extent{};
  };
  std::optional<Extent> by = model::visitSize<Extent>((x - y).str(), {constant, dim, rangeOf});
  if (by && by->least >= 0)
    return most ? x : y;
  if (by && by->most <= 0)
    return most ? y : x;
  return most ? Size::max(x, y) : Size::min(x, y);
}

/// Whether x == y, where the forms say so; x // n and y // n differ if x and y are n or more apart.
std::optional<bool> Reader::decide(Value condition) {
  auto equal = condition.getDefiningOp<arith::CmpIOp>();
  if (!equal || equal.getPredicate() != arith::CmpIPredicate::eq)
    return std::nullopt;
  auto apart = [&](Value a, Value b) -> std::optional<int64_t> {
    std::optional<Size> x = form(a, 0), y = form(b, 0);
    return x && y ? (*x - *y).constant() : std::nullopt;
  };
  if (std::optional<int64_t> d = apart(equal.getLhs(), equal.getRhs()))
    return *d == 0;
  auto x = equal.getLhs().getDefiningOp<arith::DivUIOp>(), y = equal.getRhs().getDefiningOp<arith::DivUIOp>();
  std::optional<Size> n = x && y && apart(x.getRhs(), y.getRhs()) == 0 ? form(x.getRhs(), 0) : std::nullopt;
  std::optional<int64_t> d = n && n->constant() ? apart(x.getLhs(), y.getLhs()) : std::nullopt;
  return d && std::abs(*d) >= *n->constant() ? std::optional(false) : std::nullopt;
}

/// c ? x : y, where c is decided; else, where that is allowed, the y = min(x, ..) that is never more, or the max that
/// is never less.
std::optional<Size> Reader::choice(arith::SelectOp op, Size plus, Instead instead) {
  Value x = op.getTrueValue(), y = op.getFalseValue();
  if (std::optional<bool> is = decide(op.getCondition()))
    return form(*is ? x : y, plus, instead);
  Operation *def = y.getDefiningOp();
  bool bounds = (instead == Instead::Less && isa_and_nonnull<arith::MinSIOp>(def)) ||
                (instead == Instead::More && isa_and_nonnull<arith::MaxSIOp>(def));
  return bounds && llvm::is_contained(def->getOperands(), x) ? form(y, plus, instead) : std::nullopt;
}

/// v + plus as a form, or what may be instead; constants go inside min and max, where they are easier to read.
std::optional<Size> Reader::form(Value v, Size plus, Instead instead) {
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
        std::optional<Size> y = form(o.getRhs(), 0, instead);
        return y ? form(o.getLhs(), plus + *y, instead) : std::nullopt;
      })
      .Case([&](arith::SubIOp o) -> std::optional<Size> {
        std::optional<Size> y = form(o.getRhs(), 0, opposite(instead));
        return y ? form(o.getLhs(), plus - *y, instead) : std::nullopt;
      })
      .Case([&](arith::MulIOp o) -> std::optional<Size> {
        auto p = both(o.getLhs(), o.getRhs(), 0, 0);
        return p ? std::optional(p->first * p->second + plus) : std::nullopt;
      })
      .Case<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp>([&](auto o) -> std::optional<Size> {
        auto p = both(o.getLhs(), o.getRhs(), 0, 0);
        return p ? std::optional(p->first.floorDiv(p->second) + plus) : std::nullopt;
      })
      .Case([&](arith::RemUIOp o) -> std::optional<Size> {
        auto p = both(o.getLhs(), o.getRhs(), 0, 0);
        std::optional<int64_t> by = p ? p->second.constant() : std::nullopt;
        return by && *by > 0 ? std::optional(remainder(p->first, *by) + plus) : std::nullopt;
      })
      .Case<arith::MinSIOp, arith::MaxSIOp>([&](auto o) -> std::optional<Size> {
        std::optional<Size> x = form(o.getLhs(), plus, instead), y = form(o.getRhs(), plus, instead);
        bool most = std::is_same_v<decltype(o), arith::MaxSIOp>;
        return x && y ? std::optional(unlimited(*y - plus) ? *x : extreme(*x, *y, most)) : std::nullopt;
      })
      .Case([&](arith::SelectOp o) { return choice(o, plus, instead); })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(
          [&](auto o) { return form(o.getIn(), plus, instead); })
      .Default([](Operation *) { return std::nullopt; });
}

/// The hull of one leaf as forms, or none where its code cannot be read as one. `full`: the keys that every row of the
/// tile sees, for leaves whose bounds do not decrease.
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
  if (hull.begin && !(out.begin = form(hull.begin, 0, full ? Instead::More : Instead::Less)))
    return std::nullopt;
  if (hull.end && !(out.end = form(hull.end, 0, full ? Instead::Less : Instead::More)))
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
      out.push_back({spaced(reader.text(begin)), spaced(reader.text(end))});
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
