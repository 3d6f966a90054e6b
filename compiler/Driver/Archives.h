//===- Archives.h - the archives that a program is linked with --*- C++ -*-===//
//
// What a program is linked with beside its own objects: the runtime of its architecture, and what its model needs
// beside that. Archives for this machine lie in lib/ beside bin/heddle, those for another architecture in a folder of
// its name there, where `ninja runtime-NAME` puts them.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_DRIVER_ARCHIVES_H
#define HEDDLE_COMPILER_DRIVER_ARCHIVES_H

#include "compiler/Driver/Console.h"
#include "compiler/Driver/Load.h"
#include "compiler/Driver/Options.h"
#include "mlir/IR/BuiltinOps.h"
#include "targets/CPU/Architectures.h"

namespace heddle {

struct Archives {
  std::string runtime;            ///< libheddle_rt.a
  std::vector<std::string> parts; ///< options of the linker and archives, in their order
};

/// The archives that a program of `module` needs (Abilities.h); none after an error, which has been reported, its exit
/// status in `failed`.
std::optional<Archives> archivesOf(const Console &console, mlir::ModuleOp module, const CompileOptions &options,
                                   const TextBlobs &words, const cpu::Architecture &architecture, int &failed);

} // namespace heddle

#endif
