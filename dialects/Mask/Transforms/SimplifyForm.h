//===- SimplifyForm.h - masks as expressions without `not` ------*- C++ -*-===//
//
// Masks as expressions without `not`, for mask-simplify. A form is a tree of conjunctions and
// disjunctions over half-lines k < b(i), k >= b(i) and atoms (any other mask, inverted or not). NOT of
// a half-line is a half-line and NOT of an atom an atom, so De Morgan's laws remove every NOT.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_MASK_TRANSFORMS_SIMPLIFYFORM_H
#define HEDDLE_DIALECTS_MASK_TRANSFORMS_SIMPLIFYFORM_H

#include "dialects/Mask/IR/MaskBands.h"
#include <memory>

namespace heddle::mask {

struct Form;
using FormRef = std::shared_ptr<const Form>;

/// A node of the tree; immutable and shared.
struct Form {
  enum Kind { Constant, Below, From, Atom, And, Or };
  Kind kind;
  bool flag = false; ///< Constant: its value; Atom: inverted
  Bound bound = {};  ///< Below: least of greatest terms; From: greatest of least terms
  mlir::Value atom = {};
  std::vector<FormRef> operands = {};

  bool isConnective() const { return kind == And || kind == Or; }
};

FormRef constantForm(bool value);
FormRef halfLineForm(Form::Kind kind, Bound bound);
FormRef atomForm(mlir::Value mask, bool inverted = false);
FormRef joinForms(Form::Kind kind, std::vector<FormRef> operands);
/// Whether two forms are equal.
bool same(const FormRef &x, const FormRef &y);

/// Whether negating a bound (a least of greatest terms becomes a greatest of least ones) gives few
/// terms: only such bounds become half-lines, others stay atoms.
bool isSmall(const Bound &bound);

FormRef negate(const FormRef &x);
/// The form after all laws, under what is known of the grid.
FormRef simplify(const FormRef &x, const Facts &facts);

} // namespace heddle::mask

#endif
