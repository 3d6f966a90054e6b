// The readers of single blocks, one a type.
#ifndef HEDDLE_COMPILER_WEIGHTS_GGUF_BLOCKREADERS_H
#define HEDDLE_COMPILER_WEIGHTS_GGUF_BLOCKREADERS_H

#include "compiler/Weights/Gguf/GgufBlocks.h"
#include <cstring>

namespace heddle::blocks {

/// Where the parts of one block go; null what its type does not have.
struct Target {
  uint8_t *codes;
  float *scales, *minima; ///< of groups; in two levels one of the super-block
  int8_t *subScales;
  uint8_t *subMinima;
};
using Reader = void (*)(const uint8_t *block, const Target &to);

/// Types of one level (Blocks.cpp), of two (SuperBlocks.cpp), and those with codebooks (CodebookBlocks.cpp).
Reader plainReader(GgufType type);
Reader superReader(GgufType type);
Reader codebookReader(GgufType type);

/// An f16.
inline float halfAt(const uint8_t *from) {
  float value;
  widenToF32(StoredType::F16, from, value);
  return value;
}

template <typename T> T loaded(const uint8_t *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// The low nibbles of `count` bytes, after them the high ones.
inline void lowHigh(const uint8_t *from, int count, uint8_t *to) {
  for (int i = 0; i < count; ++i) {
    to[i] = from[i] & 15;
    to[count + i] = from[i] >> 4;
  }
}

/// 64 bytes of 256 codes of two bits: 32 bytes hold 128 codes, 32 for each pair of bits, the lowest pair first.
inline void twos(const uint8_t *from, uint8_t *to) {
  for (int half = 0; half < 2; ++half)
    for (int pair = 0; pair < 4; ++pair)
      for (int i = 0; i < 32; ++i)
        *to++ = from[32 * half + i] >> 2 * pair & 3;
}

} // namespace heddle::blocks

#endif // HEDDLE_COMPILER_WEIGHTS_GGUF_BLOCKREADERS_H
