//===- Code.h - a small language over the builder ---------------*- C++ -*-===//
//
// What kernels are written in: index arithmetic that folds, loops, loads and stores through
// plain pointers (with masks at the ends of rows), and arithmetic of reals, which works on a
// scalar and on a vector alike.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_LANGUAGE_CODE_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_LANGUAGE_CODE_H

#include "compiler/Conversion/Lowering/Language/Lanes.h"
#include "dialects/Model/IR/Model.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace heddle::loops {

using mlir::Value;
using Values = llvm::SmallVector<Value>;

/// Operands that are made by calls are in braces, add({mul(x, y), mul(z, u)}): C++ evaluates what is in braces from
/// left to right, but arguments in the order that its compiler likes, and ops are made in the order of evaluation.
struct Two {
  Value x, y;
};
struct Three {
  Value x, y, z;
};

/// Where ops go, and types and constants. A handle: copies write at the same place.
class TypedCode {
public:
  TypedCode(mlir::ImplicitLocOpBuilder &builder, const Lanes &vectors)
      : b(builder), lanes(vectors.count), vectorLanes(vectors) {}
  mlir::ImplicitLocOpBuilder &b;
  const int64_t lanes;      ///< f32 elements of a vector
  const Lanes &vectorLanes; ///< what a vector is

  mlir::Type f32() { return b.getF32Type(); }
  mlir::Type f64() { return b.getF64Type(); }
  mlir::Type pointer();
  mlir::Type vec(mlir::Type element) { return vectorLanes.vec(element); }
  /// `type` (scalar or vector) with another element.
  static mlir::Type with(mlir::Type type, mlir::Type element);
  /// Bytes of an element in memory (a boolean has one).
  static int64_t bytesOf(mlir::Type element);

  Value constant(int64_t value);             ///< index
  Value real(mlir::Type like, double value); ///< a constant of that type
  Value real(double value) { return real(f32(), value); }
  Value integer(mlir::Type like, int64_t value); ///< a constant of that type
  static std::optional<int64_t> known(Value x);
};

/// Arithmetic of indices, which folds constants.
class IndexCode : public TypedCode {
public:
  using TypedCode::TypedCode;
  Value add(Value x, Value y), sub(Value x, Value y), mul(Value x, Value y);
  Value add(Value x, int64_t y) { return add(x, constant(y)); }
  Value mul(Value x, int64_t y) { return mul(x, constant(y)); }
  Value div(Value x, Value y), rem(Value x, Value y); ///< of numbers that are not negative
  Value floorDiv(Value x, Value y);
  Value min(Value x, Value y), max(Value x, Value y);
  Value less(Value x, Value y); ///< signed
  Value equal(Value x, Value y);
  Value toI64(Value index), toIndex(Value i64);
  Value select(Value condition, Value yes, Value no); ///< of any type

  Value add(Two of) { return add(of.x, of.y); }
  Value sub(Two of) { return sub(of.x, of.y); }
  Value mul(Two of) { return mul(of.x, of.y); }
  Value div(Two of) { return div(of.x, of.y); }
  Value min(Two of) { return min(of.x, of.y); }
  Value max(Two of) { return max(of.x, of.y); }
  Value less(Two of) { return less(of.x, of.y); }
  Value select(Three of) { return select(of.x, of.y, of.z); }
};

/// Loops and branches, and memory through plain pointers.
class MemoryCode : public IndexCode {
public:
  using IndexCode::IndexCode;

  //===-- control -------------------------------------------------------------===//
  void loop(Value from, Value to, int64_t step, llvm::function_ref<void(Value i)> body);
  Values loop(Value from, Value to, int64_t step, mlir::ValueRange init,
              llvm::function_ref<Values(Value i, mlir::ValueRange carried)> body);
  /// Steps `from` <= i < `to`, several in a turn: `body(at, behind, carried)` is the step `behind` the one at `at`, and
  /// a turn begins with `meanwhile(at, steps)`, if that is given. What is left behind whole turns are turns of one step
  /// each; nothing is if they are `even`. A step whose sums take few instructions spends many on counting and addresses
  /// alone.
  Values loopInTurns(Value from, Value to, int64_t steps, bool even, mlir::ValueRange init,
                     llvm::function_ref<Values(Value at, int64_t behind, mlir::ValueRange carried)> body,
                     llvm::function_ref<void(Value at, int64_t steps)> meanwhile = {});
  void when(Value condition, llvm::function_ref<void()> body, llvm::function_ref<void()> otherwise = {});

