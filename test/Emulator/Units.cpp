//===- Units.cpp - How a unit adds 16 products ----------------------------===//
#include "test/Emulator/Units.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace heddle::emulator {

float half(uint32_t word, uint32_t upper) {
  uint32_t bits = upper ? word & 0xffff0000u : word << 16;
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

/// All terms in units of the last place of the largest, what is below them cut
/// off, and so the sum.
static float chopped(const float (&terms)[kUnit + 1]) {
  int top = -200;
  for (float term : terms) {
    if (!std::isfinite(term))
      return std::nanf("");
    if (term != 0)
      top = std::max(top, std::ilogb(term));
  }
  double unit = std::ldexp(1.0, top - 23), sum = 0;
  for (float term : terms)
    sum += std::trunc(double(term) / unit) * unit;
  auto rounded = float(sum);
  return std::fabs(double(rounded)) > std::fabs(sum) ? std::nextafter(rounded, 0.0f) : rounded;
}

float addProducts(float sum, const float *left, const float *right, bool chops) {
  float terms[kUnit + 1] = {sum}, chain = sum;
  for (uint32_t k = 0; k < kUnit; ++k) {
    terms[k + 1] = left[k] * right[k];
    chain += terms[k + 1];
  }
  return chops && std::isfinite(chain) ? chopped(terms) : chain;
}

} // namespace heddle::emulator
