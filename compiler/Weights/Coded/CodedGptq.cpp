// GPTQ and AWQ, and what AutoRound exports as one of them. Matrices are [K, N]: a row of `scales` and `qzeros` is
// a group. GPTQ: fields of 2, 3, 4 or 8 bits along K in `qweight`, along N in `qzeros`; the bits of 3-bit codes run
// across words. AWQ (version gemm): 4 bits along N in both, each eight columns in an order of their own.
//
// GPTQ's zeros: version 1 stores them less one, made by one subtraction from the whole word, so they are undone by one
// addition to it. Version 2 stores them as they are. Files that claim 1 and hold 2 exist; of a symmetric file every
// zero is the middle of the range, so there the words tell.
#include "compiler/Weights/Coded/CodedMethods.h"
#include "compiler/Weights/Coded/CodedTensor.h"
#include "compiler/Weights/Files/Problem.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace heddle {
namespace {

/// Rows of scales [groups, N], turned to [N, groups].
absl::Status readScaleColumns(const StoredTensor &scales, int64_t first, int64_t rows, std::vector<float> &to) {
  int64_t groups = scales.shape()[0], n = scales.shape()[1];
  to.resize(rows * groups);
  std::vector<float> line(rows);
  for (int64_t g = 0; g < groups; ++g) {
    if (absl::Status status = readScales(scales, g * n + first, line); !status.ok())
      return status;
    for (int64_t r = 0; r < rows; ++r)
      to[r * groups + g] = line[r];
  }
  return absl::OkStatus();
}

class Gptq final : public IntegerCodes {
public:
  struct Parts {
    const StoredTensor *codes, *zeros, *scales, *order;
  };
  Gptq(const CodedPieces &pieces, Parts parts, unsigned bits, int64_t group, const CodedScheme &scheme, int64_t n,
       int64_t k)
      : IntegerCodes(pieces, *parts.codes, {n, k}, "gptq, " + std::to_string(bits) + " bits"), codes(*parts.codes),
        zeros(*parts.zeros), scales(*parts.scales), order(parts.order ? std::optional(*parts.order) : std::nullopt),
        bits(bits), group(group), symmetric(scheme.symmetric), version(scheme.version) {}

private:
  absl::StatusOr<Tables> load() const override;
  absl::Status read(const Tables &tables, int64_t first, int64_t rows, CodedRows &to) const override;
  int64_t zero(const uint32_t *words, int64_t column, int64_t version) const;

  StoredTensor codes, zeros, scales;
  std::optional<StoredTensor> order;
  unsigned bits;
  int64_t group;
  bool symmetric;
  int64_t version;
  mutable int64_t foundVersion = 1;
};

/// The zero of a column; `words` is a row of qzeros as it is stored.
int64_t Gptq::zero(const uint32_t *words, int64_t column, int64_t version) const {
  uint32_t mask = (1u << bits) - 1;
  if (bits == 3)
    return (field(words, 1, bits, column) + (version == 1)) & mask;
  uint32_t ones = 0xffffffffu / mask;
  uint32_t word = words[column * bits / 32] + (version == 1 ? ones : 0);
  return (word >> (column * bits % 32)) & mask;
}

absl::StatusOr<IntegerCodes::Tables> Gptq::load() const {
  Tables tables;
  tables.groups = scales.shape()[0];
  tables.form.bits = bits == 8 ? 8 : 4;
  tables.form.group = group;
  tables.form.scale = scaleTypeOf(scales);
  if (order) {
    absl::StatusOr<std::vector<int32_t>> groups = readGroups(*order, tables.groups);
    if (!groups.ok())
      return groups.status();
    tables.groupOf = *std::move(groups);
  }
  // All zeros as they are stored, a row of groups at a time.
  int64_t middle = int64_t(1) << (bits - 1);
  bool allMiddle = true, allBelow = true;
  for (int64_t g = 0; g < tables.groups && (allMiddle || allBelow); ++g) {
    absl::StatusOr<std::vector<uint32_t>> words = readWords(zeros, g, 1, 0, zeros.shape()[1]);
    if (!words.ok())
      return words.status();
    for (int64_t n = 0; n < rows() && (allMiddle || allBelow); ++n) {
      allMiddle &= zero(words->data(), n, 2) == middle;
      allBelow &= zero(words->data(), n, 1) == middle;
    }
  }
  foundVersion = version == 2 || (symmetric && bits != 3 && allMiddle) ? 2 : 1;
  tables.form.zeros = foundVersion == 2 ? !allMiddle : !allBelow;
  return tables;
}

absl::Status Gptq::read(const Tables &tables, int64_t first, int64_t rows, CodedRows &to) const {
  int64_t k = features(), middle = int64_t(1) << (bits - 1);
  to.codes.resize(rows * k);
  // A block of word rows is 96 or 128 features, so that whole stretches of a row are written.
  int64_t wordRows = codes.shape()[0], block = bits == 3 ? 12 : 4 * bits;
  for (int64_t w = 0; w < wordRows; w += block) {
    int64_t count = std::min(block, wordRows - w), firstK = w * 32 / bits, ks = count * 32 / bits;
    absl::StatusOr<std::vector<uint32_t>> words = readWords(codes, w, count, first, rows);
    if (!words.ok())
      return words.status();
    // Codes are stored unsigned, the middle of their own width at the middle of the form's.
    for (int64_t r = 0; r < rows; ++r)
      unpack(words->data() + r, rows, bits, ks, int(tables.form.offset() - middle), to.codes.data() + r * k + firstK);
  }
  if (absl::Status status = readScaleColumns(scales, first, rows, to.scales); !status.ok())
    return status;
  if (!tables.form.zeros)
    return absl::OkStatus();
  to.zeros.resize(rows * tables.groups);
  for (int64_t g = 0; g < tables.groups; ++g) {
    absl::StatusOr<std::vector<uint32_t>> words = readWords(zeros, g, 1, 0, zeros.shape()[1]);
    if (!words.ok())
      return words.status();
    for (int64_t r = 0; r < rows; ++r)
      to.zeros[r * tables.groups + g] = float(zero(words->data(), first + r, foundVersion) - middle);
  }
  return absl::OkStatus();
}

//===--- awq ------------------------------------------------------------------===//

/// Where column c of eight is among the fields of a word.
constexpr unsigned awqField[8] = {0, 4, 1, 5, 2, 6, 3, 7};

class Awq final : public IntegerCodes {
public:
  Awq(const CodedPieces &pieces, const StoredTensor &codes, const StoredTensor *zeros, const StoredTensor &scales,
      int64_t group, int64_t n, int64_t k)
      : IntegerCodes(pieces, codes, {n, k}, "awq, 4 bits"), codes(codes),
        zeros(zeros ? std::optional(*zeros) : std::nullopt), scales(scales), group(group) {}

private:
  absl::StatusOr<Tables> load() const override;
  absl::Status read(const Tables &tables, int64_t first, int64_t rows, CodedRows &to) const override;

