//===- Limits.cpp - how long and how large a compilation may get ----------===//
//
// A thread watches clock and memory. It cannot end the process itself, since the main thread may be writing a file; it
// sends a signal to the main thread, whose handler removes temporaries and ends the process.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Limits.h"
#include "compiler/Driver/Exit.h"
#include "targets/Threads.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <unistd.h>

using namespace heddle;

namespace {
/// A message in two pieces, around the name of what was being done.
struct Message {
  char head[160];
  const char *tail;
};
} // namespace

// Static, because a signal handler has no arguments.
static Message outOfTime, outOfMemory;
static std::atomic<const Message *> reason;
static std::atomic<const char *> doing = "the start";
/// Held while `doing` is named, and while it is copied elsewhere than in the handler.
static std::mutex naming;

/// Bytes of resident memory without pages of files.
static uint64_t ownMemory() {
  int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return 0;
  char text[128] = {};
  (void)!read(file, text, sizeof text - 1);
  close(file);
  char *at = text;
  (void)std::strtoull(at, &at, 10); // pages of addresses; then in memory, and of those of files
  uint64_t resident = std::strtoull(at, &at, 10), shared = std::strtoull(at, &at, 10);
  return (resident - std::min(shared, resident)) * uint64_t(sysconf(_SC_PAGESIZE));
}

static void endByLimit(int) {
  const Message *message = reason;
  endAtOnce(Error::LimitReached, {message->head, doing, message->tail});
}

void heddle::setLimits(double seconds, uint64_t bytes) {
  if (seconds <= 0 && bytes == 0)
    return;
  std::snprintf(outOfTime.head, sizeof outOfTime.head, "heddle: error[%s]: not done after %g seconds, but at ",
                codeOf(Error::LimitReached), seconds);
  outOfTime.tail = "; a larger --timeout gives it longer\n";
  std::snprintf(outOfMemory.head, sizeof outOfMemory.head,
                "heddle: error[%s]: more than %.4g MB of memory are needed, at ", codeOf(Error::LimitReached),
                double(bytes) / (1 << 20));
  outOfMemory.tail = "; a larger --max-memory gives it more\n";
  struct sigaction action = {};
  action.sa_handler = endByLimit;
  sigfillset(&action.sa_mask);
  sigaction(SIGALRM, &action, nullptr);
  // The watching thread blocks all signals, so that they go to the main thread as before.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  struct Watch {
    double seconds;
    uint64_t bytes;
    pthread_t main;
  };
  static Watch watch;
  watch = {seconds, bytes, pthread_self()};
  auto body = [](void *) -> void * {
    auto [seconds, bytes, main] = watch;
    using namespace std::chrono;
    auto start = steady_clock::now();
    for (;;) {
      double left = seconds > 0 ? seconds - duration<double>(steady_clock::now() - start).count() : 1;
      reason = left <= 0 ? &outOfTime : bytes && ownMemory() > bytes ? &outOfMemory : nullptr;
      if (reason)
        break;
      std::this_thread::sleep_for(duration<double>(bytes ? std::min(left, 0.005) : left));
    }
    pthread_kill(main, SIGALRM);
    return nullptr;
  };
  pthread_t thread;
  if (startThread(thread, body, nullptr) != 0)
    endAtOnce(Error::NoResources, {"heddle: error[", codeOf(Error::NoResources),
                                   "]: no thread to watch --timeout and --max-memory; allow more with ulimit -u\n"});
  pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void heddle::dropLimits() { signal(SIGALRM, SIG_IGN); }

void heddle::nowDoing(llvm::StringRef what) {
  // The handler may read at any moment, so the text is written to the other buffer and then switched.
  std::lock_guard<std::mutex> lock(naming);
  static char texts[2][80];
  static int last = 0;
  last = 1 - last;
  std::snprintf(texts[last], sizeof texts[last], "%.*s", int(what.size()), what.data());
  doing = texts[last];
}

std::string heddle::whatIsDone() {
  std::lock_guard<std::mutex> lock(naming);
  return doing.load();
}
