//===- CodesReport.h - what rounding weights to codes changed ---*- C++ -*-===//
//
// --weights-dtype: while weights are packed, the error of each matrix is noted; the report says them all together, the
// worst ones by name, and the bytes.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_DRIVER_CODESREPORT_H
#define HEDDLE_COMPILER_DRIVER_CODESREPORT_H

#include "compiler/Weights/Pack/Pack.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace heddle {

class CodesReport {
public:
  /// A matrix of the file that became codes, or a part of one.
  void add(const PackRequest &request, const CodingError &error);
  bool empty() const { return matrices.empty(); }

  /// Lines for people; `plan`: all that is packed.
  void print(llvm::raw_ostream &os, const BlobMap &plan) const;
  llvm::json::Object json(const BlobMap &plan) const;

private:
  struct Matrix {
    std::string name;
    Coding coding;
    uint64_t bytes;
    CodingError error;
  };
  CodingError all() const;
  /// Bytes of what is packed and is no code.
  uint64_t otherBytes(const BlobMap &plan) const;
  /// Bytes of codes that the file had already.
  uint64_t keptBytes(const BlobMap &plan) const;

  std::vector<Matrix> matrices;
};

} // namespace heddle

#endif
