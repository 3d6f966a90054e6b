//===- Stats.cpp - What --stats says of a generation ----------------------===//
//
// The first new token is part of prefill; the rate of new tokens counts the
// steps after it.
//
//===----------------------------------------------------------------------===//
#include "runtime/Generate/Stats.h"

#include "runtime/Core/Clock.h"
#include "runtime/Core/Status.h"
#include "runtime/Core/TerminalProgress.h"

#include <cstdio>
#include <sys/resource.h>

namespace heddle::rt {

void Stats::at(int64_t done) {
  if (!wanted)
    return;
  steps = done;
  last = secondsNow();
  if (done == 0)
    begin = last;
  if (done == 1)
    first = last;
}

/// " (N tokens/s)", or "" if the time was too short to be measured.
static std::string rate(int64_t tokens, double seconds) {
  return seconds > 0 ? format(" (%.0f tokens/s)", double(tokens) / seconds) : "";
}

static uint64_t residentBytes() {
  struct rusage usage;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? uint64_t(usage.ru_maxrss) * 1024 : 0;
}

std::string Stats::json() const {
  if (!wanted)
    return "";
  return format("{\"read_tokens\":%lld,\"read_ms\":%.9g,\"made_tokens\":%lld,\"made_ms\":%.9g,\"resident_bytes\":%llu}",
                static_cast<long long>(read), (first - begin) * 1e3, static_cast<long long>(rows * steps),
                (last - first) * 1e3, static_cast<unsigned long long>(residentBytes()));
}

void Stats::print() const {
  if (!wanted || steps == 0)
    return;
  int64_t made = rows * steps;
  TerminalProgress::Erased erased;
  fprintf(stderr,
          "stats: %lld tokens read in %.1f ms%s, %lld made in %.1f ms%s, "
          "%s resident\n",
          static_cast<long long>(read), (first - begin) * 1e3, rate(read, first - begin).c_str(),
          static_cast<long long>(made), (last - first) * 1e3, rate(made - rows, last - first).c_str(),
          humanBytes(residentBytes()).c_str());
}

} // namespace heddle::rt
