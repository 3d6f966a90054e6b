//===- Watchers.h - the watchers of a command line --------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_DRIVER_WATCHERS_H
#define HEDDLE_COMPILER_DRIVER_WATCHERS_H

#include "compiler/Driver/Console.h"
#include "compiler/Driver/Options.h"
#include "compiler/Driver/PrintPasses.h"
#include "compiler/Driver/SaveTemps.h"
#include "compiler/Driver/TimeReport.h"
#include "compiler/Driver/TimeTrace.h"
#include "compiler/IRText/TextFilter.h"

namespace heddle {

/// What a command line asks to see of a compilation, from before the import until everything has been written. Nothing
/// where it asks for nothing.
class Watchers {
public:
  /// Both outlive this; the watchers are added to `options`.
  Watchers(const Console &console, CompileOptions &options) : console(console), options(options) {}
  Watchers(const Watchers &) = delete;
  Watchers &operator=(const Watchers &) = delete;

  /// Checks names of passes and places, and begins to measure. The exit code, an error has been reported.
  int begin();
  /// Writes what is written at the end. `code` is that of the command; returned unless something could not be written.
  int end(int code);

private:
  int checkNames() const;
  void sayMissed();

  const Console &console;
  CompileOptions &options;
  TextFilter filter;
  std::optional<TimeTrace> trace;
  std::optional<TimeReport> times;
  std::optional<PrintPasses> print;
  std::optional<SaveTemps> temps;
};

} // namespace heddle

#endif
