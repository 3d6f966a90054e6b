// Elementwise arithmetic on tensors, choice by a condition, and subscripts.
#include "compiler/Import/Evaluate/Arithmetic.h"
#include "compiler/Import/Evaluate/EmitTemplates.h"
#include "compiler/Import/Evaluate/FoldTensors.h"

#include "llvm/ADT/StringSwitch.h"

using namespace heddle;
using heddle::model::Size;
using llvm::StringRef;
using llvm::Twine;
using K = Value::Kind;

/// Integers stay integers unless something real is mixed in; truth counts as 0 and 1.
static Emitter::Element common(Emitter::Element a, Emitter::Element b) {
  using E = Emitter::Element;
  if (a == E::Real || b == E::Real)
    return E::Real;
  return a == E::Bool && b == E::Bool ? E::Bool : E::Integer;
}

/// An operator on tensors that broadcast as in numpy: folded where both are constants, else `model.compare` or
/// `model.binary`. Both operands are brought to one element type first: `/` and `**` need reals, logic needs truth
/// values, and truth values that are added or ordered count as integers 0 and 1.
Value Arithmetic::tensors(StringRef op, const Value &a, const Value &b, At at) {
  if (op == "not") {
    if (std::optional<Value> folded = foldUnary("not", a))
      return *folded;
    mlir::Value v = in.materialize(a, Element::Bool, at);
    return v ? in.emit<model::UnaryOp>(
                   at, {v}, {in.attr("kind", model::UnaryKindAttr::get(&in.context, model::UnaryKind::logical_not))})
             : Value::poison();
  }
  if (std::optional<Value> folded = foldBinary(op, a, b))
    return *folded;

  Element e = common(in.elementOf(a), in.elementOf(b));
  using P = std::optional<model::ComparePredicate>;
  P predicate = llvm::StringSwitch<P>(op)
                    .Case("==", model::ComparePredicate::eq)
                    .Case("!=", model::ComparePredicate::ne)
                    .Case("<", model::ComparePredicate::lt)
                    .Case("<=", model::ComparePredicate::le)
                    .Case(">", model::ComparePredicate::gt)
                    .Case(">=", model::ComparePredicate::ge)
                    .Default(std::nullopt);
  // Comparisons give truth values, whatever is compared; truth values have no order, so `<` takes them as 0 and 1.
  if (predicate) {
    if (e == Element::Bool && *predicate != model::ComparePredicate::eq && *predicate != model::ComparePredicate::ne)
      e = Element::Integer;
    mlir::Value x = in.materialize(a, e, at), y = in.materialize(b, e, at);
    return in.emit<model::CompareOp>(at, {x, y},
                                     {in.attr("predicate", model::ComparePredicateAttr::get(&in.context, *predicate))});
  }

  using B = std::optional<model::BinaryKind>;
  B kind = llvm::StringSwitch<B>(op)
               .Case("+", model::BinaryKind::add)
               .Case("-", model::BinaryKind::sub)
               .Case("*", model::BinaryKind::mul)
               .Case("/", model::BinaryKind::div)
               .Case("//", model::BinaryKind::floordiv)
               .Case("%", model::BinaryKind::mod)
               .Case("**", model::BinaryKind::pow)
               .Case("min", model::BinaryKind::min)
               .Case("max", model::BinaryKind::max)
               .Case("and", model::BinaryKind::logical_and)
               .Case("or", model::BinaryKind::logical_or)
               .Default(std::nullopt);
  if (!kind) {
    in.error(Error::WrongValue, at, "'" + op + "' is not defined on tensors");
    return Value::poison();
  }
  // The element type in which it is computed.
  bool logic = op == "and" || op == "or";
  if (logic)
    e = Element::Bool;
  else if (op == "/" || op == "**")
    e = Element::Real;
  else if (e == Element::Bool)
    e = Element::Integer;
  mlir::Value x = in.materialize(a, e, at), y = in.materialize(b, e, at);
  return in.emit<model::BinaryOp>(at, {x, y}, {in.attr("kind", model::BinaryKindAttr::get(&in.context, *kind))});
}

/// `condition ? yes : no` where the condition is known only when the model runs: elementwise between tensors, or
/// between two whole masks, for which the condition must have no axes.
Value Arithmetic::select(const Value &condition, const Value &yes, const Value &no, At at) {
  if (yes.is(K::Mask) && no.is(K::Mask)) {
    mlir::Value c = in.materialize(condition, Element::Bool, at);
    if (c && tensorType(c).getRank() != 0) {
      in.error(Error::WrongValue, at, "a mask is chosen by a constant or by lengths, found " + Twine(condition.show()));
      return Value::poison();
    }
    return in.emitMask<mask::SelectOp>(at, {c, yes.asIr(), no.asIr()});
  }
  auto isElement = [](const Value &v) { return v.isArray() || v.isNumber() || v.is(K::Size) || v.is(K::Bool); };
  for (const Value *v : {&yes, &no})
    if (!isElement(*v)) {
      in.error(Error::WrongValue, at,
               "a choice made when the model runs is between tensors, numbers or masks, found " + Twine(v->show()));
      return Value::poison();
    }
  if (std::optional<Value> folded = foldSelect(condition, yes, no))
    return *folded;
  Element e = common(in.elementOf(yes), in.elementOf(no));
  mlir::Value c = in.materialize(condition, Element::Bool, at), x = in.materialize(yes, e, at),
              y = in.materialize(no, e, at);
  return in.emit<model::SelectOp>(at, {c, x, y});
}

