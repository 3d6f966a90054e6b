// From tensors to loops: memory and cache layout are planned, then code is made.
#ifndef HEDDLE_COMPILER_CONVERSION_TOLOOPS_PASSES_TD
#define HEDDLE_COMPILER_CONVERSION_TOLOOPS_PASSES_TD

include "mlir/Pass/PassBase.td"

def PlanCachePass : Pass<"attn-plan-cache", "mlir::ModuleOp"> {
  let summary = "Lay out the states that only attention reads for the attention kernel";
  let description = [{
    A state whose rows, appended or loaded, feed the keys (or the values) of attention and
    nothing else gets `cache = {kind = "keys" | "values", heads = g}` on its `model.append`,
    `model.load` and `model.store`, and the same as `model.cache` on the functions' arguments;
    CacheLayout.h says how it then lies. Where `model.dtype` is "bf16" or "f16" so is the state, and
    the mark says so: `element = "bf16"`.

    Where the masks of all readers limit how far back a row looks, the mark of appended rows
    says `ring = n`, and @step gets `model.pieces = {longest, beyond}`: a text that may get
    longer than `beyond` comes in calls of at most `longest` new rows.
  }];
  let options = [
    Option<"longestPiece", "longest-piece", "int64_t", "512", "new rows of a call where there are rings">
  ];
}

def PlanMemoryPass : Pass<"model-plan-memory", "mlir::ModuleOp"> {
  let summary = "Give every result its place in the arena, in an output, or over an operand";
  let description = [{
    Writes `place` on each op with results of its own ("arena OFFSET" or "output K"), `scratch`
    on ops that need working memory, `copy_in`/`copy_out` on repeats, `copies` on the return
    and `arena` (bytes) on the function; offsets are size forms.
  }];
}

def ConvertToLoopsPass : Pass<"convert-heddle-to-loops", "mlir::ModuleOp"> {
  let summary = "Turn the functions of stage `buffers` into SPMD loops over memory";
  let options = [
    Option<"vectorWidth", "vector-width", "int64_t", "16", "f32 lanes of a vector register">,
    Option<"registers", "registers", "int64_t", "32", "vector registers">,
    Option<"longestFunction", "longest-function", "int64_t", "16000", "ops above which a function becomes several">
  ];
  let dependentDialects = [
    "mlir::arith::ArithDialect", "mlir::func::FuncDialect", "mlir::LLVM::LLVMDialect",
    "mlir::math::MathDialect", "mlir::scf::SCFDialect",
    "mlir::vector::VectorDialect"];
}

def AddEntryTablePass : Pass<"heddle-add-entry-table", "mlir::ModuleOp"> {
  let summary = "Add the table of entries that the runtime reads";
  let description = [{
    The global `heddle_entries` holds the addresses of the functions in the order of the card.
    Runs when they are functions of LLVM, since an address needs its target.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif
