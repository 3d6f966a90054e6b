//===- Pool.cpp - The team of threads -------------------------------------===//
//
// The words that threads wait on lie on lines of their own. A team larger than
// the machine yields early instead of spinning, as a core is then needed by the
// thread that is waited for.
//
//===----------------------------------------------------------------------===//
#include "runtime/Pool.h"

#include <climits>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace heddle::rt {

static inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  asm volatile("yield");
#endif
}

/// About 50 us; a step of a model never waits longer between two calls.
static constexpr uint32_t kSpinsBeforeSleep = 20000;
/// Spins before the core is offered to others: a team that fits the machine and
/// has it for itself never gets there.
static constexpr uint32_t kSpinsBeforeYield = 20000;
static constexpr uint32_t kSpinsWhenCrowded = 32;

static void futex(std::atomic<uint32_t> &word, int operation, uint32_t value) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word),
          operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
}

unsigned availableCores() {
  // The set grows until the kernel's fits.
  for (unsigned cpus = 1024; cpus <= 1u << 20; cpus *= 2) {
    cpu_set_t *set = CPU_ALLOC(cpus);
    if (!set)
      break;
    size_t size = CPU_ALLOC_SIZE(cpus);
    int failed = sched_getaffinity(0, size, set);
    unsigned count = failed ? 0 : CPU_COUNT_S(size, set);
    CPU_FREE(set);
    if (count)
      return count;
  }
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count > 0 ? unsigned(count) : 1;
}

Status Pool::start(unsigned threads) {
  team = 1;
  spins = threads <= availableCores() ? kSpinsBeforeYield : kSpinsWhenCrowded;
  seats.reserve(threads);
  for (unsigned tid = 1; tid < threads; ++tid) {
    seats.push_back({this, tid});
    pthread_t thread;
    auto body = [](void *seat) -> void * {
      Worker &worker = *static_cast<Worker *>(seat);
      worker.pool->work(worker.tid);
      return nullptr;
    };
    if (pthread_create(&thread, nullptr, body, &seats.back()) != 0)
      return outOfResources(format("cannot start thread %u of %u", tid + 1,
                                   threads))
          .withHelp("ask for fewer with --threads");
    workers.push_back(thread);
  }
  team = threads;
  return {};
}

Pool::~Pool() {
  stop = true;
  round.fetch_add(1);
  futex(round, FUTEX_WAKE, INT_MAX);
  for (pthread_t worker : workers)
    pthread_join(worker, nullptr);
}

void Pool::work(unsigned tid) {
  uint32_t seen = 0;
  for (;;) {
    uint32_t now;
    for (uint32_t k = 0; (now = round.load(std::memory_order_acquire)) == seen;) {
      if (++k < kSpinsBeforeSleep) {
        relax();
        continue;
      }
      asleep.fetch_add(1); // seq_cst, against `run`'s load after its increment
      futex(round, FUTEX_WAIT, seen);
      asleep.fetch_sub(1);
      k = 0;
    }
    seen = now;
    if (stop)
      return;
    function(argument, tid, team);
    done.fetch_add(1, std::memory_order_release);
  }
}

void Pool::run(Function newFunction, void *newArgument) {
  if (team == 1) {
    newFunction(newArgument, 0, 1);
    return;
  }
  function = newFunction;
  argument = newArgument;
  done.store(0, std::memory_order_relaxed);
  round.fetch_add(1);
  if (asleep.load())
    futex(round, FUTEX_WAKE, INT_MAX);
  newFunction(newArgument, 0, team);
  for (uint32_t k = 0; done.load(std::memory_order_acquire) != team - 1;) {
    relax();
    if (++k > spins)
      sched_yield();
  }
}

namespace {
struct Call {
  heddle_entry_fn entry;
  heddle_ctx context;
  const int64_t *dims;
  void *const *tensors;
  char *arena;
  const char *weights;
};
} // namespace

Status Pool::call(heddle_entry_fn entry, const int64_t *dims,
                  void *const *tensors, char *arena, const void *weights) {
  Call call{entry, {},    dims,
            tensors, arena, static_cast<const char *>(weights)};
  call.context.team = team;
  call.context.spins = spins;
  run(
      [](void *argument, int64_t tid, int64_t nth) {
        Call &call = *static_cast<Call *>(argument);
        call.entry(&call.context, tid, nth, call.dims, call.tensors, call.arena,
                   call.weights);
      },
      &call);
  const heddle_ctx &context = call.context;
  if (!context.failed.load(std::memory_order_acquire))
    return {};
  std::string text = format("the model failed with code %lld", 
                            static_cast<long long>(context.code));
  switch (context.code) {
#define HEDDLE_FAILURE(code, name, words)                                      \
  case code:                                                                   \
    text = words;                                                              \
    break;
#include "heddle/abi.def"
  }
  auto fill = [&](const char *hole, int64_t value) {
    size_t at = text.find(hole);
    if (at != std::string::npos)
      text.replace(at, 3, std::to_string(value));
  };
  fill("{a}", context.a);
  fill("{b}", context.b);
  return badInput(text);
}

} // namespace heddle::rt

extern "C" void heddle_barrier(heddle_ctx *ctx) {
  if (ctx->team == 1)
    return;
  uint32_t round = ctx->round.load(std::memory_order_relaxed);
  if (ctx->arrived.fetch_add(1, std::memory_order_acq_rel) == ctx->team - 1) {
    ctx->arrived.store(0, std::memory_order_relaxed);
    ctx->round.store(round + 1, std::memory_order_release);
    return;
  }
  for (uint32_t k = 0; ctx->round.load(std::memory_order_acquire) == round;) {
    heddle::rt::relax();
    if (++k > ctx->spins)
      sched_yield();
  }
}

extern "C" void heddle_fail(heddle_ctx *ctx, int64_t code, int64_t a, int64_t b) {
  uint32_t none = 0;
  if (!ctx->failed.compare_exchange_strong(none, 2))
    return;
  ctx->code = code;
  ctx->a = a;
  ctx->b = b;
  ctx->failed.store(1, std::memory_order_release);
}
