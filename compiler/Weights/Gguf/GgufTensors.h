// Tensors of a GGUF file as the real tensors of a store: whole matrices, rows of one in another order, vectors.
#ifndef HEDDLE_COMPILER_WEIGHTS_GGUF_GGUFTENSORS_H
#define HEDDLE_COMPILER_WEIGHTS_GGUF_GGUFTENSORS_H

#include "compiler/Weights/Coded/CodedTensor.h"
#include "compiler/Weights/Gguf/GgufBlocks.h"
#include "compiler/Weights/Gguf/GgufFile.h"

namespace heddle {

/// A tensor of a file as it is stored. Read in whole rows of its last dimension.
struct GgufSource {
  StoredTensor stored;
  GgufType type = GgufType::F32;
  int64_t features = 0; ///< elements of a row
  /// What multiplies every number: of a tensor `X.scale` next to `X.weight`.
  float factor = 1;

  GgufSource(const GgufFile &file, const GgufTensor &tensor, float factor = 1)
      : stored(file.stored(tensor)), type(tensor.type), features(tensor.shape.back()), factor(factor) {}

  /// Rows from `first` on, as many as `to` has: exact values, rounded once to f32. An error with the tensor's name for
  /// a number that is not finite.
  absl::Status readRows(int64_t first, llvm::MutableArrayRef<float> to) const;
  /// The same rows of blocks taken apart, added to `to`; the same error. `factor` does not touch them.
  absl::Status readCodes(int64_t first, int64_t rows, CodedRows &to) const;
};

/// Which rows of a stored tensor a matrix has, in which order.
struct GgufRows {
  int64_t first = 0, count = 0;
  /// Rows of a head that are stored as rotary pairs (0, D/2, 1, D/2 + 1 ..); 0: rows are in order.
  int64_t head = 0;

  int64_t stored(int64_t row) const {
    if (!head)
      return first + row;
    int64_t within = row % head, half = head / 2;
    return first + row - within + within % half * 2 + within / half;
  }
};

/// A matrix [rows.count, features] of these rows.
std::unique_ptr<CodedTensor> ggufMatrix(std::string name, GgufSource source, GgufRows rows);
/// A vector: a bias, maybe of rows that are stored as rotary pairs, or a norm's weight, to which 1 was maybe added.
std::unique_ptr<CodedTensor> ggufVector(std::string name, GgufSource source, int64_t head, bool plusOne);

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_GGUF_GGUFTENSORS_H
