// Super-blocks of 256 elements: groups of 16 or 32 with integers that scale the numbers of the super-block.
#include "compiler/Weights/Gguf/BlockReaders.h"

namespace heddle::blocks {
namespace {

/// The 12 bytes of Q4_K and Q5_K: eight scales and eight minima of 6 bits. Bytes 0 to 3: scales 0 to 3 and the upper
/// two bits of scales 4 to 7; bytes 4 to 7: the same of the minima; bytes 8 to 11: the lower nibbles of scales 4 to 7,
/// and of minima 4 to 7.
void twelve(const uint8_t *from, const Target &to) {
  for (int i = 0; i < 4; ++i) {
    to.subScales[i] = int8_t(from[i] & 63);
    to.subMinima[i] = from[4 + i] & 63;
    to.subScales[4 + i] = int8_t((from[8 + i] & 15) | from[i] >> 6 << 4);
    to.subMinima[4 + i] = uint8_t(from[8 + i] >> 4 | from[4 + i] >> 6 << 4);
  }
}

/// Adds a bit to 256 codes: bit j of byte i belongs to code 32 j + i.
void plane(const uint8_t *from, unsigned shift, uint8_t *codes) {
  for (int j = 0; j < 8; ++j)
    for (int i = 0; i < 32; ++i)
      codes[32 * j + i] |= uint8_t((from[i] >> j & 1) << shift);
}

void q2_K(const uint8_t *b, const Target &to) {
  for (int g = 0; g < 16; ++g) {
    to.subScales[g] = int8_t(b[g] & 15);
    to.subMinima[g] = b[g] >> 4;
  }
  twos(b + 16, to.codes);
  *to.scales = halfAt(b + 80);
  *to.minima = -halfAt(b + 82);
}

/// Scales of 6 bits, 32 too large: nibbles in 8 bytes, low ones first, and pairs of upper bits in 4 bytes.
void q3_K(const uint8_t *b, const Target &to) {
  twos(b + 32, to.codes);
  plane(b, 2, to.codes);
  uint8_t low[16];
  lowHigh(b + 96, 8, low);
  for (int g = 0; g < 16; ++g)
    to.subScales[g] = int8_t((low[g] | (b[104 + g % 4] >> 2 * (g / 4) & 3) << 4) - 32);
  *to.scales = halfAt(b + 108);
}

void q4_K(const uint8_t *b, const Target &to) {
  *to.scales = halfAt(b);
  *to.minima = -halfAt(b + 2);
  twelve(b + 4, to);
  for (int i = 0; i < 4; ++i)
    lowHigh(b + 16 + 32 * i, 32, to.codes + 64 * i);
}

void q5_K(const uint8_t *b, const Target &to) {
  *to.scales = halfAt(b);
  *to.minima = -halfAt(b + 2);
  twelve(b + 4, to);
  for (int i = 0; i < 4; ++i)
    lowHigh(b + 48 + 32 * i, 32, to.codes + 64 * i);
  plane(b + 16, 4, to.codes);
}

void q6_K(const uint8_t *b, const Target &to) {
  uint8_t up[256];
  for (int i = 0; i < 2; ++i)
    lowHigh(b + 64 * i, 64, to.codes + 128 * i);
  twos(b + 128, up);
  for (int i = 0; i < 256; ++i)
    to.codes[i] |= uint8_t(up[i] << 4);
  std::memcpy(to.subScales, b + 192, 16);
  *to.scales = halfAt(b + 208);
}

/// Scales of 6 bits, 32 too large: pairs of upper bits in a word, nibbles in 4 bytes.
void iq4_xs(const uint8_t *b, const Target &to) {
  *to.scales = halfAt(b);
  uint16_t high = loaded<uint16_t>(b + 2);
  for (int g = 0; g < 8; ++g) {
    to.subScales[g] = int8_t(((b[4 + g / 2] >> 4 * (g % 2) & 15) | (high >> 2 * g & 3) << 4) - 32);
    lowHigh(b + 8 + 16 * g, 16, to.codes + 32 * g);
  }
}

} // namespace

Reader superReader(GgufType type) {
  switch (type) {
  case GgufType::Q2_K: return q2_K;
  case GgufType::Q3_K: return q3_K;
  case GgufType::Q4_K: return q4_K;
  case GgufType::Q5_K: return q5_K;
  case GgufType::Q6_K: return q6_K;
  case GgufType::IQ4_XS: return iq4_xs;
  default: return nullptr;
  }
}

} // namespace heddle::blocks
