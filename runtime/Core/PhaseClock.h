//===- PhaseClock.h - What each phase of a call takes -----------*- C++ -*-===//
//
// A call of an entry is a row of phases with barriers between. While a clock is
// set on the team (Pool::time), the thread that arrives last at a barrier notes
// how long the phase before it took; its number is an argument of the barrier.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_PHASECLOCK_H
#define HEDDLE_RUNTIME_CORE_PHASECLOCK_H

#include "heddle/abi.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::rt {

class PhaseClock {
public:
  /// For calls of `entry`, which has so many phases.
  PhaseClock(heddle_entry_fn entry, std::size_t phases) : entry(entry), phases(phases) {}
  bool isOf(heddle_entry_fn other) const { return other == entry; }

  /// What is timed from here on is one sample: mostly one call, several where a prompt comes in pieces.
  void sample() { taken.emplace_back(phases, 0.0); }
  /// A call begins.
  void begin();
  /// Phase `phase` ends, for all threads; -1: the last one. A phase inside of a
  /// repeat ends once a turn.
  void end(int64_t phase);

  /// Seconds of each phase, the median of all samples.
  std::vector<double> medians() const;

private:
  heddle_entry_fn entry;
  std::size_t phases;
  double last = 0;                        ///< when a phase last ended
  std::vector<std::vector<double>> taken; ///< seconds, [sample][phase]
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CORE_PHASECLOCK_H
