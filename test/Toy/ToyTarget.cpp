//===- ToyTarget.cpp - a third target, in one folder ------------------------===//
//
// Tiles of its own, the lowering of loops with four lanes, and code for the processor at hand.
//
//===----------------------------------------------------------------------===//

#include "test/Toy/ToyTarget.h"
#include "compiler/Conversion/Lowering/CPU/CPUTiles.h"
#include "dialects/Model/IR/Model.h"
#include "targets/CPU/ProcessorStages.h"

using namespace mlir;
using namespace heddle;

static constexpr int64_t kLanes = 4, kRegisters = 8;

namespace {
/// Answers of its own where tiles are chosen; what the loops of vector registers need for them, these loops say.
struct ToyTiles final : plan::Target {
  /// Eight results of two rows: four registers of sums, and one code for few rows and many.
  model::ScheduleAttr tilesOf(Operation *op) const override {
    return model::ScheduleAttr::get(op->getContext(), /*panel=*/8, /*rows=*/2, /*block=*/16, /*ahead=*/0,
                                    /*small=*/1 << 30);
  }
  attn::ScheduleAttr tilesOf(attn::SdpaOp op) const override { return loops::usualTiles(op); }
  std::string refusal(Operation *op) const override { return loops::refuseTiles(op); }
  std::pair<int64_t, int64_t> cacheBlock() const override { return {loops::kKeyTile, loops::kPanel}; }
  plan::Preparation preparationOf(model::LinearOp op) const override { return loops::registerPreparation(op); }
  model::Size scratchBytes(Operation *op) const override { return loops::scratchBytes(op); }
  bool scratchLasts(Operation *op) const override { return isa<model::LiveRowsOp>(op); }
  Operation *leavesScratchFor(Operation *op) const override { return loops::preparesRowsOf(op); }
};
} // namespace

void toy::registerTiles(MLIRContext &context) {
  plan::Targets::of(context.getLoadedDialect<model::ModelDialect>()).add("toy", std::make_unique<ToyTiles>());
}

/// Its loops become LLVM as a processor's do.
llvm::ArrayRef<Stage> toy::ToyTarget::stages() const { return processorStages(); }
llvm::ArrayRef<OutputStage> toy::ToyTarget::outputs() const { return {}; }

model::TargetAttr toy::ToyTarget::describe(MLIRContext *context) const {
  return model::TargetAttr::get(context, name(), "four-lanes", kLanes, kRegisters, StringAttr());
}

bool toy::ToyTarget::print(ModuleOp, llvm::StringRef what, llvm::raw_pwrite_stream &, std::string &error) const {
  error = "the toy shows no " + what.str();
  return false;
}

std::unique_ptr<llvm::Module> toy::ToyTarget::code(ModuleOp module, llvm::TargetMachine &machine,
                                                   llvm::LLVMContext &context, std::string &error,
                                                   std::string &) const {
  std::unique_ptr<llvm::Module> out = host::translate(module, context, machine);
  if (!out)
    error = "the functions could not be translated to LLVM IR";
  return out;
}
