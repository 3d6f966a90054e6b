//===- DumpIR.h - one numbered file a pass ----------------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_DRIVER_DUMPIR_H
#define HEDDLE_COMPILER_DRIVER_DUMPIR_H

#include "compiler/Driver/Compile.h"
#include "mlir/Pass/PassManager.h"

namespace heddle {

/// `--dump-ir`: after every pass the whole module goes into FOLDER/NN-pass.mlir. The numbers
/// run on from one pass manager to the next, so the order of the names is the order of events.
struct IRDump {
  std::string folder;
  unsigned written = 0;
  std::string error; ///< of the first file that could not be written
  ExitCode code = Ok;

  void watch(mlir::PassManager &pm);
};

} // namespace heddle

#endif
