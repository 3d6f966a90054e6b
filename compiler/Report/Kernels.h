//===- Kernels.h - machine code of functions, disassembled ------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_REPORT_KERNELS_H
#define HEDDLE_COMPILER_REPORT_KERNELS_H

#include "targets/Host/CodeGen.h"
#include <map>
#include <string>
#include <vector>

namespace heddle::report {

/// Instructions by what they do: product, load, store, move, vector, scalar, prefetch, control.
using InstructionMix = std::map<std::string, int64_t>;

struct Kernel {
  int64_t bytes = 0; ///< of machine code
  double cpuMs = 0;  ///< to generate it
  int64_t instructions = 0;
  InstructionMix all;
  InstructionMix inner;                 ///< of the innermost loop with the most products; empty: there is none
  std::pair<size_t, size_t> innerLines; ///< [first, end) of it in `text`
  std::vector<std::string> text;        ///< "\tvaddps ..." or "label:"
};

/// Of the object files of functions, by symbol.
std::map<std::string, Kernel> kernelsOf(llvm::ArrayRef<host::CodePart> parts);

} // namespace heddle::report

#endif
