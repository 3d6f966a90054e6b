//===- Pool.cpp - The team of threads -------------------------------------===//
//
// The words that threads wait on are on cache lines of their own. A waiting
// thread spins for about 100 us, longer than a team that has the machine for
// itself ever waits, then sleeps: the thread that is waited for may need the
// core. A team with more threads than cores sleeps almost at once.
//===----------------------------------------------------------------------===//
#include "runtime/Core/Pool.h"
#include "runtime/Core/Failure.h"
#include "runtime/Core/Stack.h"

#include <climits>
#include <cstring>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace heddle::rt {

static inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  asm volatile("yield");
#endif
}

/// About 100 us; between two calls of a step nothing waits longer.
static constexpr uint32_t kSpins = 10000, kSpinsWhenCrowded = 32;
static constexpr uint32_t kMemberBits = 13, kMemberMask = (1u << kMemberBits) - 1;

static uint64_t nanoseconds() {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return uint64_t(now.tv_sec) * 1000000000 + uint64_t(now.tv_nsec);
}

static void futex(std::atomic<uint32_t> &word, int operation, uint32_t value) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
}

/// Waits until `word` differs from `old`; returns the new value. `asleep`
/// counts the sleepers, and tells whoever changes the word to wake them: waiter
/// and waker both use the sequentially consistent order, so one sees the other.
/// `slept` receives nanoseconds.
static uint32_t waitWhile(std::atomic<uint32_t> &word, uint32_t old, std::atomic<uint32_t> &asleep, uint32_t spins,
                          std::atomic<uint64_t> *slept = nullptr) {
  uint32_t now;
  for (uint32_t k = 0; (now = word.load(std::memory_order_acquire)) == old;) {
    if (++k < spins) {
      relax();
      continue;
    }
    uint64_t start = slept ? nanoseconds() : 0;
    asleep.fetch_add(1);
    futex(word, FUTEX_WAIT, old);
    asleep.fetch_sub(1);
    if (slept)
      slept->fetch_add(nanoseconds() - start);
    k = 0;
  }
  return now;
}

static void wake(std::atomic<uint32_t> &word, std::atomic<uint32_t> &asleep) {
  if (asleep.load())
    futex(word, FUTEX_WAKE, INT_MAX);
}

unsigned availableCores() {
  // The kernel refuses a set that is smaller than its own; try larger ones.
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

void TeamSize::learn(unsigned threads, uint64_t wall, uint64_t slept) {
  if (threads != full || full == 1 || wall == 0)
    return;
  double running = full - double(slept) / double(wall);
  if (running >= 0.6 * full) {
    patience = kPatience;
    return;
  }
  fewer = running < 1.5 ? 1 : unsigned(running + 0.5);
  left = patience;
  patience = patience * 2 < kMostPatience ? patience * 2 : kMostPatience;
}

Status Pool::start(unsigned threads) {
  team = 1;
  spins = threads <= availableCores() ? kSpins : kSpinsWhenCrowded;
  seats.reserve(threads);
  stretches = std::vector<heddle_stretch>(threads);
  for (unsigned tid = 1; tid < threads; ++tid) {
    seats.push_back({this, tid});
    pthread_t thread;
    auto body = [](void *seat) -> void * {
      Worker &worker = *static_cast<Worker *>(seat);
      worker.pool->work(worker.tid);
      return nullptr;
    };
    if (int error = startThread(thread, body, &seats.back())) {
      note(format("%u threads instead of %u: the system gives no more (%s)", tid, threads, strerror(error)));
      break;
    }
    workers.push_back(thread);
  }
  team = unsigned(workers.size()) + 1;
  size.reset(team);
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
    seen = waitWhile(round, seen, asleep, spins);
    if (stop)
      return;
    // The number of members is part of the word that was seen: a thread that is
    // not one of them may be late and must touch nothing of a later round.
    uint32_t members = seen & kMemberMask;
    if (tid >= members)
      continue;
    function(argument, tid, members);
    if (done.fetch_add(1) + 1 == members - 1)
      wake(done, callerAsleep);
  }
}

