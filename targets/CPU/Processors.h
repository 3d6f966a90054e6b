//===- Processors.h - the processors that code is made for ------*- C++ -*-===//
//
// Processors and their features. A binary asks for what its code needs when it starts; what cannot be
// asked for is not used. Both follow from LLVM's feature bits of the processor: those in
// heddle/cpu_features.def are asked for, all other instructions are turned off.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TARGETS_CPU_PROCESSORS_H
#define HEDDLE_TARGETS_CPU_PROCESSORS_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace heddle::cpu {

struct Processor {
  std::string cpu;                ///< LLVM's name
  std::string features;           ///< "+a,-b": what LLVM is given beside the name
  std::vector<std::string> needs; ///< features asked for at start, in the order of cpu_features.def
  int64_t vectorWidth = 4;        ///< f32 lanes
  int64_t registers = 32;         ///< vector registers
  bool f16 = true;                ///< has conversions between f32 and f16 (x86: f16c)
  bool dots = false;              ///< has dot products of pairs of bf16 (vdpbf16ps), and vpermi2b

  std::string needsText() const; ///< separated by spaces
};

/// "native" and every name that `--mcpu` accepts.
std::vector<std::string> processorNames();
/// Whether LLVM knows the name; it may know more spellings than `processorNames` lists.
bool isProcessor(llvm::StringRef mcpu);
/// The processor of this name; none with `error` if the name is unknown, or if a binary could not ask
/// for a feature that its code would need.
std::optional<Processor> findProcessor(llvm::StringRef mcpu, std::string &error);

/// The table of `--mcpu=help`: names, vector widths, and what this machine lacks.
std::string describeProcessors();

} // namespace heddle::cpu

#endif
