//===- TextStepper.cpp - One text, step by step ---------------------------===//
//
// The order is the library's: rules over the plain logits, then the sampler;
// with beams rules over log-probabilities, then the search.
//
//===----------------------------------------------------------------------===//
#include "runtime/Generate/TextStepper.h"

#include <algorithm>
#include <numeric>

namespace heddle::rt {

/// The stream of random numbers of a row is its seed's (Sampler.h).
static SamplerOptions ofRow(SamplerOptions options, int64_t row) {
  options.seed += uint64_t(row) << 32;
  return options;
}

TokenChooser::TokenChooser(const GenerateOptions &options, const Roles &roles, int64_t row, std::vector<int64_t> text)
    : options(options), roles(roles), row(row), rules(options.rules, options.newTokens, row, text),
      sampler(ofRow(options.sampler, row), 1), text(std::move(text)) {}

Status TokenChooser::step(const float *const *logits, int64_t count) {
  const float *ruled = logits[0];
  HEDDLE_TRY(checkLogits(ruled, count, row, int64_t(chosen.size())));
  if (rules.any()) {
    scores.assign(ruled, ruled + count);
    rules.apply(text, int64_t(chosen.size()), scores.data(), count);
    ruled = scores.data();
  }
  int64_t picked = id[0] = sampler.pick(0, ruled, count);
  if (options.onChosen)
    options.onChosen(row, logits[0], count, picked);
  text.push_back(picked);
  chosen.push_back(picked);
  bool atEnd = !options.ignoreEos && std::find(roles.eos.begin(), roles.eos.end(), picked) != roles.eos.end();
  isDone = atEnd || (options.ended && options.ended(row, chosen)) || int64_t(chosen.size()) == options.newTokens;
  return {};
}

BeamChooser::BeamChooser(const GenerateOptions &options, const Roles &roles, int64_t row, std::vector<int64_t> text)
    : options(options), row(row), rules(options.rules, options.newTokens, row, text),
      search(options.beams, options.ignoreEos ? std::vector<int64_t>() : roles.eos, options.newTokens),
      padding(size_t(options.beams.width), padId(roles)), own(padding.size()), begin(std::move(text)),
      scores(padding.size()) {
  std::iota(own.begin(), own.end(), 0);
}

Status BeamChooser::step(const float *const *logits, int64_t count) {
  for (size_t beam = 0; beam < scores.size(); ++beam) {
    const std::vector<int64_t> &grown = search.texts()[beam];
    auto made = int64_t(grown.size());
    HEDDLE_TRY(checkLogits(logits[beam], count, row, made));
    scores[beam].assign(logits[beam], logits[beam] + count);
    logSoftmax(scores[beam].data(), count);
    if (!rules.any())
      continue;
    std::vector<int64_t> text = begin;
    text.insert(text.end(), grown.begin(), grown.end());
    rules.apply(text, made, scores[beam].data(), count);
    if (options.beams.renormalise)
      logSoftmax(scores[beam].data(), count);
  }
  search.step(scores, count);
  if (search.done())
    best = search.best();
  return {};
}

} // namespace heddle::rt
