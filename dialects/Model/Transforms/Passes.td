// The passes that stay inside the model dialect.
#ifndef HEDDLE_DIALECTS_MODEL_TRANSFORMS_PASSES_TD
#define HEDDLE_DIALECTS_MODEL_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def SplitLinearPass : Pass<"model-split-linear", "mlir::ModuleOp"> {
  let summary = "Make one linear of each used part of a linear";
  let description = [{
    A linear with several results becomes one linear a USED result: `part = j` says which,
    parts and groups stay, so each part's weight rows are packed on their own and a discarded
    part is neither packed nor computed.
  }];
}

def ConvToLinearPass : Pass<"model-conv-to-linear", "mlir::ModuleOp"> {
  let summary = "Make a linear over windows of each convolution with large groups";
  let description = [{
    `model.conv` becomes `model.pad` (where it pads), `model.windows` and a `model.linear` whose weight is the
    filter, or one linear a group and a `model.concat`. What stays has groups of fewer than 16 results, as depthwise
    convolutions have.
  }];
}

def FuseElementwisePass : Pass<"model-fuse-elementwise", "mlir::ModuleOp"> {
  let summary = "Join elementwise chains into maps and maps into the epilogue of their linear";
  let description = [{
    Every elementwise op becomes a `model.map`; a map joins the maps that use it where it is
    cheap to compute again or used once. A linear whose only user is a map over its own shape
    takes it as epilogue, the other operands as extras.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::math::MathDialect"];
}

#endif
