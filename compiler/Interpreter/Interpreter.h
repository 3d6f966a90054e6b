//===- Interpreter.h - the meaning of the IR, executed ----------*- C++ -*-===//
//
// The reference interpreter: runs functions of the stages model, entries, fused and tiled.
// Each op is its formula, nothing is fused; what it computes is the definition of the
// dialects, by which passes and generated code are judged. An error in the data is a
// diagnostic at the op that meets it.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_INTERPRETER_INTERPRETER_H
#define HEDDLE_COMPILER_INTERPRETER_INTERPRETER_H

#include "compiler/Interpreter/Tensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace heddle {

/// Reads a parameter by its name in the file, widened to f64 or i64. A failure is reported
/// by the op that asked for it.
using ReadParameter = llvm::function_ref<mlir::FailureOr<Tensor>(llvm::StringRef name)>;

/// Values of dims by name: those of the inputs' axes, and past, capacity, ...
using Dims = std::map<std::string, int64_t>;

/// States that outlive a call, by the names of `model.state`. A missing one is made of
/// zeros.
using States = std::map<std::string, Tensor>;

struct InterpretOptions {
  /// Every result is rounded to its declared type (f32) instead of kept in f64.
  bool declaredTypes = false;
};

/// Runs `entry` and returns its results by their `model.name`. An axis of an argument's
/// type that is a bare dim binds it (if `dims` has it already, both must agree); other
/// forms are checked. A tensor with fewer axes is broadcast over the missing leading ones.
/// Dims beyond their bound in `model.dims` are errors. Arguments with `model.default` may
/// be left out. `states` may be null: then every state begins as zeros and is dropped.
mlir::FailureOr<Tensors> interpret(mlir::func::FuncOp entry, const Tensors &inputs, Dims dims, States *states,
                                   ReadParameter readParameter, InterpretOptions options = {});

/// Only the first step of it: `dims` and those that the inputs bind.
mlir::FailureOr<Dims> bindDims(mlir::func::FuncOp entry, const Tensors &inputs, Dims dims);

/// Whether `function` has only ops that the interpreter knows (no loops, no buffers).
bool isInterpretable(mlir::func::FuncOp function);

//===-- generation -------------------------------------------------------------===//

struct GenerateOptions {
  int64_t newTokens = 1;
  /// Goes on after eos.
  bool ignoreEos = true;
  InterpretOptions interpret;
};
struct Generated {
  Tensor ids;                 ///< i64 [B, prompt + new]: the prompt as given, then the new ones
  std::vector<Tensor> logits; ///< [B, V] of every step
};

/// Greedy generation as `model.generate` describes it, with @run on the whole text for
/// every token. Rows padded on the right are rotated first, and those of different lengths without
/// a mask go by length, as in the runtime.
mlir::FailureOr<Generated> generateRecomputing(mlir::ModuleOp module, const Tensors &inputs,
                                               ReadParameter readParameter, const GenerateOptions &options);
/// The same with @once (if there is one) and @step.
mlir::FailureOr<Generated> generateCached(mlir::ModuleOp module, const Tensors &inputs, ReadParameter readParameter,
                                          const GenerateOptions &options);

} // namespace heddle

#endif
