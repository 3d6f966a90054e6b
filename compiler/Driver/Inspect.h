//===- Inspect.h - check, interpret, verify, mask ---------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_DRIVER_INSPECT_H
#define HEDDLE_COMPILER_DRIVER_INSPECT_H

#include "compiler/Driver/Compile.h"

namespace heddle {

struct InspectOptions {
  std::string input, output, stage = "model";
  int64_t newTokens = 0; ///< interpret: generate
  int64_t size = 16;     ///< mask: rows and keys of the picture
  bool json = false;
};

/// `heddle check`: all refusals, with their places; reads no weights.
int checkInput(const Console &console, const CompileOptions &options, const InspectOptions &look);
/// `heddle interpret`: safetensors in, safetensors out, by the reference interpreter.
int interpretModel(const Console &console, const CompileOptions &options, const InspectOptions &look);
/// `heddle verify`: interprets after every pass and names the first one that changes a result.
int verifyModel(const Console &console, const CompileOptions &options, const InspectOptions &look);
/// `heddle mask`: the expression and a picture of every attention's mask.
int showMasks(const Console &console, const CompileOptions &options, const InspectOptions &look);

} // namespace heddle

#endif
