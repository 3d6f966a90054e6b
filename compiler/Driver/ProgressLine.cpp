//===- ProgressLine.cpp - what a person sees of waiting -----------------------===//
//
// A thread draws the line. What it shows is read from atomics, which the working threads only write; the line itself
// has a lock, so that a message never lands in the middle of it.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/ProgressLine.h"
#include "compiler/Driver/Limits.h"
#include "targets/Threads.h"
#include "llvm/Support/FormatVariadic.h"
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>

using namespace heddle;
using Clock = std::chrono::steady_clock;

/// How long a command works before it says so, and between two drawings.
static constexpr std::chrono::milliseconds kPatience(1000), kBetween(200);

static std::atomic<uint64_t> bytesDone, bytesAll;
/// Guards the line on the terminal.
static std::mutex drawing;
static bool isShown = false;

static double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Columns of the terminal; a line that is longer could not be erased.
static size_t columns() {
  winsize size{};
  return ioctl(2, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

/// "12 s", "3 min".
static std::string timeText(double seconds) {
  return seconds < 100 ? std::to_string(int(seconds + 0.5)) + " s" : std::to_string(int(seconds / 60 + 0.5)) + " min";
}

struct ProgressLine::State {
  pthread_t thread{};
  bool started = false;
  std::mutex waiting;
  std::condition_variable wake;
  bool ends = false;
  Clock::time_point start = Clock::now();

  void run();
  void draw(const std::string &text);
};

void ProgressLine::State::draw(const std::string &text) {
  std::lock_guard<std::mutex> lock(drawing);
  std::string out = "\r\033[K" + text.substr(0, columns() - 1);
  isShown = ::write(2, out.data(), out.size()) > 0;
}

void ProgressLine::State::run() {
  std::unique_lock<std::mutex> lock(waiting);
  auto pause = [&](std::chrono::milliseconds time) { return wake.wait_for(lock, time, [&] { return ends; }); };
  std::string phase;
  Clock::time_point began = start;
  for (bool over = pause(kPatience); !over; over = pause(kBetween)) {
    uint64_t done = bytesDone, all = bytesAll;
    if (std::string now = whatIsDone(); now != phase) {
      phase = now;
      began = phase.empty() ? start : Clock::now();
    }
    std::string text = "heddle: " + phase + ", " + timeText(secondsSince(start));
    if (all) {
      text =
          llvm::formatv("heddle: {0}, {1:F1} of {2:F1} MiB", phase, double(done) / (1 << 20), double(all) / (1 << 20));
      double spent = secondsSince(began);
      if (done && spent > 0.5)
        text += ", " + timeText(spent * double(all - std::min(done, all)) / double(done)) + " left";
    }
    draw(text);
  }
}

ProgressLine::ProgressLine() : state(std::make_unique<State>()) {
  // Signals are for the thread that works.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  auto body = [](void *self) -> void * {
    static_cast<State *>(self)->run();
    return nullptr;
  };
  state->started = startThread(state->thread, body, state.get()) == 0; // without one nothing is shown
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ProgressLine::~ProgressLine() {
  {
    std::lock_guard<std::mutex> lock(state->waiting);
    state->ends = true;
  }
  state->wake.notify_all();
  if (state->started)
    pthread_join(state->thread, nullptr);
  erase();
}

void ProgressLine::bytes(uint64_t done, uint64_t all) {
  bytesDone = done;
  bytesAll = all;
}

void ProgressLine::erase() {
  std::lock_guard<std::mutex> lock(drawing);
  if (!isShown)
    return;
  static const char erased[] = "\r\033[K";
  (void)!::write(2, erased, sizeof erased - 1);
  isShown = false;
}
