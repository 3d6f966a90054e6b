//===- ProcessorTarget.h - a processor as a target --------------*- C++ -*-===//
#ifndef HEDDLE_TARGETS_CPU_PROCESSORTARGET_H
#define HEDDLE_TARGETS_CPU_PROCESSORTARGET_H

#include "targets/Host/HostMachine.h"
#include "targets/Target.h"

namespace heddle {

inline constexpr llvm::StringLiteral kProcessor = "cpu";

/// Adds what plans ask of a processor.
void registerProcessorTiles(mlir::DialectRegistry &registry);

/// The target kProcessor; `machine` is "native" or the name of a processor. Null with `why`.
std::unique_ptr<Target> makeProcessorTarget(llvm::StringRef machine, const TargetOptions &options, Refusal &why);

} // namespace heddle

#endif
