//===- Plan.h - what the plan writes on attention and its states --*- C++ -*-===//
//
// As dialects/Model/IR/Plan.h: discardable attributes whose names stand in Plan.cpp alone.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_ATTN_IR_PLAN_H
#define HEDDLE_DIALECTS_ATTN_IR_PLAN_H

#include "dialects/Attn/IR/Attn.h"

namespace heddle::attn {

/// How the state that an append, load or store is about holds keys or values; null: as a tensor.
CacheAttr cacheOf(mlir::Operation *op);
void setCache(mlir::Operation *op, CacheAttr cache);
/// The same of a state among the arguments of a function.
CacheAttr cacheOf(mlir::Operation *function, unsigned argument);
void setCache(mlir::Operation *function, unsigned argument, CacheAttr cache);

/// The tiles of an attention; null: nobody has said.
ScheduleAttr scheduleOf(SdpaOp op);
void setSchedule(SdpaOp op, ScheduleAttr schedule);

} // namespace heddle::attn

#endif