//===--- subscripts -----------------------------------------------------------===//

/// Of a list or a string: one place or a piece, counted as Python does.
static Value pick(Emitter &in, const Value &v, llvm::ArrayRef<Sub> subs, At at) {
  int64_t n = v.is(K::List) ? v.asList().size() : v.asString().size();
  if (subs.size() != 1 || subs[0].kind == Sub::Kind::Axis) {
    in.error(Error::WrongCount, at, "one subscript expected for " + Twine(v.describe()));
    return Value::poison();
  }
  const Sub &s = subs[0];
  for (const Value *x : {&s.first, &s.last})
    if (!x->isNull() && !x->is(K::Integer)) {
      in.error(Error::WrongValue, s.at, "an integer expected as subscript, found " + Twine(x->show()));
      return Value::poison();
    }
  if (s.kind == Sub::Kind::Index) {
    int64_t i = s.first.asInteger();
    if (i < -n || i >= n) {
      in.error(Error::OutOfRange, s.at,
               "index " + Twine(i) + " is outside a " + (v.is(K::List) ? "list" : "string") + " of " + Twine(n));
      return Value::poison();
    }
    i = i < 0 ? i + n : i;
    return v.is(K::List) ? v.asList()[i] : Value::string(std::string(1, v.asString()[i]));
  }
  auto bound = [&](const Value &b, int64_t open) {
    int64_t i = b.isNull() ? open : b.asInteger();
    return std::clamp<int64_t>(i < 0 ? i + n : i, 0, n);
  };
  int64_t from = bound(s.first, 0), to = std::max(from, bound(s.last, n));
  if (v.is(K::String))
    return Value::string(v.asString().substr(from, to - from));
  return Value::list({v.asList().begin() + from, v.asList().begin() + to});
}

Value Arithmetic::subscript(const Value &v, llvm::ArrayRef<Sub> subs, At at) {
  if (v.is(K::List) || v.is(K::String))
    return pick(in, v, subs, at);
  if (v.isArray())
    return subscriptTensor(v, subs, at);
  in.error(Error::WrongValue, at, Twine(v.describe()) + " takes no subscript");
  return Value::poison();
}

/// x[a, b:c, null]: one subscript an axis from the left, each a slice (`model.slice`), one place (slice and squeeze) or
/// a new axis of length 1 (unsqueeze). `axis` is that of `x` as it is after the subscripts so far.
Value Arithmetic::subscriptTensor(const Value &v, llvm::ArrayRef<Sub> subs, At at) {
  if (std::optional<Value> folded = foldSubscript(v, subs))
    return *folded;
  mlir::Value x = in.materialize(v, at);
  if (!x)
    return Value::poison();
  int64_t axis = 0;
  for (const Sub &s : subs) {
    if (s.kind == Sub::Kind::Axis) {
      Value y = in.emit<model::UnsqueezeOp>(at, {x}, {in.intAttr("axis", axis)});
      if (y.isBad())
        return y;
      x = y.asIr();
      ++axis;
      continue;
    }
    model::ModelTensorType type = tensorType(x);
    if (axis >= type.getRank()) {
      in.error(Error::WrongCount, s.at, "more subscripts than axes of " + Twine(v.show()));
      return Value::poison();
    }
    for (const Value *b : {&s.first, &s.last})
      if (!b->isNull() && !b->is(K::Integer) && !b->is(K::Size)) {
        in.error(Error::WrongValue, s.at, "subscripts are constants, lengths and slices, found " + Twine(b->show()));
        return Value::poison();
      }
    // A negative constant counts from the end; numpy cuts bounds off at a known length.
    Size n = type.getSize(axis);
    auto place = [&](const Value &b, Size open) {
      if (b.isNull())
        return open;
      Size p = b.asSize();
      if (p.constant() && *p.constant() < 0)
        p = n + p;
      if (s.kind == Sub::Kind::Slice && n.constant() && p.constant())
        p = Size(std::clamp<int64_t>(*p.constant(), 0, *n.constant()));
      return p;
    };
    Size from = place(s.first, Size(0));
    Size to = s.kind == Sub::Kind::Index ? from + Size(1) : place(s.last, n);
    if (std::optional<int64_t> length = (to - from).constant(); length && *length < 0)
      to = from;
    if (from != Size(0) || to != n) {
      Value y = in.emit<model::SliceOp>(
          s.at, {x}, {in.intAttr("axis", axis), in.textAttr("from", from.str()), in.textAttr("to", to.str())});
      if (y.isBad())
        return y;
      x = y.asIr();
    }
    if (s.kind == Sub::Kind::Index) {
      Value y = in.emit<model::SqueezeOp>(s.at, {x}, {in.intAttr("axis", axis)});
      if (y.isBad())
        return y;
      x = y.asIr();
    } else {
      ++axis;
    }
  }
  return Value::ofIr(K::Tensor, x);
}
