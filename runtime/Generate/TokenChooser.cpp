//===- TokenChooser.cpp - The tokens of one text --------------------------===//
//
// The order is the library's: rules over the plain logits, then the sampler.
//
//===----------------------------------------------------------------------===//
#include "runtime/Generate/TokenChooser.h"

#include <algorithm>

namespace heddle::rt {

/// The stream of random numbers of a row is its seed's (Sampler.h).
static SamplerOptions ofRow(SamplerOptions options, int64_t row) {
  options.seed += uint64_t(row) << 32;
  return options;
}

TokenChooser::TokenChooser(const GenerateOptions &options, const Roles &roles, int64_t row, std::vector<int64_t> text)
    : options(options), roles(roles), row(row), rules(options.rules, options.newTokens, row, text),
      sampler(ofRow(options.sampler, row), 1), text(std::move(text)) {}

Status TokenChooser::choose(const float *logits, int64_t count, int64_t &id) {
  HEDDLE_TRY(checkLogits(logits, count, row, int64_t(made.size())));
  const float *ruled = logits;
  if (rules.any()) {
    scores.assign(logits, logits + count);
    rules.apply(text, int64_t(made.size()), scores.data(), count);
    ruled = scores.data();
  }
  id = sampler.pick(0, ruled, count);
  if (options.onChosen)
    options.onChosen(row, logits, count, id);
  text.push_back(id);
  made.push_back(id);
  isOver = (!options.ignoreEos && std::find(roles.eos.begin(), roles.eos.end(), id) != roles.eos.end()) ||
           (options.ended && options.ended(row, made));
  return {};
}

} // namespace heddle::rt
