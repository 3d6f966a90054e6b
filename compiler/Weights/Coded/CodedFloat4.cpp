// Matrices of E2M1, floats of 4 bits, two in a byte with the lower nibble first. nvfp4-pack-quantized
// (compressed-tensors): an E4M3 scale for 16 features, and a divisor of all scales. mxfp4 (gpt-oss): stacks
// [..., rows, groups, 16 bytes] with a power of two (E8M0) for 32 features.
#include "compiler/Weights/Coded/CodedMethods.h"
#include "compiler/Weights/Coded/CodedTensor.h"
#include "compiler/Weights/Files/Problem.h"

namespace heddle {
namespace {

constexpr float e2m1[16] = {0, .5f, 1, 1.5f, 2, 3, 4, 6, -0.f, -.5f, -1, -1.5f, -2, -3, -4, -6};

/// `count` codes of a row of bytes.
inline float floatAt(const uint8_t *bytes, int64_t i) { return e2m1[bytes[i / 2] >> (4 * (i % 2)) & 15]; }

class Nvfp4 final : public CodedTensor {
public:
  Nvfp4(const CodedPieces &pieces, const StoredTensor &codes, const StoredTensor &scales, const StoredTensor &divisor)
      : CodedTensor(pieces, codes, {codes.shape()[0], codes.shape()[1] * 2}, "nvfp4"), codes(codes), scales(scales),
        divisor(divisor) {}

private:
  absl::Status readRows(int64_t first, llvm::MutableArrayRef<float> to) const override {
    int64_t k = features(), groups = k / 16, rows = int64_t(to.size()) / k;
    absl::StatusOr<std::vector<uint8_t>> bytes = readBytes(codes, first * k / 2, rows * k / 2);
    if (!bytes.ok())
      return bytes.status();
    float all = 0;
    if (absl::Status status = readScales(divisor, 0, all); !status.ok())
      return status;
    if (all == 0)
      return wrongPiece(divisor, "the scale is 0, and the others are divided by it");
    std::vector<float> some(rows * groups);
    if (absl::Status status = readScales(scales, first * groups, some); !status.ok())
      return status;
    for (float &scale : some)
      scale /= all;
    for (int64_t i = 0; i < rows * k; ++i)
      to[i] = floatAt(bytes->data(), i) * some[i / 16];
    return absl::OkStatus();
  }

  StoredTensor codes, scales, divisor;
};

class Mxfp4 final : public CodedTensor {
public:
  Mxfp4(const CodedPieces &pieces, const StoredTensor &codes, const StoredTensor &scales, std::vector<int64_t> shape)
      : CodedTensor(pieces, codes, std::move(shape), "mxfp4"), codes(codes), scales(scales) {}

private:
  absl::Status readRows(int64_t first, llvm::MutableArrayRef<float> to) const override {
    int64_t k = features(), groups = k / 32, rows = int64_t(to.size()) / k;
    absl::StatusOr<std::vector<uint8_t>> bytes = readBytes(codes, first * k / 2, rows * k / 2);
    if (!bytes.ok())
      return bytes.status();
    absl::StatusOr<std::vector<uint8_t>> powers = readBytes(scales, first * groups, rows * groups);
    if (!powers.ok())
      return powers.status();
    std::vector<float> some(rows * groups);
    widenToF32(StoredType::F8_E8M0, powers->data(), some);
    for (int64_t i = 0; i < rows * groups; ++i)
      if ((*powers)[i] == 255)
        return wrongPiece(scales, "element " + std::to_string(first * groups + i) + " is NaN, and a scale is needed");
    for (int64_t i = 0; i < rows * k; ++i)
      to[i] = floatAt(bytes->data(), i) * some[i / 32];
    return absl::OkStatus();
  }

  StoredTensor codes, scales;
};

} // namespace

absl::StatusOr<std::unique_ptr<CodedTensor>> openNvfp4(const CodedPieces &pieces, const StoredTensor &codes,
                                                       const CodedScheme &) {
  absl::StatusOr<const StoredTensor *> scales = pieces.get(".weight_scale", codes),
                                       divisor = pieces.get(".weight_global_scale", codes);
  if (!scales.ok() || !divisor.ok())
    return scales.ok() ? divisor.status() : scales.status();
  if (absl::Status status = checkType(codes, {StoredType::U8}); !status.ok())
    return status;
  if (codes.shape().size() != 2 || codes.elements() == 0 || codes.shape()[1] % 8)
    return wrongShape(codes, "rows of whole groups of 16 codes, 8 bytes, are needed");
  if (absl::Status status = checkType(**scales, {StoredType::F8_E4M3}); !status.ok())
    return status;
  if (absl::Status status = checkShape(**scales, {codes.shape()[0], codes.shape()[1] / 8}, "a scale for 16 features");
      !status.ok())
    return status;
  if (absl::Status status = checkReal(**divisor); !status.ok())
    return status;
  if ((*divisor)->elements() != 1)
    return wrongShape(**divisor, "one number is needed");
  return std::make_unique<Nvfp4>(pieces, codes, **scales, **divisor);
}

absl::StatusOr<std::unique_ptr<CodedTensor>> openMxfp4(const CodedPieces &pieces, const StoredTensor &codes,
                                                       const CodedScheme &) {
  absl::StatusOr<const StoredTensor *> scales = pieces.get("_scales", codes);
  if (!scales.ok())
    return scales.status();
  if (absl::Status status = checkType(codes, {StoredType::U8}); !status.ok())
    return status;
  if (absl::Status status = checkType(**scales, {StoredType::U8, StoredType::F8_E8M0}); !status.ok())
    return status;
  llvm::ArrayRef<int64_t> stored = codes.shape();
  if (stored.size() < 3 || stored.back() != 16 || codes.elements() == 0)
    return wrongShape(codes, "[..., rows, groups, 16] is needed");
  if (absl::Status status = checkShape(**scales, stored.drop_back(), "a scale for 32 features"); !status.ok())
    return status;
  std::vector<int64_t> shape(stored.begin(), stored.end() - 2);
  shape.push_back(stored[stored.size() - 2] * 32);
  return std::make_unique<Mxfp4>(pieces, codes, **scales, std::move(shape));
}

} // namespace heddle
