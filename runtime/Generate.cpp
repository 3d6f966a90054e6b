//===- Generate.cpp - Generation ------------------------------------------===//
//
// A finished row is fed pad and its logits are ignored; the others do not
// notice, as no row of a batch sees another.
//
//===----------------------------------------------------------------------===//
#include "runtime/Generate.h"

#include <algorithm>

namespace heddle::rt {

int64_t padId(const Roles &roles) {
  return roles.pad ? *roles.pad : roles.eos.empty() ? 0 : roles.eos.front();
}

int64_t roomFor(const Model &model, const Prompt &prompt, int64_t wanted) {
  std::optional<int64_t> bound =
      model.card().bound(prompt.run->dims[prompt.stepDim]);
  // The last new token is never fed.
  return bound ? std::min(wanted, *bound - prompt.length + 1) : wanted;
}

Status generate(Model &model, const Prompt &prompt,
                const GenerateOptions &options, std::vector<int64_t> &ids) {
  const Roles &roles = model.card().roles;
  int64_t rows = prompt.rows, steps = options.newTokens, pad = padId(roles);
  ids.assign(rows * steps, pad);
  if (steps == 0)
    return {};
  Sequence sequence;
  HEDDLE_TRY(sequence.prepare(model, prompt, steps));
  Sampler sampler(options.sampler, rows);
  std::vector<int64_t> next(rows);
  std::vector<bool> finished(rows);
  int64_t open = rows;
  for (int64_t i = 0; i < steps; ++i) {
    HEDDLE_TRY(i == 0 ? sequence.prefill() : sequence.append(next));
    for (int64_t row = 0; row < rows; ++row) {
      if (finished[row]) {
        next[row] = pad;
        continue;
      }
      next[row] =
          sampler.pick(row, sequence.logitsOf(row), sequence.vocabulary());
      ids[row * steps + i] = next[row];
      if (!options.ignoreEos && std::find(roles.eos.begin(), roles.eos.end(),
                                          next[row]) != roles.eos.end()) {
        finished[row] = true;
        --open;
      }
    }
    if (options.onStep && !options.onStep(next))
      return {};
    if (open == 0)
      return {};
  }
  return {};
}

} // namespace heddle::rt
