// Tensors of a GGUF file as the real tensors of a store: rows of stored tensors in the order of the checkpoint.
#ifndef HEDDLE_COMPILER_WEIGHTS_GGUF_GGUFTENSORS_H
#define HEDDLE_COMPILER_WEIGHTS_GGUF_GGUFTENSORS_H

#include "compiler/Weights/Coded/CodedTensor.h"
#include "compiler/Weights/Gguf/GgufBlocks.h"
#include "compiler/Weights/Gguf/GgufFile.h"
#include "compiler/Weights/Gguf/GgufRows.h"

namespace heddle {

/// A tensor of a file as it is stored. Read in whole rows.
struct GgufSource {
  StoredTensor stored;
  GgufType type = GgufType::F32;
  int64_t features = 0; ///< elements of a row: the last dimension, or 1 where single elements are moved, of blocks too
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

/// A tensor of the checkpoint.
struct GgufTarget {
  std::string name;
  std::vector<int64_t> shape;
  std::vector<GgufSource> sources; ///< all with rows of one width, which divides the last dimension
  GgufRows rows;
  float minus = 0; ///< to be subtracted from every number
};
std::unique_ptr<CodedTensor> ggufTensor(GgufTarget target);

/// kv_b of DeepSeek [heads * (B + V), A], of which the file has k_b [heads, A, B], turned, and v_b [heads, V, A].
std::unique_ptr<CodedTensor> ggufKeysAndValues(std::string name, GgufSource keys, llvm::ArrayRef<int64_t> keysShape,
                                               GgufSource values, int64_t valueRows);

/// A tensor whose numbers are in the metadata; `near` is a tensor of the file.
std::unique_ptr<CodedTensor> ggufConstant(std::string name, std::vector<float> values, const StoredTensor &near);

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_GGUF_GGUFTENSORS_H
