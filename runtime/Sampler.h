//===- Sampler.h - Choosing the next token ------------------------*- C++
//-*-===//
//
// Greedy takes the first of the largest logits. Sampling: divide by the
// temperature, keep the `topK` largest (of equals the smaller id), keep the
// fewest of them whose probabilities reach `topP`, then those at least `minP`
// times as likely as the likeliest, draw one. The numbers come
// from splitmix64 started at seed + row * 2^32 (top 53 bits, divided by 2^53),
// so that equal logits and seeds give equal texts on any machine.
//
// Nothing is chosen among logits of which one is NaN: that is an error, since
// whatever was chosen would look like an answer.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_SAMPLER_H
#define HEDDLE_RUNTIME_SAMPLER_H

#include "runtime/Status.h"

#include <cstdint>
#include <vector>

namespace heddle::rt {

struct SamplerOptions {
  double temperature = 0; ///< 0 is greedy
  int64_t topK = 0;       ///< 0 keeps all
  double topP = 1;
  uint64_t seed = 0;
  double minP = 0;
};

/// The place of the first NaN, -1 where there is none.
int64_t firstNaN(const float *numbers, int64_t count);
/// An error where a logit from which new token `made` (from 0) of `row` would
/// be chosen is NaN.
Status checkLogits(const float *logits, int64_t count, int64_t row,
                   int64_t made);

class Sampler {
public:
  Sampler(const SamplerOptions &options, int64_t rows);
  /// The logits are those that `checkLogits` has seen, no NaN among them.
  int64_t pick(int64_t row, const float *logits, int64_t count);

private:
  double uniform(int64_t row);

  SamplerOptions options;
  std::vector<uint64_t> streams;
  std::vector<int64_t> order;
  std::vector<double> weights;
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_SAMPLER_H
