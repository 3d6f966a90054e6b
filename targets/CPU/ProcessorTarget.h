//===- ProcessorTarget.h - a processor as a target --------------*- C++ -*-===//
#ifndef HEDDLE_TARGETS_CPU_PROCESSORTARGET_H
#define HEDDLE_TARGETS_CPU_PROCESSORTARGET_H

#include "targets/CPU/CPUTarget.h"
#include "targets/Target.h"

namespace heddle {

/// The target "cpu"; `machine` is "native" or the name of a processor. Null with `why`.
std::unique_ptr<Target> makeProcessorTarget(llvm::StringRef machine, const TargetOptions &options, Refusal &why);

/// What a processor can do with 16 bits, and what it is fast at.
Formats formatsOf(const cpu::CPUTarget &cpu);

} // namespace heddle

#endif
