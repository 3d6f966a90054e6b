//===- Diff.h - heddle diff -------------------------------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_DIFF_DIFF_H
#define HEDDLE_COMPILER_DIFF_DIFF_H

#include "compiler/Driver/Console.h"
#include "compiler/Driver/Options.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace heddle {

/// What the command line says.
struct DiffRequest {
  std::string first, second; ///< programs, reports or models; `second` may be empty: `first` again
  std::string base, with;    ///< options of `heddle compile`: of models, and more of them for the second one
};

/// Reads `heddle compile PATH OPTIONS`; returns the exit code.
using ReadModel = llvm::function_ref<int(const std::string &path, const std::string &options, CompileOptions &model)>;

/// `heddle diff`: what differs between two compilations, statement by statement. Returns 0 if nothing does, 1 if
/// something does, and the status of an error otherwise.
int diffCompilations(const Console &console, const DiffRequest &request, bool json, ReadModel readModel);

} // namespace heddle

#endif // HEDDLE_COMPILER_DIFF_DIFF_H
