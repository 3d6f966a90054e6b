//===- Length.h - a length that stays a form --------------------*- C++ -*-===//
//
// What the lowering computes of lengths it knows twice: as code, and as a form over the dims of the entry. Arithmetic
// on a Length keeps both, so the number of items of a loop is known as a form where the loop is made.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_FRAME_LENGTH_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_FRAME_LENGTH_H

#include "compiler/Conversion/Lowering/Language/Code.h"
#include "dialects/Model/IR/Size.h"

namespace heddle::loops {

struct Length {
  Value value;      ///< index
  model::Size form; ///< over the dims of the entry and those that it has found out
  operator Value() const { return value; }
};

/// Index arithmetic that keeps forms where all operands have one.
class LengthCode : public Code {
public:
  using Code::add, Code::sub, Code::mul, Code::div, Code::min, Code::max;
  using Code::Code;

  Length add(const Length &x, const Length &y) { return {add(x.value, y.value), x.form + y.form}; }
  Length sub(const Length &x, const Length &y) { return {sub(x.value, y.value), x.form - y.form}; }
  Length mul(const Length &x, const Length &y) { return {mul(x.value, y.value), x.form * y.form}; }
  Length div(const Length &x, const Length &y) { return {div(x.value, y.value), x.form.floorDiv(y.form)}; }
  Length min(const Length &x, const Length &y) { return {min(x.value, y.value), model::Size::min(x.form, y.form)}; }
  Length max(const Length &x, const Length &y) { return {max(x.value, y.value), model::Size::max(x.form, y.form)}; }
  Length add(const Length &x, int64_t y) { return add(x, number(y)); }
  Length mul(const Length &x, int64_t y) { return mul(x, number(y)); }
  Length div(const Length &x, int64_t y) { return div(x, number(y)); }
  Length number(int64_t n) { return {constant(n), n}; }
  /// The parts of x, of `size` each, the last of which may be smaller.
  Length parts(const Length &x, int64_t size) { return div(add(x, size - 1), size); }
};

} // namespace heddle::loops

#endif
