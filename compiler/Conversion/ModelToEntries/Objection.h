//===- Objection.h - why something is not rewritten -------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_CONVERSION_MODELTOENTRIES_OBJECTION_H
#define HEDDLE_COMPILER_CONVERSION_MODELTOENTRIES_OBJECTION_H

#include "mlir/IR/Location.h"
#include <string>

namespace heddle::entries {

/// The place in the description that forbids a rewrite, and the reason in words for the user.
struct Objection {
  mlir::Location where;
  std::string why;
};

} // namespace heddle::entries

#endif