  StoredTensor codes;
  std::optional<StoredTensor> zeros;
  StoredTensor scales;
  int64_t group;
};

/// Field of column `column`, counted from the word that `words` begins with.
uint32_t awqCode(const uint32_t *words, int64_t column) { return words[column / 8] >> (4 * awqField[column % 8]) & 15; }

absl::StatusOr<IntegerCodes::Tables> Awq::load() const {
  Tables tables;
  tables.groups = scales.shape()[0];
  tables.form.bits = 4;
  tables.form.group = group;
  tables.form.scale = scaleTypeOf(scales);
  tables.form.zeros = zeros.has_value();
  return tables;
}

absl::Status Awq::read(const Tables &tables, int64_t first, int64_t rows, CodedRows &to) const {
  int64_t k = features(), firstWord = first / 8, words = llvm::divideCeil(first + rows, 8) - firstWord;
  to.codes.resize(rows * k);
  constexpr int64_t block = 64;
  for (int64_t at = 0; at < k; at += block) {
    int64_t ks = std::min(block, k - at);
    absl::StatusOr<std::vector<uint32_t>> some = readWords(codes, at, ks, firstWord, words);
    if (!some.ok())
      return some.status();
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t i = 0; i < ks; ++i)
        to.codes[r * k + at + i] = uint8_t(awqCode(some->data() + i * words, first + r - firstWord * 8));
  }
  if (absl::Status status = readScaleColumns(scales, first, rows, to.scales); !status.ok())
    return status;
  if (!zeros)
    return absl::OkStatus();
  to.zeros.resize(rows * tables.groups);
  for (int64_t g = 0; g < tables.groups; ++g) {
    absl::StatusOr<std::vector<uint32_t>> some = readWords(*zeros, g, 1, firstWord, words);
    if (!some.ok())
      return some.status();
    for (int64_t r = 0; r < rows; ++r)
      to.zeros[r * tables.groups + g] = float(awqCode(some->data(), first + r - firstWord * 8)) - 8;
  }
  return absl::OkStatus();
}

/// "4 groups of 32 in 128 inputs".
std::string groupsText(int64_t groups, int64_t group, int64_t k) {
  return std::to_string(groups) + (groups == 1 ? " group of " : " groups of ") + std::to_string(group) + " in " +
         std::to_string(k) + " inputs";
}

