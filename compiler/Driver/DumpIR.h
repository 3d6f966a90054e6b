//===- DumpIR.h - one numbered file a pass ----------------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_DRIVER_DUMPIR_H
#define HEDDLE_COMPILER_DRIVER_DUMPIR_H

#include "heddle/errors.h"
#include "mlir/Pass/PassManager.h"

namespace heddle {

/// --dump-ir: writes the module to FOLDER/NN-pass.mlir after every pass. Numbers continue from one pass manager to the
/// next, so that the files sort in order of time.
struct IRDump {
  std::string folder;
  bool locations = true; ///< false: --no-locations
  unsigned written = 0;
  std::string error; ///< of the first file that could not be written
  Error kind = Error::CannotWrite;

  void watch(mlir::PassManager &pm);
};

} // namespace heddle

#endif
