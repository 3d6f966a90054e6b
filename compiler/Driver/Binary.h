//===- Binary.h - code, weights and runtime become one program --*- C++ -*-===//
#ifndef HEDDLE_COMPILER_DRIVER_BINARY_H
#define HEDDLE_COMPILER_DRIVER_BINARY_H

#include "compiler/Driver/Console.h"
#include "compiler/Driver/Options.h"
#include "mlir/IR/BuiltinOps.h"
#include "targets/Host/HostMachine.h"

namespace heddle {

struct TextBlobs;

/// Writes the binary `options.output` of `module` (stage `llvm`), whose functions and `card` are in `code`, with the
/// blobs of `words` in it, and with --no-embed the file of weights next to it. Both appear whole or not at all. Returns
/// the exit code; errors have been printed.
int writeBinary(const Console &console, mlir::ModuleOp module, llvm::Module &code, const std::string &card,
                const host::Machine &target, const CompileOptions &options, const TextBlobs &words);

} // namespace heddle

#endif
