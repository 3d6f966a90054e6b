//===- ParameterFiles.h - the interpreter on files --------------*- C++ -*-===//
//
// The interpreter on files: parameters from the files that a module names,
// inputs and outputs as safetensors.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_INTERPRETER_PARAMETERFILES_H
#define HEDDLE_COMPILER_INTERPRETER_PARAMETERFILES_H

#include "compiler/Interpreter/Interpreter.h"
#include "compiler/Weights/Adapter/AdapterChoice.h"
#include "compiler/Weights/WeightStore.h"

namespace heddle {

/// Opens what a module names: the files of `model.weights`, their codes as `model.quantised` says, the adapters of
/// `model.adapters`, merged, and the files of `model.module_weights`.
absl::StatusOr<WeightStore> openWeightsOf(mlir::ModuleOp module);
/// The adapters of `model.adapters`; none where the attribute is not what an import writes.
std::vector<AdapterChoice> adaptersOf(mlir::ModuleOp module);

/// The parameters of a module's weights; each is read once and kept.
class ParameterFiles {
public:
  static absl::StatusOr<ParameterFiles> open(mlir::ModuleOp module);

  /// A tensor that is there and cannot be read is told at the module.
  mlir::FailureOr<Tensor> read(llvm::StringRef name);
  /// The argument `readParameter` of interpret(); this object must stay where
  /// it is.
  auto reader() {
    return [this](llvm::StringRef name) { return read(name); };
  }

private:
  ParameterFiles(WeightStore store, mlir::Location location) : store(std::move(store)), location(location) {}

  WeightStore store;
  mlir::Location location;
  std::map<std::string, Tensor> known;
};

/// Reads all tensors of a safetensors file, or all arrays of a .npz: reals as
/// f64, integers as i64, booleans. The one array of a .npy has no name.
absl::StatusOr<Tensors> readTensors(llvm::StringRef path);
/// Writes reals as F32, or as F64 with `doubles`; integers as I64; booleans as
/// BOOL. The end of the name says how: .npz, .npy (one tensor), else safetensors.
absl::Status writeTensors(llvm::StringRef path, const Tensors &tensors, bool doubles = false);

struct RunOptions {
  /// Tokens to generate greedily; the results are then `ids`, `logits.0`, ... 0:
  /// calls @run.
  int64_t newTokens = 0;
  /// Generates with @once and @step instead of computing everything again with
  /// @run.
  bool cached = false;
};

/// Calls @run on `inputs`, or generates until `eos` or `newTokens`. Errors are
/// diagnostics of the module's context.
mlir::FailureOr<Tensors> runModel(mlir::ModuleOp module, const Tensors &inputs, ReadParameter readParameter,
                                  const RunOptions &options);

} // namespace heddle

#endif
