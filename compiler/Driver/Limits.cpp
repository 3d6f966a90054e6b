//===- Limits.cpp - how long and how large a compilation may get ----------===//
//
// A thread looks at the clock and at the memory, and calls the main thread, whose signal handler ends the
// process. (A limit of the system's would do for neither: much of MLIR does not look at what malloc returns,
// and a timer's signals would disturb long writes.) The end may come anywhere, so all text stands ready in
// static buffers, and nothing allocates by then.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Limits.h"
#include "compiler/Driver/Exit.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <pthread.h>
#include <thread>
#include <unistd.h>

using namespace heddle;

static char outOfTime[160], outOfMemory[160], doing[80];
static std::atomic<const char *> reason;

/// Bytes in memory that are this process's own.
static uint64_t ownMemory() {
  int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  char text[128] = {};
  (void)!read(file, text, sizeof text - 1);
  close(file);
  char *at = text;
  (void)std::strtoull(at, &at, 10); // pages of addresses; then in memory, and of those of files
  uint64_t resident = std::strtoull(at, &at, 10), shared = std::strtoull(at, &at, 10);
  return (resident - std::min(shared, resident)) * uint64_t(sysconf(_SC_PAGESIZE));
}

void heddle::setLimits(double seconds, uint64_t bytes) {
  if (seconds <= 0 && bytes == 0)
    return;
  std::snprintf(outOfTime, sizeof outOfTime, "heddle: error: not done after %g seconds (--timeout)", seconds);
  std::snprintf(outOfMemory, sizeof outOfMemory, "heddle: error: more than %.4g MB of memory are needed (--max-memory)", double(bytes) / (1 << 20));
  struct sigaction action = {};
  action.sa_handler = [](int) { endAtOnce(Resources, {reason, doing, "\n"}); };
  sigfillset(&action.sa_mask);
  sigaction(SIGALRM, &action, nullptr);
  // The thread takes no signals, so that they go to the main thread as ever.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  std::thread([seconds, bytes, main = pthread_self()] {
    using namespace std::chrono;
    auto start = steady_clock::now();
    for (;;) {
      double left = seconds > 0 ? seconds - duration<double>(steady_clock::now() - start).count() : 1;
      reason = left <= 0 ? outOfTime : bytes && ownMemory() > bytes ? outOfMemory : nullptr;
      if (reason)
        break;
      std::this_thread::sleep_for(duration<double>(bytes ? std::min(left, 0.005) : left));
    }
    pthread_kill(main, SIGALRM);
  }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void heddle::nowDoing(llvm::StringRef what) {
  // The handler reads it at any moment: the text is hidden while it changes.
  doing[0] = 0;
  std::snprintf(doing + 1, sizeof doing - 1, " in %.*s", int(what.size()), what.data());
  doing[0] = ',';
}
