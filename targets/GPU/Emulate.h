//===- Emulate.h - the kernels as host code ---------------------*- C++ -*-===//
#ifndef HEDDLE_TARGETS_GPU_EMULATE_H
#define HEDDLE_TARGETS_GPU_EMULATE_H

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include <string>

namespace heddle::gpu {

/// Turns the module of `translate` into one for `host`: special registers, shuffles and barriers become calls of the
/// emulator (test/Emulator), and `heddle_emulated_kernels` names the kernels (runtime/include/heddle/image.h).
/// `races`: every load and store of memory that threads share is reported first. False where an intrinsic is not known
/// to the emulator, which `error` names.
bool emulate(llvm::Module &module, llvm::TargetMachine &host, bool races, std::string &error);

} // namespace heddle::gpu

#endif
