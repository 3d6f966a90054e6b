//===- DumpIR.h - one numbered file a pass ----------------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_DRIVER_DUMPIR_H
#define HEDDLE_COMPILER_DRIVER_DUMPIR_H

#include "compiler/Driver/DumpIndex.h"
#include "heddle/errors.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include <optional>
#include <string>

namespace heddle {

/// --dump-ir: writes the module to FOLDER/00-import.mlir as the stages get it, and to FOLDER/NN-pass.mlir after every
/// pass. Numbers continue from one pass manager to the next, so that the files sort in order of time. Each file says
/// which command makes it of the one before. An index tells what they are.
struct IRDump {
  std::string folder;
  bool locations = true;        ///< false: --no-locations
  bool changedOnly = false;     ///< --only=changed: a pass that changes nothing leaves no file
  TextFilter *filter = nullptr; ///< what is shown of a module
  std::optional<DumpIndex> index;
  std::string error; ///< of the first file that could not be written
  Error kind = Error::CannotWrite;

  /// Writes the first file.
  void begin(mlir::ModuleOp module);
  /// Writes one after each pass of `pm`, which holds the passes of a stage and its check at the end. The check has no
  /// file: the last pass's is written after it, with the stage that the module then is in. The index has been told of a
  /// pass before (PassClock).
  void watch(mlir::PassManager &pm);
  /// Writes the index.
  void end(mlir::ModuleOp module);

  /// Writes the file of the index's last row.
  void write(mlir::ModuleOp module, std::string name, llvm::StringRef after, std::string pipeline);

private:
  std::string lastFile; ///< the last one that was written
  std::string since;    ///< what has run on it since then, as --pass-pipeline takes it
};

} // namespace heddle

#endif
