//===- WeightsHash.h - The hash of a weights file -----------------*- C++
//-*-===//
//
// The same function as compiler/Weights/BlobHash.h: eight lanes over 64-bit
// words, fast enough for the disk. It finds the wrong file and accidents, it
// does not resist an attacker.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_WEIGHTSHASH_H
#define HEDDLE_RUNTIME_WEIGHTSHASH_H

#include <cstdint>
#include <cstring>

namespace heddle::rt {

inline uint64_t hashWeights(const unsigned char *data, uint64_t bytes) {
  auto mix = [](uint64_t lane, uint64_t word) {
    lane ^= word;
    return (lane << 27 | lane >> 37) * 0x9E3779B97F4A7C15ull;
  };
  uint64_t lanes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  for (uint64_t at = 0; at < bytes; at += 64) {
    uint64_t words[8] = {};
    memcpy(words, data + at, bytes - at < 64 ? bytes - at : 64);
    for (int i = 0; i < 8; ++i)
      lanes[i] = mix(lanes[i], words[i]);
  }
  uint64_t result = mix(0x68656464'6c650001ull, bytes);
  for (uint64_t lane : lanes)
    result = mix(result, lane);
  return result ^ result >> 32;
}

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_WEIGHTSHASH_H
