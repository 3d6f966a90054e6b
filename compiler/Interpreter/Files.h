//===- Files.h - the interpreter on files -----------------------*- C++ -*-===//
//
// Parameters from the files that a module names, inputs and outputs as safetensors.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_INTERPRETER_FILES_H
#define HEDDLE_COMPILER_INTERPRETER_FILES_H

#include "compiler/Interpreter/Interpreter.h"
#include "compiler/Weights/WeightStore.h"

namespace heddle {

/// The parameters of `model.weights`, each read once and kept.
class ParameterFiles {
public:
  static absl::StatusOr<ParameterFiles> open(mlir::ModuleOp module);

  mlir::FailureOr<Tensor> read(llvm::StringRef name);
  /// To hand to interpret(); valid as long as this object stays where it is.
  auto reader() {
    return [this](llvm::StringRef name) { return read(name); };
  }

private:
  explicit ParameterFiles(WeightStore store) : store(std::move(store)) {}

  WeightStore store;
  std::map<std::string, Tensor> known;
};

/// All tensors of a safetensors file: reals, integers (as i64) and booleans.
absl::StatusOr<Tensors> readTensors(llvm::StringRef path);
/// Reals as F32, or as F64 with `doubles`; integers as I64; booleans as BOOL.
absl::Status writeTensors(llvm::StringRef path, const Tensors &tensors, bool doubles = false);

struct InterpretFileOptions {
  std::string input, output;
  /// More than 0: generate so many tokens greedily; the output is `ids` and `logits.0` ...
  int64_t newTokens = 0;
  /// Generate with @once and @step instead of recomputing with @run.
  bool cached = false;
  bool ignoreEos = true;
  bool doubles = false;
  InterpretOptions interpret;
};

/// `heddle interpret`: the module's @run (or generation) on the tensors of a file. Everything
/// that is wrong is a diagnostic of the module's context.
mlir::LogicalResult interpretFile(mlir::ModuleOp module, const InterpretFileOptions &options);

} // namespace heddle

#endif
