// The interface of the mask dialect: what is known of a mask without running it. Simplification,
// proofs, padding, reports and messages are derived from it; nothing outside of the dialect asks which
// op a leaf is. Code is generated through MaskCodeInterface (dialects/Mask/Emission).
#ifndef HEDDLE_DIALECTS_MASK_IR_MASKINTERFACES_TD
#define HEDDLE_DIALECTS_MASK_IR_MASKINTERFACES_TD

include "mlir/IR/OpBase.td"

def Mask_MaskOpInterface : OpInterface<"MaskOpInterface"> {
  let cppNamespace = "::heddle::mask";
  let description = [{
    A mask value is a predicate visible(b, h, i, k) on query position i and key k. Every op that
    defines one answers; the default of each question is the answer that is true of any mask.
  }];
  let methods = [
    InterfaceMethod<[{
      (ahead, behind): the largest j - i and i - j let through; none: without limit. Proves
      causality for the cached step and bounds ring caches.
    }], "::heddle::mask::Reach", "reach", (ins), [{}], [{ return {}; }]>,
    InterfaceMethod<"The axes the predicate varies with; the default: those of the tensors that it reads.",
      "::heddle::mask::Axes", "dependsOn", (ins), [{}], [{ return ::heddle::mask::axesRead($_op); }]>,
    InterfaceMethod<[{
      Along which axes of the scores its tensors lie: one entry an operand, two for one that is read
      by queries and by keys. Verified where an attention asks the mask; the cached step reads each
      tensor on the side that it is of.
    }], "::llvm::SmallVector<::heddle::mask::Reading>", "axesOf", (ins), [{}], [{ return {}; }]>,
    InterfaceMethod<[{
      What does not fit the scores of an attention, in words; nothing: all fits. The default
      compares the axes of axesOf().
    }], "std::optional<std::string>", "misfit", (ins "const ::heddle::mask::Scores &":$scores), [{}],
       [{ return ::heddle::mask::misfitOfAxes($_op, scores); }]>,
    InterfaceMethod<[{
      What it says of every pair of a key of which `keys(t)` says what the callback answers for t
      (Kleene's logic): whether it hides padding, or is decided whatever the data.
    }], "::heddle::mask::Truth", "implies", (ins "::heddle::mask::KeysTruth":$keys), [{}],
       [{ return ::heddle::mask::Truth::Unknown; }]>,
    InterfaceMethod<"What of positions it reads; the default is that of a mask that cannot be moved.",
      "::heddle::mask::Positions", "positions", (ins), [{}], [{ return ::heddle::mask::Positions::Absolute; }]>,
    InterfaceMethod<"The mask as a description writes it; `tensor` says a tensor. The default: mnemonic(operands).",
      "std::string", "describe", (ins "::heddle::mask::TensorName":$tensor), [{}],
      [{ return ::heddle::mask::call($_op, tensor); }]>,
    InterfaceMethod<"What data to make up for its first tensor, to show what the mask does.",
      "::heddle::mask::Example", "exampleData", (ins), [{}], [{ return ::heddle::mask::Example::None; }]>,
    InterfaceMethod<[{
      Whether the mask is a band, keys at or past a lower and below an upper bound that never
      decrease with the row, and which of the two sides it has.
    }], "::heddle::mask::Sides", "sides", (ins), [{}], [{ return ::heddle::mask::Sides::NotABand; }]>,
    InterfaceMethod<"The bound of one of its `sides`.",
      "::heddle::mask::Bound", "bound", (ins "::heddle::mask::Sides":$side), [{}], [{ return {}; }]>,
    InterfaceMethod<"Proves that every row sees its `witness` (MaskProofs.cpp); false proves nothing.",
      "bool", "surelySees", (ins "::heddle::mask::Witness":$witness, "const ::heddle::mask::Facts &":$facts), [{}], [{ return false; }]>,
    InterfaceMethod<[{
      Makes the table that its segments are looked up in, by code at `b`; null: it wants none, because
      it has one, or reads nothing, or one element for all rows or keys, or reals.
    }], "::mlir::Value", "createTable", (ins "::mlir::OpBuilder &":$b), [{}], [{ return {}; }]>,
    InterfaceMethod<"Takes the table that it made.", "void", "setTable", (ins "::mlir::Value":$table), [{}],
      [{ llvm_unreachable("a mask without a table"); }]>,
    InterfaceMethod<[{
      The mask over `operands`, whose tensor that queries and keys read in common is theirs for the
      queries and `keys` for the keys. Asked of masks that read such a tensor only.
    }], "::mlir::Value", "withKeys", (ins "::mlir::OpBuilder &":$b, "::mlir::ValueRange":$operands, "::mlir::Value":$keys), [{}],
       [{ llvm_unreachable("a mask whose queries and keys read no tensor in common"); }]>,
  ];
}

def Mask_MaskUserInterface : OpInterface<"MaskUserInterface"> {
  let cppNamespace = "::heddle::mask";
  let description = "An op that asks a mask about a grid of rows and keys: what it knows of the two.";
  let methods = [InterfaceMethod<"Lengths and positions of the grid.", "::heddle::mask::Grid", "maskGrid", (ins)>];
}
#endif
