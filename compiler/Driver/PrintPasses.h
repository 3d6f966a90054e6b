//===- PrintPasses.h - IR on standard error, pass by pass -------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_DRIVER_PRINTPASSES_H
#define HEDDLE_COMPILER_DRIVER_PRINTPASSES_H

#include "compiler/Driver/CompileWatcher.h"
#include "compiler/Driver/PrintIR.h"
#include "compiler/Driver/WatchOptions.h"
#include "compiler/IRText/ModuleHistory.h"
#include "compiler/IRText/TextFilter.h"
#include "llvm/Support/raw_ostream.h"

namespace heddle {

/// Prints what the filter keeps of a module: all of it as printIR does, or the lines that were asked for, without
/// locations, which do not compile on.
void printView(mlir::ModuleOp module, llvm::raw_ostream &os, const PrintOptions &how, TextFilter &filter);

/// --print-ir-before, --print-ir-after, --print-ir-change.
class PrintPasses final : public CompileWatcher {
public:
  PrintPasses(llvm::raw_ostream &os, const WatchOptions &options, TextFilter &filter, bool locations)
      : os(os), options(options), filter(filter), locations(locations) {}

  void imported(mlir::ModuleOp module, const Target &target) override;
  void beforePass(const PassRun &run, mlir::ModuleOp module) override;
  void afterPass(const PassRun &run, mlir::ModuleOp module) override;

private:
  llvm::raw_ostream &os;
  const WatchOptions &options;
  TextFilter &filter;
  bool locations;
  ModuleHistory history; ///< of one target
};

} // namespace heddle

#endif
