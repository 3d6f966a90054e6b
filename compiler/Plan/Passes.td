// Passes that decide and write attributes (dialects/Model/IR/ModelAttrs.td, dialects/Attn/IR/AttnAttrs.td). They make no code.
#ifndef HEDDLE_COMPILER_PLAN_PASSES_TD
#define HEDDLE_COMPILER_PLAN_PASSES_TD

include "mlir/Pass/PassBase.td"

def PlanParametersPass : Pass<"model-plan-parameters", "mlir::ModuleOp"> {
  let summary = "Give every parameter its packing and its place in the weights blob";
  let description = [{
    Writes `layout`, `offset` (bytes, at index values 0) and `strides` (bytes an index operand) on each `model.param`,
    and the list of packed entries as `model.blob` on the module (see ParameterBlob.h). A parameter that a linear
    reads is stored in panels; an embedding of the same tensor reads panels too. If `model.dtype` is "bf16" or "f16",
    both are stored in it; every other parameter keeps its type.
  }];
}

def PlanCachePass : Pass<"attn-plan-cache", "mlir::ModuleOp"> {
  let summary = "Lay out the states that only attention reads for the attention kernel";
  let description = [{
    A state gets an #attn.cache if its rows, appended or loaded, feed only the keys (or only the values) of attention.
    The attribute is on its `model.append`, `model.load` and `model.store`, and on the functions' arguments. If
    `model.dtype` is "bf16" or "f16", so is the state.

    If the masks of all readers limit how far back a row looks, the cache has `ring = n`, and @step gets a
    `#model.pieces`.
  }];
  let options = [
    Option<"longestPiece", "longest-piece", "int64_t", "512", "new rows of a call where there are rings">
  ];
}

def PlanSchedulesPass : Pass<"model-plan-schedules", "mlir::ModuleOp"> {
  let summary = "Give every linear, matmul and attention its tiles";
  let description = [{
    Writes a #model.schedule on each `model.linear` and `model.matmul` and an #attn.schedule on each `attn.sdpa`, as the
    target likes them. What has one keeps it.
  }];
  let options = [
    Option<"panel", "panel", "int64_t", "0", "results of a tile of a product, and so of a panel of its weights; 0: as the target likes them">
  ];
}

def PlanMemoryPass : Pass<"model-plan-memory", "mlir::ModuleOp"> {
  let summary = "Give every result its place in the arena, in an output, or over an operand";
  let description = [{
    Writes `model.place` on each op that stores results, and `model.scratch` on ops that need scratch memory; each
    place with how long it is used and how large it is. Repeats get `model.copy_in` and `model.copy_back`, the return
    `model.copies`, the function `model.arena` (bytes). Offsets are size forms.
  }];
}

def ReportArenaPass : Pass<"model-report-arena", "mlir::ModuleOp"> {
  let summary = "Say how much of each function's arena lives at once";
  let description = [{
    A remark for each function that has a memory plan: the bytes of its arena, and the most bytes that live at once.
    Where they differ it names two values one above the other that never live together. A function is left out if one
    of its dims has no length. Changes nothing.
  }];
  let options = [
    ListOption<"dims", "dims", "std::string", "NAME=NUMBER: lengths; threads is 1 unless it is named">
  ];
}

#endif
