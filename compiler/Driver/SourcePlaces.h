//===- SourcePlaces.h - places of ops in the user's files -------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_DRIVER_SOURCEPLACES_H
#define HEDDLE_COMPILER_DRIVER_SOURCEPLACES_H

#include "compiler/Import/Json/Diagnostics.h"
#include "mlir/IR/Location.h"

namespace heddle {

/// Turns locations of ops into places of files, whose lines a message can show. Files that the sink does not have yet
/// are read and added to it.
class SourcePlaces {
public:
  explicit SourcePlaces(DiagnosticSink &sink) : sink(sink) {}
  /// The place; none if the location has no file, or the file cannot be read.
  Loc of(mlir::Location where);
  /// file:line:column of a location, whether the file can be read or not; "" without one.
  static std::string text(mlir::Location where);

private:
  DiagnosticSink &sink;
  std::map<std::string, const SourceFile *> files; ///< null: cannot be read
};

} // namespace heddle

#endif
