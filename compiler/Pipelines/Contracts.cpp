//===- Contracts.cpp - the promise of each stage, checked -----------------===//
//
// Each check walks the module once and reports every op that breaks the promise, at the op's
// place in the description.
//
//===----------------------------------------------------------------------===//

#include "compiler/Pipelines/Contracts.h"
#include "compiler/Conversion/Lowering/Language/Abi.h"
#include "compiler/Conversion/ToKernels/Passes.h"
#include "compiler/Plan/PlanCheck.h"
#include "dialects/Attn/IR/Attn.h"
#include "dialects/Card/IR/Card.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"
#include "dialects/Model/IR/ReservedDims.h"
#include "dialects/Model/IR/VectorHead.h"
#include "dialects/Model/Transforms/Fusion.h"
#include "dialects/Model/Transforms/Scalars.h"
#include "dialects/Model/Transforms/Views.h"
#include "dialects/Tile/IR/LaunchAttrs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace heddle;
using model::Size;

/// Calls `check` on every op below the module.
static void eachOp(ModuleOp module, llvm::function_ref<void(Operation *)> check) {
  module.walk([&](Operation *op) {
    if (op != module.getOperation())
      check(op);
  });
}

void heddle::checkModelStage(ModuleOp module, ContractReport report) {
  auto run = module.lookupSymbol<func::FuncOp>("run");
  if (!run || run.isExternal())
    report(module, "it has no function @run");
  if (run)
    for (Type type : run.getArgumentTypes())
      if (auto tensor = dyn_cast<model::ModelTensorType>(type))
        for (const Size &size : tensor.getSizes())
          for (const std::string &dim : size.dims())
            if (!model::meaningOfReservedDim(dim).empty())
              report(run, "an axis of an input is called '" + dim + "'");
  eachOp(module, [&](Operation *op) {
    if (isa<UnknownLoc>(op->getLoc()))
      report(op, "an op without a location");
    if (isa<model::AppendOp, model::LoadOp, model::StoreOp>(op))
      report(op, "a state, which no description has");
    if (isa<model::MapOp, model::WindowsOp, model::LiveRowsOp, model::PackRowsOp, model::UnpackRowsOp>(op))
      report(op, "'" + op->getName().getStringRef() + "', which a later stage makes");
    if (auto f = dyn_cast<func::FuncOp>(op); f && f != run && f.getName() != model::kHeadEntry)
      report(op, "a function other than @run and @head");
  });
}

void heddle::checkFusedStage(ModuleOp module, ContractReport report) {
  eachOp(module, [&](Operation *op) {
    if (model::isElementwise(op) && !model::viewOffset(op))
      report(op, "an elementwise op that is no map");
    if (auto map = dyn_cast<model::MapOp>(op); map && model::linearTaking(map))
      report(op, "a map that its linear could take in");
    if (isa<model::LinearOp>(op) && op->getNumResults() != 1)
      report(op, "a linear with several results");
    for (Value result : op->getResults())
      if (isa<mask::MaskType, attn::BiasType>(result.getType()) && result.use_empty())
        report(op, "a mask or bias that no attention reads");
  });
}

/// A module with parameters must say which tensor of the file is where; the packer has no other source.
static void checkBlob(ModuleOp module, ContractReport report) {
  bool parameters = module.walk([](model::ParamOp) { return WalkResult::interrupt(); }).wasInterrupted();
  if (parameters && !model::hasBlob(module))
    report(module, "it has parameters, but no 'model.blob'");
}

void heddle::checkTiledStage(ModuleOp module, ContractReport report) {
  checkBlob(module, report);
  plan::checkTiledPlan(module, report);
}

void heddle::checkBuffersStage(ModuleOp module, ContractReport report) {
  checkBlob(module, report);
  plan::checkBuffersPlan(module, report);
}

//===-- llvm -------------------------------------------------------------------------===//

static void checkType(LLVM::LLVMFuncOp f, FunctionType type, ContractReport report) {
  LLVM::LLVMFunctionType mine = f.getFunctionType();
  Type result = type.getNumResults() ? type.getResult(0) : LLVM::LLVMVoidType::get(f.getContext());
  if (mine.getParams() != type.getInputs() || mine.getReturnType() != result || mine.isVarArg())
    report(f, "'" + f.getName() + "' has another type than in runtime/include/heddle/abi.def");
}

void heddle::checkLlvmStage(ModuleOp module, ContractReport report) {
  MLIRContext *context = module.getContext();
  eachOp(module, [&](Operation *op) {
    if (!isa<LLVM::LLVMDialect>(op->getDialect()))
      report(op, "'" + op->getName().getStringRef() + "' is left");
    if (auto f = dyn_cast<LLVM::LLVMFuncOp>(op); f && f.isExternal()) {
      if (std::optional<FunctionType> type = abi::functionType(f.getName(), context))
        checkType(f, *type, report);
      else
        report(f, "'" + f.getName() + "' is no function that generated code may call (runtime/include/heddle/abi.def)");
    }
    if (auto global = dyn_cast<LLVM::GlobalOp>(op); global && !global.getValueAttr() && !global.getInitializerBlock())
      report(op, "'" + global.getSymName() + "' is defined nowhere");
  });
  for (card::EntryAttr entry : card::entriesOf(module)) {
    if (auto f = module.lookupSymbol<LLVM::LLVMFuncOp>(entry.getSymbol()); f && !f.isExternal())
      checkType(f, abi::entryType(context), report);
    else
      report(module, "there is no entry '" + entry.getSymbol() + "'");
  }
}

