//===- ProcessorStages.cpp - the stages of a processor ---------------------===//

#include "targets/CPU/ProcessorStages.h"
#include "compiler/Conversion/Lowering/Passes.h"
#include "compiler/Pipelines/Contracts.h"

using namespace mlir;
using namespace heddle;

using Options = const PipelineOptions &;

static std::unique_ptr<Pass> convertToLoops(Options o) {
  return loops::createConvertToLoopsPass({o.vectorWidth, o.registers});
}
static std::unique_ptr<Pass> shareLoops(Options o) { return loops::createShareLoopsPass({o.longestFunction}); }

llvm::ArrayRef<Stage> heddle::processorStages() {
  static const std::vector<PassFactory> llvm = joined({{convertToLoops, shareLoops, canonicalizeLoops},
                                                       loopsToLlvm(),
                                                       {plainPass<loops::createAddEntryTablePass>},
                                                       tidied()});
  static const std::vector<Stage> stages = withShared({{"llvm", llvm, "the LLVM dialect alone", checkLlvmStage}});
  return stages;
}

llvm::ArrayRef<OutputStage> heddle::processorOutputs() {
  static constexpr OutputStage outputs[] = {
      {"llvmir", "LLVM IR as text"},
      {"asm", "the target's assembly"},
      {"obj", "the object file, without the weights"},
      {"exe", "the linked binary"},
  };
  return outputs;
}