  //===-- memory --------------------------------------------------------------===//
  /// Address of element `index` behind `base`.
  Value at(Value base, Value index, mlir::Type element);
  Value at(Two baseAndIndex, mlir::Type element) { return at(baseAndIndex.x, baseAndIndex.y, element); }
  /// Reads a scalar or vector of `type`; masked-off lanes are 0. Booleans are bytes.
  Value load(mlir::Type type, Value address, Value mask = {});
  void store(Value value, Value address, Value mask = {});
  void store(Two valueAndAddress, Value mask = {}) { store(valueAndAddress.x, valueAndAddress.y, mask); }
  /// As load, of elements `step` apart.
  Value gather(mlir::Type element, Value address, int64_t step, Value mask);
  Value loadF32(Value base, Value index) { return load(f32(), at(base, index, f32())); }
};

/// First base of a class that is Code and owns the builder it writes with.
struct OwnBuilder {
  mlir::ImplicitLocOpBuilder builder;
};

/// All of it: with vectors, and arithmetic of reals, scalar or vector. What the language calls functions is in
/// Functions.h, numbers of 16 bits in Halves.h.
class Code : public MemoryCode {
public:
  using MemoryCode::MemoryCode;

  //===-- lanes (Lanes.h) -----------------------------------------------------===//
  /// `lanes` elements from `address` on; masked-off lanes are 0.
  Value loadLanes(mlir::Type element, Value address, Value mask = {}) {
    return vectorLanes.load(*this, element, address, mask);
  }
  Value loadVec(Value base, Value index, Value mask = {}) { return loadLanes(f32(), at(base, index, f32()), mask); }
  Value loadVec(Two baseAndIndex, Value mask = {}) { return loadVec(baseAndIndex.x, baseAndIndex.y, mask); }
  void storeLanes(Value value, Value address, Value mask = {}) { vectorLanes.store(*this, value, address, mask); }
  void storeLanes(Two valueAndAddress, Value mask = {}) { storeLanes(valueAndAddress.x, valueAndAddress.y, mask); }
  Value firstLanes(Value n) { return vectorLanes.first(*this, n); }
  Value splat(Value scalar) { return vectorLanes.splat(*this, scalar); }
  void prefetch(Value address, bool write = false) { vectorLanes.prefetch(*this, address, write); }
  void laneSync() { vectorLanes.sync(*this); }
  /// body(j) for j in [0, n), in any order; the lanes share them.
  void elements(Value n, llvm::function_ref<void(Value j)> body) { vectorLanes.elements(*this, n, body); }
  /// body(j, mask) for j = 0, lanes, ... < n; the mask is null where all lanes are inside.
  void vectors(Value n, llvm::function_ref<void(Value j, Value mask)> body);
  Values vectors(Value n, mlir::ValueRange init,
                 llvm::function_ref<Values(Value j, Value mask, mlir::ValueRange carried)> body);

  //===-- reals, scalar or vector -----------------------------------------------===//
  Value addf(Value x, Value y), subf(Value x, Value y), mulf(Value x, Value y), divf(Value x, Value y);
  Value addf(Two of) { return addf(of.x, of.y); }
  Value subf(Two of) { return subf(of.x, of.y); }
  Value mulf(Two of) { return mulf(of.x, of.y); }
  Value divf(Two of) { return divf(of.x, of.y); }
  Value fma(Value x, Value y, Value z);
  Value fma(Three of) { return fma(of.x, of.y, of.z); }
  Value maxf(Value x, Value y); ///< a NaN stays
  Value sqrt(Value x);
  Value lessf(Value x, Value y); ///< ordered
  Value isNaN(Value x);
  /// Of the lanes, in a fixed tree written out: the order does not depend on the target.
  Value foldLanes(Value vector, llvm::function_ref<Value(Value, Value)> join);
  Value sum(Value vector);     ///< of the lanes
  Value largest(Value vector); ///< of the lanes; a NaN stays
};

} // namespace heddle::loops

#endif
