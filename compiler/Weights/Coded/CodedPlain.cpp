// Matrices [N, K] of one byte an element, each of them a number: I8 (compressed-tensors int-quantized and
// naive-quantized), or an 8-bit float (float-quantized; fp8 with `weight_scale` or `weight_scale_inv`, which is a
// factor in spite of its name). A scale is that of the tensor, a row, a group of features or a block of rows and
// features. Blocks at the edge may be smaller; a zero point is optional.
#include "compiler/Weights/Coded/CodedMethods.h"
#include "compiler/Weights/Coded/CodedTensor.h"
#include "compiler/Weights/Files/Problem.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace heddle {
namespace {

/// How many rows and features share a scale. Scales are [ceil(N / rows), ceil(K / features)].
struct Shared {
  int64_t rows, features;
};

absl::StatusOr<std::vector<float>> readSome(const StoredTensor &scales, int64_t first, int64_t count) {
  std::vector<float> values(count);
  absl::Status status = readScales(scales, first, values);
  return status.ok() ? absl::StatusOr<std::vector<float>>(std::move(values)) : status;
}

/// Integers with a scale a tensor, a row or a group.
class PlainIntegers final : public IntegerCodes {
public:
  PlainIntegers(const CodedPieces &pieces, const StoredTensor &codes, const StoredTensor &scales,
                const StoredTensor *zeros, const StoredTensor *order, Shared shared)
      : IntegerCodes(pieces, codes, {codes.shape()[0], codes.shape()[1]}, "int-quantized, 8 bits"), codes(codes),
        scales(scales), zeros(zeros ? std::optional(*zeros) : std::nullopt),
        order(order ? std::optional(*order) : std::nullopt), shared(shared) {}

private:
  int64_t groups() const { return llvm::divideCeil(features(), shared.features); }
  absl::StatusOr<Tables> load() const override {
    Tables tables;
    tables.groups = groups();
    tables.form.bits = 8;
    tables.form.group = shared.features;
    tables.form.scale = scaleTypeOf(scales);
    tables.form.zeros = zeros.has_value();
    if (order) {
      absl::StatusOr<std::vector<int64_t>> all = readIntegers(*order);
      if (!all.ok())
        return all.status();
      if (!llvm::is_contained(*all, -1)) {
        absl::StatusOr<std::vector<int32_t>> of = readGroups(*order, tables.groups);
        if (!of.ok())
          return of.status();
        tables.groupOf = *std::move(of);
      }
    }
    return tables;
  }
  /// The numbers of a tensor of one number a tensor, a row or a group, for some rows.
  template <typename Read>
  absl::Status spread(int64_t first, int64_t rows, std::vector<float> &to, Read readSomeOf) const {
    bool one = shared.rows == this->rows() && groups() == 1;
    absl::StatusOr<std::vector<float>> some = one ? readSomeOf(0, 1) : readSomeOf(first * groups(), rows * groups());
    if (!some.ok())
      return some.status();
    to = *std::move(some);
    if (one)
      to.assign(rows, float(to[0]));
    return absl::OkStatus();
  }
  absl::Status read(const Tables &, int64_t first, int64_t rows, CodedRows &to) const override {
    absl::StatusOr<std::vector<uint8_t>> bytes = readBytes(codes, first * features(), rows * features());
    if (!bytes.ok())
      return bytes.status();
    to.codes = *std::move(bytes);
    for (uint8_t &code : to.codes)
      code ^= 0x80; // from -128 ... 127 to 0 ... 255
    absl::Status status =
        spread(first, rows, to.scales, [&](int64_t at, int64_t count) { return readSome(scales, at, count); });
    if (!status.ok() || !zeros)
      return status;
    return spread(first, rows, to.zeros, [&](int64_t at, int64_t count) -> absl::StatusOr<std::vector<float>> {
      std::vector<float> values(count);
      absl::Status read = zeros->file->readF32(*zeros->record, at, values);
      return read.ok() ? absl::StatusOr<std::vector<float>>(std::move(values)) : read;
    });
  }

