//===- Sampler.cpp - Choosing the next token ------------------------------===//
//
// A NaN is looked for in the logits as the model made them: a rule that forbids
// or forces a token would hide it.
//
//===----------------------------------------------------------------------===//
#include "runtime/Sampler.h"

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

// Sort by logit, weigh by exp((logit - best) / temperature), cut the tail off
// by top-k, top-p and min-p, draw.
int64_t Sampler::pick(int64_t row, const float *logits, int64_t count) {
  int64_t best = 0;
  for (int64_t i = 1; i < count; ++i)
    if (logits[i] > logits[best])
      best = i;
  if (options.temperature <= 0)
    return best;

  order.clear();
  for (int64_t i = 0; i < count; ++i)
    order.push_back(i);
  if (std::isinf(logits[best]))
    return best;
  auto larger = [&](int64_t a, int64_t b) { return logits[a] != logits[b] ? logits[a] > logits[b] : a < b; };
  size_t keep = order.size();
  if (options.topK > 0)
    keep = std::min(keep, size_t(options.topK));
  std::partial_sort(order.begin(), order.begin() + keep, order.end(), larger);
  order.resize(keep);

  weights.clear();
  double sum = 0;
  for (int64_t id : order) {
    double distance = (double(logits[id]) - logits[best]) / options.temperature;
    weights.push_back(std::exp(distance));
    sum += weights.back();
  }
  double reached = 0, wanted = options.topP * sum;
  size_t kept = 0;
  // weights[0] is 1: they are relative to the likeliest, as minP is.
  while (kept < weights.size() &&
         (kept == 0 || (reached < wanted && weights[kept] > 0 && weights[kept] >= options.minP)))
    reached += weights[kept++];

  double place = uniform(row) * reached, passed = 0;
  for (size_t i = 0; i < kept; ++i) {
    passed += weights[i];
    if (place < passed)
      return order[i];
  }
  return order[kept - 1];
}

} // namespace heddle::rt
