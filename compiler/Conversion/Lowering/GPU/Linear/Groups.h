//===- Groups.h - words in the order that units fetch them ------*- C++ -*-===//
//
// Both sides of a product in pairs of bf16 are in groups (dialects/Tile): [k / 8][rows or results][4 words], four words
// of k of all rows, then the next four. A tile then is a few long stretches of memory, and what is copied of it is what
// units read. Rows are written so where they are rounded; weights are written so on their way to the device, by the
// runtime (runtime/Device/Upload): the file is the CPU's.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_GPU_LINEAR_GROUPS_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_GPU_LINEAR_GROUPS_H

#include "compiler/Conversion/Lowering/Facts/SumStep.h"
#include "compiler/Conversion/Lowering/Frame/Lowering.h"

namespace heddle::loops {

/// Whether the weight of a linear is in groups.
bool isGrouped(model::LinearOp op);

/// The left side of a linear whose weight is in groups, rounded, after a barrier.
Value packGroups(Lowering &l, model::LinearOp op, const SumStep &step);

} // namespace heddle::loops

#endif
