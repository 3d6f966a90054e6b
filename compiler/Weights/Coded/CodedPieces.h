// The tensors that a quantised matrix is made of: `X.qweight`, `X.scales` ... of a module X. They are found by the end
// of their names, checked for type and shape, and read in the few ways that the methods need. Every refusal names the
// tensor, says what it is and what is needed.
#ifndef HEDDLE_COMPILER_WEIGHTS_CODED_CODEDPIECES_H
#define HEDDLE_COMPILER_WEIGHTS_CODED_CODEDPIECES_H

#include "compiler/Weights/Coded/CodedMatrix.h"
#include "compiler/Weights/Coded/CodedScheme.h"
#include "compiler/Weights/Safetensors/StoredTensor.h"
#include <functional>

namespace heddle {

class CodedPieces {
public:
  using Find = std::function<const StoredTensor *(llvm::StringRef name)>;
  /// The pieces of `module`, which are looked up with `find`; the matrix is called `offered`.
  CodedPieces(std::string module, std::string offered, Find find)
      : module(std::move(module)), offered(std::move(offered)), lookUp(std::move(find)) {}

  const std::string module, offered;

  /// Null if there is none.
  const StoredTensor *find(llvm::StringRef suffix) const { return lookUp(module + suffix.str()); }
  /// Refuses where there is none, naming one that is there.
  absl::StatusOr<const StoredTensor *> get(llvm::StringRef suffix, const StoredTensor &beside) const;

private:
  Find lookUp;
};

/// A refusal: `message` is about the tensor `piece`.
absl::Status wrongPiece(const StoredTensor &piece, std::string message,
                        std::string help = "the file is damaged, or was written by a program that Heddle does not "
                                           "know: take the checkpoint that it was made from");
/// Refuses another shape: "it is [3, 64]; `needed` is needed".
absl::Status wrongShape(const StoredTensor &piece, const std::string &needed);
/// Fails unless the shape is just this one; `why` says where the numbers come from.
absl::Status checkShape(const StoredTensor &piece, llvm::ArrayRef<int64_t> shape, llvm::StringRef why);
/// Fails unless the type is one of these.
absl::Status checkType(const StoredTensor &piece, llvm::ArrayRef<StoredType> types);
/// Fails unless it is real numbers.
absl::Status checkReal(const StoredTensor &piece);
std::string shapeOf(llvm::ArrayRef<int64_t> shape);

/// The narrowest type of scales that holds what this tensor holds.
ScaleType scaleTypeOf(const StoredTensor &piece);

/// Elements [first, first + to.size()) of scales: an error for one that is no finite number.
absl::Status readScales(const StoredTensor &piece, uint64_t first, llvm::MutableArrayRef<float> to);
/// Words of a matrix [*, columns] of I32: rows [row, row + rows), columns [column, column + count), row-major.
absl::StatusOr<std::vector<uint32_t>> readWords(const StoredTensor &piece, int64_t row, int64_t rows, int64_t column,
                                                int64_t count);
absl::StatusOr<std::vector<uint8_t>> readBytes(const StoredTensor &piece, uint64_t first, uint64_t count);
/// Every element of a small tensor of integers.
absl::StatusOr<std::vector<int64_t>> readIntegers(const StoredTensor &piece);
/// The group of each feature: an error for one that is not in [0, groups).
absl::StatusOr<std::vector<int32_t>> readGroups(const StoredTensor &piece, int64_t groups);

/// Field `i` of `bits` bits in words that are `stride` apart, lowest bits first; a field may run into the next word.
inline uint32_t field(const uint32_t *words, size_t stride, unsigned bits, size_t i) {
  size_t at = i * bits, word = at / 32, shift = at % 32;
  uint32_t value = words[word * stride] >> shift;
  if (shift + bits > 32)
    value |= words[(word + 1) * stride] << (32 - shift);
  return value & ((1u << bits) - 1);
}

/// The first `count` fields, each with `add` added.
void unpack(const uint32_t *words, size_t stride, unsigned bits, int64_t count, int add, uint8_t *to);

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_CODED_CODEDPIECES_H
