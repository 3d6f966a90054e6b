//===- Processors.h - the processors that code is made for ------*- C++ -*-===//
//
// Processors of all architectures and their features. A binary asks for what its code needs when it
// starts; what cannot be asked for is not used. Both follow from LLVM's feature bits of the processor:
// those in heddle/cpu_features.def are asked for, all other instructions are turned off.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TARGETS_HOST_PROCESSORS_H
#define HEDDLE_TARGETS_HOST_PROCESSORS_H

#include "targets/Host/Architectures.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>

namespace heddle::host {

struct Processor {
  const Architecture *architecture;
  std::string cpu;                ///< LLVM's name
  std::string features;           ///< "+a,-b": what LLVM is given next to the name
  std::vector<std::string> needs; ///< features asked for at start, in the order of cpu_features.def
  Vectors vectors;

  std::string needsText() const; ///< separated by spaces
};

/// "native" and every name that `--mcpu` accepts.
std::vector<std::string> processorNames();
/// Whether LLVM knows the name; it may know more spellings than `processorNames` lists.
bool isProcessor(llvm::StringRef mcpu);
/// The processor of this name; none with `error` if the name is unknown, or if a binary could not ask
/// for a feature that its code would need.
std::optional<Processor> findProcessor(llvm::StringRef mcpu, std::string &error);

/// Multiply-adds of bf16 pairs that a processor with vdpbf16ps makes in the time of one of f32, with the features
/// `has`: whether bf16 is multiplied in pairs (--math=auto: above 1) follows from it and from nothing else. `cpu`:
/// LLVM's name, as in #model.target.
double pairsBesideFma(llvm::StringRef cpu, llvm::function_ref<bool(llvm::StringRef)> has);

/// The table of `--mcpu=help`: names, vector widths, how bf16 is multiplied by default, and what this machine lacks.
std::string describeProcessors();

} // namespace heddle::host

#endif
