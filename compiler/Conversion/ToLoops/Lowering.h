//===- Lowering.h - from tensors to loops over one arena --------*- C++ -*-===//
//
// `convert-heddle-to-loops` turns a function of the stage `buffers` into a function that the
// runtime can call (runtime/include/heddle/abi.h). Every tensor is a row-major contiguous
// stretch of memory: of an input, an output, a state, the weights or the arena, where
// `model-plan-memory` has put it. Code is SPMD: every thread runs all of it, takes its
// static share of each loop over tiles, and meets the others at barriers.
//
// This class is what the lowering of one op may ask for; ops are lowered by free functions,
// one file an op family (Linear.cpp, Norms.cpp, Maps.cpp, Moves.cpp, Attention.cpp, ...).
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_TOLOOPS_LOWERING_H
#define HEDDLE_COMPILER_CONVERSION_TOLOOPS_LOWERING_H

#include "dialects/Attn/IR/Attn.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace heddle::loops {

/// Facts about the machine that schedules ask for. One value a compilation.
struct Machine {
  int64_t vectorWidth = 16; ///< f32 lanes of a vector register (16: AVX-512, 8: AVX2, 4: NEON)
  int64_t registers = 32;   ///< vector registers
};

/// Where a tensor lives: a flat memref<?xT> (f32, i64; i8 for booleans) whose element
/// `index` is the row-major linear index.
struct Buffer {
  mlir::Value memory;
  model::ModelTensorType type;
};

class Lowering {
public:
  mlir::OpBuilder b;
  const Machine &machine;
  mlir::ModuleOp module;
  mlir::Value tid, nth; ///< index: this thread and how many there are

  /// The value of a length form (index), computed once in the entry block.
  mlir::Value size(const model::Size &form);
  mlir::Value constant(int64_t value); ///< index

  /// Where an already lowered tensor lives.
  Buffer buffer(mlir::Value tensor);
  /// The place planned for a result.
  Buffer allocate(mlir::OpResult result);
  /// A view of `type` at `byteOffset` (index) of the arena; for scratch that the memory plan
  /// reserved for `op` (see scratchBytes).
  mlir::Value scratch(mlir::Operation *op, mlir::Type element);

  /// All threads wait for each other; needed between a producer and consumers that read
  /// what other threads wrote. The driver of the lowering puts one after every op that
  /// writes memory, so an op only needs its own between its phases.
  void barrier(mlir::Location loc);

  /// body(i) for this thread's contiguous share of [0, n): i from n*tid/nth to n*(tid+1)/nth.
  void parallelFor(mlir::Location loc, mlir::Value n, llvm::function_ref<void(mlir::Value i)> body);
  /// body(i) for i = from, from+step, ... < to on this thread.
  void loop(mlir::Location loc, mlir::Value from, mlir::Value to, int64_t step, llvm::function_ref<void(mlir::Value i)> body);

  /// A private function of the module, made once for `name` by `build` (kernels specialised to
  /// a shape are shared by every layer and entry that has the shape).
  mlir::func::FuncOp kernel(mlir::Location loc, llvm::StringRef name, mlir::FunctionType type,
                            llvm::function_ref<void(mlir::OpBuilder &, mlir::Block *)> build);

  /// index arithmetic with folding of constants
  mlir::Value add(mlir::Value x, mlir::Value y), sub(mlir::Value x, mlir::Value y), mul(mlir::Value x, mlir::Value y);
  /// Row-major linear index of `at` in a tensor of `type`; axes of length 1 may be given any index.
  mlir::Value linear(model::ModelTensorType type, llvm::ArrayRef<mlir::Value> at);
};

/// Bytes of arena that an op needs while it runs, beside its results (a form over dims and, for
/// per-thread scratch, the dim `threads`). The planner asks; the lowering gets it by scratch().
model::Size scratchBytes(mlir::Operation *op);

// One function a family; each lowers the ops it knows and reports whether it knew the op.
mlir::LogicalResult lowerAttention(Lowering &l, attn::SdpaOp op);          // Attention.cpp
mlir::LogicalResult lowerCacheAppend(Lowering &l, model::AppendOp op);     // Attention.cpp: appends whose state has a cache layout
model::Size attentionScratchBytes(attn::SdpaOp op);                        // Attention.cpp

} // namespace heddle::loops

#endif
