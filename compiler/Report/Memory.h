//===- Memory.h - the arena over time ---------------------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_REPORT_MEMORY_H
#define HEDDLE_COMPILER_REPORT_MEMORY_H

#include "compiler/Report/ReportPlaces.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>
#include <optional>
#include <set>

namespace heddle::report {

/// A result in the arena, or the working memory of an op.
struct MemoryRow {
  std::string name;
  int32_t loc = -1;
  std::string kind;            ///< the op; of working memory "scratch"
  std::string offset, bytes;   ///< forms over dims
  int64_t first = 0, last = 0; ///< the steps that need it, from 1
  bool inPlace = false;        ///< over an operand of its op, or the place that a repeat carries
};

/// Ops in order, those of a repeat once.
struct MemoryStep {
  int32_t loc;
  std::string kind;
};

/// How well the arena is used at some lengths.
struct MemoryUse {
  std::map<std::string, int64_t> dims;
  int64_t reserved = 0, alive = 0; ///< bytes; those that live at once where most do
  /// Two places that do not live at the same time and are not in one place: what is between them lives with both.
  std::optional<std::pair<std::string, std::string>> blocked;
};

struct Memory {
  std::vector<MemoryRow> rows;
  std::vector<MemoryStep> steps;
  std::optional<MemoryUse> use;
};

/// Of a function of stage `buffers`; `given`: lengths by name.
Memory memoryOf(mlir::func::FuncOp function, const std::map<std::string, int64_t> &given, Places &places);

} // namespace heddle::report

#endif
