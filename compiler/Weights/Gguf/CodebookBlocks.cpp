// Super-blocks of entries of a codebook: IQ1, IQ2, IQ3. An entry gives 4 or 8 sizes, whose signs stand beside them; in
// IQ1 it gives 8 digits -1, 0, 1, which are shifted by an eighth up or down. All become integers: sizes as the table
// has them, IQ1 in eighths; scales are odd, in eighths or quarters of the super-block's number.
#include "compiler/Weights/Gguf/BlockReaders.h"
#include "llvm/ADT/bit.h"

namespace heddle::blocks {
namespace {

/// Entries as fields of an index into the levels of a codebook, the first element in the lowest bits.
struct Codebook {
  const uint16_t *entries;
  unsigned bits;    ///< of a field
  int8_t levels[8]; ///< what the fields mean

  int at(unsigned entry, int i) const { return levels[entries[entry] >> bits * i & ((1u << bits) - 1)]; }
};

#include "compiler/Weights/Gguf/Codebooks.inc"

constexpr int zero = 128; ///< codes are that much above the integers that they mean

/// Eight elements of sizes with a sign bit each.
void signedEight(const Codebook &book, unsigned entry, unsigned signs, uint8_t *to) {
  for (int i = 0; i < 8; ++i)
    to[i] = uint8_t(signs >> i & 1 ? zero - book.at(entry, i) : zero + book.at(entry, i));
}

/// Eight elements of two entries of four.
void signedFours(const Codebook &book, unsigned first, unsigned second, unsigned signs, uint8_t *to) {
  for (int i = 0; i < 8; ++i) {
    int size = i < 4 ? book.at(first, i) : book.at(second, i - 4);
    to[i] = uint8_t(signs >> i & 1 ? zero - size : zero + size);
  }
}

/// Seven bits of signs; the eighth makes their number even.
unsigned evenSigns(unsigned seven) {
  seven &= 127;
  return seven | (llvm::popcount(seven) & 1u) << 7;
}

int8_t odd(unsigned s) { return int8_t(2 * s + 1); }
unsigned nibble(const uint8_t *from, int i) { return from[i / 2] >> 4 * (i % 2) & 15; }

void iq2_xxs(const uint8_t *b, const Target &to) {
  *to.scales = halfAt(b) / 8;
  for (int g = 0; g < 8; ++g) {
    uint32_t word = loaded<uint32_t>(b + 2 + 8 * g + 4);
    for (int i = 0; i < 4; ++i)
      signedEight(IQ2_XXS, b[2 + 8 * g + i], evenSigns(word >> 7 * i), to.codes + 32 * g + 8 * i);
    to.subScales[g] = odd(word >> 28);
  }
}

void iq2_xs(const uint8_t *b, const Target &to) {
  *to.scales = halfAt(b) / 8;
  for (int i = 0; i < 32; ++i) {
    uint16_t word = loaded<uint16_t>(b + 2 + 2 * i);
    signedEight(IQ2_XS, word & 511, evenSigns(word >> 9), to.codes + 8 * i);
  }
  for (int g = 0; g < 16; ++g)
    to.subScales[g] = odd(nibble(b + 66, g));
}

void iq2_s(const uint8_t *b, const Target &to) {
  *to.scales = halfAt(b) / 8;
  for (int i = 0; i < 32; ++i) {
    unsigned high = b[66 + i / 4] >> 2 * (i % 4) & 3;
    signedEight(IQ2_S, b[2 + i] | high << 8, b[34 + i], to.codes + 8 * i);
  }
  for (int g = 0; g < 16; ++g)
    to.subScales[g] = odd(nibble(b + 74, g));
}

void iq3_xxs(const uint8_t *b, const Target &to) {
  *to.scales = halfAt(b) / 4;
  for (int g = 0; g < 8; ++g) {
    uint32_t word = loaded<uint32_t>(b + 66 + 4 * g);
    for (int i = 0; i < 4; ++i) {
      const uint8_t *pair = b + 2 + 8 * g + 2 * i;
      signedFours(IQ3_XXS, pair[0], pair[1], evenSigns(word >> 7 * i), to.codes + 32 * g + 8 * i);
    }
    to.subScales[g] = odd(word >> 28);
  }
}

void iq3_s(const uint8_t *b, const Target &to) {
  *to.scales = halfAt(b);
  for (int i = 0; i < 32; ++i) {
    auto entry = [&](int j) { return b[2 + j] | (b[66 + j / 8] >> j % 8 & 1u) << 8; };
    signedFours(IQ3_S, entry(2 * i), entry(2 * i + 1), b[74 + i], to.codes + 8 * i);
  }
  for (int g = 0; g < 8; ++g)
    to.subScales[g] = odd(nibble(b + 106, g));
}

/// Eight digits, an eighth above or below what the entry says.
void shiftedEight(unsigned entry, bool below, uint8_t *to) {
  for (int i = 0; i < 8; ++i)
    to[i] = uint8_t(zero + 8 * IQ1_S.at(entry, i) + (below ? -1 : 1));
}

void iq1_s(const uint8_t *b, const Target &to) {
  *to.scales = halfAt(b) / 8;
  for (int g = 0; g < 8; ++g) {
    uint16_t word = loaded<uint16_t>(b + 34 + 2 * g);
    for (int i = 0; i < 4; ++i)
      shiftedEight(b[2 + 4 * g + i] | (word >> 3 * i & 7u) << 8, word >> 15, to.codes + 32 * g + 8 * i);
    to.subScales[g] = odd(word >> 12 & 7);
  }
}

/// The number of the super-block stands in the upper nibbles of four words, the scales in the 12 bits below.
void iq1_m(const uint8_t *b, const Target &to) {
  uint16_t d = 0;
  for (int w = 0; w < 4; ++w) {
    uint16_t word = loaded<uint16_t>(b + 48 + 2 * w);
    d |= uint16_t(word >> 12 << 4 * w);
    for (int i = 0; i < 4; ++i)
      to.subScales[4 * w + i] = odd(word >> 3 * i & 7);
  }
  *to.scales = halfAt(reinterpret_cast<const uint8_t *>(&d)) / 8;
  for (int i = 0; i < 32; ++i) {
    unsigned h = nibble(b + 32, i);
    shiftedEight(b[i] | (h & 7) << 8, h >> 3, to.codes + 8 * i);
  }
}

} // namespace

Reader codebookReader(GgufType type) {
  switch (type) {
  case GgufType::IQ1_S: return iq1_s;
  case GgufType::IQ1_M: return iq1_m;
  case GgufType::IQ2_XXS: return iq2_xxs;
  case GgufType::IQ2_XS: return iq2_xs;
  case GgufType::IQ2_S: return iq2_s;
  case GgufType::IQ3_XXS: return iq3_xxs;
  case GgufType::IQ3_S: return iq3_s;
  default: return nullptr;
  }
}

} // namespace heddle::blocks
