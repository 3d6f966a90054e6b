// What a server has done, counted by all its threads and printed in Prometheus' text form.
#ifndef HEDDLE_RUNTIME_SERVE_METRICS_H
#define HEDDLE_RUNTIME_SERVE_METRICS_H

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace heddle::serve {

/// Counts of values, in doubling steps.
class Histogram {
public:
  /// The upper bounds are `least`, 2 * `least`, ..., so many of them, and infinity.
  Histogram(double least, size_t steps) : least(least), steps(steps) {}
  void add(double value);
  std::string text(const char *name, const char *help) const;

private:
  static constexpr size_t kMost = 17;
  const double least;
  const size_t steps; ///< at most kMost
  std::array<std::atomic<uint64_t>, kMost + 1> counts{};
  std::atomic<uint64_t> millionths{0}; ///< of the sum
};

class Metrics {
public:
  /// An answer to a known path; "" for any other.
  void answered(const std::string &path, int status);

  std::atomic<uint64_t> promptTokens{0}, reusedTokens{0}, newTokens{0}, cancelled{0};
  std::atomic<uint64_t> running{0};
  Histogram step{1e-3, 17}, firstToken{1e-3, 17}; ///< seconds, up to 65 s
  Histogram batchRows{1, 7};                      ///< texts of a step or of a batch of an encoder, up to 64

  /// `waiting`: requests in the queue; `slots`: how many can run.
  std::string text(size_t waiting, size_t slots) const;

private:
  mutable std::mutex mutex;
  std::map<std::pair<std::string, int>, uint64_t> requests; ///< under `mutex`
};

} // namespace heddle::serve

#endif
