// Passes that use the interpreter.
#ifndef HEDDLE_COMPILER_INTERPRETER_PASSES_TD
#define HEDDLE_COMPILER_INTERPRETER_PASSES_TD

include "mlir/Pass/PassBase.td"

def FoldConstantsPass : Pass<"model-fold-constants", "mlir::ModuleOp"> {
  let summary = "Evaluate in f64 what depends on constants alone";
  let description = [{
    A pure op whose operands are all `model.constant` (or that has none, as `model.range` and
    `attn.alibi_slopes`) and whose results have constant lengths and at most 1 Mi elements
    becomes `model.constant`, at the op's own location, inside bodies of repeats too.
    Parameters are never folded. What cannot be evaluated (an id outside of a table) is left
    for the run to report.
  }];
}

#endif
