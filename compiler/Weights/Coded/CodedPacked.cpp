// compressed-tensors, pack-quantized: codes of 2, 4 or 8 bits along K in words of `weight_packed` [N, words], each
// 2^(bits-1) too large; `weight_scale` [N, groups]; zeros packed along N in `weight_zero_point` [words, groups], or a
// byte each; `weight_shape` says [N, K]; `weight_g_idx` gives each feature its group, unless it is -1.
#include "compiler/Weights/Coded/CodedMethods.h"
#include "compiler/Weights/Coded/CodedTensor.h"
#include "compiler/Weights/Files/Problem.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace heddle {
namespace {

class Packed final : public IntegerCodes {
public:
  struct Parts {
    const StoredTensor *codes, *scales, *zeros, *order;
  };
  Packed(const CodedPieces &pieces, Parts parts, unsigned bits, int64_t groups, int64_t group, int64_t n, int64_t k)
      : IntegerCodes(pieces, *parts.codes, {n, k}, "pack-quantized, " + std::to_string(bits) + " bits"),
        codes(*parts.codes), scales(*parts.scales), zeros(parts.zeros ? std::optional(*parts.zeros) : std::nullopt),
        order(parts.order ? std::optional(*parts.order) : std::nullopt), bits(bits), groups(groups), group(group) {}

private:
  absl::StatusOr<Tables> load() const override;
  absl::Status read(const Tables &tables, int64_t first, int64_t rows, CodedRows &to) const override;
  absl::Status readZeros(int64_t first, int64_t rows, std::vector<float> &to) const;

  StoredTensor codes, scales;
  std::optional<StoredTensor> zeros, order;
  unsigned bits;
  int64_t groups, group;
};

absl::StatusOr<IntegerCodes::Tables> Packed::load() const {
  Tables tables;
  tables.groups = groups;
  tables.form.bits = bits == 8 ? 8 : 4;
  tables.form.group = group;
  tables.form.scale = scaleTypeOf(scales);
  tables.form.zeros = zeros.has_value();
  if (order) {
    absl::StatusOr<std::vector<int64_t>> all = readIntegers(*order);
    if (!all.ok())
      return all.status();
    if (llvm::none_of(*all, [](int64_t g) { return g == -1; })) {
      absl::StatusOr<std::vector<int32_t>> of = readGroups(*order, groups);
      if (!of.ok())
        return of.status();
      tables.groupOf = *std::move(of);
    }
  }
  return tables;
}

absl::Status Packed::readZeros(int64_t first, int64_t rows, std::vector<float> &to) const {
  to.resize(rows * groups);
  if (zeros->type() == StoredType::I8) {
    std::vector<int64_t> bytes(rows * groups);
    absl::Status status = zeros->file->readI64(*zeros->record, first * groups, bytes);
    llvm::copy(bytes, to.begin());
    return status;
  }
  int64_t per = 32 / bits, firstWord = first / per, count = llvm::divideCeil(first + rows, per) - firstWord;
  absl::StatusOr<std::vector<uint32_t>> words = readWords(*zeros, firstWord, count, 0, groups);
  if (!words.ok())
    return words.status();
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t g = 0; g < groups; ++g)
      to[r * groups + g] =
          float(int64_t(field(words->data() + g, groups, bits, first + r - firstWord * per)) - (1 << (bits - 1)));
  return absl::OkStatus();
}

absl::Status Packed::read(const Tables &tables, int64_t first, int64_t rows, CodedRows &to) const {
  int64_t k = features(), perRow = codes.shape()[1];
  absl::StatusOr<std::vector<uint32_t>> words = readWords(codes, first, rows, 0, perRow);
  if (!words.ok())
    return words.status();
  to.codes.resize(rows * k);
  int64_t shift = tables.form.offset() - (1 << (bits - 1));
  for (int64_t r = 0; r < rows; ++r)
    unpack(words->data() + r * perRow, 1, bits, k, int(shift), to.codes.data() + r * k);
  to.scales.resize(rows * groups);
  if (absl::Status status = readScales(scales, first * groups, to.scales); !status.ok())
    return status;
  return zeros ? readZeros(first, rows, to.zeros) : absl::OkStatus();
}

} // namespace

absl::StatusOr<std::unique_ptr<CodedTensor>> openPacked(const CodedPieces &pieces, const StoredTensor &codes,
                                                        const CodedScheme &scheme) {
  absl::StatusOr<const StoredTensor *> scales = pieces.get(".weight_scale", codes),
                                       shape = pieces.get(".weight_shape", codes);
  if (!scales.ok() || !shape.ok())
    return scales.ok() ? shape.status() : scales.status();
  if (absl::Status status = checkType(codes, {StoredType::I32}); !status.ok())
    return status;
  if (absl::Status status = checkReal(**scales); !status.ok())
    return status;
  if (codes.shape().size() != 2 || codes.elements() == 0)
    return wrongShape(codes, "two dimensions are needed, and elements");
  if (absl::Status status = checkShape(**shape, {2}, "rows and features"); !status.ok())
    return status;
  absl::StatusOr<std::vector<int64_t>> nk = readIntegers(**shape);
  if (!nk.ok())
    return nk.status();
  int64_t n = (*nk)[0], k = (*nk)[1], words = codes.shape()[1];
  if (n != codes.shape()[0] || k < 1 || k / 32 > words)
    return wrongPiece(**shape, "it says " + shapeOf(*nk) + ", and `" + printable(codes.name()) + "` is " +
                                   shapeOf(codes.shape()));
  // The words of a row say how wide a code is, where the config names several widths.
  int64_t bits = scheme.bits;
  for (int64_t b : {2, 4, 8})
    if (!bits && int64_t(llvm::divideCeil(k * b, 32)) == words)
      bits = b;
  if (!llvm::is_contained({2, 4, 8}, bits) || int64_t(llvm::divideCeil(k * bits, 32)) != words)
    return wrongShape(codes, (bits ? "words of " + std::to_string(bits) : std::string("words of 2, 4 or 8")) +
                                 " bits a code for " + std::to_string(k) + " features are needed");
  if ((*scales)->elements() % n || (*scales)->elements() == 0 || (*scales)->shape().front() != n)
    return wrongShape(**scales, "[" + std::to_string(n) + ", groups] is needed");
  int64_t groups = int64_t((*scales)->elements()) / n, group = scheme.groupOf(k, groups);
  const StoredTensor *order = pieces.find(".weight_g_idx"), *zeros = pieces.find(".weight_zero_point");
  if (!group && !order)
    return wrongShape(**scales, "groups of one size in " + std::to_string(k) + " features are needed");
  if (order)
    if (absl::Status status = checkShape(*order, {k}, "a group for each feature"); !status.ok())
      return status;
  if (zeros && zeros->type() == StoredType::I8) {
    if (zeros->elements() != uint64_t(n * groups))
      return wrongShape(*zeros, "a zero for each of " + std::to_string(n * groups) + " groups is needed");
  } else if (zeros) {
    if (absl::Status status = checkType(*zeros, {StoredType::I32, StoredType::I8}); !status.ok())
      return status;
    if (absl::Status status = checkShape(*zeros, {int64_t(llvm::divideCeil(n * bits, 32)), groups},
                                         "a zero of " + std::to_string(bits) + " bits a row and group");
        !status.ok())
      return status;
  }
  return std::make_unique<Packed>(pieces, Packed::Parts{&codes, *scales, zeros, order}, unsigned(bits), groups,
                                  group ? group : int64_t(llvm::divideCeil(k, groups)), n, k);
}

} // namespace heddle
