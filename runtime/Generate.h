//===- Generate.h - Generation ------------------------------------*- C++
//-*-===//
//
// The loop over steps. Rows end on their own; the batch ends with its last row.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_GENERATE_H
#define HEDDLE_RUNTIME_GENERATE_H

#include "runtime/Sampler.h"
#include "runtime/Sequence.h"

#include <functional>

namespace heddle::rt {

struct GenerateOptions {
  int64_t newTokens = 0;
  bool ignoreEos = false;
  SamplerOptions sampler;
  /// Called after every step with the new id of every row; a row that has ended
  /// gets `pad`. Returning false ends the generation.
  std::function<bool(const std::vector<int64_t> &)> onStep;
};

/// What finished rows are filled with.
int64_t padId(const Roles &roles);

/// `ids`: [rows, newTokens], filled up with pad.
Status generate(Model &model, const Prompt &prompt,
                const GenerateOptions &options, std::vector<int64_t> &ids);

/// The new tokens that fit after a prompt of `length`, at most `wanted`.
int64_t roomFor(const Model &model, const Prompt &prompt, int64_t wanted);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_GENERATE_H
