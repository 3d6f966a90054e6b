//===- Cpu.h - What the processor can do --------------------------*- C++
//-*-===//
//
// Features by LLVM's names (heddle/cpu_features.def), asked before any code that
// needs them runs.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CPU_H
#define HEDDLE_RUNTIME_CPU_H

#include <string>
#include <vector>

namespace heddle::rt {

/// Those of `needs` that this machine lacks, "avx512f, avx512bw"; "" if none. A
/// feature that cannot be asked for is missing.
std::string missingFeatures(const std::vector<std::string> &needs);

/// "AMD EPYC 9004 ..." for people.
std::string processorName();

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CPU_H
