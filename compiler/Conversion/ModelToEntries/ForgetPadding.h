//===- ForgetPadding.h - what a mask of ones makes of a step ----*- C++ -*-===//
#ifndef HEDDLE_COMPILER_CONVERSION_MODELTOENTRIES_FORGETPADDING_H
#define HEDDLE_COMPILER_CONVERSION_MODELTOENTRIES_FORGETPADDING_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace heddle::entries {

/// Rewrites @batch, a copy of @step in which no row is padded, so that it reads `mask` [batch, new] no more: its keys
/// are all keys, elsewhere it is 1 (true); a running sum of it is start + 1 + r at row r, `start` i64 [batch] being the
/// positions of a text that are there already; rows kept that are made of such numbers alone are made anew for all
/// positions. Takes the mask and the states that held these out of the arguments. Returns the ops whose rows of all
/// positions are the same for every text as far as it goes: what they hold at a position depends on no `start`.
mlir::FailureOr<llvm::DenseSet<mlir::Operation *>> forgetPadding(mlir::func::FuncOp batch, mlir::BlockArgument mask,
                                                                 mlir::Value start);

} // namespace heddle::entries

#endif
