//===- Progress.cpp - What a person at a terminal sees of waiting ---------===//
//
// Nothing is shown for prompts that are done within an instant.
//
//===----------------------------------------------------------------------===//
#include "runtime/Generate/Progress.h"

#include "runtime/Core/Status.h"

#include <cstdio>
#include <unistd.h>

namespace heddle::rt {

static constexpr int64_t kLongPrompt = 256;

Progress::Progress(int64_t prompt, int64_t steps) : prompt(prompt), steps(steps), terminal(isatty(2) && !isQuiet()) {}

void Progress::at(int64_t done) {
  if (!terminal)
    return;
  if (done == 0 && prompt >= kLongPrompt)
    fprintf(stderr, "\r\033[Kreading %lld tokens ...", static_cast<long long>(prompt));
  else if (done > 0 && steps > 0)
    fprintf(stderr, "\r\033[Ktoken %lld of at most %lld", static_cast<long long>(done), static_cast<long long>(steps));
  else
    return;
  shown = true;
}

void Progress::clear() {
  if (shown)
    fputs("\r\033[K", stderr);
  shown = false;
}

} // namespace heddle::rt
