// The one interface of the mask dialect. Loop bounds, loop bodies, pictures, reports and
// proofs are all derived from it; nothing downstream looks at the kind of a mask.
#ifndef HEDDLE_DIALECTS_MASK_IR_MASKINTERFACES_TD
#define HEDDLE_DIALECTS_MASK_IR_MASKINTERFACES_TD

include "mlir/IR/OpBase.td"

def Mask_MaskOpInterface : OpInterface<"MaskOpInterface"> {
  let cppNamespace = "::heddle::mask";
  let description = [{
    A mask value is a predicate visible(b, h, i, k) on query position i and key k. Every op
    that defines one answers:
  }];
  let methods = [
    InterfaceMethod<[{
      The state of the keys from `key` on, for the tile of rows that `emitter` stands for: `any`
      row may see them, `all` rows surely see them, and nothing changes before `end` > key.
    }], "::heddle::mask::Segment", "emitSegment", (ins "::heddle::mask::Emitter &":$emitter, "::mlir::Value":$key)>,
    InterfaceMethod<[{
      A half-open range of keys outside of which no row of the tile sees anything. Null members
      mean "not bounded here".
    }], "::heddle::mask::Hull", "emitHull", (ins "::heddle::mask::Emitter &":$emitter)>,
    InterfaceMethod<[{
      The predicate itself for position `row` (index) and `key`, an index or consecutive keys as
      a vector<Nxi32>: i1, or a vector of them. `tile` stands behind `row`, before `key`.
    }], "::mlir::Value", "emitContains", (ins "::heddle::mask::Emitter &":$emitter, "::mlir::Value":$row, "::mlir::Value":$key)>,
    InterfaceMethod<[{
      (ahead, behind): the largest j - i and i - j let through; none: without limit. Proves
      causality for the cached step and bounds ring caches.
    }], "::heddle::mask::Reach", "reach", (ins)>,
    InterfaceMethod<"The axes the predicate varies with.", "::heddle::mask::Axes", "dependsOn", (ins)>,
    InterfaceMethod<[{
      Whether the mask is a band, keys at or past a lower and below an upper bound that never
      decrease with the row, and which of the two sides it has.
    }], "::heddle::mask::Sides", "sides", (ins), [{}], [{ return ::heddle::mask::Sides::NotABand; }]>,
    InterfaceMethod<[{
      The bound of one of its `sides` at position `row` (index), by code at `b`.
    }], "::mlir::Value", "emitBound", (ins "::heddle::mask::Emitter &":$emitter, "::mlir::OpBuilder &":$b, "::mlir::Value":$row, "::heddle::mask::Sides":$side),
       [{}], [{ return ::mlir::Value(); }]>,
    InterfaceMethod<"Proves that every row sees its `witness` (MaskProofs.cpp); false proves nothing.",
      "bool", "surelySees", (ins "::heddle::mask::Witness":$witness, "const ::heddle::mask::Facts &":$facts), [{}], [{ return false; }]>,
  ];
}

def Mask_MaskUserInterface : OpInterface<"MaskUserInterface"> {
  let cppNamespace = "::heddle::mask";
  let description = "An op that asks a mask about a grid of rows and keys: what it knows of the two.";
  let methods = [InterfaceMethod<"Lengths and positions of the grid.", "::heddle::mask::Grid", "maskGrid", (ins)>];
}
#endif
