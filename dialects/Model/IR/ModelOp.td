// What the files of ops of the `model` dialect share.
#ifndef HEDDLE_DIALECTS_MODEL_IR_MODELOP_TD
#define HEDDLE_DIALECTS_MODEL_IR_MODELOP_TD

include "dialects/Model/IR/ModelAttrs.td"
include "dialects/Model/IR/StepInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

class Model_Op<string mnemonic, list<Trait> traits = []> : Op<Model_Dialect, mnemonic, traits>;

/// An op whose result types are inferred. How rows depend on rows (StepInterface.td) is part of `step`: `RowWise`,
/// `OwnStep`, or `NoStep`, which is the default: an op that says nothing has no cached step, and padding stays.
class Model_Infer<string mnemonic, list<Trait> traits = [], list<Trait> step = NoStep>
    : Model_Op<mnemonic, traits # step # [Pure, InferTypeOpAdaptor]>;

class Model_Enum<string name, string summary, list<string> words>
    : I32EnumAttr<name, summary, !foreach(i, !range(!size(words)),
        I32EnumAttrCase<!cast<string>(words[i]), i, words[i]>)> {
  let cppNamespace = "::heddle::model";
}

#endif
