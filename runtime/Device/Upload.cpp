//===- Upload.cpp - Weights on their way to the device --------------------===//
//
// Two page-locked pieces take turns: while the device fetches one, the next is
// read into the other, in the order that the device wants.
//
//===----------------------------------------------------------------------===//
#include "runtime/Device/Upload.h"

#include <algorithm>
#include <cstring>

namespace heddle::rt {

static constexpr uint64_t kPiece = 8 << 20;

/// `bytes` bytes from place `at` of a regrouped weight on, whose panels begin at `panels`.
static void regroup(const Regroup &r, const char *panels, uint64_t at, uint64_t bytes, char *to) {
  constexpr uint64_t kWord = 4, kGroup = 4 * kWord;
  auto width = uint64_t(r.width), line = width * kWord, results = uint64_t(r.panels) * width;
  for (uint64_t i = at / kGroup, end = (at + bytes) / kGroup; i < end;) {
    // Results of one panel, of which four words each are four lines of it.
    uint64_t group = i / results, result = i % results, panel = result / width, column = result % width;
    uint64_t count = std::min(width - column, end - i);
    const char *first = panels + (panel * uint64_t(r.depth) + 4 * group) * line + column * kWord;
    for (uint64_t n = 0; n < count; ++n, to += kGroup)
      for (uint64_t k = 0; k < 4; ++k)
        memcpy(to + k * kWord, first + k * line + n * kWord, kWord);
    i += count;
  }
}

void arrange(const std::vector<Regroup> &regroups, const char *from, uint64_t at, uint64_t bytes, char *to) {
  uint64_t end = at + bytes;
  for (const Regroup &r : regroups) {
    auto begin = uint64_t(r.offset), behind = begin + r.bytes();
    if (behind <= at || begin >= end)
      continue;
    if (begin > at) {
      memcpy(to, from + at, begin - at);
      to += begin - at;
      at = begin;
    }
    uint64_t size = std::min(behind, end) - at;
    regroup(r, from + begin, at - begin, size, to);
    to += size;
    at += size;
  }
  memcpy(to, from + at, end - at);
}

Status upload(Gpu &gpu, const void *from, uint64_t bytes, const std::vector<Regroup> &regroups, CuAddress to) {
  uint64_t piece = std::min(bytes, kPiece);
  void *pinned = nullptr;
  if (gpu.driver.allocateHost(&pinned, 2 * piece, 0) != kCuSuccess)
    return outOfResources("no page-locked memory to send the weights: " + humanBytes(2 * piece));
  Status status;
  for (uint64_t at = 0, turn = 0; at < bytes && status.ok(); at += piece) {
    uint64_t size = std::min(piece, bytes - at);
    char *place = static_cast<char *>(pinned) + (turn++ % 2) * piece;
    arrange(regroups, static_cast<const char *>(from), at, size, place);
    status = gpu.wait(); // for the other piece
    if (status.ok())
      status = gpu.check(gpu.driver.copyIn(to + at, place, size, gpu.stream), "weights were copied to it");
  }
  if (status.ok())
    status = gpu.wait();
  gpu.driver.releaseHost(pinned);
  return status;
}

} // namespace heddle::rt
