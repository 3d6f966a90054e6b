//===- PackedRows.h - rows of keys and values as attention reads them -*- C++ -*-===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_GPU_LINEAR_PACKEDROWS_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_GPU_LINEAR_PACKEDROWS_H

#include "compiler/Conversion/Lowering/Facts/AttentionShape.h"
#include "compiler/Conversion/Lowering/Ops/CachePart.h"

namespace heddle::loops {

/// Whether the words of stored keys, `words` each, are in groups of four, as units that multiply pairs want them:
/// [panel][words / 4][kPanel keys][4]. Elsewhere a panel is [words][kPanel keys]. So it is in all caches of a module,
/// since the writer of a row need not know its readers.
bool keysInGroups(Lowering &l, int64_t words);
/// Where word `word` of the stored key at `place` is, in words.
Value wordOfKey(Lowering &l, int64_t words, Value place, Value word);

/// Puts rows where attention reads them, an item a row of a head.
void emitPackedRows(Lowering &l, mlir::Location loc, const CacheWrite &write);

/// The keys (`keys`) or values of an attention that are rows of a tensor, as a cache would hold them, in its scratch;
/// where they begin there. No barrier follows.
Value packOperand(Lowering &l, const AttentionShape &plan, bool keys, Value rows);

} // namespace heddle::loops

#endif
