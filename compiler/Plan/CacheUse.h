//===- CacheUse.h - how the rows of a state are read ------------*- C++ -*-===//
//
// A state that nothing but attention reads, always as keys or always as values, may be laid out as attention wants it.
// What its readers have in common is asked here, by the pass that decides and by the check of what is in a file.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_PLAN_CACHEUSE_H
#define HEDDLE_COMPILER_PLAN_CACHEUSE_H

#include "dialects/Attn/IR/Attn.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace heddle::plan {

struct CacheUse {
  std::optional<attn::CacheKind> role; ///< none: nobody has read them yet
  int64_t heads = 0, classes = 1;
  llvm::StringRef objection;          ///< why they cannot be laid out for attention; empty: they can
  mlir::Operation *because = nullptr; ///< the op that the objection is about
  /// The farthest row back that a new row looks at; none: any.
  std::optional<int64_t> behind = 0;

  /// Nothing but attention reads them, always in one role.
  bool good() const { return objection.empty(); }
  /// Keeps the first reason.
  void object(llvm::StringRef why, mlir::Operation *op);
  /// Takes in how `reader` reads them; `as` is none if it is no attention.
  void join(std::optional<attn::CacheKind> as, int64_t g, int64_t d, std::optional<int64_t> far,
            mlir::Operation *reader);
};

/// Of one state, an argument of each of some functions.
CacheUse useOf(llvm::ArrayRef<mlir::BlockArgument> state);

/// The states of a module, by their names.
llvm::StringMap<llvm::SmallVector<mlir::BlockArgument>> statesOf(mlir::ModuleOp module);

/// The rows of one of `classes` classes, at most.
inline int64_t rowsOfClass(int64_t rows, int64_t classes) { return rows / classes + (rows % classes != 0); }

/// Rows after which places of a ring may come again: what the first row of a piece sees and the piece, wherever in a
/// block that begins. None where rows look back farther than any ring goes.
std::optional<int64_t> leastRing(int64_t behind, int64_t piece, int64_t block);

} // namespace heddle::plan

#endif
