//===- Sampler.cpp - Choosing the next token ------------------------------===//
//
// A NaN is looked for in the logits as the model made them: a rule that forbids
// or forces a token would hide it.
//
//===----------------------------------------------------------------------===//
#include "runtime/Generate/Sampler.h"

#include <algorithm>
#include <cmath>

namespace heddle::rt {

int64_t firstNaN(const float *numbers, int64_t count) {
  bool any = false;
  for (int64_t i = 0; i < count; ++i)
    any |= numbers[i] != numbers[i];
  if (!any)
    return -1;
  return std::find_if(numbers, numbers + count, [](float x) { return std::isnan(x); }) - numbers;
}

Status checkLogits(const float *logits, int64_t count, int64_t row, int64_t made) {
  int64_t id = firstNaN(logits, count);
  if (id < 0)
    return {};
  return badInput(format("the logit of id %lld is NaN, for new token %lld of "
                         "row %lld: no token can be chosen",
                         static_cast<long long>(id), static_cast<long long>(made + 1), static_cast<long long>(row)))
      .withHelp("a weight or an input is NaN or infinite, or numbers have "
                "grown beyond what f32 holds");
}

Sampler::Sampler(const SamplerOptions &options, int64_t rows) : options(options) {
  for (int64_t row = 0; row < rows; ++row)
    streams.push_back(options.seed + (uint64_t(row) << 32));
}

double Sampler::uniform(int64_t row) {
  uint64_t z = streams[row] += 0x9e3779b97f4a7c15ull;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ z >> 27) * 0x94d049bb133111ebull;
  return double((z ^ z >> 31) >> 11) * 0x1p-53;
}

/// Makes the first `wanted` places of `order` the largest logits in falling order; they are so up to `sorted`.
void Sampler::sortUpTo(size_t wanted, const float *logits) {
  wanted = std::min(wanted, order.size());
  if (wanted <= sorted)
    return;
  auto larger = [&](int64_t a, int64_t b) { return logits[a] != logits[b] ? logits[a] > logits[b] : a < b; };
  std::partial_sort(order.begin() + int64_t(sorted), order.begin() + int64_t(wanted), order.end(), larger);
  sorted = wanted;
}

// Weigh by exp((logit - best) / temperature), cut the tail off by top-k, top-p and min-p, draw. What is drawn is
// near the front of the falling order nearly always, so only a beginning of it is sorted, in growing pieces.
int64_t Sampler::pick(int64_t row, const float *logits, int64_t count) {
  int64_t best = 0;
  for (int64_t i = 1; i < count; ++i)
    if (logits[i] > logits[best])
      best = i;
  if (options.temperature <= 0 || std::isinf(logits[best]))
    return best;

  order.resize(size_t(count));
  for (int64_t i = 0; i < count; ++i)
    order[size_t(i)] = i;
  sorted = 0;
  if (options.topK > 0 && options.topK < count) {
    sortUpTo(size_t(options.topK), logits);
    order.resize(size_t(options.topK));
  }
  auto weight = [&](int64_t id) { return std::exp((double(logits[id]) - logits[best]) / options.temperature); };
  double sum = 0;
  for (int64_t id : order)
    sum += weight(id);

  // How many are kept: all, or as many as reach topP and are likely enough. The likeliest weighs 1, as minP counts.
  size_t kept = order.size();
  double reached = sum;
  if (options.topP < 1 || options.minP > 0)
    for (kept = 0, reached = 0; kept < order.size(); ++kept) {
      sortUpTo(kept < sorted ? sorted : std::max<size_t>(64, 4 * sorted), logits);
      double next = weight(order[kept]);
      if (kept > 0 && (reached >= options.topP * sum || next < options.minP))
        break;
      reached += next;
    }

  double place = uniform(row) * reached, passed = 0;
  int64_t last = best;
  for (size_t i = 0; i < kept; ++i) {
    sortUpTo(i < sorted ? sorted : std::max<size_t>(64, 4 * sorted), logits);
    double next = weight(order[i]);
    if (next <= 0)
      break;
    last = order[i];
    passed += next;
    if (place < passed)
      break;
  }
  return last;
}

} // namespace heddle::rt
