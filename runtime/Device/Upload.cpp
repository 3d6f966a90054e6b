//===- Upload.cpp - Weights on their way to the device --------------------===//
//
// Two page-locked pieces take turns: while the device fetches one, the next is
// read into the other.
//
//===----------------------------------------------------------------------===//
#include "runtime/Device/Upload.h"

#include <algorithm>
#include <cstring>

namespace heddle::rt {

static constexpr uint64_t kPiece = 8 << 20;

Status upload(Gpu &gpu, const void *from, uint64_t bytes, CuAddress to) {
  uint64_t piece = std::min(bytes, kPiece);
  void *pinned = nullptr;
  if (gpu.driver.allocateHost(&pinned, 2 * piece, 0) != kCuSuccess)
    return outOfResources("no page-locked memory to send the weights: " + humanBytes(2 * piece));
  Status status;
  for (uint64_t at = 0, turn = 0; at < bytes && status.ok(); at += piece) {
    uint64_t size = std::min(piece, bytes - at);
    char *place = static_cast<char *>(pinned) + (turn++ % 2) * piece;
    memcpy(place, static_cast<const char *>(from) + at, size);
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