//===-- of a device --------------------------------------------------------------------===//

/// The one signature of kernels: (fail, dims, tensors, arena, weights, i, j, numbers), five pointers, two i64 and one
/// pointer more.
static bool isKernelType(ArrayRef<Type> arguments) {
  auto pointer = llvm::IsaPred<LLVM::LLVMPointerType>;
  return arguments.size() == 8 && llvm::all_of(arguments.take_front(5), pointer) && arguments[5].isInteger(64) &&
         arguments[6].isInteger(64) && pointer(arguments[7]);
}

void heddle::checkKernelsStage(ModuleOp module, ContractReport report) {
  eachOp(module, [&](Operation *op) {
    if (isa<model::ModelDialect, mask::MaskDialect, attn::AttnDialect>(op->getDialect()))
      report(op, "'" + op->getName().getStringRef() + "' is left");
    auto f = dyn_cast<func::FuncOp>(op);
    if (f && tile::isKernel(f) && (!isKernelType(f.getArgumentTypes()) || f.getNumResults()))
      report(f, "the kernel '" + f.getName() + "' has another type than kernels have");
    if (f && f.isExternal() && !SymbolTable::symbolKnownUseEmpty(f, module))
      report(f, "'" + f.getName() + "' is defined nowhere");
    if (auto call = dyn_cast<func::CallOp>(op); call && call.getCallee() == "heddle_barrier")
      report(op, "a barrier inside of a kernel");
  });
}

void heddle::checkDeviceStage(ModuleOp module, ContractReport report) {
  eachOp(module, [&](Operation *op) {
    if (!isa<LLVM::LLVMDialect, NVVM::NVVMDialect>(op->getDialect()))
      report(op, "'" + op->getName().getStringRef() + "' is left");
    if (auto f = dyn_cast<LLVM::LLVMFuncOp>(op); f && f.isExternal() && !SymbolTable::symbolKnownUseEmpty(f, module))
      report(f, "'" + f.getName() + "' is no function that a device has");
  });
}

//===-- when they are asked ----------------------------------------------------------===//

static LogicalResult check(const Stage &stage, ModuleOp module, const Twine &head) {
  LogicalResult kept = success();
  stage.contract(module, [&](Operation *op, const Twine &what) { kept = emitError(op->getLoc()) << head << what; });
  return kept;
}

LogicalResult heddle::checkClaim(ModuleOp module, llvm::ArrayRef<Stage> stages) {
  auto claim = module->getAttrOfType<StringAttr>(model::kStageAttr);
  if (!claim)
    return success();
  if (const Stage *stage = findStage(claim.getValue(), stages))
    return check(*stage, module, "this is not what the stage '" + claim.getValue() + "' of the file promises: ");
  return emitError(module.getLoc()) << "there is no stage '" << claim.getValue() << "'";
}

namespace {
struct CheckStagePass final : PassWrapper<CheckStagePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CheckStagePass)
  CheckStagePass(StagesOf stagesOf, StringRef reached) : stagesOf(std::move(stagesOf)) { stage = reached.str(); }
  CheckStagePass(const CheckStagePass &other) : PassWrapper(other), stagesOf(other.stagesOf) {}
  StringRef getArgument() const override { return kCheckStage; }
  StringRef getDescription() const override {
    return "Check the contract of the stage that the module says it is in, or has reached";
  }
  void runOnOperation() override {
    llvm::ArrayRef<Stage> stages = stagesOf(getOperation());
    if (stages.empty() || failed(stage.empty() ? checkClaim(getOperation(), stages) : reach(stages)))
      signalPassFailure();
  }

private:
  StagesOf stagesOf;
  Option<std::string> stage{
      *this, "stage", llvm::cl::desc("what the module has become: written on it; empty: the stage that it names")};

  LogicalResult reach(llvm::ArrayRef<Stage> stages) {
    const Stage *reached = findStage(stage, stages);
    if (!reached)
      return emitError(getOperation().getLoc()) << "the target has no stage '" << stage.getValue() << "'";
    getOperation()->setAttr(model::kStageAttr, StringAttr::get(&getContext(), reached->name));
    return check(*reached, getOperation(), "internal error: the contract of stage '" + reached->name + "' is broken: ");
  }
};
} // namespace

std::unique_ptr<Pass> heddle::createCheckStagePass(StagesOf stagesOf, StringRef reached) {
  return std::make_unique<CheckStagePass>(std::move(stagesOf), reached);
}
