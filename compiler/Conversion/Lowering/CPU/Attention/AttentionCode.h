//===- AttentionCode.h - what all of an attention kernel knows --*- C++ -*-===//
//
// What all code of an attention kernel uses: the plan, the machine, and the arguments of the function by name. The
// steps of a kernel are classes derived from this one.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_ATTENTION_ATTENTIONCODE_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_ATTENTION_ATTENTIONCODE_H

#include "compiler/Conversion/Lowering/CPU/Attention/KernelShape.h"
#include "compiler/Conversion/Lowering/CPU/CPUTiles.h"
#include "compiler/Conversion/Lowering/Frame/Lowering.h"

namespace heddle::loops {

/// The arguments of a kernel: query, key, value, result, scratch, tensors..., lookups..., where batch elements have
/// slots also slots and starts, which are pointers, then thread, from, to, lengths..., which are indices. Work items
/// [from, to) are this thread's.
struct AttentionArguments {
  AttentionArguments(const KernelShape &plan, mlir::Block *entry);
  static mlir::FunctionType typeOf(const KernelShape &plan, mlir::MLIRContext *ctx);

  mlir::Block *entry;
  Value query, key, value, result, scratch;
  Values tensors, lookups; ///< those of the plan
  Value slots, starts;     ///< i64 [batch], or null
  Value thread, from, to;
  Values lengths; ///< those of the plan
};

class AttentionCode : public Code {
public:
  AttentionCode(const Code &code, const KernelShape &plan, const Machine &machine, const AttentionArguments &args)
      : Code(code), plan(plan), machine(machine), args(args) {}
  const KernelShape &plan;
  const Machine &machine;
  const AttentionArguments &args;

  /// What the kernel is given as this length; a number is made at the top of the kernel.
  Value length(Role role);
  /// The same for an axis of a tensor that the plan has listed.
  Value length(mlir::Value operand, int64_t axis);
  /// The pointer to a tensor that the plan has listed.
  Value tensor(mlir::Value operand);

  Value tripFloor(Value n, int64_t step) { return mul(div(n, constant(step)), step); }
  mlir::VectorType words() { return mlir::cast<mlir::VectorType>(vec(b.getI32Type())); }
  Value splatWord(Value index); ///< as i32 in all lanes
  Value iota(Value first);      ///< first, first + 1, .. as i32

  /// Rows that a tile of scores or of outputs computes together.
  int64_t groupRows() const { return machine.registers >= 32 && !shortVectors() ? 8 : 6; }
  /// Vector registers for the sums of such a tile: two a row, four where a panel of keys has four.
  int64_t accumulators() const { return (shortVectors() ? 4 : 2) * groupRows(); }
  bool shortVectors() const { return hasShortVectors(machine.registers, lanes); }

  /// How values are stored: the type of an element, the number of elements from one row to the next, and a load that
  /// widens.
  mlir::Type valueType() { return plan.arithmetic.halves() ? mlir::Type(b.getI16Type()) : f32(); }
  int64_t valuePitch() const { return plan.arithmetic.halves() ? 2 * plan.valueWords() : plan.valueWidth; }
  Value loadValue(Value base, Value index, Value mask = {});

private:
  /// Code anywhere in the kernel may use it.
  Value numberAtTop(int64_t n);
};

} // namespace heddle::loops

#endif
