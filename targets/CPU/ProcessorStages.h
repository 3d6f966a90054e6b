//===- ProcessorStages.h - the stages of a processor ------------*- C++ -*-===//
//
// After `buffers`: llvm, then the texts llvmir and asm, and obj and exe.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TARGETS_CPU_PROCESSORSTAGES_H
#define HEDDLE_TARGETS_CPU_PROCESSORSTAGES_H

#include "compiler/Pipelines/Stages.h"

namespace heddle {

/// From `model` to `llvm`, in order, and what comes after it.
llvm::ArrayRef<Stage> processorStages();
llvm::ArrayRef<OutputStage> processorOutputs();

} // namespace heddle

#endif
