// From SPMD entries to kernels.
#ifndef HEDDLE_COMPILER_CONVERSION_TOKERNELS_PASSES_TD
#define HEDDLE_COMPILER_CONVERSION_TOKERNELS_PASSES_TD

include "mlir/Pass/PassBase.td"

def SplitKernelsPass : Pass<"heddle-split-kernels", "mlir::ModuleOp"> {
  let summary = "Cut SPMD entries at their barriers into kernels";
  let description = [{
    What stands between two barriers of an entry (a phase) becomes a function of one signature,
    `(fail, dims, tensors, arena, weights, i, j, numbers)`, with the attribute `heddle.kernel`. What it needs from before is computed
    again from these arguments: pure ops, loads of dims and of tensors, and loads that bear `heddle.kept`; anything else
    that lives across a barrier is an error. A loop with barriers inside is a loop of launches, its variable `i` (`j`
    inside another); a condition with barriers inside becomes one inside of each kernel. Phases between two such loops that do
    not touch what the other writes are one kernel (`heddle.place` tells places in the arena apart), unless `alone`. The entries go; the card
    (`heddle_card`) says for each of them what is launched: `launch KERNEL items FORM of 1|32 threads N [shared BYTES [on CHIP..]] [with NUMBER..]`,
    `repeat COUNT`, `again`; and what is regrouped while weights are sent to the device, `regroup OFFSET DEPTH PANELS WIDTH`.
  }];
  let options = [Option<"alone", "alone", "bool", "false", "make each phase a kernel">];
  let dependentDialects = [
    "mlir::arith::ArithDialect", "mlir::func::FuncDialect", "mlir::LLVM::LLVMDialect", "mlir::NVVM::NVVMDialect",
    "mlir::scf::SCFDialect"];
}

def JoinKernelsPass : Pass<"heddle-join-kernels", "mlir::ModuleOp"> {
  let summary = "Make kernels that are equal but for numbers one kernel";
  let description = [{
    Kernels that differ in where their operands lie, in the arena and among the weights, in which tensors of the call they read and
    which lengths, become one. What differs is read from `numbers`, an array by value (`llvm.byval`); the card says behind
    `with` what each launch gives. Places in the arena are forms over the lengths of a call: they become lines `length FORM` of the
    entry, which the runtime computes behind its dims, and a number says which of them. No argument of a launch changes between calls.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::func::FuncDialect", "mlir::LLVM::LLVMDialect"];
}

def KernelsByChipPass : Pass<"heddle-kernels-by-chip", "mlir::ModuleOp"> {
  let summary = "Give each chip the forms of tiles that are its own";
  let description = [{
    A kernel whose `tile.launch` ops name chips (`on`) becomes one for each set of chips of the target that do the same launches: the
    function `NAME_for_CHIP` has `heddle.chips`, its chips, and `heddle.kernel` says the name under which it is launched. Launches that no
    chip of the target does are gone, and so is `on`.
  }];
}

#endif
