//===- MaskEmission.cpp - segments, hulls and predicates of each op -------===//

#include "dialects/Mask/IR/Mask.h"

using namespace mlir;
using namespace heddle::mask;

Segment AllOp::emitSegment(Emitter &, Value) { return {}; }
Hull AllOp::emitHull(Emitter &) { return {}; }
Value AllOp::emitContains(Emitter &, Value, Value) { return {}; }
Segment CausalOp::emitSegment(Emitter &, Value) { return {}; }
Hull CausalOp::emitHull(Emitter &) { return {}; }
Value CausalOp::emitContains(Emitter &, Value, Value) { return {}; }
Segment WindowOp::emitSegment(Emitter &, Value) { return {}; }
Hull WindowOp::emitHull(Emitter &) { return {}; }
Value WindowOp::emitContains(Emitter &, Value, Value) { return {}; }
Segment DilatedOp::emitSegment(Emitter &, Value) { return {}; }
Hull DilatedOp::emitHull(Emitter &) { return {}; }
Value DilatedOp::emitContains(Emitter &, Value, Value) { return {}; }
Segment KeysOp::emitSegment(Emitter &, Value) { return {}; }
Hull KeysOp::emitHull(Emitter &) { return {}; }
Value KeysOp::emitContains(Emitter &, Value, Value) { return {}; }
Segment QueriesOp::emitSegment(Emitter &, Value) { return {}; }
Hull QueriesOp::emitHull(Emitter &) { return {}; }
Value QueriesOp::emitContains(Emitter &, Value, Value) { return {}; }
Segment PrefixOp::emitSegment(Emitter &, Value) { return {}; }
Hull PrefixOp::emitHull(Emitter &) { return {}; }
Value PrefixOp::emitContains(Emitter &, Value, Value) { return {}; }
Segment DocumentOp::emitSegment(Emitter &, Value) { return {}; }
Hull DocumentOp::emitHull(Emitter &) { return {}; }
Value DocumentOp::emitContains(Emitter &, Value, Value) { return {}; }
Segment BlocksOp::emitSegment(Emitter &, Value) { return {}; }
Hull BlocksOp::emitHull(Emitter &) { return {}; }
Value BlocksOp::emitContains(Emitter &, Value, Value) { return {}; }
Segment DenseOp::emitSegment(Emitter &, Value) { return {}; }
Hull DenseOp::emitHull(Emitter &) { return {}; }
Value DenseOp::emitContains(Emitter &, Value, Value) { return {}; }
Segment AndOp::emitSegment(Emitter &, Value) { return {}; }
Hull AndOp::emitHull(Emitter &) { return {}; }
Value AndOp::emitContains(Emitter &, Value, Value) { return {}; }
Segment OrOp::emitSegment(Emitter &, Value) { return {}; }
Hull OrOp::emitHull(Emitter &) { return {}; }
Value OrOp::emitContains(Emitter &, Value, Value) { return {}; }
Segment AddOp::emitSegment(Emitter &, Value) { return {}; }
Hull AddOp::emitHull(Emitter &) { return {}; }
Value AddOp::emitContains(Emitter &, Value, Value) { return {}; }
Segment NotOp::emitSegment(Emitter &, Value) { return {}; }
Hull NotOp::emitHull(Emitter &) { return {}; }
Value NotOp::emitContains(Emitter &, Value, Value) { return {}; }
Segment SelectOp::emitSegment(Emitter &, Value) { return {}; }
Hull SelectOp::emitHull(Emitter &) { return {}; }
Value SelectOp::emitContains(Emitter &, Value, Value) { return {}; }
