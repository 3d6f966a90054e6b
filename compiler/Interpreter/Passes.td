// Passes that use the interpreter.
#ifndef HEDDLE_COMPILER_INTERPRETER_PASSES_TD
#define HEDDLE_COMPILER_INTERPRETER_PASSES_TD

include "mlir/Pass/PassBase.td"

def FoldConstantsPass : Pass<"model-fold-constants", "mlir::ModuleOp"> {
  let summary = "Evaluate in f64 what depends on constants alone";
  let description = [{
    A pure op becomes `model.constant`, at its location, if all its operands are `model.constant` (or it has none, as
    `model.range` and `attn.alibi_slopes`). Its results must have constant lengths and at most 1 Mi elements. This
    holds inside bodies of repeats too. Parameters are never folded. An op that cannot be evaluated (an id outside of
    a table) stays, so the run reports it.
  }];
}

#endif
