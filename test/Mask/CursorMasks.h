//===- CursorMasks.h - masks as an attention asks them ----------*- C++ -*-===//
//
// Each mask is in a function with an attention around it, so that the passes of the mask
// dialect meet what they meet in the compiler: who asks, over which lengths, within which
// bounds. What builds its tables is compiled by the real lowering.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_MASK_CURSORMASKS_H
#define HEDDLE_TEST_MASK_CURSORMASKS_H

#include "dialects/Attn/IR/Attn.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "test/Mask/MaskSpec.h"

namespace heddle::test {

/// A mask with what is constant in its code.
struct CursorCase {
  MaskSpec spec;
  int64_t tile = 128;   ///< keys of a tile
  int64_t lanes = 1;    ///< of the vectors a scan may use
  bool built = false;   ///< simplified and with tables, as the compiler does; else as written, without
  bool strided = false; ///< asked in its strided view, where it has one (mask::stridedOf)
  int64_t step = 1;     ///< which steps by this
};

/// A mask in its function.
struct AskedMask {
  mlir::func::FuncOp function;
  mlir::Value value;
  llvm::SmallVector<mlir::Operation *> tables; ///< made in the function
  int64_t stride = 1;
  bool everyRowSees = false;

  /// What the mask may read: the tensors of the spec, then the tables.
  llvm::SmallVector<mlir::Value> tensors() const;
};

/// No length that a call may have is larger.
struct CursorBounds {
  int64_t most = 0; ///< of T, S and P; 0: nothing is known
};

struct AskedMasks {
  llvm::SmallVector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
  std::vector<AskedMask> masks;
};
/// No masks after a message.
AskedMasks askMasks(const std::vector<CursorCase> &cases, CursorBounds bounds, mlir::MLIRContext &context);

/// A module of the functions @tables<n> that return the tables of mask n, as text; empty
/// where no mask has one.
std::string tablesText(const std::vector<AskedMask> &masks);

} // namespace heddle::test

#endif
