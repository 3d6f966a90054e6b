//===- Jit.h - functions of stage `buffers`, compiled in this process -----===//
//
// Text of a module goes through the stages `buffers` and `llvm` of compiler/Pipelines into
// LLVM's JIT; entries are then called as the runtime calls them, on any
// number of threads. Kernels are compared with plain loops this way.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_NUMERICS_JIT_H
#define HEDDLE_TEST_NUMERICS_JIT_H

#include "test/Numerics/JitModule.h"
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace heddle::test {

class Program {
public:
  /// Simplifies masks, gives them tables and compiles; prints diagnostics and returns null when that fails. `planCache`
  /// runs attn-plan-cache first, for calls of at most `longestPiece` new rows where there are rings. The lowering is
  /// what is tested, and its arithmetic has no flag that allows a back end other bits: LLVM's quick one takes half the
  /// time.
  static std::unique_ptr<Program> compile(const std::string &text, int vectorWidth = 16, bool planCache = false,
                                          JitLevel level = JitLevel::Quick, int64_t longestPiece = 512);
  ~Program();

  using Dims = std::map<std::string, int64_t>;
  /// Calls entry `name` on `threads` threads: tensors are inputs, outputs, states. Returns the
  /// code of the first failure that the generated code reported, 0 for none.
  int64_t run(const std::string &name, const Dims &dims, std::vector<void *> tensors, int threads = 1);
  int64_t arenaBytes(const std::string &name, const Dims &dims, int threads) const;
  int64_t stateBytes(const std::string &name, unsigned argument, const Dims &dims) const;

  /// Fills the arena with this byte before each run: what is never written must not be read.
  int arenaFill = 0xff;
  /// What is passed as the packed weights.
  const void *weights = nullptr;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
  Program();
};

} // namespace heddle::test

#endif
