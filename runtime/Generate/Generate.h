//===- Generate.h - Generation ----------------------------------*- C++ -*-===//
//
// The loop of generation: prefill, then one call a token. Each text of the
// prompt steps by itself (TextStepper.h); the loop ends with the last. With
// beams a text is several rows of the batch.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_GENERATE_GENERATE_H
#define HEDDLE_RUNTIME_GENERATE_GENERATE_H

#include "runtime/Generate/Beams.h"
#include "runtime/Generate/Rules.h"
#include "runtime/Generate/Sampler.h"
#include "runtime/Generate/Sequence.h"

#include <functional>

namespace heddle::rt {

struct GenerateOptions {
  int64_t newTokens = 0;
  bool lengthIsOurs = false; ///< neither the user nor the model has said how many
  bool ignoreEos = false;
  SamplerOptions sampler;
  RuleOptions rules;
  BeamOptions beams;
  /// Whether a row with these new ids has ended for another reason than eos: a
  /// stop text.
  std::function<bool(int64_t row, const std::vector<int64_t> &made)> ended;
  /// Called after every step with the new id of every row; a row that has ended
  /// gets `pad`. Returning false ends the generation. With beams it is called
  /// only at the end, once for each id of the best texts.
  std::function<bool(const std::vector<int64_t> &)> onStep;
  /// Called for each id that is chosen, with the row's plain logits, before rules and temperature. Not with beams.
  std::function<void(int64_t row, const float *logits, int64_t count, int64_t id)> onChosen;
  /// Of a prompt, at most so many columns are computed in a call, and between two calls `goesOn` is asked; if it says
  /// no, nothing is generated. 0: all at once.
  int64_t longestCall = 0;
  std::function<bool()> goesOn;
  /// The names of the rows in messages and callbacks, which give them their random numbers, too; empty: 0, 1, ...
  std::vector<int64_t> rowNames;
  /// Called before prefill and after every step; `done`: new tokens so far.
  std::function<void(int64_t done)> onProgress;
};

/// The id that rows are filled with after their end: pad, else eos, else 0.
int64_t padId(const Roles &roles);

/// Generates up to `options.newTokens` ids for every row of `prompt`. `ids`
/// becomes [rows, newTokens], filled with pad after the end of a row. The model
/// must have been started. Errors: not enough memory, a NaN among the logits.
Status generate(Model &model, const Prompt &prompt, const GenerateOptions &options, std::vector<int64_t> &ids);

/// The same on a sequence that holds the prompt and has its logits. `texts`: the real tokens of every row of the
/// prompt, which the rules look at; with beams it has as many rows of the sequence. The last id that is chosen is not
/// appended to the sequence.
Status generateFrom(Sequence &sequence, const Roles &roles, std::vector<std::vector<int64_t>> texts,
                    const GenerateOptions &options, std::vector<int64_t> &ids);

/// At most `wanted`: the new tokens that texts of at most `most` positions leave
/// after `prompt`.
int64_t roomFor(const Prompt &prompt, std::optional<int64_t> most, int64_t wanted);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_GENERATE_GENERATE_H
