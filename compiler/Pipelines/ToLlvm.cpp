//===- ToLlvm.cpp - six dialects to LLVM's in one walk --------------------===//
//
// MLIR has a pass for each dialect, and each pass walks all of the code, most often to find nothing of its dialect. One
// conversion without rollback takes a third of the time; same bytes.
//
//===----------------------------------------------------------------------===//

#include "compiler/Pipelines/ToLlvm.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace {
struct ToLlvm final : PassWrapper<ToLlvm, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ToLlvm)
  StringRef getArgument() const override { return "heddle-to-llvm"; }
  StringRef getDescription() const override {
    return "Turn arithmetic, mathematics, indices, functions, branches and poison into LLVM's";
  }
  void getDependentDialects(DialectRegistry &registry) const override { registry.insert<LLVM::LLVMDialect>(); }
  void runOnOperation() override {
    LLVMTypeConverter types(&getContext());
    RewritePatternSet patterns(&getContext());
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    arith::populateArithToLLVMConversionPatterns(types, patterns);
    // Functions that LLVM has as instructions or intrinsics; libm's are for the others.
    populateMathToLLVMConversionPatterns(types, patterns, /*approximateLog1p=*/true, /*benefit=*/2);
    populateMathToLibmConversionPatterns(patterns, /*benefit=*/1);
    index::populateIndexToLLVMConversionPatterns(types, patterns);
    populateFuncToLLVMConversionPatterns(types, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
    ub::populateUBToLLVMConversionPatterns(types, patterns);
    LLVMConversionTarget target(getContext());
    ConversionConfig config;
    config.allowPatternRollback = false;
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns), config)))
      signalPassFailure();
  }
};
} // namespace

std::unique_ptr<Pass> heddle::createToLlvmPass() { return std::make_unique<ToLlvm>(); }
