//===- AttentionKernel.h - one attention as vector code ---------*- C++ -*-===//
//
// For a block of packed rows: for each key tile that some row sees
//   1. scores S[r][key] = sum over d of q[r][d] * K[panel][d][key]    lanes are keys
//   2. per row: softcap, bias, mask; running maximum; alpha
//   3. per row: p = exp2(s - m), lane sums
//   4. O[r][d] = O * alpha + sum over keys of p[r][key] * V[key][d]   lanes are d
//
// Every sum has one order: d ascending in a score, keys ascending in an output, one
// accumulator each, whatever other rows there are. Scores are in units of log2. A step is a file of its
// own and a function of values: the item, the tile, and what the steps before it have made.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_ATTENTION_ATTENTIONKERNEL_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_ATTENTION_ATTENTIONKERNEL_H

#include "compiler/Conversion/Lowering/CPU/Attention/AttentionBias.h"
#include "compiler/Conversion/Lowering/CPU/Attention/AttentionItem.h"

namespace heddle::loops {

//===-- the three functions of an attention ------------------------------------------===//

/// Packs rows of keys and values into panels and head-major rows: items are (batch element, key head, class, block of
/// 128 rows). AttentionPack.cpp
void emitPack(AttentionCode code);
/// The first visible key of each batch element, where its tiles begin: items are batch elements. AttentionPack.cpp
void emitAnchors(AttentionCode code);
/// The attention itself: items are (batch element, group of heads, class, block of rows). AttentionKernel.cpp
void emitAttention(AttentionCode code);

//===-- its steps ------------------------------------------------------------------------===//

/// Before the tiles: queries, outputs, sums and maxima of the item's rows. AttentionRows.cpp
void emitRowsIn(const ItemCode &item);
/// Behind the tiles: outputs over sums into the result; i1: some output is not finite. AttentionRows.cpp
Value emitRowsOut(const ItemCode &item);

/// Which keys each group of rows may see, by `e`, which knows mask and item. AttentionScores.cpp
void emitBounds(const ItemCode &item, mask::Emitter e);
/// Step 1. AttentionScores.cpp
void emitScores(const ItemCode &item, const Tile &tile);

/// Steps 1 and 4 in matrix registers, where the plan says so; `pairs`: those of the tile's values. AttentionMatrix.cpp
void emitMatrixScores(const ItemCode &item, const Tile &tile);
void emitMatrixOutput(const ItemCode &item, const Tile &tile, Value pairs, Value guarded);

/// What is still to be tested of the mask in a tile: nothing, bounds of keys, anything.
enum class Open { Nothing, Bounds, All };
/// Bits of a tile's `need` that are no bounds of keys; of a disjunction all. AttentionMaxima.cpp
int64_t openBeyondBounds(const KernelShape &plan);
/// Step 2. AttentionMaxima.cpp
void emitMaxima(const ItemCode &item, const Tile &tile, const TileBias &bias, Open open);
/// Step 3, of a whole tile or of what each group of rows may see of it. AttentionWeights.cpp
void emitWeights(const ItemCode &item, const Tile &tile, bool whole);
/// Step 4; `guarded` (i1): weights of 0 are left out. AttentionOutput.cpp
void emitOutput(const ItemCode &item, const Tile &tile, Value guarded);

} // namespace heddle::loops

#endif
