//===- DeviceStages.cpp - the stages of a device ---------------------------===//

#include "targets/GPU/DeviceStages.h"
#include "compiler/Conversion/Lowering/GPU/Passes.h"
#include "compiler/Conversion/TileToNVVM/Passes.h"
#include "compiler/Conversion/ToKernels/Passes.h"
#include "compiler/Pipelines/Contracts.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace heddle;

static constexpr PassFactory kKernels[] = {
    plainPass<loops::createGroupWeightsPass>, plainPass<loops::createConvertToWarpsPass>,
    plainPass<kernels::createSplitKernelsPass>, plainPass<createCSEPass>, plainPass<kernels::createJoinKernelsPass>};

llvm::ArrayRef<Stage> heddle::deviceStages() {
  static const std::vector<PassFactory> llvm =
      joined({{plainPass<kernels::createKernelsByChipPass>, plainPass<tile::createTileToNVVMPass>, canonicalizeLoops},
              loopsToLlvm(),
              tidied()});
  static const std::vector<Stage> stages = withShared(
      {{"kernels", kKernels, "what a device launches, one function of one signature for the code between two barriers",
        checkKernelsStage},
       {"llvm", llvm, "the LLVM dialect and the device's own ops", checkDeviceStage}});
  return stages;
}

llvm::ArrayRef<OutputStage> heddle::deviceOutputs() {
  static constexpr OutputStage outputs[] = {
      {"llvmir", "LLVM IR as text"},
      {"ptx", "the kernels in PTX"},
      {"obj", "the object file, without the weights"},
      {"exe", "the linked binary"},
  };
  return outputs;
}
