//===- Ptxas.h - machine code by the ptxas that is there --------*- C++ -*-===//
#ifndef HEDDLE_TARGETS_GPU_PTXAS_H
#define HEDDLE_TARGETS_GPU_PTXAS_H

#include "llvm/ADT/StringRef.h"
#include <map>
#include <optional>
#include <string>

namespace heddle::gpu {

/// The ptxas on the path; "" if there is none.
std::string findAssembler();

/// What a kernel takes of its multiprocessor: registers a thread, bytes of shared memory a block, bytes of stack and of
/// spilled registers a thread.
struct Resources {
  int64_t registers = 0, shared = 0, stack = 0, spills = 0;
};

/// The cubin that `assembler` makes of `ptx` for `chip`, and what the kernels and functions of it take; none with what
/// it said in `error`.
struct Assembled {
  std::string bytes;
  std::map<std::string, Resources> resources;
};
std::optional<Assembled> assemble(llvm::StringRef assembler, llvm::StringRef ptx, llvm::StringRef chip,
                                  std::string &error);

} // namespace heddle::gpu

#endif
