//===- Code.h - a small language over the builder ---------------*- C++ -*-===//
//
// What kernels are written in: index arithmetic that folds, loops, loads and stores through
// plain pointers (with masks at the ends of rows), and the functions of calculus as vector
// polynomials. Every function works on a scalar and on a vector alike and gives the same bits
// for both, so where a row is cut into vectors never shows in a result.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_TOLOOPS_CODE_H
#define HEDDLE_COMPILER_CONVERSION_TOLOOPS_CODE_H

#include "dialects/Model/IR/Model.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace heddle::loops {

using mlir::Value;
using Values = llvm::SmallVector<Value>;

class Code {
public:
  Code(mlir::ImplicitLocOpBuilder builder, int64_t lanes) : b(std::move(builder)), lanes(lanes) {}
  mlir::ImplicitLocOpBuilder b;
  int64_t lanes; ///< f32 lanes of a vector

  //===-- types ---------------------------------------------------------------===//
  mlir::Type f32() { return b.getF32Type(); }
  mlir::Type f64() { return b.getF64Type(); }
  mlir::Type pointer();
  mlir::VectorType vec(mlir::Type element) { return mlir::VectorType::get({lanes}, element); }
  /// `type` (scalar or vector) with another element.
  static mlir::Type with(mlir::Type type, mlir::Type element);
  /// Bytes of an element in memory (a boolean has one).
  static int64_t bytesOf(mlir::Type element);

  //===-- index arithmetic ----------------------------------------------------===//
  Value constant(int64_t value); ///< index
  Value add(Value x, Value y), sub(Value x, Value y), mul(Value x, Value y);
  Value div(Value x, Value y), rem(Value x, Value y); ///< of numbers that are not negative
  Value floorDiv(Value x, Value y);
  Value min(Value x, Value y), max(Value x, Value y);
  Value add(Value x, int64_t y) { return add(x, constant(y)); }
  Value mul(Value x, int64_t y) { return mul(x, constant(y)); }
  Value less(Value x, Value y); ///< signed
  Value equal(Value x, Value y);
  static std::optional<int64_t> known(Value x);
  Value toI64(Value index), toIndex(Value i64);

  //===-- control -------------------------------------------------------------===//
  void loop(Value from, Value to, int64_t step, llvm::function_ref<void(Value i)> body);
  Values loop(Value from, Value to, int64_t step, mlir::ValueRange init,
              llvm::function_ref<Values(Value i, mlir::ValueRange carried)> body);
  void when(Value condition, llvm::function_ref<void()> body, llvm::function_ref<void()> otherwise = {});
  Value select(Value condition, Value yes, Value no);
  /// body(j, mask) for j = 0, lanes, ... < n; the mask is null where all lanes are inside.
  void vectors(Value n, llvm::function_ref<void(Value j, Value mask)> body);
  Values vectors(Value n, mlir::ValueRange init,
                 llvm::function_ref<Values(Value j, Value mask, mlir::ValueRange carried)> body);

  //===-- memory --------------------------------------------------------------===//
  /// Address of element `index` behind `base`.
  Value at(Value base, Value index, mlir::Type element);
  /// Reads a scalar or vector of `type`; masked-off lanes are 0. Booleans are bytes.
  Value load(mlir::Type type, Value address, Value mask = {});
  void store(Value value, Value address, Value mask = {});
  /// As load, of elements `step` apart.
  Value gather(mlir::Type element, Value address, int64_t step, Value mask);
  Value loadF32(Value base, Value index) { return load(f32(), at(base, index, f32())); }
  Value loadVec(Value base, Value index, Value mask = {}) { return load(vec(f32()), at(base, index, f32()), mask); }
  void prefetch(Value address, bool write = false);
  Value splat(Value scalar); ///< in all lanes

  //===-- reals, scalar or vector -----------------------------------------------===//
  Value real(mlir::Type like, double value); ///< a constant of that type
  Value real(double value) { return real(f32(), value); }
  Value addf(Value x, Value y), subf(Value x, Value y), mulf(Value x, Value y), divf(Value x, Value y);
  Value fma(Value x, Value y, Value z);
  Value maxf(Value x, Value y); ///< a NaN stays
  Value sqrt(Value x);
  Value lessf(Value x, Value y); ///< ordered
  Value isNaN(Value x);
  /// Of the lanes, in a fixed tree written out: the order does not depend on the target.
  Value foldLanes(Value vector, llvm::function_ref<Value(Value, Value)> join);
  Value sum(Value vector);     ///< of the lanes
  Value largest(Value vector); ///< of the lanes; a NaN stays

  Value exp(Value x), tanh(Value x), sigmoid(Value x), erf(Value x), log(Value x);
  /// sin and cos of an angle given in f64 (scalar or vector), as f32.
  std::pair<Value, Value> sinCos(Value angle);
  /// Any of the language's functions of reals.
  Value function(model::UnaryKind kind, Value x);

  //===-- stored bf16 (Bf16.cpp), scalar or vector ----------------------------===//
  Value integer(mlir::Type like, int64_t value); ///< a constant of that type
  /// i32 whose upper half is x rounded to bf16 (nearest, ties to even; a NaN stays one), lower half 0.
  Value bf16Word(Value x);
  Value toBf16(Value x);   ///< i16
  Value fromBf16(Value x); ///< i16 -> f32
  /// i32: two numbers as bf16, `even` in the lower half; and both of them widened.
  Value pairWord(Value even, Value odd);
  std::pair<Value, Value> widened(Value pairs);
  /// sum + even * even + odd * odd in every lane of two vectors of pairs (vdpbf16ps, 16 lanes).
  Value dot(Value sum, Value x, Value y);

private:
  Value poly(Value x, llvm::ArrayRef<double> highestFirst);
};

} // namespace heddle::loops

#endif
