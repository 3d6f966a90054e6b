//===- Element.cpp - bodies of maps and epilogues -------------------------===//
//
// A body is written on scalars; here it is emitted on vectors by giving each of its ops the
// vector type of what it had.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Language/Element.h"
#include "compiler/Conversion/Lowering/Language/Functions.h"
#include "dialects/Model/Transforms/Scalars.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::model;

/// Clones the ops of the body with the operands in place of its arguments. Functions (exp, gelu, ..) become our own
/// code, constants are splat, and results take the vector type of the operands, if they are vectors.
Value heddle::loops::emitRegion(Code &c, Region &region, ValueRange operands) {
  Block &block = region.front();
  // A body without operands that vary still yields a vector where its caller wants one.
  Type shape = c.f32();
  for (Value v : operands)
    if (isa<VectorType>(v.getType()))
      shape = v.getType();
  IRMapping map;
  map.map(block.getArguments(), operands);
  for (Operation &op : block.without_terminator()) {
    if (auto f = dyn_cast<FunctionOp>(op)) {
      map.map(f.getResult(), Functions(c).function(f.getKind(), map.lookup(f.getOperand())));
      continue;
    }
    if (auto k = dyn_cast<arith::ConstantOp>(op); k && isa<VectorType>(shape)) {
      auto type = cast<ShapedType>(Code::with(shape, k.getType()));
      map.map(k.getResult(), arith::ConstantOp::create(c.b, DenseElementsAttr::get(type, Attribute(k.getValue()))));
      continue;
    }
    Operation *copy = c.b.clone(op, map);
    for (Value result : copy->getResults())
      if (isa<VectorType>(shape))
        result.setType(Code::with(shape, result.getType()));
    map.map(op.getResults(), copy->getResults());
  }
  Value out = map.lookupOrDefault(block.getTerminator()->getOperand(0));
  return isa<VectorType>(shape) ? c.splat(out) : out;
}

Value heddle::loops::emitBody(Code &c, Operation *op, ValueRange operands) {
  if (auto map = dyn_cast<MapOp>(op))
    return operands.empty() ? c.splat(emitRegion(c, map.getBody(), operands)) : emitRegion(c, map.getBody(), operands);
  return emitElement(c.b, op, operands, [&](UnaryKind kind, Value v) { return Functions(c).function(kind, v); });
}
