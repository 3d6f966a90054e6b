//===- PhaseClock.h - What each phase of a call takes -----------*- C++ -*-===//
//
// A call of an entry is a row of phases with barriers between. While a clock is
// set on the team (Pool::time), the thread that arrives last at a barrier notes
// how long the phase before it took; its number is an argument of the barrier.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_PHASECLOCK_H
#define HEDDLE_RUNTIME_PHASECLOCK_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::rt {

class PhaseClock {
public:
  /// For calls of an entry with so many phases.
  explicit PhaseClock(std::size_t phases) : phases(phases) {}

  /// A call begins.
  void begin();
  /// Phase `phase` ends, for all threads; -1: the last one. A phase inside of a
  /// repeat ends once a turn.
  void end(int64_t phase);

  std::size_t calls() const { return taken.size(); }
  /// Seconds of each phase, the median of all calls.
  std::vector<double> medians() const;

private:
  std::size_t phases;
  double last = 0;                        ///< when a phase last ended
  std::vector<std::vector<double>> taken; ///< seconds, [call][phase]
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_PHASECLOCK_H
