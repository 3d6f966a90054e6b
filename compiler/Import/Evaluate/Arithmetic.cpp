// Binary and unary operators: chooses by the kinds of the operands whether an operator works on masks, biases, tensors,
// lengths or numbers. The arithmetic of each kind is in ArithmeticMasks, ArithmeticTensors and ArithmeticNumbers.
#include "compiler/Import/Evaluate/Arithmetic.h"

#include "llvm/ADT/STLExtras.h"

using namespace heddle;
using llvm::StringRef;
using llvm::Twine;
using K = Value::Kind;

bool heddle::isComparison(StringRef op) {
  return op == "==" || op == "!=" || op == "<" || op == "<=" || op == ">" || op == ">=";
}

/// Applies `a op b`. The order of the tests is the order of precedence of kinds: a mask or a bias on either side
/// decides first, since they mix with nothing else; then null, truth values, tensors (which take numbers and lengths as
/// their elements), lists and strings, lengths, and numbers last. What none of them takes is an error at the operator.
Value Arithmetic::binary(StringRef op, Value a, Value b, At at) {
  if (a.is(K::Mask) || b.is(K::Mask))
    return masks(op, a, b, at);
  if (a.is(K::Bias) || b.is(K::Bias))
    return biases(op, a, b, at);
  // `in` compares anything with the members of a list, or looks for a part of a string.
  if (op == "in") {
    if (b.is(K::List))
      return Value::boolean(llvm::any_of(b.asList(), [&](const Value &x) { return equalConstants(a, x); }));
    if (a.is(K::String) && b.is(K::String))
      return Value::boolean(b.asString().find(a.asString()) != std::string::npos);
    in.error(Error::WrongValue, at,
             "in: a member of a list or a part of a string expected, found " + Twine(a.show()) + " in " + b.show());
    return Value::poison();
  }
  if (a.isNull() || b.isNull()) {
    if (op == "==" || op == "!=")
      return Value::boolean((a.isNull() && b.isNull()) == (op == "=="));
    in.error(Error::AbsentValue, at, "null in arithmetic; give a default with ??");
    return Value::poison();
  }
  // Logic: on tensors elementwise, on two constants at once.
  bool hasArray = a.isArray() || b.isArray();
  if (op == "and" || op == "or") {
    for (const Value *v : {&a, &b})
      if (!v->isArray() && !v->is(K::Bool)) {
        in.error(Error::WrongValue, at,
                 "true or false expected on both sides of '" + op + "', found " + Twine(v->show()));
        return Value::poison();
      }
    if (a.is(K::Bool) && b.is(K::Bool))
      return Value::boolean(op == "and" ? a.asBool() && b.asBool() : a.asBool() || b.asBool());
    return tensors(op, a, b, at);
  }
  auto mayBeElement = [](const Value &v) { return v.isArray() || v.isNumber() || v.is(K::Size) || v.is(K::Bool); };
  if (hasArray && mayBeElement(a) && mayBeElement(b))
    return tensors(op, a, b, at);
  if (a.is(K::List) && b.is(K::List) && op == "+") {
    std::vector<Value> items = a.asList();
    items.insert(items.end(), b.asList().begin(), b.asList().end());
    return Value::list(std::move(items));
  }
  if (a.is(K::String) && b.is(K::String) && op == "+")
    return Value::string(a.asString() + b.asString());
  // Without tensors only lengths and numbers are left for arithmetic; anything can be compared for equality.
  auto isLength = [](const Value &v) { return v.is(K::Size) || v.is(K::Integer); };
  if ((a.is(K::Size) || b.is(K::Size)) && (isLength(a) || a.is(K::Real)) && (isLength(b) || b.is(K::Real)))
    return lengths(op, a, b, at);
  if (a.isNumber() && b.isNumber())
    return numbers(op, a, b, at);
  if (op == "==" || op == "!=")
    return Value::boolean(equalConstants(a, b) == (op == "=="));
  in.error(Error::WrongValue, at,
           Twine(isComparison(op) ? "these cannot be compared" : "numbers or tensors expected") + ", found " +
               a.show() + " " + op + " " + b.show());
  return Value::poison();
}

Value Arithmetic::logicalNot(Value v, At at) {
  if (v.isBad())
    return v;
  if (v.is(K::Bool))
    return Value::boolean(!v.asBool());
  if (v.is(K::Mask))
    return masks("not", v, v, at);
  if (v.isArray())
    return tensors("not", v, v, at);
  in.error(Error::WrongValue, at, "not: true, false, a tensor or a mask expected, found " + Twine(v.show()));
  return Value::poison();
}

/// `-v`. A real is subtracted from -0.0, so that -(0.0) is -0.0 as IEEE has it; a length and a bias are scaled by -1.
Value Arithmetic::negate(Value v, At at) {
  if (v.isBad())
    return v;
  if (v.is(K::Bias))
    return biases("*", v, Value::integer(-1), at);
  if (v.is(K::Integer) || v.is(K::Real))
    return numbers("-", v.is(K::Integer) ? Value::integer(0) : Value::real(-0.0), v, at);
  if (v.is(K::Size))
    return lengths("*", v, Value::integer(-1), at);
  if (v.isArray())
    return mathFunction("neg", v, at);
  in.error(Error::WrongValue, at, "a number or a tensor expected after '-', found " + Twine(v.show()));
  return Value::poison();
}