void Pool::run(Function newFunction, void *newArgument, unsigned members) {
  if (members == 1) {
    newFunction(newArgument, 0, 1);
    return;
  }
  function = newFunction;
  argument = newArgument;
  done.store(0, std::memory_order_relaxed);
  uint32_t count = (round.load(std::memory_order_relaxed) >> kMemberBits) + 1;
  round.store(count << kMemberBits | members);
  wake(round, asleep);
  newFunction(newArgument, 0, members);
  for (uint32_t now = done.load(std::memory_order_acquire); now != members - 1;)
    now = waitWhile(done, now, callerAsleep, spins, &callerSlept);
}

/// Nothing is taken of the phase that begins; one thread does this while all others wait.
static void nextPhase(heddle_ctx &context) {
  for (uint32_t i = 0; i < context.team; ++i)
    context.stretches[i].taken.store(0, std::memory_order_relaxed);
  context.takes.store(false, std::memory_order_relaxed);
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

Status Pool::call(heddle_entry_fn entry, const int64_t *dims, void *const *tensors, char *arena, const void *weights) {
  Call call{entry, {}, dims, tensors, arena, static_cast<const char *>(weights)};
  unsigned members = size.next();
  call.context.team = members;
  call.context.spins = spins;
  call.context.stretches = stretches.data();
  nextPhase(call.context);
  PhaseClock *clock = phaseClock && phaseClock->isOf(entry) ? phaseClock : nullptr;
  call.context.clock = clock;
  if (clock)
    clock->begin();
  callerSlept.store(0, std::memory_order_relaxed);
  uint64_t start = nanoseconds();
  run(
      [](void *argument, int64_t tid, int64_t nth) {
        Call &call = *static_cast<Call *>(argument);
        call.entry(&call.context, tid, nth, call.dims, call.tensors, call.arena, call.weights);
      },
      &call, members);
  if (clock)
    clock->end(-1);
  const heddle_ctx &context = call.context;
  size.learn(members, nanoseconds() - start, context.slept.load() + callerSlept.load());
  if (!context.failed.load(std::memory_order_acquire))
    return {};
  return modelFailed(context.code, context.a, context.b, lookups);
}

} // namespace heddle::rt

extern "C" void heddle_barrier(heddle_ctx *ctx, int64_t phase) {
  if (ctx->team == 1) {
    if (ctx->takes.load(std::memory_order_relaxed))
      heddle::rt::nextPhase(*ctx);
    if (ctx->clock)
      ctx->clock->end(phase);
    return;
  }
  uint32_t round = ctx->round.load(std::memory_order_relaxed);
  if (ctx->arrived.fetch_add(1, std::memory_order_acq_rel) == ctx->team - 1) {
    if (ctx->takes.load(std::memory_order_relaxed))
      heddle::rt::nextPhase(*ctx);
    if (ctx->clock)
      ctx->clock->end(phase);
    ctx->arrived.store(0, std::memory_order_relaxed);
    ctx->round.store(round + 1);
    heddle::rt::wake(ctx->round, ctx->asleep);
    return;
  }
  heddle::rt::waitWhile(ctx->round, round, ctx->asleep, ctx->spins, &ctx->slept);
}

extern "C" int64_t heddle_take(heddle_ctx *ctx, int64_t tid, int64_t parts) {
  int64_t team = ctx->team;
  if (!ctx->takes.load(std::memory_order_relaxed))
    ctx->takes.store(true, std::memory_order_relaxed);
  for (int64_t i = 0; i < team; ++i) {
    int64_t owner = tid + i < team ? tid + i : tid + i - team;
    int64_t begin = parts * owner / team, count = parts * (owner + 1) / team - begin;
    std::atomic<int64_t> &taken = ctx->stretches[owner].taken;
    // Others' stretches are mostly done; looking does not take their line away.
    if (taken.load(std::memory_order_relaxed) >= count)
      continue;
    int64_t next = taken.fetch_add(1, std::memory_order_relaxed);
    if (next < count)
      return begin + next;
  }
  return -1;
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
