//===- Generate.h - Generation ------------------------------------*- C++
//-*-===//
//
// The loop over steps. Rows end on their own; the batch ends with its last row.
// With beams, every row of the prompt is several rows of the batch (Beams.h).
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_GENERATE_H
#define HEDDLE_RUNTIME_GENERATE_H

#include "runtime/Beams.h"
#include "runtime/Rules.h"
#include "runtime/Sampler.h"
#include "runtime/Sequence.h"

#include <functional>

namespace heddle::rt {

struct GenerateOptions {
  int64_t newTokens = 0;
  bool ignoreEos = false;
  SamplerOptions sampler;
  RuleOptions rules;
  BeamOptions beams;
  /// Whether a row whose new ids are these has ended for another reason than
  /// eos: a stop text.
  std::function<bool(int64_t row, const std::vector<int64_t> &made)> ended;
  /// Called after every step with the new id of every row; a row that has ended
  /// gets `pad`. Returning false ends the generation. Beams are known at the
  /// end only, and are handed out one after another then.
  std::function<bool(const std::vector<int64_t> &)> onStep;
  /// Called before the prompt is read and after each step: tokens done so far.
  std::function<void(int64_t done)> onProgress;
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
