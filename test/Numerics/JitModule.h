//===- JitModule.h - a module of the LLVM dialect as machine code ---------===//
//
// The last step of every test that runs generated code in this process: translation to
// LLVM IR, the host's whole instruction set, LLVM's JIT.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_NUMERICS_JITMODULE_H
#define HEDDLE_TEST_NUMERICS_JITMODULE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

namespace heddle::test {

/// Quick: compiled as fast as can be, for code that runs once. Plain: a good back end without
/// the middle end. Optimized: O3.
enum class JitLevel { Quick, Plain, Optimized };

/// Null after a message. Symbols of this process are visible to the code.
std::unique_ptr<llvm::orc::LLJIT> jitModule(mlir::ModuleOp module, JitLevel level);

/// Prints an error, if it is one.
bool jitFailed(llvm::Error error);

} // namespace heddle::test

#endif
