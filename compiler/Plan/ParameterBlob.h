//===- ParameterBlob.h - the weights blob as the IR records it --*- C++ -*-===//
//
// The module attribute `model.blob` is an array of #model.entry, one for each parameter pattern. The tensors of a
// pattern with indices are at constant distances, so that the body of a repeat computes their addresses.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_PLAN_PARAMETERBLOB_H
#define HEDDLE_COMPILER_PLAN_PARAMETERBLOB_H

#include "dialects/Model/IR/WeightLayout.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace heddle::plan {

/// One tensor of the file, or the rows of one part of it, as it is packed in the blob.
struct BlobTensor {
  std::string name;           ///< in the file, with the indices inserted
  std::vector<int64_t> shape; ///< in the file
  WeightLayout layout;
  uint64_t offset = 0; ///< in the blob
};

/// The name of a tensor of a pattern: "h.{0}.weight" with the indices inserted.
std::string filledName(llvm::StringRef pattern, llvm::ArrayRef<int64_t> indices);

/// All tensors of `model.blob`, ascending by offset.
std::vector<BlobTensor> blobTensors(mlir::ModuleOp module);
/// The size of the blob in bytes.
uint64_t blobBytes(mlir::ModuleOp module);

} // namespace heddle::plan

#endif
