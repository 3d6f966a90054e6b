//===- Contracts.cpp - the promise of each stage, checked -----------------===//
//
// A broken contract is a defect of the compiler, never the user's: the message names the
// stage, the op and the JSON token it came from.
//
//===----------------------------------------------------------------------===//

#include "compiler/Pipelines/Contracts.h"
#include "compiler/Conversion/ModelToEntries/Passes.h"
#include "dialects/Attn/IR/Attn.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace heddle;

static LogicalResult broken(Operation *op, StringRef stage, const Twine &why) {
  return op->emitError() << "internal error: the contract of stage '" << stage << "' is broken: " << why;
}

/// Calls `check` on every op below the module; all complaints are reported.
static LogicalResult eachOp(ModuleOp module, llvm::function_ref<LogicalResult(Operation *)> check) {
  bool good = true;
  module.walk([&](Operation *op) {
    if (op != module.getOperation() && failed(check(op)))
      good = false;
  });
  return success(good);
}

LogicalResult heddle::verifyModelStage(ModuleOp module) {
  return eachOp(module, [](Operation *op) {
    return isa<UnknownLoc>(op->getLoc()) ? broken(op, "model", "an op without a location") : success();
  });
}

LogicalResult heddle::verifyEntriesStage(ModuleOp module) { return verifyEntries(module); }

LogicalResult heddle::verifyFusedStage(ModuleOp module) {
  return eachOp(module, [](Operation *op) {
    auto linear = dyn_cast<model::LinearOp>(op);
    return linear && linear.getNumResults() != 1 ? broken(op, "fused", "a linear with several results")
                                                 : success();
  });
}

LogicalResult heddle::verifyTiledStage(ModuleOp module) {
  return eachOp(module, [](Operation *op) {
    return isa<model::ParamOp>(op) && !op->hasAttr("offset")
               ? broken(op, "tiled", "a parameter without a place in the blob")
               : success();
  });
}

LogicalResult heddle::verifyBuffersStage(ModuleOp module) {
  for (auto f : module.getOps<func::FuncOp>())
    if (!f.isDeclaration() && !f->hasAttr("arena"))
      return broken(f, "buffers", "a function whose arena is not known");
  return success();
}

LogicalResult heddle::verifyLlvmStage(ModuleOp module) {
  return eachOp(module, [](Operation *op) {
    return isa<LLVM::LLVMDialect>(op->getDialect())
               ? success()
               : broken(op, "llvm", "'" + op->getName().getStringRef() + "' is left");
  });
}

namespace {
struct ContractPass final : PassWrapper<ContractPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ContractPass)
  explicit ContractPass(const Stage &stage) : stage(stage) {}
  StringRef getName() const override { return "ContractPass"; }
  void runOnOperation() override {
    getOperation()->setAttr("heddle.stage", StringAttr::get(&getContext(), stage.name));
    if (failed(stage.contract(getOperation())))
      signalPassFailure();
  }
  const Stage &stage;
};
} // namespace

std::unique_ptr<Pass> heddle::createContractPass(const Stage &stage) {
  return std::make_unique<ContractPass>(stage);
}
