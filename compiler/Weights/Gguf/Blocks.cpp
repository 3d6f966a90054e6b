// Blocks of one level: a scale, and maybe a minimum, for each group.
#include "compiler/Weights/Gguf/BlockReaders.h"
#include <cmath>

namespace heddle::blocks {
namespace {

/// Adds a fifth bit to 32 codes: bit i of the word belongs to code i.
void fifthBits(const uint8_t *from, uint8_t *codes) {
  uint32_t word = loaded<uint32_t>(from);
  for (int i = 0; i < 32; ++i)
    codes[i] |= uint8_t((word >> i & 1) << 4);
}

void q4_0(const uint8_t *b, const Target &to) {
  *to.scales = halfAt(b);
  lowHigh(b + 2, 16, to.codes);
}

void q4_1(const uint8_t *b, const Target &to) {
  *to.scales = halfAt(b);
  *to.minima = halfAt(b + 2);
  lowHigh(b + 4, 16, to.codes);
}

void q5_0(const uint8_t *b, const Target &to) {
  *to.scales = halfAt(b);
  lowHigh(b + 6, 16, to.codes);
  fifthBits(b + 2, to.codes);
}

void q5_1(const uint8_t *b, const Target &to) {
  *to.scales = halfAt(b);
  *to.minima = halfAt(b + 2);
  lowHigh(b + 8, 16, to.codes);
  fifthBits(b + 4, to.codes);
}

void q8_0(const uint8_t *b, const Target &to) {
  *to.scales = halfAt(b);
  for (int i = 0; i < 32; ++i)
    to.codes[i] = b[2 + i] ^ 0x80;
}

/// The exponent is that of 2^(x - 127); the table has twice the numbers.
void mxfp4(const uint8_t *b, const Target &to) {
  *to.scales = std::ldexp(1.0f, int(b[0]) - 128);
  lowHigh(b + 1, 16, to.codes);
}

/// Half of an unsigned E4M3: the sign bit is not used, 127 is no number and counts as 0.
float halfE4M3(uint8_t byte) {
  if (byte == 127)
    return 0;
  int exponent = byte >> 3 & 15, mantissa = byte & 7;
  return exponent ? std::ldexp(float(8 + mantissa), exponent - 11) : std::ldexp(float(mantissa), -10);
}

void nvfp4(const uint8_t *b, const Target &to) {
  for (int g = 0; g < 4; ++g) {
    to.scales[g] = halfE4M3(b[g]);
    lowHigh(b + 4 + 8 * g, 8, to.codes + 16 * g);
  }
}

/// A byte q holds digits of base 3 of q / 256, the first one the highest: `count` runs of `bytes` codes.
void digits(const uint8_t *from, int bytes, int count, uint8_t *to) {
  for (int run = 0, power = 1; run < count; ++run, power *= 3)
    for (int i = 0; i < bytes; ++i)
      *to++ = uint8_t(uint8_t(from[i] * power) * 3 >> 8);
}

void tq1_0(const uint8_t *b, const Target &to) {
  *to.scales = halfAt(b + 52);
  digits(b, 32, 5, to.codes);
  digits(b + 32, 16, 5, to.codes + 160);
  digits(b + 48, 4, 4, to.codes + 240);
}

void tq2_0(const uint8_t *b, const Target &to) {
  *to.scales = halfAt(b + 64);
  twos(b, to.codes);
}

/// 2 c - 1: the codes are 0 and 2.
void q1_0(const uint8_t *b, const Target &to) {
  *to.scales = halfAt(b);
  for (int i = 0; i < 128; ++i)
    to.codes[i] = uint8_t((b[2 + i / 8] >> i % 8 & 1) << 1);
}

void q2_0(const uint8_t *b, const Target &to) {
  *to.scales = halfAt(b);
  for (int i = 0; i < 64; ++i)
    to.codes[i] = b[2 + i / 4] >> 2 * (i % 4) & 3;
}

} // namespace

Reader plainReader(GgufType type) {
  switch (type) {
  case GgufType::Q4_0:
  case GgufType::IQ4_NL: return q4_0;
  case GgufType::Q4_1: return q4_1;
  case GgufType::Q5_0: return q5_0;
  case GgufType::Q5_1: return q5_1;
  case GgufType::Q8_0: return q8_0;
  case GgufType::MXFP4: return mxfp4;
  case GgufType::NVFP4: return nvfp4;
  case GgufType::TQ1_0: return tq1_0;
  case GgufType::TQ2_0: return tq2_0;
  case GgufType::Q1_0: return q1_0;
  case GgufType::Q2_0: return q2_0;
  default: return nullptr;
  }
}

} // namespace heddle::blocks
