//===- Interpreter.h - the meaning of the IR, executed ----------*- C++ -*-===//
//
// Runs functions of the stages model, entries, fused and tiled. Each op is its formula:
// nothing is fused, nothing is clever, and what it computes IS what the dialects mean.
// Whatever is wrong with the data is a diagnostic at the op that met it.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_INTERPRETER_INTERPRETER_H
#define HEDDLE_COMPILER_INTERPRETER_INTERPRETER_H

#include "compiler/Interpreter/Tensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace heddle {

/// Reads a parameter by its name in the file, widened. A failure is reported by the op that
/// asked.
using ReadParameter = llvm::function_ref<mlir::FailureOr<Tensor>(llvm::StringRef name)>;

/// The values of dims: those of the inputs' axes, and past, capacity ...
using Dims = std::map<std::string, int64_t>;

/// The stores that outlive a call, by the names of `model.state`. One that is missing is made
/// full of zeros.
using States = std::map<std::string, Tensor>;

struct InterpretOptions {
  /// Every result is rounded to its declared type (f32) instead of kept in f64.
  bool declaredTypes = false;
};

/// Runs `entry` and gives its results by their `model.name`. An axis of an argument's type
/// that is a bare dim binds it (unless `dims` has it already, then they must agree), other
/// forms are checked; a tensor given with fewer axes broadcasts over the missing leading
/// ones; dims past their bound in `model.dims` are refused. Arguments with `model.default`
/// may be left out. `states` may be null: then every state starts as zeros and is lost.
mlir::FailureOr<Tensors> interpret(mlir::func::FuncOp entry, const Tensors &inputs, Dims dims,
                                   States *states, ReadParameter readParameter,
                                   InterpretOptions options = {});

/// Only the first part of it: `dims` with those that the inputs bind.
mlir::FailureOr<Dims> bindDims(mlir::func::FuncOp entry, const Tensors &inputs, Dims dims);

/// Only ops that the interpreter knows are in `function` (no loops, no buffers).
bool isInterpretable(mlir::func::FuncOp function);

//===-- generation -------------------------------------------------------------===//

struct GenerateOptions {
  int64_t newTokens = 1;
  /// The end of text is a token like any other.
  bool ignoreEos = true;
  InterpretOptions interpret;
};
struct Generated {
  Tensor ids;                 ///< i64 [B, prompt + new]: the prompt as given, then what was chosen
  std::vector<Tensor> logits; ///< [B, V] of every step
};

/// Greedy generation as `model.generate` describes it: everything computed again with @run at
/// every step.
mlir::FailureOr<Generated> generateRecomputing(mlir::ModuleOp module, const Tensors &inputs,
                                               ReadParameter readParameter,
                                               const GenerateOptions &options);
/// The same with @once (where there is one) and @step. Right padding is turned into left padding
/// first, as the runtime does.
mlir::FailureOr<Generated> generateCached(mlir::ModuleOp module, const Tensors &inputs,
                                          ReadParameter readParameter,
                                          const GenerateOptions &options);

} // namespace heddle

#endif
