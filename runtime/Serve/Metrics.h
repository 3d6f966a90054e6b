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

/// Counts of seconds, in doubling steps from 1 ms to 65 s.
class Histogram {
public:
  void add(double seconds);
  std::string text(const char *name, const char *help) const;

private:
  static constexpr size_t kSteps = 17;
  std::array<std::atomic<uint64_t>, kSteps + 1> counts{};
  std::atomic<uint64_t> microseconds{0};
};

class Metrics {
public:
  /// An answer to a known path; "" for any other.
  void answered(const std::string &path, int status);

  std::atomic<uint64_t> promptTokens{0}, reusedTokens{0}, newTokens{0}, cancelled{0};
  std::atomic<uint64_t> running{0};
  Histogram step, firstToken;

  /// `waiting`: requests in the queue; `slots`: how many can run.
  std::string text(size_t waiting, size_t slots) const;

private:
  mutable std::mutex mutex;
  std::map<std::pair<std::string, int>, uint64_t> requests; ///< under `mutex`
};

} // namespace heddle::serve

#endif
