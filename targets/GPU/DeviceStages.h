//===- DeviceStages.h - the stages of a device ------------------*- C++ -*-===//
//
// After `buffers`: kernels and llvm, then the texts llvmir and ptx, and obj and exe.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TARGETS_GPU_DEVICESTAGES_H
#define HEDDLE_TARGETS_GPU_DEVICESTAGES_H

#include "compiler/Pipelines/Stages.h"

namespace heddle {

/// From `model` to `llvm`, in order, and what comes after it.
llvm::ArrayRef<Stage> deviceStages();
llvm::ArrayRef<OutputStage> deviceOutputs();

} // namespace heddle

#endif
