//===- Stages.cpp - the table and the passes it names ---------------------===//

#include "compiler/Pipelines/Stages.h"
#include "compiler/Pipelines/Contracts.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace heddle;
using llvm::StringRef;

static const Stage kStages[] = {
    {"model", "", "the description, one op for one statement; every op knows its JSON token",
     verifyModelStage},
    {"entries", "model-derive-entries{cache=${cache}},canonicalize,cse,symbol-dce",
     "the functions a binary needs: @run, and for models that generate @once and @step with their states",
     verifyEntriesStage},
    {"fused",
     "model-fold-constants,model-skip-padding{rows=${padded-rows}},model-split-linear,mask-simplify,canonicalize,cse,model-fuse-elementwise",
     "constants folded, rows of padding left out, masks simplified, elementwise chains one op, epilogues attached to their linear", verifyFusedStage},
    {"tiled", "attn-plan-cache,model-plan-parameters",
     "parameters have their packing and place in the blob, caches their layout", verifyTiledStage},
    {"buffers", "mask-build-tables,model-plan-memory", "masks have their tables, every result its place in one arena", verifyBuffersStage},
    {"llvm",
     "convert-heddle-to-loops{vector-width=${vector-width} registers=${registers} longest-function=${longest-function}},canonicalize,cse,"
     "loop-invariant-code-motion,convert-vector-to-scf,expand-strided-metadata,lower-affine,"
     "convert-scf-to-cf,convert-vector-to-llvm,convert-math-to-llvm,convert-math-to-libm,"
     "convert-arith-to-llvm,convert-index-to-llvm,finalize-memref-to-llvm,"
     "convert-func-to-llvm{use-bare-ptr-memref-call-conv=true},convert-cf-to-llvm,convert-ub-to-llvm,"
     "reconcile-unrealized-casts,heddle-add-entry-table,canonicalize,cse",
     "the LLVM dialect alone", verifyLlvmStage},
};

static const std::pair<StringRef, StringRef> kOutputStages[] = {
    {"llvmir", "LLVM IR as text"},
    {"asm", "the target's assembly"},
    {"obj", "the object file, without the weights"},
    {"exe", "the linked binary"},
};

llvm::ArrayRef<Stage> heddle::stages() { return kStages; }
llvm::ArrayRef<std::pair<StringRef, StringRef>> heddle::outputStages() { return kOutputStages; }

const Stage *heddle::findStage(StringRef name) {
  for (const Stage &s : kStages)
    if (s.name == name)
      return &s;
  return nullptr;
}

StringRef heddle::stageOf(ModuleOp module) {
  auto attr = module->getAttrOfType<StringAttr>("heddle.stage");
  return attr ? attr.getValue() : StringRef("model");
}

static std::string replaceKnobs(StringRef text, const PipelineOptions &options) {
  std::pair<StringRef, std::string> knobs[] = {
      {"${cache}", options.cache},
      {"${padded-rows}", options.paddedRows},
      {"${vector-width}", std::to_string(options.vectorWidth)},
      {"${registers}", std::to_string(options.registers)},
      {"${longest-function}", std::to_string(options.longestFunction)}};
  std::string out = text.str();
  for (auto &[name, value] : knobs)
    for (size_t at; (at = out.find(name)) != std::string::npos;)
      out.replace(at, name.size(), value);
  return out;
}

LogicalResult heddle::addStage(OpPassManager &pm, const Stage &stage, const PipelineOptions &options) {
  std::string text = replaceKnobs(stage.passes, options);
  if (!text.empty() && failed(parsePassPipeline(text, pm)))
    return failure();
  pm.addPass(createContractPass(stage));
  return success();
}

void heddle::registerPipelines() {
  for (const Stage &stage : kStages)
    registerPassPipeline(
        ("heddle-" + stage.name).str(), stage.summary,
        [&stage](OpPassManager &pm, StringRef options,
                 llvm::function_ref<LogicalResult(const Twine &)> error) -> LogicalResult {
          PipelineOptions knobs;
          SmallVector<StringRef> words;
          options.split(words, ' ', -1, /*KeepEmpty=*/false);
          for (StringRef word : words) {
            auto [key, value] = word.split('=');
            if (key == "cache")
              knobs.cache = value.str();
            else if (key == "padded-rows")
              knobs.paddedRows = value.str();
            else if (int64_t *number = key == "vector-width"       ? &knobs.vectorWidth
                                       : key == "registers"        ? &knobs.registers
                                       : key == "longest-function" ? &knobs.longestFunction
                                                                   : nullptr;
                     !number || value.getAsInteger(10, *number))
              return error("stages take cache=auto|require|none, padded-rows=auto|skip|compute, vector-width=N, registers=N and longest-function=N, not '" + word + "'");
          }
          return addStage(pm, stage, knobs);
        },
        [](llvm::function_ref<void(const detail::PassOptions &)>) {});
}

std::string heddle::describeStages() {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "| stage | after it | passes |\n|---|---|---|\n";
  for (const Stage &s : kStages)
    os << "| `" << s.name << "` | " << s.summary << " | " << (s.passes.empty() ? "the importer" : s.passes)
       << " |\n";
  for (auto &[name, summary] : kOutputStages)
    os << "| `" << name << "` | " << summary << " | the target |\n";
  return text;
}
