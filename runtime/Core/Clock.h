//===- Clock.h - A monotonic clock ------------------------------*- C++ -*-===//
#ifndef HEDDLE_RUNTIME_CORE_CLOCK_H
#define HEDDLE_RUNTIME_CORE_CLOCK_H

#include <ctime>

namespace heddle::rt {

/// A monotonic clock, in seconds.
inline double secondsNow() {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CORE_CLOCK_H
