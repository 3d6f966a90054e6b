//===- Blob.h - the weights blob as the IR records it -----------*- C++ -*-===//
//
// The module attribute `model.blob` is an array of #model.entry, one a parameter pattern: the entries of a
// pattern with indices lie at constant distances, so that a repeat finds its weights by arithmetic.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_PLAN_BLOB_H
#define HEDDLE_COMPILER_PLAN_BLOB_H

#include "dialects/Model/IR/WeightLayout.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace heddle::plan {

/// One tensor of the file (the rows of one part of it) as it lies in the blob.
struct BlobTensor {
  std::string name;           ///< in the file, indices filled in
  std::vector<int64_t> shape; ///< in the file
  WeightLayout layout;
  uint64_t offset = 0;        ///< in the blob
};

/// `model.blob` written out, ascending by offset.
std::vector<BlobTensor> blobTensors(mlir::ModuleOp module);
/// Size of the blob.
uint64_t blobBytes(mlir::ModuleOp module);

} // namespace heddle::plan

#endif
