// The interface for the code of masks. Every op of the dialect implements it, by external models in
// this folder (registerMaskEmission), so that the ops themselves know no loops and no vectors.
#ifndef HEDDLE_DIALECTS_MASK_EMISSION_EMISSIONINTERFACE_TD
#define HEDDLE_DIALECTS_MASK_EMISSION_EMISSIONINTERFACE_TD

include "mlir/IR/OpBase.td"

def Mask_CodeInterface : OpInterface<"MaskCodeInterface"> {
  let cppNamespace = "::heddle::mask";
  let description = "Where a tile of rows looks, and whether a row sees a key.";
  let methods = [
    InterfaceMethod<[{
      The state of the keys from `key` on, for the tile of rows that `emitter` stands for: `any`
      row may see them, `all` rows surely see them, and nothing changes before `end` > key. `all` is
      only ever claimed where true, `any` only denied where true; the undecided costs a test an element.
    }], "::heddle::mask::Segment", "emitSegment", (ins "::heddle::mask::Emitter &":$emitter, "::mlir::Value":$key)>,
    InterfaceMethod<[{
      A half-open range of keys outside of which no row of the tile sees anything. Null members
      mean "not bounded here".
    }], "::heddle::mask::Hull", "emitHull", (ins "::heddle::mask::Emitter &":$emitter)>,
    InterfaceMethod<[{
      The predicate itself for position `row` (index) and `key`, an index or consecutive keys as
      a vector<Nxi32>: i1, or a vector of them. `tile` stands behind `row`, before `key`.
    }], "::mlir::Value", "emitContains", (ins "::heddle::mask::Emitter &":$emitter, "::mlir::Value":$row, "::mlir::Value":$key)>,
  ];
}
#endif
