//===- Campaign.h - many random masks on all cores --------------*- C++ -*-===//
//
// Random masks are drawn in batches, a batch is compiled at once and checked; batches are dealt
// to threads. What is drawn depends on the seed and the batch alone, so `--seed=S --batch=N`
// shows a failure again. A call of generated code that does not return ends the program.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_MASK_CAMPAIGN_H
#define HEDDLE_TEST_MASK_CAMPAIGN_H

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace heddle::test {

struct CampaignOptions {
  int64_t expressions = 0; ///< 0: what the test has by default
  uint64_t seed = 1;
  int64_t batch = -1; ///< only this one
  int threads = 2;
  int failures = 10; ///< after so many it ends
  int limit = 20;    ///< seconds for one call of generated code
  /// Takes `--expressions=N`, `--seed=N`, `--batch=N`, `--threads=N`, `--limit=N`,
  /// `--failures=N`; false for anything else.
  bool parse(int argc, char **argv);
};
extern CampaignOptions campaign; ///< of this test program

class Campaign {
public:
  Campaign(std::string name, int64_t batches);
  /// body(batch) on all threads; returns what went wrong, a few of it.
  std::vector<std::string> run(const std::function<void(int64_t batch)> &body);

  void fail(const std::string &what);
  bool failed() const { return failures > 0; }
  /// Generated code runs between these two.
  void enter(const std::string &what);
  void leave();

private:
  std::string name;
  int64_t batches;
  std::atomic<int64_t> next{0}, failures{0};
  std::mutex lock;
  std::vector<std::string> messages;
  struct Slot {
    std::atomic<int64_t> since{0};
    std::string what;
  };
  std::vector<Slot> slots;
};

} // namespace heddle::test

#endif