/// Types and ranks that both methods share.
absl::Status checkCommon(const StoredTensor &codes, const StoredTensor *zeros, const StoredTensor &scales) {
  for (const StoredTensor *piece : {&codes, zeros})
    if (piece) {
      if (absl::Status status = checkType(*piece, {StoredType::I32}); !status.ok())
        return status;
      if (piece->shape().size() != 2)
        return wrongShape(*piece, "two dimensions are needed");
    }
  if (absl::Status status = checkReal(scales); !status.ok())
    return status;
  if (scales.shape().size() != 2)
    return wrongShape(scales, "two dimensions are needed");
  for (const StoredTensor *piece : {&codes, &scales})
    if (piece->elements() == 0)
      return wrongShape(*piece, "elements are needed");
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<std::unique_ptr<CodedTensor>> openGptq(const CodedPieces &pieces, const StoredTensor &codes,
                                                      const CodedScheme &scheme) {
  absl::StatusOr<const StoredTensor *> zeros = pieces.get(".qzeros", codes), scales = pieces.get(".scales", codes);
  if (!zeros.ok() || !scales.ok())
    return zeros.ok() ? scales.status() : zeros.status();
  if (absl::Status status = checkCommon(codes, *zeros, **scales); !status.ok())
    return status;
  int64_t n = codes.shape()[1], zeroWords = (*zeros)->shape()[1];
  // Where modules have different bits, the width of the zeros says which.
  int64_t bits = scheme.bits ? scheme.bits : zeroWords * 32 / n;
  if (!llvm::is_contained({2, 3, 4, 8}, bits))
    return wrongShape(**zeros, "codes of 2, 3, 4 or 8 bits for " + std::to_string(n) + " columns are needed");
  if (codes.shape()[0] * 32 % bits)
    return wrongShape(codes, "its rows do not hold whole codes of " + std::to_string(bits) + " bits");
  int64_t k = codes.shape()[0] * 32 / bits, groups = (*scales)->shape()[0];
  const StoredTensor *order = pieces.find(".g_idx");
  if (order)
    if (absl::Status status = checkShape(*order, {k}, "a group for each input of `" + printable(codes.name()) + "`");
        !status.ok())
      return status;
  int64_t group = scheme.groupOf(k, groups);
  if (!group && !order) {
    int64_t named = scheme.groups.empty() || scheme.groups[0] < 0 ? k : scheme.groups[0];
    return wrongShape(**scales, groupsText(llvm::divideCeil(k, named), named, k) + " are needed");
  }
  if (!group)
    group = llvm::divideCeil(k, groups);
  // A group size that is the only one named must be the one found.
  if (scheme.groups.size() == 1 && scheme.bits) {
    int64_t named = scheme.groups[0] < 0 ? k : scheme.groups[0];
    if (int64_t needed = llvm::divideCeil(k, named); needed != groups)
      return wrongShape(**scales, groupsText(needed, named, k) + " are needed");
  }
  if (absl::Status status = checkShape(**scales, {groups, n}, "a scale a group and column"); !status.ok())
    return status;
  if (absl::Status status = checkShape(**zeros, {groups, int64_t(llvm::divideCeil(n * bits, 32))},
                                       "a zero of " + std::to_string(bits) + " bits a group and column");
      !status.ok())
    return status;
  return std::make_unique<Gptq>(pieces, Gptq::Parts{&codes, *zeros, *scales, order}, unsigned(bits), group, scheme, n,
                                k);
}

absl::StatusOr<std::unique_ptr<CodedTensor>> openAwq(const CodedPieces &pieces, const StoredTensor &codes,
                                                     const CodedScheme &scheme) {
  absl::StatusOr<const StoredTensor *> scales = pieces.get(".scales", codes);
  if (!scales.ok())
    return scales.status();
  const StoredTensor *zeros = pieces.find(".qzeros");
  if (!zeros && !scheme.symmetric)
    return pieces.get(".qzeros", codes).status();
  if (absl::Status status = checkCommon(codes, zeros, **scales); !status.ok())
    return status;
  int64_t k = codes.shape()[0], n = codes.shape()[1] * 8, groups = (*scales)->shape()[0];
  int64_t group = scheme.groupOf(k, groups);
  if (scheme.groups.size() == 1) {
    int64_t named = scheme.groups[0] < 0 ? k : scheme.groups[0];
    if (int64_t needed = llvm::divideCeil(k, named); needed != groups)
      return wrongShape(**scales, groupsText(needed, named, k) + " are needed");
  }
  if (!group)
    return wrongShape(**scales, "groups of one size in " + std::to_string(k) + " inputs are needed");
  if (absl::Status status = checkShape(**scales, {groups, n}, "a scale a group and column"); !status.ok())
    return status;
  if (zeros)
    if (absl::Status status = checkShape(*zeros, {groups, n / 8}, "a zero of 4 bits a group and column"); !status.ok())
      return status;
  // Symmetric checkpoints may store qzeros that are all 8; that means no zero point.
  return std::make_unique<Awq>(pieces, codes, scheme.symmetric ? nullptr : zeros, **scales, group, n, k);
}

} // namespace heddle
