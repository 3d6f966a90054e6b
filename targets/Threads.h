//===- Threads.h - work on all cores, or on those there are -----*- C++ -*-===//
//
// A system may refuse threads (ulimit -u, a container's limit). Then the work is done by fewer, at last by the caller
// alone; whoever starts it says so. Threads have stacks of 8 MiB, whatever `ulimit -s` says.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TARGETS_THREADS_H
#define HEDDLE_TARGETS_THREADS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Threading.h"
#include "llvm/Support/TimeProfiler.h"
#include <atomic>
#include <functional>
#include <memory>
#include <pthread.h>

namespace heddle {

constexpr size_t kThreadStack = size_t(8) << 20;

/// Starts `body(argument)` on a thread with a stack of kThreadStack; the system's error, 0 if there is none.
inline int startThread(pthread_t &thread, void *(*body)(void *), void *argument) {
  pthread_attr_t attributes;
  if (int error = pthread_attr_init(&attributes))
    return error;
  int error = pthread_attr_setstacksize(&attributes, kThreadStack);
  if (!error)
    error = pthread_create(&thread, &attributes, body, argument);
  pthread_attr_destroy(&attributes);
  return error;
}

/// Of LLVM's time trace (--time-trace): events that took so many microseconds are in it.
constexpr unsigned kTraceGranularity = 0;

/// Something done by a separate thread; where there is none, by whoever waits for it.
class Background {
public:
  explicit Background(std::function<void()> work) : work(std::move(work)) {
    started = startThread(
                  thread,
                  [](void *self) -> void * {
                    static_cast<Background *>(self)->workTraced();
                    return nullptr;
                  },
                  this) == 0;
  }
  Background(const Background &) = delete;
  Background &operator=(const Background &) = delete;
  ~Background() { wait(); }

  bool hasThread() const { return started; }
  void wait() {
    if (done)
      return;
    done = true;
    if (started)
      pthread_join(thread, nullptr);
    else
      work();
  }

private:
  /// Its events are in the time trace if those of the thread that started it are.
  void workTraced() {
    if (isTraced)
      llvm::timeTraceProfilerInitialize(kTraceGranularity, "heddle");
    work();
    if (isTraced)
      llvm::timeTraceProfilerFinishThread();
  }

  std::function<void()> work;
  pthread_t thread = {};
  bool isTraced = llvm::timeTraceProfilerEnabled(), started = false, done = false;
};

/// Calls job(0), .. job(count - 1), in this order, each once, on the caller's thread and others, on as many as there
/// are cores. Returns how many threads the system refused.
inline unsigned inParallel(size_t count, llvm::function_ref<void(size_t)> job) {
  std::atomic<size_t> next = 0;
  auto some = [&] {
    for (size_t i; (i = next.fetch_add(1)) < count;)
      job(i);
  };
  size_t wanted = std::min<size_t>(count, llvm::hardware_concurrency().compute_thread_count());
  llvm::SmallVector<std::unique_ptr<Background>> others;
  unsigned refused = 0;
  for (size_t i = 1; i < wanted; ++i) {
    others.push_back(std::make_unique<Background>(some));
    if (!others.back()->hasThread()) { // done below by the caller, like the rest
      refused = unsigned(wanted - i);
      break;
    }
  }
  some();
  others.clear(); // waits
  return refused;
}

} // namespace heddle

#endif
