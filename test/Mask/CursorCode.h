//===- CursorCode.h - one answer of a mask as a function --------*- C++ -*-===//
//
// A function takes the mask's tensors and tables, the numbers below and where to write; its
// body is one of the answers of the mask dialect, asked for one tile of query rows.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_MASK_CURSORCODE_H
#define HEDDLE_TEST_MASK_CURSORCODE_H

#include "compiler/Conversion/Lowering/Language/Code.h"
#include "dialects/Mask/Emission/MaskCode.h"
#include "test/Mask/CursorMasks.h"

namespace heddle::test {

/// What a call is told, in this order. kKeys: keys of the view (all, where it is not strided).
enum Dim { kB, kT, kS, kP, kK, kBatch, kHead, kFirst, kLast, kAnchor, kOffset, kKeys, kDims };

class CursorCode : private loops::OwnBuilder, public loops::Code {
public:
  CursorCode(mlir::OpBuilder &builder, mlir::Location loc, const AskedMask &mask, const CursorCase &test,
             const std::string &name);

  /// A number of runs, then (begin, end, need) of each.
  void walk();
  /// At each key: any, all, end.
  void segments();
  void hull();
  /// Lines of words, [row][line][key]: the predicate of a scalar, of vectors, the count.
  void elements();
  /// Lines of words whose bits are the operands of the root, of vectors and of scalars.
  void operands();

private:
  const AskedMask &mask;
  const CursorCase &test;
  mlir::Value dims[kDims], out;
  llvm::DenseMap<mlir::Value, mlir::Value> tensors;
  std::map<std::string, mlir::Value> lengths;
  mlir::Operation *prologueEnd = nullptr;

  using Put = llvm::function_ref<void(int64_t line, mlir::Value v)>;
  /// ask(emitter, position, key, put) for all pairs of the tile, with scalar keys and with
  /// vectors; put(line, value) stores words or bits.
  void pairs(int64_t lines, llvm::function_ref<void(mask::Emitter &, mlir::Value position, mlir::Value key, Put)> ask);
  mlir::Value bit(mlir::Value v);
  mlir::Value iota();
  mlir::Value lengthOf(const model::Size &form);
  mlir::Value element(mlir::OpBuilder &builder, mlir::Value tensor, llvm::ArrayRef<mlir::Value> index);
  mask::Emitter emitter();

  std::function<mlir::Value(mlir::OpBuilder &, mlir::Value, llvm::ArrayRef<mlir::Value>)> loadStore =
      [this](mlir::OpBuilder &builder, mlir::Value tensor, llvm::ArrayRef<mlir::Value> index) {
        return element(builder, tensor, index);
      };
  std::function<mlir::Value(mlir::Value, int64_t)> lengthStore = [this](mlir::Value tensor, int64_t axis) {
    return lengthOf(mlir::cast<model::ModelTensorType>(tensor.getType()).getSize(axis));
  };
};

} // namespace heddle::test

#endif
