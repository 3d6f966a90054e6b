//===- digest.h - The 64-bit hash of what a program is made of --*- C++ -*-===//
//
// A 64-bit checksum, written by the compiler and checked by the runtime. Eight
// lanes over little-endian 64-bit words make it as fast as memory. A change
// within one word is always found, any other is missed once in 2^64. It finds
// accidents; it does not resist an attacker.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_INCLUDE_HEDDLE_DIGEST_H
#define HEDDLE_RUNTIME_INCLUDE_HEDDLE_DIGEST_H

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace heddle {

/// Word w (zero-padded at the end) goes into lane w % 8:
///   lane = rotl(lane ^ word, 27) * 0x9E3779B97F4A7C15
/// Every step is a bijection of the lane, so any change of a single word
/// changes the result. At the end the lanes and the length are folded in order
/// in the same way.
class Digest {
public:
  /// Appends bytes; how they are cut into calls does not matter.
  void update(const void *data, size_t bytes) {
    auto *from = static_cast<const unsigned char *>(data);
    length += bytes;
    if (filled) {
      size_t n = sizeof pending - filled < bytes ? sizeof pending - filled : bytes;
      std::memcpy(pending + filled, from, n);
      filled += n;
      from += n;
      bytes -= n;
      if (filled < sizeof pending)
        return;
      absorb(pending, 1);
      filled = 0;
    }
    absorb(from, bytes / sizeof pending);
    filled = bytes % sizeof pending;
    std::memcpy(pending, from + (bytes - filled), filled);
  }

  /// The digest of all bytes so far; nothing may be appended afterwards.
  uint64_t finish() {
    if (filled) {
      std::memset(pending + filled, 0, sizeof pending - filled);
      absorb(pending, 1);
      filled = 0;
    }
    uint64_t result = mix(0x68656464'6c650001ull, length);
    for (uint64_t lane : lanes)
      result = mix(result, lane);
    return result ^ (result >> 32);
  }

private:
  static uint64_t mix(uint64_t lane, uint64_t word) {
    lane ^= word;
    return ((lane << 27) | (lane >> 37)) * 0x9E3779B97F4A7C15ull;
  }
  void absorb(const unsigned char *from, size_t count) {
    // A local copy stays in registers: twice as fast.
    uint64_t mine[8];
    std::memcpy(mine, lanes, sizeof mine);
    for (; count > 0; --count, from += sizeof mine)
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i) {
        uint64_t word;
        std::memcpy(&word, from + 8 * i, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word = __builtin_bswap64(word);
#endif
        mine[i] = mix(mine[i], word);
      }
    std::memcpy(lanes, mine, sizeof mine);
  }

  uint64_t lanes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  unsigned char pending[64];
  size_t filled = 0;
  uint64_t length = 0;
};

/// The digest of `bytes` bytes.
inline uint64_t digestOf(const void *data, size_t bytes) {
  Digest digest;
  digest.update(data, bytes);
  return digest.finish();
}

} // namespace heddle

#endif // HEDDLE_RUNTIME_INCLUDE_HEDDLE_DIGEST_H
