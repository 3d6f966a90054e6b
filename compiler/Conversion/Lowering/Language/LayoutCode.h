//===- LayoutCode.h - the places of a layout as code ------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_LANGUAGE_LAYOUTCODE_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_LANGUAGE_LAYOUTCODE_H

#include "compiler/Conversion/Lowering/Language/Code.h"

namespace heddle::loops {

/// The numbers with which WeightLayout computes places and rows, as code.
struct LayoutCode {
  Code &c;
  Value add(Value x, Value y) const { return c.add(x, y); }
  Value add(Value x, int64_t y) const { return c.add(x, y); }
  Value mul(Value x, Value y) const { return c.mul(x, y); }
  Value mul(Value x, int64_t y) const { return c.mul(x, y); }
  Value div(Value x, int64_t y) const { return c.div(x, c.constant(y)); }
  Value rem(Value x, int64_t y) const { return c.rem(x, c.constant(y)); }
};

} // namespace heddle::loops

#endif
