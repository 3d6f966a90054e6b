//===- Blob.h - the weights blob as the IR records it -----------*- C++ -*-===//
//
// The module attribute `model.blob` is an array of dictionaries, one a parameter pattern.
// Entry (i0, i1, ...) of a pattern with indices lies at
// offset + strides[0]*(i0 - firsts[0]) + ...: a repeat finds its weights by arithmetic.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_MODEL_TRANSFORMS_BLOB_H
#define HEDDLE_DIALECTS_MODEL_TRANSFORMS_BLOB_H

#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace heddle::model {

/// One tensor of the file (the rows of one part of it) as it lies in the blob.
struct BlobTensor {
  std::string name;               ///< in the file, indices filled in
  std::vector<int64_t> shape;     ///< in the file
  std::string element;            ///< "f32", "bf16" or "f16" (panels: pairs of k side by side), "i64" or "i1"
  bool panel32 = false;           ///< else natural
  bool inOut = false;             ///< panel32: the file holds [K, N]
  int64_t part = 0, groups = 1;   ///< which part's rows (or elements of a bias), of how many groups
  std::vector<int64_t> parts;     ///< empty: all rows
  uint64_t offset = 0, bytes = 0; ///< in the blob
};

/// `model.blob` written out, ascending by offset.
std::vector<BlobTensor> blobTensors(mlir::ModuleOp module);
/// Size of the blob.
uint64_t blobBytes(mlir::ModuleOp module);

} // namespace heddle::model

#endif
