//===- Stages.cpp - the table and the passes it names ---------------------===//

#include "compiler/Pipelines/Stages.h"
#include "compiler/Conversion/Lowering/GPU/Passes.h"
#include "compiler/Conversion/Lowering/Passes.h"
#include "compiler/Conversion/ModelToEntries/Passes.h"
#include "compiler/Conversion/TileToNVVM/Passes.h"
#include "compiler/Conversion/ToKernels/Passes.h"
#include "compiler/Interpreter/Passes.h"
#include "compiler/Pipelines/Contracts.h"
#include "compiler/Pipelines/ToLlvm.h"
#include "compiler/Plan/Passes.h"
#include "dialects/Mask/Transforms/Passes.h"
#include "dialects/Model/Transforms/Passes.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <array>

using namespace mlir;
using namespace heddle;
using llvm::StringRef;

using Options = const PipelineOptions &;

/// A pass without options.
template <std::unique_ptr<Pass> (*create)()> static std::unique_ptr<Pass> plain(Options) { return create(); }

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
static std::unique_ptr<Pass> convertToLoops(Options o) {
  return loops::createConvertToLoopsPass({o.vectorWidth, o.registers});
}
static std::unique_ptr<Pass> shareLoops(Options o) { return loops::createShareLoopsPass({o.longestFunction}); }
static std::unique_ptr<Pass> vectorToSCF(Options) { return createConvertVectorToSCFPass(); }
/// The canonicalizer on loops, from the last op to the first. Every change asks all loops around it again whether they
/// are dead, which takes as long as they are; in this order unused ops go before they are folded, so there are few
/// changes. Regions stay as they are: their dead ops go as all others do. LLVM makes the same code of every result; a
/// kernel whose mask has 64 documents takes 0.2 s in place of 3.1.
static std::unique_ptr<Pass> canonicalizeLoops(Options) {
  GreedyRewriteConfig config;
  config.setUseTopDownTraversal(false).setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  return createCanonicalizerPass(config);
}

static constexpr PassFactory kModel[] = {plain<model::createSliceParametersPass>, codeWeights};
static constexpr PassFactory kEntries[] = {
    deriveEntries, deriveBatch, plain<createCanonicalizerPass>, plain<createCSEPass>, plain<createSymbolDCEPass>,
};
static constexpr PassFactory kFused[] = {
    plain<createFoldConstantsPass>,
    skipPadding,
    plain<createSkipUnseenPass>,
    plain<model::createSplitLinearPass>,
    plain<model::createConvToLinearPass>,
    plain<mask::createSimplifyPass>,
    plain<createCanonicalizerPass>,
    plain<createCSEPass>,
    plain<model::createFuseElementwisePass>,
    plain<model::createGateLinearsPass>,
};
static constexpr PassFactory kTiled[] = {
    planCache,
    planSchedules,
    plain<plan::createPlanParametersPass>,
};
static constexpr PassFactory kBuffers[] = {
    plain<mask::createBuildTablesPass>,
    plain<plan::createPlanMemoryPass>,
};
static constexpr PassFactory kKernels[] = {
    plain<loops::createGroupWeightsPass>,   plain<loops::createConvertToWarpsPass>,
    plain<kernels::createSplitKernelsPass>, plain<createCSEPass>,
    plain<kernels::createJoinKernelsPass>,
};
/// From loops over memory to the LLVM dialect, of every target. A device has no libm, and no function of it is left by
/// then (GPU/Ops/Power, GPU/Ops/FarAngles).
static constexpr PassFactory kLoopsToLlvm[] = {
    plain<createCSEPass>,
    plain<createLoopInvariantCodeMotionPass>,
    vectorToSCF,
    plain<createSCFToControlFlowPass>,
    plain<createConvertVectorToLLVMPass>,
    plain<createConvertMathToLLVMPass>,
    plain<createConvertMathToLibmPass>,
    plain<createToLlvmPass>,
    plain<createReconcileUnrealizedCastsPass>,
};
static constexpr PassFactory kTidy[] = {canonicalizeLoops, plain<createCSEPass>};
static constexpr PassFactory kLoops[] = {convertToLoops, shareLoops, canonicalizeLoops};
static constexpr PassFactory kEntryTable[] = {plain<loops::createAddEntryTablePass>};
static constexpr PassFactory kTiles[] = {plain<kernels::createKernelsByChipPass>, plain<tile::createTileToNVVMPass>,
                                         canonicalizeLoops};