  StoredTensor codes, scales;
  std::optional<StoredTensor> zeros, order;
  Shared shared;
};

/// Bytes with a scale a block, and any scales of 8-bit floats.
class PlainBlocks final : public CodedTensor {
public:
  PlainBlocks(const CodedPieces &pieces, const StoredTensor &codes, const StoredTensor &scales, Shared shared,
              std::string kind)
      : CodedTensor(pieces, codes, {codes.shape()[0], codes.shape()[1]}, std::move(kind)), codes(codes), scales(scales),
        shared(shared) {}

private:
  absl::Status readRows(int64_t first, llvm::MutableArrayRef<float> to) const override {
    int64_t k = features(), across = llvm::divideCeil(k, shared.features);
    if (absl::Status status = codes.file->readF32(*codes.record, first * k, to); !status.ok())
      return status;
    std::vector<float> line;
    for (int64_t r = 0, at = -1; r < int64_t(to.size()) / k; ++r) {
      if (int64_t row = (first + r) / shared.rows; row != at) {
        absl::StatusOr<std::vector<float>> some = readSome(scales, row * across, across);
        if (!some.ok())
          return some.status();
        line = *std::move(some);
        at = row;
      }
      for (int64_t b = 0; b < across; ++b)
        for (int64_t i = b * shared.features; i < std::min((b + 1) * shared.features, k); ++i)
          to[r * k + i] *= line[b];
    }
    return absl::OkStatus();
  }

  StoredTensor codes, scales;
  Shared shared;
};

/// How scales of this shape are shared out over a matrix [n, k]; none if they do not fit.
std::optional<Shared> sharedBy(const StoredTensor &scales, int64_t n, int64_t k, const CodedScheme &scheme) {
  if (scales.elements() == 1)
    return Shared{n, k};
  if (scales.shape().empty() || scales.elements() == 0)
    return std::nullopt;
  int64_t down = scales.shape()[0], across = int64_t(scales.elements()) / down;
  bool inverse = scales.name().ends_with("_inv");
  std::vector<std::pair<int64_t, int64_t>> blocks = scheme.blocks;
  if (inverse && blocks.empty())
    blocks.push_back({128, 128});
  for (auto [rows, features] : blocks)
    if (down == int64_t(llvm::divideCeil(n, rows)) && across == int64_t(llvm::divideCeil(k, features)))
      return Shared{rows, features};
  if (int64_t group = down == n && !inverse ? scheme.groupOf(k, across) : 0)
    return Shared{1, group};
  return std::nullopt;
}

} // namespace

absl::StatusOr<std::unique_ptr<CodedTensor>> openPlain(const CodedPieces &pieces, const StoredTensor &codes,
                                                       const CodedScheme &scheme) {
  const StoredTensor *scales = pieces.find(".weight_scale"), *inverse = pieces.find(".weight_scale_inv");
  if (scales && inverse)
    return wrongPiece(*inverse, "`" + printable(scales->name()) + "` is in the file, too: two scales for one matrix");
  if (!scales)
    scales = inverse;
  if (absl::Status status = checkType(codes, {StoredType::I8, StoredType::F8_E4M3, StoredType::F8_E5M2}); !status.ok())
    return status;
  if (absl::Status status = checkReal(*scales); !status.ok())
    return status;
  if (codes.shape().size() != 2 || codes.elements() == 0)
    return wrongShape(codes, "two dimensions are needed, and elements");
  int64_t n = codes.shape()[0], k = codes.shape()[1];
  std::optional<Shared> shared = sharedBy(*scales, n, k, scheme);
  if (!shared) {
    std::string blocks;
    for (auto [rows, features] : scheme.blocks)
      blocks += ", or one for each block of " + std::to_string(rows) + " x " + std::to_string(features);
    return wrongShape(*scales, "one for the whole " + shapeOf(codes.shape()) + ", for each row, for groups of a row" +
                                   blocks + " is needed");
  }
  const StoredTensor *zeros = pieces.find(".weight_zero_point"), *order = pieces.find(".weight_g_idx");
  if (zeros) {
    if (isReal(zeros->type()) && zeros->type() != scales->type())
      return checkType(*zeros, {StoredType::I8});
    if (zeros->elements() != scales->elements())
      return wrongShape(*zeros, "as many zeros as `" + printable(scales->name()) +
                                    "` has scales are needed: " + shapeOf(scales->shape()));
  }
  if (order)
    if (absl::Status status = checkShape(*order, {k}, "a group for each feature"); !status.ok())
      return status;
  if (codes.type() == StoredType::I8) {
    if (shared->rows != 1 && shared->rows != n)
      return wrongShape(*scales, "a scale for the tensor, a row or a group is needed where codes are I8");
    if (shared->rows == n && n != 1 && shared->features != k)
      return wrongShape(*scales, "a scale for the tensor, a row or a group is needed where codes are I8");
    return std::make_unique<PlainIntegers>(pieces, codes, *scales, zeros, order, *shared);
  }
  if (zeros)
    return wrongPiece(*zeros, "a zero with codes that are " + spelling(codes.type()).str() + " is not read");
  if (order)
    return wrongPiece(*order,
                      "groups in another order with codes that are " + spelling(codes.type()).str() + " are not read");
  return std::make_unique<PlainBlocks>(pieces, codes, *scales, *shared,
                                       (inverse ? "fp8, " : "float-quantized, ") + spelling(codes.type()).str());
}

} // namespace heddle
