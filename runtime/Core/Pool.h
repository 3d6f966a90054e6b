//===- Pool.h - The team of threads -----------------------------*- C++ -*-===//
//
// The team of threads, one for the life of the program. `run` calls a function
// on every thread and returns when all are done; between calls a thread spins
// for a short while, then sleeps on a futex. The function divides the work by
// thread number, so a call costs one store and one wait (about 0.6 us), and a
// barrier inside it about 0.3 us.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_POOL_H
#define HEDDLE_RUNTIME_CORE_POOL_H

#include "heddle/abi.h"
#include "runtime/Core/PhaseClock.h"
#include "runtime/Core/Status.h"

#include <atomic>
#include <pthread.h>

/// How many parts have been taken of a thread's stretch.
struct heddle_stretch {
  alignas(128) std::atomic<int64_t> taken{0};
};

/// One call of an entry, which generated code passes to heddle_barrier and
/// heddle_fail: the barrier's counters, each on a cache line of its own, and
/// the first failure.
struct heddle_ctx {
  alignas(128) std::atomic<uint32_t> arrived{0};
  alignas(128) std::atomic<uint32_t> round{0};
  std::atomic<uint32_t> asleep{0}; ///< threads that gave up spinning
  alignas(128) uint32_t team = 1;
  uint32_t spins = 0;
  heddle_stretch *stretches = nullptr;         ///< one a thread
  alignas(128) std::atomic<bool> takes{false}; ///< whether anybody has taken a part in this phase
  std::atomic<uint64_t> slept{0};              ///< nanoseconds, all threads together
  std::atomic<uint32_t> failed{0};
  int64_t code = 0, a = 0, b = 0;
  heddle::rt::PhaseClock *clock = nullptr; ///< takes the time of phases; mostly none
};

namespace heddle::rt {

/// Cores this process may run on.
unsigned availableCores();

/// How many threads the next call gets. On a machine that other programs use,
/// too, waiting for a thread without a core costs more than doing without it:
/// after a call in which on average fewer than 0.6 of the threads ran, the next
/// ones get as many as ran; for 8 calls, and for twice as many each time it
/// happens again, at most 256.
class TeamSize {
public:
  void reset(unsigned threads) {
    full = fewer = threads;
    left = 0;
    patience = kPatience;
  }
  unsigned next() { return left ? --left, fewer : full; }
  /// After a call of `threads` threads: its duration and the time slept by all
  /// threads together, in nanoseconds.
  void learn(unsigned threads, uint64_t wall, uint64_t slept);

private:
  static constexpr unsigned kPatience = 8, kMostPatience = 256;
  unsigned full = 1, fewer = 1, left = 0, patience = kPatience;
};

class Pool {
public:
  Pool() = default;
  Pool(const Pool &) = delete;
  Pool &operator=(const Pool &) = delete;
  ~Pool();

  /// Starts `threads` - 1 workers, or as many as the system gives, with a note; the caller of `run` is the first
  /// thread.
  Status start(unsigned threads);
  unsigned threads() const { return team; }
  /// What a failure of lookup 0, 1, ... is said of: the `lookup` lines of the card.
  void nameLookups(std::vector<std::string> texts) { lookups = std::move(texts); }

  /// Calls of its entry are timed by `clock` from now on; null: no longer.
  void time(PhaseClock *clock) { phaseClock = clock; }

  using Function = void (*)(void *argument, int64_t tid, int64_t nth);
  /// Calls `function` on every thread.
  void run(Function function, void *argument) { run(function, argument, team); }

  /// One call of an entry on the team; a failure that the generated code
  /// recorded becomes the Status, with the text of its row HEDDLE_FAILURE.
  Status call(heddle_entry_fn entry, const int64_t *dims, void *const *tensors, char *arena, const void *weights);

private:
  struct Worker {
    Pool *pool;
    unsigned tid;
  };
  void work(unsigned tid);
  void run(Function function, void *argument, unsigned members);

  /// Bumped to publish work; the low kMemberBits say how many threads take
  /// part.
  alignas(128) std::atomic<uint32_t> round{0};
  alignas(128) std::atomic<uint32_t> asleep{0};
  alignas(128) std::atomic<uint32_t> done{0};
  std::atomic<uint32_t> callerAsleep{0};
  std::atomic<uint64_t> callerSlept{0};
  alignas(128) Function function = nullptr;
  void *argument = nullptr;
  unsigned team = 1;
  TeamSize size;
  uint32_t spins = 0;
  bool stop = false;
  std::vector<Worker> seats;
  std::vector<pthread_t> workers;
  std::vector<std::string> lookups;
  PhaseClock *phaseClock = nullptr;
  std::vector<heddle_stretch> stretches;
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CORE_POOL_H
