//===- JitModule.h - a module of the LLVM dialect as machine code ---------===//
//
// The last step of every test that runs generated code in this process: translation to
// LLVM IR, the host's whole instruction set, LLVM's JIT. The JIT's headers take three seconds to parse and stay inside.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_NUMERICS_JITMODULE_H
#define HEDDLE_TEST_NUMERICS_JITMODULE_H

#include "mlir/IR/BuiltinOps.h"
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace heddle::test {

/// Quick: compiled as fast as can be, for code that runs once. Plain: a good back end without
/// the middle end. Optimized: O3.
enum class JitLevel { Quick, Plain, Optimized };

/// Whether this process may use matrix registers (AMX), for bf16 and for bytes; asks the system for it.
bool hasMatrixRegisters();
/// What a target needs for kernels that use them.
constexpr const char *kMatrixNeeds = "avx512vnni avx512bf16 amx-bf16 amx-tile amx-int8";

/// Owns the machine code of one module.
class JitModule {
public:
  /// What the code calls by a name: the address of a function of this process.
  using Symbols = std::vector<std::pair<std::string, void *>>;
  /// Null after a message. Symbols of this process are visible to the code, and `symbols` beside them.
  static std::unique_ptr<JitModule> compile(mlir::ModuleOp module, JitLevel level, const Symbols &symbols = {});
  ~JitModule();

  /// The address of a function of the module, compiled at the first call; null after a message.
  void *find(const std::string &name) const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
  explicit JitModule(std::unique_ptr<Impl> impl);
};

} // namespace heddle::test

#endif
