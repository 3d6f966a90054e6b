//===- Archives.h - the archives that a program is linked with --*- C++ -*-===//
//
// What a program is linked with next to its own objects: the archives of the runtime that its model needs. Those for
// this machine are in lib/ beside bin/heddle, those for another architecture in a folder of its name there, where
// `ninja runtime-NAME` puts them.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_DRIVER_ARCHIVES_H
#define HEDDLE_COMPILER_DRIVER_ARCHIVES_H

#include "compiler/Driver/Console.h"
#include "compiler/Driver/Load.h"
#include "compiler/Driver/Options.h"
#include "mlir/IR/BuiltinOps.h"
#include "targets/Host/Architectures.h"

namespace llvm {
class Module;
}

namespace heddle {

struct Archives {
  std::string folder;             ///< where they are
  std::vector<std::string> parts; ///< options of the linker and archives, in their order
};

/// The archives that a program of `module`, whose code is `code`, needs (Abilities.h); none after an error, which has
/// been reported, its exit status in `failed`.
std::optional<Archives> archivesOf(const Console &console, mlir::ModuleOp module, const llvm::Module &code,
                                   const CompileOptions &options, const TextBlobs &words,
                                   const host::Architecture &architecture, int &failed);

} // namespace heddle

#endif
