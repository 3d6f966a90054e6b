//===- IndexForms.h - index arithmetic read back as forms -------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_CONVERSION_TOKERNELS_INDEXFORMS_H
#define HEDDLE_COMPILER_CONVERSION_TOKERNELS_INDEXFORMS_H

#include "dialects/Model/IR/Size.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"

namespace heddle::kernels {

/// Reads what the lowering made of a length form (Lowering::size) as a form again. `dims`: where the lengths lie, and
/// their names. `bounds`: a number that the entry finds out for itself stands as its bound, else it is no form.
class IndexForms {
public:
  IndexForms(mlir::Value dims, mlir::ArrayAttr names, bool bounds) : dims(dims), names(names), bounds(bounds) {}
  /// The form that an index is, none if it is none over the dims.
  std::optional<model::Size> read(mlir::Value v);
  /// Whether what was read is at least what it stands for: fewer rows that are found out than there may be never make
  /// a form more.
  bool areBounds() const { return !lessened; }

private:
  mlir::Value dims;
  mlir::ArrayAttr names;
  bool bounds;
  unsigned found = 0;    ///< numbers so far that the entry finds out for itself
  bool lessened = false; ///< whether such a number was taken away from another, or divided one
};

} // namespace heddle::kernels

#endif
