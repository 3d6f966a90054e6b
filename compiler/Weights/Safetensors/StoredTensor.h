// A tensor as a store of weights lists it: in a file, or in pieces as codes.
#ifndef HEDDLE_COMPILER_WEIGHTS_SAFETENSORS_STOREDTENSOR_H
#define HEDDLE_COMPILER_WEIGHTS_SAFETENSORS_STOREDTENSOR_H

#include "compiler/Weights/Safetensors/SafetensorsFile.h"

namespace heddle {

class CodedTensor;

/// A tensor of the store. Valid as long as the store.
struct StoredTensor {
  const TensorRecord *record = nullptr;
  const SafetensorsFile *file = nullptr;
  /// Not null: the tensor is in pieces as codes, and `record` is what they stand for.
  const CodedTensor *coded = nullptr;
  /// Not null: an element of this tensor along its first axis, behind `before` others of its numbers.
  const StoredTensor *whole = nullptr;
  uint64_t before = 0;

  llvm::StringRef name() const { return record->name; }
  llvm::ArrayRef<int64_t> shape() const { return record->shape; }
  StoredType type() const { return record->type; }
  uint64_t elements() const { return record->elements(); }
  /// The row of `whole`, counted over all its elements, with which this one begins; 0 without a whole.
  int64_t firstRow() const { return before ? int64_t(before) / shape().back() : 0; }
  /// Where an element is in the file; of codes, where the codes begin.
  uint64_t byteOf(uint64_t element) const { return record->byte + (coded ? 0 : element * width(record->type)); }
};

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_SAFETENSORS_STOREDTENSOR_H
