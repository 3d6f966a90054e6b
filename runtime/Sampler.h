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
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_SAMPLER_H
#define HEDDLE_RUNTIME_SAMPLER_H

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

class Sampler {
public:
  Sampler(const SamplerOptions &options, int64_t rows);
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
