//===- Figures.h - The result of a measurement ------------------*- C++ -*-===//
//
// What `bench` measures and prints, and how often it measures.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_BENCH_FIGURES_H
#define HEDDLE_RUNTIME_BENCH_FIGURES_H

#include "runtime/Bench/Profile.h"
#include "runtime/Core/Clock.h"
#include "runtime/Core/Model.h"

#include <algorithm>

namespace heddle::rt {

/// The result of a measurement; times in seconds.
struct Figures {
  bool generates = false;
  int64_t rows = 1, prompt = 0, steps = 0;
  unsigned threads = 1;
  std::string machine;          ///< what the entries ran on
  bool onHost = true;           ///< peaks are known of the processor alone
  double prefill = 0, step = 0; ///< seconds
  double worked = 0;            ///< seconds of processor time of a call of `run`
  uint64_t memory = 0;          ///< bytes, the largest resident size of the process
  int prefills = 0;
  uint64_t weightBytes = 0, stateBytes = 0, arenaBytes = 0;
  std::optional<double> prefillFlops, stepFlops;           ///< operations of one call
  double prefillIntegers = 0;                              ///< of these, those of integers
  std::optional<double> stepReads;                         ///< bytes of weights and states that a step reads
  std::vector<ProfileRow> onceRows, prefillRows, stepRows; ///< where the time goes, with --profile: by phase
  Peaks peaks;

  bool dots = false; ///< products are of pairs of bf16 (the card's dtype line)

  /// Bytes that a step reads: by the card, else every weight and every state once.
  double stepBytes() const { return stepReads.value_or(double(weightBytes + stateBytes)); }
  /// Whether the caches may hold so much of them that memory is not the limit.
  bool cached() const { return stepBytes() < 4 * double(peaks.cacheBytes); }
  /// Fractions of this machine's peaks: the time that the operations of a call
  /// over the prompt take, each kind at its own peak, and the bytes a second in a step. Pairs of bf16 could be
  /// multiplied in f32, too: of the two peaks the better counts.
  double prefillShare() const {
    double limit = dots ? std::max(peaks.dotsPerSecond, peaks.flopsPerSecond) : peaks.flopsPerSecond;
    double ofIntegers = std::max(peaks.integersPerSecond, peaks.flopsPerSecond);
    if (!prefillFlops || !onHost)
      return 0;
    return ((*prefillFlops - prefillIntegers) / limit + prefillIntegers / ofIntegers) / prefill;
  }
  double stepShare() const { return step > 0 && onHost ? stepBytes() / step / peaks.bytesPerSecond : 0; }
  /// A fraction above 1: the machine was slower while its peaks were measured.
  bool unsteady() const { return prefillShare() > 1 || (stepShare() > 1 && !cached()); }
};

inline double median(std::vector<double> &times) {
  if (times.empty())
    return 0;
  std::sort(times.begin(), times.end());
  size_t n = times.size();
  return n % 2 ? times[n / 2] : (times[n / 2 - 1] + times[n / 2]) / 2;
}

/// Measurements are repeated for about so many seconds.
constexpr double kSecondsEnough = 2.0;

/// A formula of the card for one call, if it has one.
inline std::optional<double> count(bool has, const Form &form, const std::vector<int64_t> &dims) {
  std::optional<int64_t> value = has ? form.evaluate(dims.data()) : std::nullopt;
  return value ? std::optional<double>(double(*value)) : std::nullopt;
}

/// Phases of calls of `entry`, each `call` one, for as long as kSecondsEnough says.
template <typename Call>
Status profile(Model &model, const Entry &entry, const std::vector<int64_t> &dims, Call call,
               std::vector<ProfileRow> &rows) {
  if (entry.phases.empty())
    return unsupported("this binary has no list of phases: it computes on a device");
  PhaseClock clock(model.image().entries[entry.index], entry.phases.size());
  Status status;
  double begin = secondsNow();
  for (int pass = 0; status.ok() && (pass < 3 || (secondsNow() - begin < kSecondsEnough && pass < 50)); ++pass)
    status = call(clock);
  model.pool().time(nullptr);
  HEDDLE_TRY(std::move(status));
  return profileOf(entry, dims, clock, rows);
}

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_BENCH_FIGURES_H
