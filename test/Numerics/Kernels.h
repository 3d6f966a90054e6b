//===- Kernels.h - a module compiled and interpreted side by side ---------===//
//
// Text of stage `model` goes through the passes of the stages `fused` to `llvm` into the JIT,
// with random weights packed as the blob says; the interpreter says what should come out.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_NUMERICS_KERNELS_H
#define HEDDLE_TEST_NUMERICS_KERNELS_H

#include "compiler/Interpreter/Interpreter.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "test/Numerics/Jit.h"

namespace heddle::test {

class Kernels {
public:
  struct Options {
    bool fuse = true;
    int vectorWidth = 16;
    const char *math = "";  ///< "wide", "dots": the module stores bf16; "f16"
    int64_t panel = 0;      ///< results of a tile of a product; 0: as the target likes them
    const char *needs = ""; ///< features of the target
    const char *codes = ""; ///< "wide", "dots": how codes are multiplied
    int64_t block = 0;      ///< model.rows, where it is not 0
  };
  explicit Kernels(const std::string &text) : Kernels(text, Options()) {}
  /// `values`: whose parameters these are, if they have the same names.
  Kernels(const std::string &text, Options options, const Kernels *values = nullptr);
  bool good() const { return program != nullptr; }

  using Bytes = std::vector<std::vector<char>>;
  /// Random inputs of @run for these dims: reals in -2..2, integers below the argument's
  /// attribute `test.below` (5 without one).
  Bytes inputs(const Dims &dims, uint64_t seed) const;
  /// What the JIT makes of them; `code` is the run's error. Null inputs are left out.
  Bytes run(const Dims &dims, const Bytes &inputs, int threads = 1, int64_t *code = nullptr);
  /// The same `times` over, for measuring.
  void again(const Dims &dims, const Bytes &inputs, int times);
  /// The largest difference to the interpreter, relative to the largest element of the output.
  double error(const Dims &dims, const Bytes &inputs, const Bytes &outputs);
  /// The root of the mean square of the difference to numbers that were never rounded where they are stored,
  /// relative to that of the numbers.
  double rmsOfRounding(const Dims &dims, const Bytes &inputs, const Bytes &outputs);
  /// What the interpreter makes of them, by name.
  mlir::FailureOr<Tensors> expected(const Dims &dims, const Bytes &inputs, InterpretOptions options = {});
  /// The first output, of f32, as the interpreter computes it in declared types.
  std::vector<char> declared(const Dims &dims, const Bytes &inputs);
  const Tensor &parameterValue(const std::string &name) const { return parameters.at(name); }
  /// All of it: computes, compares, and compares the bits of 1 and 3 threads.
  double check(const Dims &dims, uint64_t seed);
  /// For modules whose inputs and outputs all begin with B: each batch element alone gives
  /// the bits that it has in company.
  bool sameAlone(Dims dims, uint64_t seed);

  std::string prepared; ///< the module at stage `tiled`

private:
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::map<std::string, Tensor> parameters;
  std::vector<char> blob;
  std::unique_ptr<Program> program;

  mlir::func::FuncOp entry() const;
  size_t bytesOf(mlir::Type type, const Dims &dims) const;
};

} // namespace heddle::test

#endif
