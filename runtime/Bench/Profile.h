//===- Profile.h - Where the time of a call goes ----------------*- C++ -*-===//
//
// `bench --profile`: phases of a call (the card's lines `phase`), a layer's in
// all layers together, with their time, their operations and bytes, and the
// share of what this machine reaches. In the table those of one weight are one.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_BENCH_PROFILE_H
#define HEDDLE_RUNTIME_BENCH_PROFILE_H

#include "runtime/Bench/Peaks.h"
#include "runtime/Core/Card.h"
#include "runtime/Core/PhaseClock.h"

#include <string>
#include <vector>

namespace heddle::rt {

/// A phase, or those of one weight, or of an op that has none.
struct ProfileRow {
  std::string ops, weight; ///< "linear+map", "h.{0}.mlp.c_fc.weight"
  /// Where the op stands in the description, its statement in the block, the name of its value; empty: not known.
  std::string place, statement, node;
  std::vector<std::string> kernels; ///< functions that it calls
  bool dots = false;                ///< products are of pairs of bf16
  bool integers = false;            ///< or of codes by rows of 8 bits
  int64_t phases = 0;               ///< of a call
  double seconds = 0;               ///< of a call
  double operations = 0, bytes = 0;

  /// Seconds that this machine needs for the operations, or the bytes.
  double computing(const Peaks &peaks) const;
  double moving(const Peaks &peaks) const { return bytes / peaks.bytesPerSecond; }
};

/// A row for each phase of calls of `entry` under `dims`, in the order of the
/// card, of what `clock` has seen. Fails if a line of the card cannot be read.
Status profileOf(const Entry &entry, const std::vector<int64_t> &dims, const PhaseClock &clock,
                 std::vector<ProfileRow> &rows);

/// A table for people, headed by `title`, on stdout: phases of one weight are
/// one row, the longest first.
void printProfile(const char *title, const std::vector<ProfileRow> &rows, const Peaks &peaks);
/// All rows as a JSON array; times in ms, a share that says nothing is null.
std::string profileJson(const std::vector<ProfileRow> &rows, const Peaks &peaks);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_BENCH_PROFILE_H
