//===- Sampler.h - Choosing the next token ----------------------*- C++ -*-===//
//
// Chooses a token from logits. Greedy: the largest, of equals the smallest id.
// Sampling: divide by the temperature, keep the `topK` largest (of equals the
// smaller id), keep the fewest of them whose probabilities reach `topP`, then
// those at least `minP` times as likely as the likeliest, and draw one. Random
// numbers come from splitmix64 started at seed + row * 2^32 (top 53 bits,
// divided by 2^53), so equal logits and seeds give equal texts on any machine.
// A NaN among the logits is an error, since whatever was chosen would look like
// an answer.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_GENERATE_SAMPLER_H
#define HEDDLE_RUNTIME_GENERATE_SAMPLER_H

#include "runtime/Core/Status.h"

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

/// Index of the first NaN, -1 if there is none.
int64_t firstNaN(const float *numbers, int64_t count);
/// An error if a logit for new token `made` (from 0) of `row` is NaN.
Status checkLogits(const float *logits, int64_t count, int64_t row, int64_t made);

class Sampler {
public:
  Sampler(const SamplerOptions &options, int64_t rows);
  /// The id chosen from `count` logits, which must have passed `checkLogits`.
  int64_t pick(int64_t row, const float *logits, int64_t count);

private:
  double uniform(int64_t row);
  void sortUpTo(size_t wanted, const float *logits);

  SamplerOptions options;
  std::vector<uint64_t> streams;
  std::vector<int64_t> order;
  size_t sorted = 0; ///< places of `order` that are final
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_GENERATE_SAMPLER_H
