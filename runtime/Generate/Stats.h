//===- Stats.h - What --stats says of a generation ----------------*- C++ -*-===//
//
// --stats: a line on stderr with the times of prompt and new tokens, and the
// largest resident size.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_GENERATE_STATS_H
#define HEDDLE_RUNTIME_GENERATE_STATS_H

#include <cstdint>
#include <string>

namespace heddle::rt {

class Stats {
public:
  /// `wanted`: whether --stats was given. `read`: tokens of all prompts, or of
  /// the sources where those are answered.
  Stats(bool wanted, int64_t rows, int64_t read) : wanted(wanted), rows(rows), read(read) {}
  /// Takes the time before prefill and after every step; `done`: steps so far.
  void at(int64_t done);
  void print() const;
  /// The same as a JSON object; "" where --stats was not given.
  std::string json() const;

private:
  bool wanted;
  int64_t rows, read, steps = 0;
  double begin = 0, first = 0, last = 0; ///< seconds, before and after steps
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_GENERATE_STATS_H
