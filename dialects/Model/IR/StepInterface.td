// How the rows of results depend on the rows of operands: all that the derivation of the
// cached step (compiler/Conversion/ModelToEntries) asks of an op. No op knows of caches.
#ifndef HEDDLE_DIALECTS_MODEL_IR_STEPINTERFACE_TD
#define HEDDLE_DIALECTS_MODEL_IR_STEPINTERFACE_TD

include "mlir/IR/OpBase.td"

def Model_StepInterface : OpInterface<"StepInterface"> {
  let cppNamespace = "::heddle::model";
  let description = [{
    An op treats the rows of an axis independently, mixes them in order (cumsum, a convolution padded before), or
    mixes them in a way that no step can follow. An op without this interface has no relation: what needs one refuses
    the op by its name. An op with the trait `RowWise` has that of elementwise ops: axes aligned from the right,
    independent rows.
  }];
  let methods = [
    InterfaceMethod<"How rows of the results depend on those of `operand` along its axis `axis`.",
      "::heddle::model::StepRelation", "relateStep", (ins "unsigned":$operand, "unsigned":$axis), "",
      [{ return ::heddle::model::relateRowWise($_op, operand, axis); }]>,
  ];
}

def Model_SidesInterface : OpInterface<"SidesInterface"> {
  let cppNamespace = "::heddle::model";
  let description = [{
    Masks and biases speak of pairs (query row, key row). Which of the two a tensor that they
    hold is indexed by.
  }];
  let methods = [
    InterfaceMethod<"What the rows of `operand` stand for.",
      "::heddle::model::StepSide", "stepSide", (ins "unsigned":$operand), "",
      [{ return ::heddle::model::StepSide::None; }]>,
  ];
}

// An op with its own answer says `OwnStep` (`OwnSides`) where others say `RowWise` (`NoSides`). `NoStep` is an op that
// nothing is known of.
defvar NoStep = []<Trait>;
defvar RowWise = [Model_StepInterface];
defvar OwnStep = [DeclareOpInterfaceMethods<Model_StepInterface, ["relateStep"]>];
defvar NoSides = [Model_SidesInterface];
defvar OwnSides = [DeclareOpInterfaceMethods<Model_SidesInterface, ["stepSide"]>];

#endif
