//===- Cpu.h - What the processor can do ------------------------*- C++ -*-===//
//
// Which features the processor has, by LLVM's names (heddle/cpu_features.def).
// They are asked for before any code that needs them runs.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_CPU_H
#define HEDDLE_RUNTIME_CORE_CPU_H

#include <string>
#include <vector>

namespace heddle::rt {

/// The features among `needs` that this machine lacks, as "avx512f, avx512bw";
/// "" if it has all. A feature that is not in the table counts as missing.
std::string missingFeatures(const std::vector<std::string> &needs);

/// The processor's name for people, "AMD EPYC 9004 ...".
std::string processorName();

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CORE_CPU_H
