//===- Stats.h - What --stats says of a generation ----------------*- C++ -*-===//
//
// One line on stderr: how long the prompt and the new tokens took, and the most
// memory that was resident.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_STATS_H
#define HEDDLE_RUNTIME_STATS_H

#include <cstdint>

namespace heddle::rt {

class Stats {
public:
  /// `read`: tokens of all prompts, or of the sources where those are answered.
  Stats(bool wanted, int64_t rows, int64_t read)
      : wanted(wanted), rows(rows), read(read) {}
  /// Before the prompt, and after every step: steps so far.
  void at(int64_t done);
  void print() const;

private:
  bool wanted;
  int64_t rows, read, steps = 0;
  double begin = 0, first = 0, last = 0; ///< seconds, before and after steps
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_STATS_H