/// One list after the other.
template <size_t... n> static constexpr auto joined(const PassFactory (&...lists)[n]) {
  std::array<PassFactory, (n + ...)> all{};
  size_t at = 0;
  auto append = [&](const auto &list) {
    for (PassFactory create : list)
      all[at++] = create;
  };
  (append(lists), ...);
  return all;
}
static constexpr auto kLlvm = joined(kLoops, kLoopsToLlvm, kEntryTable, kTidy);
static constexpr auto kKernelsToLlvm = joined(kTiles, kLoopsToLlvm, kTidy);

static constexpr Stage kModelStage{
    "model", kModel,
    "the description, one op for one statement; every op knows its JSON token; what is stored as codes says so",
    checkModelStage};
static constexpr Stage kEntriesStage{
    "entries", kEntries,
    "the functions a binary needs: @run, and for models that generate @once and @step with their states",
    checkEntriesStage};
static constexpr Stage kFusedStage{
    "fused", kFused,
    "constants folded, rows of padding left out, convolutions made linears, masks simplified, elementwise chains one op, epilogues attached to "
    "their linear",
    checkFusedStage};
static constexpr Stage kTiledStage{
    "tiled", kTiled,
    "parameters have their packing and place in the blob, caches their layout, products and attentions their tiles",
    checkTiledStage};
static constexpr Stage kBuffersStage{"buffers", kBuffers,
                                     "masks have their tables, every result its place in one arena", checkBuffersStage};

static constexpr Stage kCpuStages[] = {
    kModelStage, kEntriesStage, kFusedStage,
    kTiledStage, kBuffersStage, {"llvm", kLlvm, "the LLVM dialect alone", checkLlvmStage},
};
static constexpr Stage kCudaStages[] = {
    kModelStage,
    kEntriesStage,
    kFusedStage,
    kTiledStage,
    kBuffersStage,
    {"kernels", kKernels, "what a device launches, one function of one signature for the code between two barriers",
     checkKernelsStage},
    {"llvm", kKernelsToLlvm, "the LLVM dialect and the device's own ops", checkDeviceStage},
};

static const std::pair<StringRef, StringRef> kCpuOutputs[] = {
    {"llvmir", "LLVM IR as text"},
    {"asm", "the target's assembly"},
    {"obj", "the object file, without the weights"},
    {"exe", "the linked binary"},
};
static const std::pair<StringRef, StringRef> kCudaOutputs[] = {
    {"llvmir", "LLVM IR as text"},
    {"ptx", "the kernels in PTX"},
    {"obj", "the object file, without the weights"},
    {"exe", "the linked binary"},
};

llvm::ArrayRef<Stage> heddle::stages(StringRef target) {
  return target == "cuda" ? llvm::ArrayRef<Stage>(kCudaStages) : llvm::ArrayRef<Stage>(kCpuStages);
}
llvm::ArrayRef<std::pair<StringRef, StringRef>> heddle::outputStages(StringRef target) {
  return target == "cuda" ? llvm::ArrayRef(kCudaOutputs) : llvm::ArrayRef(kCpuOutputs);
}

const Stage *heddle::findStage(StringRef name, StringRef target) {
  for (const Stage &s : stages(target))
    if (s.name == name)
      return &s;
  return nullptr;
}

StringRef heddle::stageOf(ModuleOp module) {
  auto attr = module->getAttrOfType<StringAttr>("heddle.stage");
  return attr ? attr.getValue() : StringRef("model");
}

void heddle::addPasses(OpPassManager &pm, StringRef stage, const PipelineOptions &options,
                       llvm::function_ref<bool(StringRef)> wanted) {
  const Stage *row = findStage(stage);
  assert(row && "the table has this stage");
  for (PassFactory create : row->passes)
    if (std::unique_ptr<Pass> pass = create(options); wanted(pass->getArgument()))
      pm.addPass(std::move(pass));
}

/// The stages that a target has to itself, after `buffers`.
static llvm::ArrayRef<Stage> ownStages(StringRef target) {
  return stages(target).drop_while([](const Stage &s) { return s.name != "buffers"; }).drop_front();
}

