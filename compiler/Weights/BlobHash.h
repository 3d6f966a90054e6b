// The 64-bit hash that ties a program to its side file of weights. Eight lanes
// over little-endian 64-bit words so that it keeps up with a disk; the runtime
// computes the same over its mapping. It detects accidents, it does not resist
// an attacker.
#ifndef HEDDLE_COMPILER_WEIGHTS_BLOBHASH_H
#define HEDDLE_COMPILER_WEIGHTS_BLOBHASH_H

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace heddle {

/// Word w (zero-padded at the end) goes into lane w % 8:
///   lane = rotl(lane ^ word, 27) * 0x9E3779B97F4A7C15
/// Every step is a bijection of the lane, so any change of a single word
/// changes the result. At the end the lanes and the length are folded in order
/// in the same way.
class BlobHash {
public:
  void update(const void *data, size_t bytes) {
    const unsigned char *from = static_cast<const unsigned char *>(data);
    while (bytes) {
      if (filled == 0 && bytes >= sizeof pending) {
        absorb(from);
        from += sizeof pending;
        bytes -= sizeof pending;
        length += sizeof pending;
        continue;
      }
      size_t n =
          sizeof pending - filled < bytes ? sizeof pending - filled : bytes;
      std::memcpy(pending + filled, from, n);
      filled += n;
      from += n;
      bytes -= n;
      length += n;
      if (filled == sizeof pending) {
        absorb(pending);
        filled = 0;
      }
    }
  }

  uint64_t finish() {
    if (filled) {
      std::memset(pending + filled, 0, sizeof pending - filled);
      absorb(pending);
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
  void absorb(const unsigned char *block) {
    for (int i = 0; i < 8; ++i) {
      uint64_t word = 0;
      for (int b = 0; b < 8; ++b)
        word |= uint64_t(block[8 * i + b]) << (8 * b);
      lanes[i] = mix(lanes[i], word);
    }
  }

  uint64_t lanes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  unsigned char pending[64];
  size_t filled = 0;
  uint64_t length = 0;
};

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_BLOBHASH_H
