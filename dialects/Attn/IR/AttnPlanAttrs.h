//===- AttnPlanAttrs.h - what the plan writes on attention and its states *- C++ -*-===//
//
// Accessors of what the plan decides for attention and its states: discardable attributes, whose names
// are in AttnPlanAttrs.cpp only (as in dialects/Model/IR/ModelPlanAttrs.h).
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_ATTN_IR_ATTNPLANATTRS_H
#define HEDDLE_DIALECTS_ATTN_IR_ATTNPLANATTRS_H

#include "dialects/Attn/IR/Attn.h"

namespace heddle::attn {

/// How the state of an append, load or store holds keys or values; null: like any tensor.
CacheAttr cacheOf(mlir::Operation *op);
void setCache(mlir::Operation *op, CacheAttr cache);
/// The same for a state among the arguments of a function.
CacheAttr cacheOf(mlir::Operation *function, unsigned argument);
void setCache(mlir::Operation *function, unsigned argument, CacheAttr cache);

/// The tiles of an attention; null before they are planned.
ScheduleAttr scheduleOf(SdpaOp op);
void setSchedule(SdpaOp op, ScheduleAttr schedule);

} // namespace heddle::attn

#endif
