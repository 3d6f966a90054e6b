// The search: 17 scales around (largest number) / -2^(bits-1), which uses all codes, and their negatives. Each trial
// rounds the group, fits the scale again by least squares, rounds the scale to its stored type and the group once more;
// the least squared error wins, the first of equals. A trial is a lane of a vector, and its sums run over the group in
// order, so every processor finds the same scale; the file is compiled without contraction to fma.
#include "compiler/Weights/Pack/Quantise.h"
#include <algorithm>
#include <cassert>
#include <cmath>

// Vectors are registers of 8 where the machine that compiles a model has them.
#if defined(__x86_64__) && defined(__linux__)
#define HEDDLE_WIDER __attribute__((target_clones("avx2", "default")))
#else
#define HEDDLE_WIDER
#endif

namespace heddle {
namespace {

constexpr size_t kLanes = 8;
using Trials = float __attribute__((vector_size(kLanes * sizeof(float))));
using TrialBits = int32_t __attribute__((vector_size(kLanes * sizeof(float))));

constexpr size_t kRatios = 17;

/// The numbers of a group, and what codes they may have.
struct Group {
  const float *x;
  size_t count;
  float top;       ///< the number of largest size
  float half;      ///< 2^(bits-1)
  ScaleType scale; ///< the type that its scale is stored in
};

/// The integer nearest to x, ties to even, between -half and half - 1.
template <typename Number> [[gnu::always_inline]] inline void toNearest(Number &x, const Number &half) {
  constexpr float shift = 0x1.8p23f;
  x = x < -half ? -half : x;
  x = x > half - 1.0f ? half - 1.0f : x;
  x = (x + shift) - shift;
}

/// Rounds scales to their stored type, to nearest even; beyond f16 they become infinite. A cast between vectors keeps
/// the bits.
[[gnu::always_inline]] inline void toStored(ScaleType type, Trials &scale) {
  if (type == ScaleType::F32)
    return;
  auto bits = TrialBits(scale);
  TrialBits sign = bits & INT32_MIN, size = bits & INT32_MAX;
  int32_t drop = type == ScaleType::F16 ? 13 : 16;
  TrialBits even = (size + ((1 << (drop - 1)) - 1) + ((size >> drop) & 1)) & ~((1 << drop) - 1);
  if (type == ScaleType::F16) {
    // Adding 0.5 rounds off the bits that a subnormal half does not have.
    Trials small = (Trials(size) + 0.5f) - 0.5f;
    even = size < 0x38800000 ? TrialBits(small) : even;
    even = size >= 0x477ff000 ? TrialBits{} + 0x7f800000 : even;
  }
  scale = Trials(sign | even);
}

/// Below the first a scale is 0, or its inverse overflows: all codes of the group mean 0. Beyond the second it is
/// infinite, or squared errors are.
float leastScale(ScaleType type) { return type == ScaleType::F16 ? 0x1p-25f : 0x1p-60f; }
float mostScale(ScaleType type) { return type == ScaleType::F16 ? 65504.0f : 0x1p50f; }

/// The scale of a group whose numbers have one.
HEDDLE_WIDER float search(const Group &group) {
  const Trials half = Trials{} + group.half, zero = {};
  float best = 0, least = INFINITY;
  for (size_t first = 0; first < 2 * kRatios; first += kLanes) {
    Trials inverse, products = {}, squares = {}, errors = {};
    for (size_t l = 0; l < kLanes; ++l) {
      size_t trial = std::min(first + l, 2 * kRatios - 1);
      float ratio = 0.72f + 0.02f * float(trial % kRatios);
      inverse[l] = (trial < kRatios ? -group.half : group.half) / (group.top * ratio);
    }
    for (size_t i = 0; i < group.count; ++i) {
      Trials q = group.x[i] * inverse;
      toNearest(q, half);
      products += group.x[i] * q;
      squares += q * q;
    }
    Trials scale = squares > zero ? products / squares : zero;
    toStored(group.scale, scale);
    inverse = scale != zero ? 1.0f / scale : zero;
    for (size_t i = 0; i < group.count; ++i) {
      Trials q = group.x[i] * inverse;
      toNearest(q, half);
      Trials off = group.x[i] - q * scale;
      errors += off * off;
    }
    for (size_t l = 0; l < kLanes; ++l)
      if (errors[l] < least) {
        least = errors[l];
        best = scale[l];
      }
  }
  return best;
}

} // namespace

double CodingError::relative() const { return whole > 0 ? std::sqrt(squared / whole) : 0; }

std::optional<size_t> quantiseRows(const CodedForm &form, llvm::ArrayRef<float> rows, int64_t k, CodedRows &to,
                                   CodingError &error) {
  assert(!form.zeros && form.order.empty() && k > 0 && rows.size() % size_t(k) == 0);
  size_t groups = size_t(form.groups(k)), count = rows.size() / size_t(k);
  float half = float(form.offset());
  to.codes.resize(rows.size());
  to.scales.resize(count * groups);
  to.zeros.clear();
  for (size_t row = 0; row < count; ++row)
    for (size_t g = 0; g < groups; ++g) {
      size_t first = row * size_t(k) + g * size_t(form.group);
      size_t length = std::min<size_t>(size_t(form.group), (row + 1) * size_t(k) - first), at = first;
      for (size_t i = first; i < first + length; ++i) {
        if (!std::isfinite(rows[i]))
          return i;
        at = std::fabs(rows[i]) > std::fabs(rows[at]) ? i : at;
      }
      float largest = std::fabs(rows[at]) / half, scale = 0;
      if (largest > mostScale(form.scale))
        return at;
      if (largest >= leastScale(form.scale))
        scale = search({rows.data() + first, length, rows[at], half, form.scale});
      to.scales[row * groups + g] = scale;
      float inverse = scale == 0 ? 0.0f : 1.0f / scale;
      for (size_t i = first; i < first + length; ++i) {
        float code = rows[i] * inverse;
        toNearest(code, half);
        double off = double(rows[i]) - double(code * scale);
        error.squared += off * off;
        error.whole += double(rows[i]) * double(rows[i]);
        to.codes[i] = uint8_t(code + half);
      }
    }
  return std::nullopt;
}

} // namespace heddle
