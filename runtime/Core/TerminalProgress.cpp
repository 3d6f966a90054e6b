//===- TerminalProgress.cpp - What a person at a terminal sees of waiting -===//
//
// One lock guards the text, and the terminal while anybody writes to it.
//
//===----------------------------------------------------------------------===//
#include "runtime/Core/TerminalProgress.h"

#include "runtime/Core/Clock.h"
#include "runtime/Core/Status.h"

#include <algorithm>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <pthread.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

namespace heddle::rt {

/// How long a command works before it says so, and between two drawings.
static constexpr long kPatience = 1'000'000'000, kBetween = 200'000'000;
static constexpr char kErase[] = "\r\033[K";

static pthread_mutex_t terminal = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static pthread_t drawer;
static bool isDrawn = false; ///< the thread is there
static bool isShown = false, ends = false, isInLine = false;
static char text[256] = "";
static double begin = 0;

namespace {
struct Lock {
  Lock() { pthread_mutex_lock(&terminal); }
  ~Lock() { pthread_mutex_unlock(&terminal); }
};
} // namespace

/// Columns of the terminal; a line that is longer could not be erased.
static size_t columns() {
  winsize size{};
  return ioctl(2, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

/// The terminal is locked.
static void erase() {
  if (isShown)
    (void)!write(2, kErase, sizeof kErase - 1);
  isShown = false;
}

/// The same. Characters of several bytes are not cut.
static void draw() {
  if (isInLine || !text[0])
    return;
  std::string line = format("%s, %.0f s", text, secondsNow() - begin);
  size_t length = std::min(line.size(), columns() - 1);
  while (length < line.size() && length && (line[length] & 0xc0) == 0x80)
    --length;
  line = kErase + line.substr(0, length);
  isShown = write(2, line.data(), line.size()) > 0;
}

static void *drawAgainAndAgain(void *) {
  Lock lock;
  timespec next;
  clock_gettime(CLOCK_MONOTONIC, &next);
  for (long pause = kPatience; !ends; pause = kBetween) {
    next.tv_nsec += pause;
    next.tv_sec += next.tv_nsec / 1'000'000'000;
    next.tv_nsec %= 1'000'000'000;
    while (!ends && pthread_cond_clockwait(&ended, &terminal, CLOCK_MONOTONIC, &next) == 0) {
    }
    if (!ends)
      draw();
  }
  return nullptr;
}

TerminalProgress::TerminalProgress() {
  if (isQuiet() || !isatty(2) || isDrawn)
    return;
  begin = secondsNow();
  ends = false;
  strcpy(text, "working");
  // Signals are for the thread that works.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  isDrawn = pthread_create(&drawer, nullptr, drawAgainAndAgain, nullptr) == 0; // without one nothing is shown
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TerminalProgress::~TerminalProgress() {
  if (!isDrawn)
    return;
  {
    Lock lock;
    ends = true;
    erase();
  }
  pthread_cond_signal(&ended);
  pthread_join(drawer, nullptr);
  isDrawn = false;
}

void TerminalProgress::say(const char *pattern, ...) {
  if (!isDrawn)
    return;
  Lock lock;
  va_list args;
  va_start(args, pattern);
  vsnprintf(text, sizeof text, pattern, args);
  va_end(args);
}

TerminalProgress::Erased::Erased(bool endsLine) {
  pthread_mutex_lock(&terminal);
  erase();
  isInLine = !endsLine;
}

TerminalProgress::Erased::~Erased() { pthread_mutex_unlock(&terminal); }

} // namespace heddle::rt
