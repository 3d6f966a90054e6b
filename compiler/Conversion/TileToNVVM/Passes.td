// From tiles to instructions.
#ifndef HEDDLE_COMPILER_CONVERSION_TILETONVVM_PASSES_TD
#define HEDDLE_COMPILER_CONVERSION_TILETONVVM_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileToNVVMPass : Pass<"heddle-tile-to-nvvm", "mlir::ModuleOp"> {
  let summary = "Turn tiles into instructions of sm_80 and later";
  let description = [{
    Each `tile.launch` becomes a loop over the tiles of a block. A fragment becomes one f32 for each element that a
    thread holds. A stream becomes a ring in the kernel's shared memory (the global `heddle_shared_KERNEL`) that
    `cp.async` fills, a group a round. A product becomes fused multiplications (`block`) or `mma.sync.m16n8k16` of
    bf16 with `ldmatrix` (`mma`). No op of the dialect `tile` is left.
  }];
  let dependentDialects = [
    "mlir::arith::ArithDialect", "mlir::LLVM::LLVMDialect", "mlir::NVVM::NVVMDialect", "mlir::math::MathDialect", "mlir::scf::SCFDialect",
    "mlir::vector::VectorDialect"];
}

#endif
