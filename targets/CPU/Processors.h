//===- Processors.h - the processors that code is made for ------*- C++ -*-===//
//
// What a binary uses of a processor, it asks for when it starts; what it cannot ask for, it does not
// use. Both follow from LLVM's own feature bits: those that heddle/cpu_features.def can express are
// asked for, the other instructions of the processor are turned off in the code.
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
  std::string features;           ///< "+a,-b": what LLVM gets beside the name
  std::vector<std::string> needs; ///< asked for at start, in the order of cpu_features.def
  int64_t vectorWidth = 4;        ///< f32 lanes
  int64_t registers = 32;         ///< vector registers
  bool f16 = true;                ///< f32 to f16 and back; on x86 it is f16c
  bool dots = false;              ///< vdpbf16ps: pairs of bf16 multiplied and added at once; and vpermi2b

  std::string needsText() const; ///< separated by spaces
};

/// "native" and every name of `--mcpu`.
std::vector<std::string> processorNames();
/// Whether LLVM has heard of it; it may know more spellings than `processorNames` lists.
bool isProcessor(llvm::StringRef mcpu);
/// None, and why in `error`, where a binary could not ask for what its code would need.
std::optional<Processor> findProcessor(llvm::StringRef mcpu, std::string &error);

/// The table of `--mcpu=help`: names, the width of vectors, what this machine lacks.
std::string describeProcessors();

} // namespace heddle::cpu

#endif
