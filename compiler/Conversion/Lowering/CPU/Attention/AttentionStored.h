//===- AttentionStored.h - how keys and values are stored -------*- C++ -*-===//
//
// How keys and values are stored: in f32, or in bf16 or f16. Keys in 16 bits are panels of pairs along d, which are
// widened or, in bf16, multiplied with rounded queries (SumStep.h). Values in 16 bits are rows, which are widened, or
// joined to pairs of keys when a tile is visited (AttentionOutput.cpp). If pairs were stored, padding would decide
// which keys are partners, and partners are added in another order. So pairs are stored only if tiles cannot move and
// no cache is read by others.
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_ATTENTION_ATTENTIONSTORED_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_ATTENTION_ATTENTIONSTORED_H

#include "compiler/Conversion/Lowering/Language/Halves.h"

namespace heddle::loops {

/// Packs one panel of kPanel keys, [w][kPanel] or in 16 bits [w/2][kPanel][2], from rows `stride` floats apart, of
/// which only `rows` exist.
void packPanel(Code &c, Stored stored, Value source, int64_t stride, int64_t w, Value target, Value rows);
/// The same from the addresses that `rowAt` returns.
void packPanel(Code &c, Stored stored, llvm::function_ref<Value(int64_t)> rowAt, int64_t w, Value target);
/// Packs one key of a panel.
void packKey(Code &c, Stored stored, Value source, int64_t w, Value panel, Value lane);
/// Packs two rows of values as words of two halves; whole vectors are written.
void packPair(Code &c, Value even, Value odd, int64_t u, Value target);
/// Packs one row of values.
void packValue(Code &c, Stored stored, Value source, int64_t u, Value target);

/// Transposes `lanes` vectors of `lanes` floats in registers.
Values transpose(Code &c, Values rows);

} // namespace heddle::loops

#endif
