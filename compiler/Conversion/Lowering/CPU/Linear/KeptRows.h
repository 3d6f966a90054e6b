//===- KeptRows.h - results laid out as linears read them ----*- C++ -*-===//
//
// Linears of pairs of bf16 read their rows rounded. A result of a norm, an attention or a linear that nothing but such
// linears reads is rounded where it is made and is laid out as they read it, so half the bytes are written and nothing
// reads f32 to round it. Any other rows are rounded by the first of their linears (PreparedRows.h).
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_LINEAR_KEPTROWS_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_LINEAR_KEPTROWS_H

#include "compiler/Conversion/Lowering/Frame/Lowering.h"

namespace heddle::loops {

/// Rows of bf16, as a linear of pairs reads them.
struct KeptRows {
  int64_t pitch;     ///< words from one row to the next
  model::Size bytes; ///< of all rows
};
/// How `value` is laid out, if not as its type says. The target decides it (plan::Target::bytesOf).
std::optional<KeptRows> keptRows(mlir::Value value);
/// Bytes of `value` where its maker can round it for the linears that read it; none: it cannot.
std::optional<model::Size> keptBytes(mlir::Value value);
/// Why not, of rows that a linear of pairs reads; "" if it can, or if none reads them.
llvm::StringRef whyNotKept(mlir::Value value);

/// Element `column` of `row`; `rows` is the first one's address.
Value keptAt(Code &c, Value rows, const KeptRows &kept, Value row, Value column);
/// Rounds the lanes of `elements` and stores them there.
void storeKept(Code &c, Value elements, Value address, Value mask);

/// What becomes of a norm's elements where they are kept so.
ExtraStore keepRows(Lowering &l, mlir::Operation *norm);

} // namespace heddle::loops

#endif
