//===- Instructions.h - what the loops of a PTX text consist of -*- C++ -*-===//
#ifndef HEDDLE_TARGETS_GPU_REPORT_INSTRUCTIONS_H
#define HEDDLE_TARGETS_GPU_REPORT_INSTRUCTIONS_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <map>
#include <string>

namespace heddle::gpu {

/// How many instructions of a stretch of PTX do what.
struct Mix {
  int64_t products = 0;   ///< fma, mma, wgmma
  int64_t reals = 0;      ///< other arithmetic of reals
  int64_t integers = 0;   ///< addresses, counters, moves of registers
  int64_t global = 0;     ///< loads and stores of device memory
  int64_t shared = 0;     ///< of shared memory, ldmatrix too
  int64_t copies = 0;     ///< asynchronous copies and what waits for them
  int64_t control = 0;    ///< branches, barriers, shuffles
  int64_t operations = 0; ///< multiplications and additions of the products, for the 32 threads of a warp

  int64_t total() const { return products + reals + integers + global + shared + copies + control; }
  /// "64 fma, 16 shared, 5 integer".
  std::string str() const;
};

/// For each kernel the innermost loop that multiplies most, in it or in a function that it calls; where nothing is
/// multiplied the longest innermost loop, and where there is no loop the whole text.
std::map<std::string, Mix> hotLoops(llvm::StringRef ptx);

} // namespace heddle::gpu

#endif
