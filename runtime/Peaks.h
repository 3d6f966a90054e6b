//===- Peaks.h - What this machine can reach ----------------------*- C++
//-*-===//
//
// Two loops that do nothing but read memory, or nothing but multiply and add,
// with the widest vectors of the processor and the same team of threads as the
// model. A figure of the model is then a fraction of one taken in the same run.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_PEAKS_H
#define HEDDLE_RUNTIME_PEAKS_H

#include "runtime/Pool.h"

namespace heddle::rt {

struct Peaks {
  double bytesPerSecond = 0; ///< reading a buffer larger than the last cache
  double flopsPerSecond = 0; ///< f32, a multiplication and an addition are two
  double dotsPerSecond = 0; ///< the same of pairs of bf16; 0: not in hardware
  uint64_t bufferBytes = 0;
  uint64_t cacheBytes = 0; ///< the last cache; 0 if unknown
  const char *vectors = ""; ///< "avx512", "avx2", "128-bit"
};

/// Measures, and keeps what is more than `peaks` had.
Status measurePeaks(Pool &pool, Peaks &peaks);

/// "12.3 % of the peak", or why no share can be said; `cached`: of what the
/// caches may keep.
std::string shareText(double share, bool cached);

double secondsNow();

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_PEAKS_H
