// Operators on masks (and, or, not, +) and on biases (sum, difference, scaling by a constant). Both are types of their
// own that never mix with tensors. The leaves of masks, such as window(..), are in MaskLeaves.cpp.
#include "compiler/Import/Evaluate/Arithmetic.h"
#include "compiler/Import/Evaluate/EmitTemplates.h"

using namespace heddle;
using llvm::StringRef;
using llvm::Twine;
using K = Value::Kind;

Value Arithmetic::namedMask(StringRef name, At at) {
  return name == "causal" ? in.emitMask<mask::CausalOp>(at, {}) : in.emitMask<mask::AllOp>(at, {});
}

/// Combines two masks into one op. `+` adds how often a key is seen, `or` whether it is. Anything else next to a mask
/// is an error that says how to make a mask of it.
Value Arithmetic::masks(StringRef op, const Value &a, const Value &b, At at) {
  if (op == "not")
    return in.emitMask<mask::NotOp>(at, {a.asIr()});
  bool fits = a.is(K::Mask) && b.is(K::Mask) && (op == "and" || op == "or" || op == "+");
  // `mask and true` chooses at import, as `true and mask` does.
  if (a.is(K::Mask) && b.is(K::Bool) && (op == "and" || op == "or"))
    return b.asBool() == (op == "and") ? a : b;
  if (!fits) {
    StringRef remedy = a.isArray() || b.isArray() ? "; say keys(t), queries(t) or dense(t) to make a tensor a mask"
                       : a.is(K::Bias) || b.is(K::Bias)
                           ? "; a bias is the attribute `bias` of attention, next to its `mask`"
                           : "";
    in.error(Error::MaskMix, at,
             "a mask combines only with masks, by and/or/not/+, found " + Twine(a.show()) + " " + op + " " + b.show() +
                 remedy);
    return Value::poison();
  }
  if (op == "and")
    return in.emitMask<mask::AndOp>(at, {a.asIr(), b.asIr()});
  if (op == "or")
    return in.emitMask<mask::OrOp>(at, {a.asIr(), b.asIr()});
  return in.emitMask<mask::AddOp>(at, {a.asIr(), b.asIr()});
}

/// Adds two biases or scales one by a constant; a - b is a + (-1)·b.
Value Arithmetic::biases(StringRef op, const Value &a, const Value &b, At at) {
  if (op == "+" && a.is(K::Bias) && b.is(K::Bias))
    return in.emitBias<attn::BiasAddOp>(at, {a.asIr(), b.asIr()});
  if (op == "-" && a.is(K::Bias) && b.is(K::Bias)) {
    Value minus = biases("*", b, Value::integer(-1), at);
    return biases("+", a, minus, at);
  }
  if ((op == "*" || op == "/") && a.is(K::Bias) && b.isNumber() && !(op == "/" && b.asReal() == 0)) {
    double factor = op == "*" ? b.asReal() : 1 / b.asReal();
    return in.emitBias<attn::BiasScaleOp>(at, {a.asIr()}, {in.realAttr("factor", factor)});
  }
  if (op == "*" && a.isNumber() && b.is(K::Bias))
    return biases(op, b, a, at);
  in.error(Error::MaskMix, at,
           "biases are added to each other or scaled by a constant, nothing else; found " + Twine(a.show()) + " " + op +
               " " + b.show());
  return Value::poison();
}
