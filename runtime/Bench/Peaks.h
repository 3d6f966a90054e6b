//===- Peaks.h - What this machine can reach --------------------*- C++ -*-===//
//
// The limits of this machine, measured by loops that do nothing but read
// memory, or nothing but multiply and add, with the widest vectors of the
// processor and the model's team of threads. `bench` gives a model's speed as a
// fraction of them, taken in the same run.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_BENCH_PEAKS_H
#define HEDDLE_RUNTIME_BENCH_PEAKS_H

#include "runtime/Core/Pool.h"

namespace heddle::rt {

struct Peaks {
  double bytesPerSecond = 0;    ///< reading a buffer larger than the last cache
  double flopsPerSecond = 0;    ///< f32; a multiplication and an addition are two
  double dotsPerSecond = 0;     ///< the same with pairs of bf16; 0: no instruction
  double integersPerSecond = 0; ///< the same with bytes, unsigned by signed ones; 0: no instruction
  uint64_t bufferBytes = 0;
  uint64_t cacheBytes = 0;  ///< the last cache; 0 if unknown
  const char *vectors = ""; ///< "avx512", "avx2", "128-bit"
};

/// Measures once more and raises `peaks` to what was reached now.
Status measurePeaks(Pool &pool, Peaks &peaks);

/// "12.3 % of the peak", or why a fraction above 1 cannot be given; `cached`:
/// because part of the data may stay in the caches.
std::string shareText(double share, bool cached);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_BENCH_PEAKS_H
