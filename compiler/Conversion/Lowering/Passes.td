// From tensors to loops.
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_PASSES_TD
#define HEDDLE_COMPILER_CONVERSION_LOWERING_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertToLoopsPass : Pass<"convert-heddle-to-loops", "mlir::ModuleOp"> {
  let summary = "Turn the functions of stage `buffers` into SPMD loops over memory";
  let options = [
    Option<"vectorWidth", "vector-width", "int64_t", "16", "f32 lanes of a vector register">,
    Option<"registers", "registers", "int64_t", "32", "vector registers">
  ];
  let dependentDialects = [
    "mlir::arith::ArithDialect", "mlir::func::FuncDialect", "mlir::LLVM::LLVMDialect",
    "mlir::math::MathDialect", "mlir::scf::SCFDialect",
    "mlir::vector::VectorDialect", "heddle::card::CardDialect"];
}

def ShareLoopsPass : Pass<"heddle-share-loops", "mlir::ModuleOp"> {
  let summary = "Make equal loops of entries one function";
  let description = [{
    Loops between two barriers that come more than once become calls of one function of the lengths and addresses that
    they read. An entry that is still too long becomes several functions.
  }];
  let options = [
    Option<"longestFunction", "longest-function", "int64_t", "16000", "ops above which a function becomes several">
  ];
  let dependentDialects = ["mlir::func::FuncDialect", "mlir::LLVM::LLVMDialect"];
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
