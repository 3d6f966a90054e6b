// The passes that stay inside the model dialect.
#ifndef HEDDLE_DIALECTS_MODEL_TRANSFORMS_PASSES_TD
#define HEDDLE_DIALECTS_MODEL_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def SplitLinearPass : Pass<"model-split-linear", "mlir::ModuleOp"> {
  let summary = "Make one linear of each used part of a linear";
  let description = [{
    A linear with several results becomes one linear for each used result; `part = j` says which. Parts and groups
    stay, so the weight rows of each part are packed separately. A discarded part is neither packed nor computed.
  }];
}

def ConvToLinearPass : Pass<"model-conv-to-linear", "mlir::ModuleOp"> {
  let summary = "Make a linear over windows of each convolution with large groups";
  let description = [{
    `model.conv` becomes `model.pad` (where it pads), `model.windows` and a `model.linear` with the filter as its
    weight, or one linear for each group and a `model.concat`. Convolutions stay if their groups have fewer than 16
    results, e.g. depthwise convolutions.
  }];
}

def SliceParametersPass : Pass<"model-slice-parameters", "mlir::ModuleOp"> {
  let summary = "Make a parameter of each matrix of a tensor that holds those of all experts";
  let description = [{
    `NAME` [experts, N, K], of which element `e` along the first axis is the weight of a linear (or [experts, N], the
    bias), becomes `NAME[e]` [N, K] there. A store of weights finds `NAME[e]` in the tensor `NAME` of the file, if none
    has that name itself. What reads the tensor in any other way still does.
  }];
}

def CodeWeightsPass : Pass<"model-code-weights", "mlir::ModuleOp"> {
  let summary = "Say which parameters are rounded to codes of 8 or 4 bits";
  let description = [{
    Gives `coded` to each f32 matrix that linears read as their weight, or an embedding as its table of tokens (ids
    that a caller must give), and that nothing else reads. A linear that has as many results as a table of tokens has
    rows makes logits: its matrix, and so a table that it shares, has 8 bits in groups of 32 whatever is asked. What
    chooses experts, matrices of fewer than 32 results or 64 features, and parameters that have codes already stay as
    they are.
  }];
  let options = [
    Option<"bits", "bits", "int64_t", "0", "of a code: 8 or 4; 0: nothing becomes codes">,
    Option<"group", "group", "int64_t", "128", "features that share a scale; 0: all of a row">,
    ListOption<"keep", "keep", "std::string", "names of parameters that stay, * is any text">
  ];
}

def FuseElementwisePass : Pass<"model-fuse-elementwise", "mlir::ModuleOp"> {
  let summary = "Join elementwise chains into maps and maps into the epilogue of their linear";
  let description = [{
    Every elementwise op becomes a `model.map`. A map is fused into the maps that use it if it is cheap to compute
    again or used once. If the only user of a linear is a map over the same shape, it becomes the epilogue of the
    linear, and its other operands become extras.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::math::MathDialect"];
}

def GateLinearsPass : Pass<"model-gate-linears", "mlir::ModuleOp"> {
  let summary = "Tell the linears of an expert which rows have chosen it";
  let description = [{
    A gate is a column of the result of a `model.top_k`. A linear gets the gate as an extra if a gate multiplies its
    result and nothing else reads it; so do the linears that only this one reads. Their epilogue begins with `gate !=
    0 ? sum : 0`. So an expert adds exactly 0 to a row that has not chosen it, and the sums of such rows need not be
    computed.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect"];
}

#endif
