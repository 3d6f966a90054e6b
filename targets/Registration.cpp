//===- Registration.cpp - dialects, passes and pipelines, named once ------===//
//
// Registers only the dialects and passes that the stages use: loading all of MLIR's dialects would take longer than
// compiling a small model.
//
//===----------------------------------------------------------------------===//

#include "targets/Registration.h"
#include "compiler/Conversion/Lowering/GPU/Passes.h"
#include "compiler/Conversion/Lowering/Passes.h"
#include "compiler/Conversion/ModelToEntries/Passes.h"
#include "compiler/Conversion/TileToNVVM/Passes.h"
#include "compiler/Conversion/ToKernels/Passes.h"
#include "compiler/Interpreter/Passes.h"
#include "compiler/Pipelines/Contracts.h"
#include "compiler/Plan/Passes.h"
#include "dialects/Attn/IR/Attn.h"
#include "dialects/Card/IR/Card.h"
#include "dialects/Mask/Emission/Emission.h"
#include "dialects/Mask/Transforms/Passes.h"
#include "dialects/Model/Transforms/Passes.h"
#include "dialects/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "targets/Target.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace heddle;

void heddle::registerDialects(DialectRegistry &registry) {
  registry.insert<model::ModelDialect, mask::MaskDialect, attn::AttnDialect, tile::TileDialect, card::CardDialect,
                  func::FuncDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect, vector::VectorDialect,
                  cf::ControlFlowDialect, index::IndexDialect, ub::UBDialect, LLVM::LLVMDialect, NVVM::NVVMDialect>();
  mask::registerMaskEmission(registry);
  for (const TargetKind &kind : targetKinds())
    kind.registerTiles(registry);
}

/// The stages of the target that a module names.
static llvm::ArrayRef<Stage> stagesOf(ModuleOp module) {
  const TargetKind *kind = targetKindOf(module);
  return kind ? kind->stages() : llvm::ArrayRef<Stage>();
}

namespace {
/// The options as heddle-opt reads them.
struct PipelineFlags : PassPipelineOptions<PipelineFlags> {
#define PIPELINE_OPTION(type, name, flag, value, text)                                                                 \
  Option<type> name{*this, flag, llvm::cl::desc(text), llvm::cl::init(value)};
#define PIPELINE_LIST(name, flag, text) ListOption<std::string> name{*this, flag, llvm::cl::desc(text)};
#include "compiler/Pipelines/PipelineOptions.def"
  PipelineOptions read() const {
    PipelineOptions options;
#define PIPELINE_OPTION(type, name, flag, value, text) options.name = name;
#define PIPELINE_LIST(name, flag, text) options.name.assign(name.begin(), name.end());
#include "compiler/Pipelines/PipelineOptions.def"
    return options;
  }
};
} // namespace

void heddle::registerPasses() {
  registerModelToEntriesPasses();
  registerInterpreterPasses();
  mask::registerMaskPasses();
  model::registerModelPasses();
  plan::registerPlanPasses();
  loops::registerToLoopsPasses();
  loops::registerToWarpsPasses();
  kernels::registerToKernelsPasses();
  tile::registerTileToNVVMPasses();
  registerCanonicalizerPass();
  for (const TargetKind &kind : targetKinds()) // MLIR's; ours are known by now, with the options of their own
    for (const Stage &stage : kind.stages())
      for (PassFactory create : stage.passes)
        registerPass([create] { return create({}); });
  registerPass([] { return createCheckStagePass(stagesOf); });
}

/// What a target has next to the shared stages.
static llvm::ArrayRef<Stage> ownStages(const TargetKind &kind) {
  return kind.stages().drop_front(sharedStages().size());
}

void heddle::registerPipelines() {
  for (const TargetKind &kind : targetKinds()) {
    bool first = &kind == targetKinds().begin();
    std::string prefix = first ? "heddle-" : "heddle-" + kind.name.str() + "-";
    for (const Stage &stage : first ? kind.stages() : ownStages(kind))
      PassPipelineRegistration<PipelineFlags>(prefix + stage.name.str(), stage.summary,
                                              [&stage](OpPassManager &pm, const PipelineFlags &flags) {
                                                pm.addPass(createCheckStagePass(stagesOf));
                                                addStage(pm, stage, flags.read());
                                              });
  }
}

std::string heddle::describeStages() {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::StringSet<> shown;
  os << "| stage | after it | passes |\n|---|---|---|\n";
  for (const TargetKind &kind : targetKinds()) {
    bool first = &kind == targetKinds().begin();
    std::string of = first ? "" : " (" + kind.name.str() + ")";
    for (const Stage &stage : first ? kind.stages() : ownStages(kind)) {
      os << "| `" << stage.name << "`" << of << " | " << stage.summary << " | "
         << (stage.name == "model" ? "the importer, " : "");
      llvm::interleaveComma(stage.passes, os, [&](PassFactory create) { os << create({})->getArgument(); });
      os << " |\n";
    }
    for (auto &[name, summary] : kind.outputs())
      if (shown.insert(name).second)
        os << "| `" << name << "`" << of << " | " << summary << " | the target |\n";
  }
  return text;
}

llvm::json::Array heddle::listStages() {
  llvm::json::Array list;
  auto add = [&](StringRef name, llvm::json::Value target, StringRef holds, llvm::ArrayRef<PassFactory> passes) {
    llvm::json::Array chain;
    for (PassFactory create : passes) {
      std::unique_ptr<Pass> pass = create({});
      chain.push_back(llvm::json::Object{{"name", pass->getArgument()}, {"does", pass->getDescription()}});
    }
    list.push_back(llvm::json::Object{
        {"stage", name}, {"target", std::move(target)}, {"holds", holds}, {"passes", std::move(chain)}});
  };
  for (const Stage &stage : sharedStages())
    add(stage.name, nullptr, stage.summary, stage.passes);
  for (const TargetKind &kind : targetKinds()) {
    for (const Stage &stage : ownStages(kind))
      add(stage.name, kind.name, stage.summary, stage.passes);
    for (auto &[name, summary] : kind.outputs())
      add(name, kind.name, summary, {});
  }
  return list;
}
