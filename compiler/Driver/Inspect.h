//===- Inspect.h - check, interpret, verify, mask, weights -------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_DRIVER_INSPECT_H
#define HEDDLE_COMPILER_DRIVER_INSPECT_H

#include "compiler/Driver/Console.h"
#include "compiler/Driver/Options.h"

namespace heddle {

struct InspectOptions {
  std::string input, output;
  // interpret, verify
  std::vector<std::string> inputs, outputs; ///< interpret: as many of one as of the other
  std::string stage = "model";
  bool bisect = false;   ///< verify: also what is left of the model where a pass changes a result
  int64_t newTokens = 0; ///< interpret: generate; verify: also the cached step, so far
  // mask
  std::string entry = "run";           ///< run, once, step or batch
  std::map<std::string, int64_t> dims; ///< --dims
  int64_t length = 512;                ///< of a dim that nobody names
  int64_t rowTile = 0, keyTile = 0;    ///< 0: the kernel's
  int64_t batch = 0, head = 0;         ///< what is drawn, where they differ
  bool json = false;
};

/// `heddle check`: what `compile` would refuse, all of it; reads headers of weights, never data.
int checkInput(const Console &console, const CompileOptions &options, const InspectOptions &look);
/// `heddle weights`: every weight that the model needs, with its shape, as a table or as JSON.
int listWeights(const Console &console, const CompileOptions &options, const InspectOptions &look);
/// `heddle schema`: of any description, or of the one that is named, with the blocks that it declares.
int showSchema(const Console &console, const std::string &file, const FamilyLibrary &families);
/// `heddle interpret`: safetensors in, safetensors out, by the reference interpreter.
int interpretModel(const Console &console, const CompileOptions &options, const InspectOptions &look);
/// `heddle verify`: interprets after every pass and names the first one that changes a result.
int verifyModel(const Console &console, const CompileOptions &options, const InspectOptions &look);
/// `heddle mask`: what every attention sees, skips and saves; `output` is the file of --svg.
int showMasks(const Console &console, const CompileOptions &options, const InspectOptions &look);

} // namespace heddle

#endif
