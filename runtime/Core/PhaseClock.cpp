//===- PhaseClock.cpp - What each phase of a call takes -------------------===//
#include "runtime/Core/PhaseClock.h"

#include "runtime/Core/Clock.h"

#include <algorithm>

namespace heddle::rt {

void PhaseClock::begin() { last = secondsNow(); }

void PhaseClock::end(int64_t phase) {
  double now = secondsNow();
  size_t at = phase < 0 ? phases - 1 : size_t(phase);
  if (at < phases)
    taken.back()[at] += now - last;
  last = now;
}

std::vector<double> PhaseClock::medians() const {
  std::vector<double> result(phases), times(taken.size());
  for (size_t phase = 0; phase < phases && !times.empty(); ++phase) {
    for (size_t sample = 0; sample < taken.size(); ++sample)
      times[sample] = taken[sample][phase];
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    result[phase] = times[times.size() / 2];
  }
  return result;
}

} // namespace heddle::rt
