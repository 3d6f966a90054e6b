//===- Ptxas.h - machine code by the ptxas that is there --------*- C++ -*-===//
#ifndef HEDDLE_TARGETS_GPU_PTXAS_H
#define HEDDLE_TARGETS_GPU_PTXAS_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace heddle::gpu {

/// The ptxas on the path; "" if there is none.
std::string findAssembler();

/// The cubin that `assembler` makes of `ptx` for `chip`; none with what it said in `error`.
std::optional<std::string> assemble(llvm::StringRef assembler, llvm::StringRef ptx, llvm::StringRef chip,
                                    std::string &error);

} // namespace heddle::gpu

#endif
