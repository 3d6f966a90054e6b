//===- Coding.h - matrices of integer codes ---------------------*- C++ -*-===//
//
// How the codes of a matrix W[N, K] mean numbers (CodeFormat), and how they lie in panels (Coding). A format is a
// value: readers of files, packer, interpreter, kernels and the verifier of the IR follow from its fields, and none
// knows the name of a format. No MLIR here: compiler/Weights has none.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_MODEL_IR_CODING_H
#define HEDDLE_DIALECTS_MODEL_IR_CODING_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cstdint>
#include <string>

namespace heddle {

/// The type of an element in the blob.
enum class PackedType : uint8_t { F32, BF16, F16, I64, Bool };

/// Bytes of an element.
inline unsigned width(PackedType type) {
  switch (type) {
  case PackedType::F32: return 4;
  case PackedType::BF16:
  case PackedType::F16: return 2;
  case PackedType::I64: return 8;
  case PackedType::Bool: return 1;
  }
  return 0;
}
inline bool isReal(PackedType type) { return type != PackedType::I64 && type != PackedType::Bool; }

/// Calculates with numbers, where a kernel makes code that calculates.
struct Integers {
  int64_t add(int64_t x, int64_t y) const { return x + y; }
  int64_t mul(int64_t x, int64_t y) const { return x * y; }
  int64_t div(int64_t x, int64_t y) const { return x / y; }
  int64_t rem(int64_t x, int64_t y) const { return x % y; }
};

/// Sixteen signed integers that codes of 4 bits are indices of: NL4 is ggml's IQ4_NL, E2M1 twice the numbers of FP4.
enum class CodeTable : uint8_t { None, NL4, E2M1 };

inline llvm::ArrayRef<int8_t> integersOf(CodeTable table) {
  static constexpr int8_t nl4[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
  static constexpr int8_t e2m1[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
  return table == CodeTable::NL4    ? llvm::ArrayRef(nl4)
         : table == CodeTable::E2M1 ? llvm::ArrayRef(e2m1)
                                    : llvm::ArrayRef<int8_t>();
}

/// How codes mean numbers:
///
///   number = (integer - zero) * scale + minimum     integer = code - offset(), or the table's entry
///
/// A group of `group` neighbours along K has a scale (the last group of K may be shorter), and a zero or a minimum of
/// its own where there are some. In two levels a super-group of `super` features has a scale d and a minimum e, and a
/// group whole numbers of a byte: scale = d * subScale, which has a sign, minimum = e * subMinimum, which has none.
struct CodeFormat {
  int64_t bits = 0;                   ///< of a stored code: 2, 4, 5, 6 or 8; 0: numbers lie as they are
  int64_t group = 0;                  ///< all K where K is no larger
  PackedType scale = PackedType::F16; ///< f16, bf16 or f32
  bool zeros = false;                 ///< whether groups have zeros, whole numbers
  bool minima = false;                ///< whether they have minima, f16
  int64_t zeroCode = kMiddle;         ///< the code of 0, where there is no table
  CodeTable table = CodeTable::None;
  int64_t super = 0; ///< features of a super-group; 0: one level

  /// The code in the middle of all.
  static constexpr int64_t kMiddle = -1;
  /// The most features of a row that share a scale, and the fewest (ModelOps.td, linear). In two levels a row has the
  /// most, and a super-group two such stretches.
  static constexpr int64_t rowFeatures = 128, fewestRowFeatures = 32, superFeatures = 256;

  /// What a stored code is above the integer that it means.
  int64_t offset() const {
    return table != CodeTable::None ? 0 : zeroCode == kMiddle ? (bits ? int64_t(1) << (bits - 1) : 0) : zeroCode;
  }
  int64_t integer(uint8_t code) const {
    return table == CodeTable::None ? int64_t(code) - offset() : int64_t(integersOf(table)[code & 15]);
  }
  /// A code that means the integer 0: of what fills panels up.
  uint8_t codeOfZero() const {
    llvm::ArrayRef<int8_t> integers = integersOf(table);
    auto zero = std::find(integers.begin(), integers.end(), 0);
    return zero != integers.end() ? uint8_t(zero - integers.begin()) : uint8_t(offset());
  }
  /// Groups of K features; and of those that share `scales`.
  int64_t groups(int64_t k) const { return group < k ? (k + group - 1) / group : 1; }
  int64_t scales(int64_t k) const { return super ? k / super : groups(k); }

  bool operator==(const CodeFormat &o) const {
    return bits == o.bits && group == o.group && scale == o.scale && zeros == o.zeros && minima == o.minima &&
           offset() == o.offset() && table == o.table && super == o.super;
  }
  /// Why there is no such format; empty: there is.
  std::string wrong() const {
    if (bits != 8 && bits != 6 && bits != 5 && bits != 4 && bits != 2)
      return "codes have 8, 6, 5, 4 or 2 bits, not " + std::to_string(bits);
    if (group < 1 || group > (int64_t(1) << 32))
      return "a group has 1 or more features, not " + std::to_string(group);
    if (scale != PackedType::F16 && scale != PackedType::BF16 && scale != PackedType::F32)
      return "scales are f16, bf16 or f32";
    if (zeros && minima)
      return "groups have zeros or minima, not both";
    if (minima && group > fewestRowFeatures)
      return "groups with minima have at most " + std::to_string(fewestRowFeatures) + " features, not " +
             std::to_string(group);
    if (table != CodeTable::None && (bits != 4 || zeroCode != kMiddle))
      return "indices of a table have 4 bits and no code of 0";
    if (zeroCode != kMiddle && (zeroCode < 0 || zeroCode >> bits))
      return "the code of 0 is one of " + std::to_string(bits) + " bits, not " + std::to_string(zeroCode);
    if (super && (super != superFeatures || (group != 16 && group != 32) || zeros))
      return "two levels have groups of 16 or 32 features in super-groups of " + std::to_string(superFeatures) +
             " and no zeros";
    return "";
  }
};

/// How codes lie in panels. A panel of rows of W is a stream of sections, the features that share a scale:
///
///   one level    [scales, panel of 16 or 32 bits][zeros or minima, panel of f16][codes]
///   two levels   [d, panel of 16 or 32 bits][e, panel of f16, with minima], and twice, for 128 features each,
///                [sub-scales, words of 4 groups: [128 / group / 4][panel]][sub-minima alike][codes]
///
/// Codes are lines of words of 4 bytes, [panel] each. A word of 8 bits a code holds the features 4s .. 4s+3, one of 4
/// bits 8s+b in the low and 8s+4+b in the high half of byte b, one of 2 bits 16s+4j+b in bits 2j of byte b. Codes of 5
/// and 6 bits lie as those of 4, and before each block of 32 and 16 features is a line of their high bits: bits (bits -
/// 4) * j of byte b are of feature 4j+b. Behind N and K scales and minima are 0, and codes mean 0 where one does.
struct Coding : CodeFormat {
  bool ordered = false; ///< neighbours are those of an order of features that is before the panels

  explicit operator bool() const { return bits != 0; }
  bool operator==(const Coding &o) const { return CodeFormat::operator==(o) && ordered == o.ordered; }

  //===-- lines of codes -------------------------------------------------------===//
  /// Bits of a code that lie in words, and features in a word of 4 bytes; the other bits lie in a line of high bits.
  int64_t lowBits() const { return bits == 8 ? 8 : bits >= 4 ? 4 : 2; }
  int64_t perWord() const { return 32 / lowBits(); }
  bool hasHighBits() const { return bits != lowBits(); }
  /// Features and lines of words of a block, the least that is complete by itself.
  int64_t blockFeatures() const { return hasHighBits() ? 32 / (bits - lowBits()) : perWord(); }
  int64_t blockLines() const { return blockFeatures() / perWord() + hasHighBits(); }
  int64_t codeBytes(int64_t panel, int64_t features) const {
    return features / blockFeatures() * blockLines() * 4 * panel;
  }

  //===-- sections ---------------------------------------------------------------===//
  /// How many features each group has in a panel: with zeros at the end a whole number of `rowFeatures`, or 16, 32,
  /// 64 or 96 of them.
  int64_t features(int64_t k) const {
    int64_t whole = k > rowFeatures ? rowFeatures : k > fewestRowFeatures ? fewestRowFeatures : 16;
    return group < k ? group : int64_t(llvm::alignTo(uint64_t(k), uint64_t(whole)));
  }
  int64_t sectionFeatures(int64_t k) const { return super ? super : features(k); }
  int64_t sections(int64_t k) const { return scales(k); }
  /// Features whose codes lie one after the other.
  int64_t partFeatures(int64_t k) const { return super ? rowFeatures : features(k); }
  int64_t parts(int64_t k) const { return sectionFeatures(k) / partFeatures(k); }
  /// Bytes before the first part of a section, of the sub-scales of a part (and of its sub-minima), of all before the
  /// codes of a part, of a part, a section and a panel; and of the order before all panels.
  int64_t headBytes(int64_t panel) const { return panel * (width(scale) + (zeros || minima ? 2 : 0)); }
  int64_t subBytes(int64_t panel) const { return super ? panel * (rowFeatures / group) : 0; }
  int64_t partHeadBytes(int64_t panel) const { return subBytes(panel) * (minima ? 2 : 1); }
  int64_t partBytes(int64_t panel, int64_t k) const { return partHeadBytes(panel) + codeBytes(panel, partFeatures(k)); }
  int64_t sectionBytes(int64_t panel, int64_t k) const { return headBytes(panel) + parts(k) * partBytes(panel, k); }
  int64_t panelBytes(int64_t panel, int64_t k) const { return sections(k) * sectionBytes(panel, k); }
  int64_t orderBytes(int64_t k) const { return ordered ? int64_t(llvm::alignTo(uint64_t(4 * k), 64)) : 0; }

  //===-- places -------------------------------------------------------------------===//
  /// Byte offsets of what makes element (n, p), p counted in the order. The low bits of its code begin at bit `shift`
  /// of the byte at `code`, the high ones at bit `highShift` of the byte at `high`. What a format lacks has a place
  /// that means nothing.
  template <typename Number> struct Place {
    Number scale, second; ///< second: of the zero or the minimum
    Number subScale, subMinimum;
    Number code, shift, high, highShift;
  };
  /// `c` as in WeightLayout::at.
  template <typename Number, typename Calculator>
  Place<Number> at(const Calculator &c, Number n, Number p, int64_t panel, int64_t k) const {
    Number lane = c.rem(n, panel), panels = c.mul(c.div(n, panel), panelBytes(panel, k));
    Number inSection = c.rem(p, sectionFeatures(k)), in = c.rem(p, partFeatures(k));
    Number sectionsBefore = c.mul(c.div(p, sectionFeatures(k)), sectionBytes(panel, k));
    Number section = c.add(c.add(panels, sectionsBefore), orderBytes(k));
    Number part =
        c.add(c.add(section, c.mul(c.div(inSection, partFeatures(k)), partBytes(panel, k))), headBytes(panel));
    Place<Number> place;
    place.scale = c.add(section, c.mul(lane, width(scale)));
    place.second = c.add(c.add(section, c.mul(lane, int64_t(2))), panel * width(scale));
    Number number = c.div(in, super ? group : features(k)), words = c.mul(c.div(number, int64_t(4)), panel);
    place.subScale = c.add(c.add(part, c.mul(c.add(words, lane), int64_t(4))), c.rem(number, int64_t(4)));
    place.subMinimum = c.add(place.subScale, subBytes(panel));
    Number codes = c.add(part, partHeadBytes(panel)), inBlock = c.rem(in, blockFeatures());
    Number block = c.add(codes, c.mul(c.div(in, blockFeatures()), blockLines() * panel * 4));
    Number byte = c.add(c.mul(lane, int64_t(4)), c.rem(in, int64_t(4))), quad = c.div(inBlock, int64_t(4));
    Number line = c.mul(c.div(inBlock, perWord()), panel * 4);
    place.high = c.add(block, byte);
    place.code = c.add(c.add(c.add(block, line), byte), hasHighBits() ? panel * 4 : int64_t(0));
    place.shift = c.mul(c.rem(quad, 8 / lowBits()), lowBits());
    place.highShift = c.mul(quad, bits - lowBits());
    return place;
  }

  /// Why there is no such coding; empty: there is.
  std::string wrong() const {
    return ordered && super ? "two levels have features in the order of the file" : CodeFormat::wrong();
  }
  /// Why K features have no such groups; empty: they do.
  std::string misfit(int64_t k) const {
    if (super && k % super)
      return "two levels have a multiple of " + std::to_string(super) + " features, but not " + std::to_string(k);
    if (features(k) % blockFeatures())
      return "codes of " + std::to_string(bits) + " bits have groups of a multiple of " +
             std::to_string(blockFeatures()) + " features, but not " + std::to_string(features(k));
    if (group >= k || (group % 16 == 0 && rowFeatures % group == 0) || group % rowFeatures == 0)
      return "";
    return "groups have 16, 32, 64 or a multiple of " + std::to_string(rowFeatures) + " features, or all " +
           std::to_string(k) + ", but not " + std::to_string(group);
  }
};

inline llvm::hash_code hash_value(const Coding &c) {
  return llvm::hash_combine(c.bits, c.group, unsigned(c.scale), c.zeros, c.minima, c.offset(), unsigned(c.table),
                            c.super, c.ordered);
}

} // namespace heddle

#endif
