//===- RegisterLanes.h - lanes are the elements of a vector register -*- C++ -*-===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_REGISTERLANES_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_REGISTERLANES_H

#include "compiler/Conversion/Lowering/Language/Code.h"

namespace heddle::loops {

/// A vector register of a CPU: lanes are its elements, a team is a thread.
class RegisterLanes final : public Lanes {
public:
  using Lanes::Lanes;
  mlir::Type vec(mlir::Type element) const override;
  Value load(Code &c, mlir::Type element, Value address, Value mask) const override;
  void store(Code &c, Value value, Value address, Value mask) const override;
  Value first(Code &c, Value n) const override;
  Value splat(Code &c, Value scalar) const override;
  Value fold(Code &c, Value lanes, llvm::function_ref<Value(Value, Value)> join) const override;
  void prefetch(Code &c, Value address, bool write) const override;
  Value farAngle(Code &c, Value x, bool sine) const override;
  void sync(Code &) const override {}
  void elements(Code &c, Value n, llvm::function_ref<void(Value)> body) const override;
  mlir::Operation *items(Code &c, Value n, Value team, Value teams, Worker worker,
                         llvm::function_ref<void(Value)> body) const override;
};

} // namespace heddle::loops

#endif
