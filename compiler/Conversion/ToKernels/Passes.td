// From SPMD entries to kernels.
#ifndef HEDDLE_COMPILER_CONVERSION_TOKERNELS_PASSES_TD
#define HEDDLE_COMPILER_CONVERSION_TOKERNELS_PASSES_TD

include "mlir/Pass/PassBase.td"

def SplitKernelsPass : Pass<"heddle-split-kernels", "mlir::ModuleOp"> {
  let summary = "Cut SPMD entries at their barriers into kernels";
  let description = [{
    The code between two barriers of an entry (a phase) becomes a function with the signature `(fail, dims, tensors,
    arena, weights, i, j, numbers)` and the attribute `tile.kernel`. It computes values from before the barrier
    again from these arguments: pure ops, loads of dims and of tensors, and loads with `tile.kept`. Any other value
    that lives across a barrier is an error. A loop with barriers inside is a loop of launches, its variable `i` (`j`
    inside another); a condition with barriers inside becomes one inside of each kernel. Phases between two such loops
    that do not touch what the other writes are one kernel (`tile.place` tells places in the arena apart), unless
    `alone`. The entries go. Each kernel says in `tile.launches` how it is launched, of which entry, and with which
    number; `card.entries` has the repeats around these numbers.
  }];
  let options = [Option<"alone", "alone", "bool", "false", "make each phase a kernel">];
  let dependentDialects = [
    "mlir::arith::ArithDialect", "mlir::func::FuncDialect", "mlir::LLVM::LLVMDialect", "mlir::NVVM::NVVMDialect",
    "mlir::scf::SCFDialect", "heddle::card::CardDialect",
    "heddle::tile::TileDialect"];
}

def JoinKernelsPass : Pass<"heddle-join-kernels", "mlir::ModuleOp"> {
  let summary = "Make kernels that are equal but for numbers one kernel";
  let description = [{
    Kernels become one if they differ only in places in the arena and among the weights, in the tensors of the call
    that they read, and in lengths. The kernel reads the differences from `numbers`, an array by value (`llvm.byval`);
    the card gives them after `with` of each launch. Places in the arena are forms over the lengths of a call. They
    become the `lengths` of the entry in `card.entries`, which the runtime computes and stores after the dims; a number
    selects one. No argument of a launch changes between calls.
  }];
  let dependentDialects = [
    "mlir::arith::ArithDialect", "mlir::func::FuncDialect", "mlir::LLVM::LLVMDialect", "heddle::card::CardDialect",
    "heddle::tile::TileDialect"];
}

def KernelsByChipPass : Pass<"heddle-kernels-by-chip", "mlir::ModuleOp"> {
  let summary = "Give each chip the forms of tiles that are its own";
  let description = [{
    A kernel with `tile.launch` ops that name chips (`on`) becomes one for each set of chips of the target with the
    same launches. The function `NAME_for_CHIP` has its chips in `tile.chips` and the name of its launches in
    `tile.kernel`. Launches that no chip of the target runs are removed, and so is `on`.
  }];
}

#endif