void heddle::addStage(OpPassManager &pm, const Stage &stage, const PipelineOptions &options) {
  for (PassFactory create : stage.passes)
    pm.addPass(create(options));
  pm.addPass(createContractPass(stage));
}

namespace {
/// The options as heddle-opt reads them, under the names that the passes give them.
struct PipelineFlags : PassPipelineOptions<PipelineFlags> {
  PipelineOptions values;
  Option<std::string> cache{*this, "cache", llvm::cl::desc("auto, require or none: the cached step"),
                            llvm::cl::init(values.cache)};
  Option<std::string> slots{*this, "slots",
                            llvm::cl::desc("served, auto, require or none: rows of a batch that are separate texts"),
                            llvm::cl::init(values.slots)};
  Option<std::string> paddedRows{*this, "padded-rows", llvm::cl::desc("auto, skip or compute: rows of padding"),
                                 llvm::cl::init(values.paddedRows)};
  Option<int64_t> longestPiece{*this, "longest-piece", llvm::cl::desc("new rows of a call where a state is a ring"),
                               llvm::cl::init(values.longestPiece)};
  Option<int64_t> panel{*this, "panel", llvm::cl::desc("results of a tile of a product; 0: as the target likes them"),
                        llvm::cl::init(values.panel)};
  Option<int64_t> vectorWidth{*this, "vector-width", llvm::cl::desc("f32 lanes of a vector register"),
                              llvm::cl::init(values.vectorWidth)};
  Option<int64_t> registers{*this, "registers", llvm::cl::desc("vector registers"), llvm::cl::init(values.registers)};
  Option<int64_t> longestFunction{*this, "longest-function",
                                  llvm::cl::desc("ops above which a function becomes several"),
                                  llvm::cl::init(values.longestFunction)};
  Option<int64_t> weightBits{*this, "weight-bits", llvm::cl::desc("8 or 4: large matrices become codes; 0: none does"),
                             llvm::cl::init(values.weightBits)};
  Option<int64_t> weightGroup{*this, "weight-group", llvm::cl::desc("features that share a scale; 0: all of a row"),
                              llvm::cl::init(values.weightGroup)};
  ListOption<std::string> keep{*this, "keep", llvm::cl::desc("names of matrices that become no codes")};
  PipelineOptions read() const {
    return {cache,
            slots,
            paddedRows,
            longestPiece,
            panel,
            vectorWidth,
            registers,
            longestFunction,
            weightBits,
            weightGroup,
            std::vector<std::string>(keep.begin(), keep.end())};
  }
};
} // namespace

void heddle::registerStagePasses() {
  for (llvm::ArrayRef<Stage> stages : {llvm::ArrayRef<Stage>(kCpuStages), ownStages("cuda")})
    for (const Stage &stage : stages)
      for (PassFactory create : stage.passes)
        registerPass([create] { return create({}); });
}

void heddle::registerPipelines() {
  auto add = [](const Stage &stage, StringRef prefix) {
    PassPipelineRegistration<PipelineFlags>((prefix + stage.name).str(), stage.summary,
                                            [&stage](OpPassManager &pm, const PipelineFlags &flags) {
                                              pm.addPass(createCheckStagePass());
                                              addStage(pm, stage, flags.read());
                                            });
  };
  for (const Stage &stage : kCpuStages)
    add(stage, "heddle-");
  for (const Stage &stage : ownStages("cuda"))
    add(stage, "heddle-cuda-");
}

std::string heddle::describeStages() {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "| stage | after it | passes |\n|---|---|---|\n";
  auto row = [&](const Stage &s, StringRef target) {
    os << "| `" << s.name << "`" << target << " | " << s.summary << " | "
       << (s.name == "model" ? "the importer, " : "");
    llvm::interleaveComma(s.passes, os, [&](PassFactory create) { os << create({})->getArgument(); });
    os << " |\n";
  };
  for (const Stage &s : kCpuStages)
    row(s, "");
  for (auto &[name, summary] : kCpuOutputs)
    os << "| `" << name << "` | " << summary << " | the target |\n";
  for (const Stage &s : ownStages("cuda"))
    row(s, " (cuda)");
  for (auto &[name, summary] : kCudaOutputs)
    if (name == "ptx")
      os << "| `" << name << "` (cuda) | " << summary << " | the target |\n";
  return text;
}
