// From tensors to loops over warps.
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_GPU_PASSES_TD
#define HEDDLE_COMPILER_CONVERSION_LOWERING_GPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def GroupWeightsPass : Pass<"heddle-group-weights", "mlir::ModuleOp"> {
  let summary = "Choose the weights that lie in groups on a device";
  let description = [{
    A parameter in panels of bf16 gets `tile.groups` if only linears of pairs read it and its features are a
    multiple of 16. On the way to the device its words are put in the order in which units fetch them
    (`dialects/Tile`, `left` and `right`). `tile.regrouped` of the module lists these parameters.
  }];
  let dependentDialects = ["heddle::tile::TileDialect"];
}

def ConvertToWarpsPass : Pass<"convert-heddle-to-warps", "mlir::ModuleOp"> {
  let summary = "Turn the functions of stage `buffers` into SPMD loops over memory, a warp a team";
  let description = [{
    As `convert-heddle-to-loops`, with the 32 threads of a warp in the place of a vector register. `tid` and `nth` of an
    entry are the number of a warp and how many there are; a barrier is where all of them would meet, and where
    `heddle-split-kernels` cuts. Loops over dealt items carry `tile.items`, entries their dims in `tile.dims`.
  }];
  let dependentDialects = [
    "mlir::arith::ArithDialect", "mlir::func::FuncDialect", "mlir::LLVM::LLVMDialect", "mlir::NVVM::NVVMDialect",
    "mlir::math::MathDialect", "mlir::scf::SCFDialect", "mlir::vector::VectorDialect", "heddle::tile::TileDialect",
    "heddle::card::CardDialect"];
}

#endif
