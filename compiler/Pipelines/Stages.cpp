//===- Stages.cpp - the shared stages and the passes they name ------------===//

#include "compiler/Pipelines/Stages.h"
#include "compiler/Conversion/ModelToEntries/Passes.h"
#include "compiler/Interpreter/Passes.h"
#include "compiler/Pipelines/Contracts.h"
#include "compiler/Pipelines/ToLlvm.h"
#include "compiler/Plan/Passes.h"
#include "dialects/Mask/Transforms/Passes.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"
#include "dialects/Model/Transforms/Passes.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace heddle;
using llvm::StringRef;

using Options = const PipelineOptions &;

static std::unique_ptr<Pass> codeWeights(Options o) {
  model::CodeWeightsPassOptions options;
  options.bits = o.weightBits;
  options.group = o.weightGroup;
  options.keep.assign(o.keep.begin(), o.keep.end());
  return model::createCodeWeightsPass(std::move(options));
}
static std::unique_ptr<Pass> deriveEntries(Options o) {
  DeriveEntriesPassOptions options;
  options.cache = o.cache;
  return createDeriveEntriesPass(options);
}
static std::unique_ptr<Pass> deriveBatch(Options o) { return createDeriveBatchPass({o.slots}); }
static std::unique_ptr<Pass> skipPadding(Options o) { return createSkipPaddingPass({o.paddedRows}); }
static std::unique_ptr<Pass> planCache(Options o) { return plan::createPlanCachePass({o.longestPiece}); }
static std::unique_ptr<Pass> planSchedules(Options o) { return plan::createPlanSchedulesPass({o.panel}); }
/// The canonicalizer on loops, from the last op to the first. Every change asks all loops around it again whether they
/// are dead, which takes as long as they are; in this order unused ops go before they are folded, so there are few
/// changes. Regions stay as they are: their dead ops go as all others do. LLVM makes the same code of every result; a
/// kernel whose mask has 64 documents takes 0.2 s in place of 3.1.
std::unique_ptr<Pass> heddle::canonicalizeLoops(Options) {
  GreedyRewriteConfig config;
  config.setUseTopDownTraversal(false).setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  return createCanonicalizerPass(config);
}

static constexpr PassFactory kModel[] = {plainPass<model::createSliceParametersPass>, codeWeights};
static constexpr PassFactory kEntries[] = {
    deriveEntries,
    deriveBatch,
    plainPass<createCanonicalizerPass>,
    plainPass<createCSEPass>,
    plainPass<createSymbolDCEPass>,
};
static constexpr PassFactory kFused[] = {
    plainPass<createFoldConstantsPass>,
    skipPadding,
    plainPass<createSkipUnseenPass>,
    plainPass<model::createSplitLinearPass>,
    plainPass<model::createConvToLinearPass>,
    plainPass<mask::createSimplifyPass>,
    plainPass<createCanonicalizerPass>,
    plainPass<createCSEPass>,
    plainPass<model::createFuseElementwisePass>,
    plainPass<model::createGateLinearsPass>,
};
static constexpr PassFactory kTiled[] = {
    planCache,
    planSchedules,
    plainPass<plan::createPlanParametersPass>,
};
static constexpr PassFactory kBuffers[] = {
    plainPass<mask::createBuildTablesPass>,
    plainPass<plan::createPlanMemoryPass>,
};
/// From loops over memory to the LLVM dialect, of every target. A device has no libm, and no function of it is left by
/// then (GPU/Ops/Power, GPU/Ops/FarAngles).
static constexpr PassFactory kLoopsToLlvm[] = {
    plainPass<createCSEPass>,
    plainPass<createLoopInvariantCodeMotionPass>,
    plainPass<createSCFToControlFlowPass>,
    plainPass<createConvertVectorToLLVMPass>,
    plainPass<createToLlvmPass>,
    plainPass<createReconcileUnrealizedCastsPass>,
};
static constexpr PassFactory kTidied[] = {canonicalizeLoops, plainPass<createCSEPass>};

static constexpr Stage kShared[] = {
    {"model", kModel,
     "the description, one op for one statement; every op knows its JSON token; what is stored as codes says so",
     checkModelStage},
    {"entries", kEntries,
     "the functions a binary needs: @run, and for models that generate @once and @step with their states",
     checkEntriesStage},
    {"fused", kFused,
     "constants folded, rows of padding left out, convolutions made linears, masks simplified, elementwise chains one op, epilogues attached to "
     "their linear",
     checkFusedStage},
    {"tiled", kTiled,
     "parameters have their packing and place in the blob, caches their layout, products and attentions their tiles",
     checkTiledStage},
    {"buffers", kBuffers, "masks have their tables, every result its place in one arena", checkBuffersStage},
};

llvm::ArrayRef<Stage> heddle::sharedStages() { return kShared; }

std::vector<Stage> heddle::withShared(llvm::ArrayRef<Stage> own) {
  std::vector<Stage> all(std::begin(kShared), std::end(kShared));
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

const Stage *heddle::findStage(StringRef name, llvm::ArrayRef<Stage> stages) {
  for (const Stage &stage : stages)
    if (stage.name == name)
      return &stage;
  return nullptr;
}

std::vector<PassFactory> heddle::joined(std::initializer_list<llvm::ArrayRef<PassFactory>> lists) {
  std::vector<PassFactory> all;
  for (llvm::ArrayRef<PassFactory> list : lists)
    all.insert(all.end(), list.begin(), list.end());
  return all;
}

llvm::ArrayRef<PassFactory> heddle::loopsToLlvm() { return kLoopsToLlvm; }
llvm::ArrayRef<PassFactory> heddle::tidied() { return kTidied; }

StringRef heddle::stageOf(ModuleOp module) {
  auto attr = module->getAttrOfType<StringAttr>(model::kStageAttr);
  return attr ? attr.getValue() : StringRef("model");
}

void heddle::addPasses(OpPassManager &pm, const Stage &stage, const PipelineOptions &options,
                       llvm::function_ref<bool(StringRef)> wanted) {
  for (PassFactory create : stage.passes)
    if (std::unique_ptr<Pass> pass = create(options); wanted(pass->getArgument()))
      pm.addPass(std::move(pass));
}

void heddle::addPasses(OpPassManager &pm, StringRef stage, const PipelineOptions &options,
                       llvm::function_ref<bool(StringRef)> wanted) {
  const Stage *shared = findStage(stage, sharedStages());
  assert(shared && "all targets have this stage");
  addPasses(pm, *shared, options, wanted);
}

void heddle::addStage(OpPassManager &pm, const Stage &stage, const PipelineOptions &options) {
  for (PassFactory create : stage.passes)
    pm.addPass(create(options));
  pm.addPass(createCheckStagePass([&stage](ModuleOp) { return llvm::ArrayRef<Stage>(stage); }, stage.name));
}
