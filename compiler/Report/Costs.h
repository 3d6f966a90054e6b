//===- Costs.h - entries, and what threads do between barriers --*- C++ -*-===//
#ifndef HEDDLE_COMPILER_REPORT_COSTS_H
#define HEDDLE_COMPILER_REPORT_COSTS_H

#include "compiler/Report/Graph.h"
#include "compiler/Report/Memory.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace heddle::report {

/// What threads do up to a barrier, or a kernel of a device. Forms are over dims of the entry.
struct Phase {
  std::string ops, unit; ///< "linear+map"; "dots", "integers" or ""
  int64_t turns = 1;     ///< how often a call does it
  std::string operations, bytes, weight;
  int32_t loc = -1;
  std::optional<size_t> node;
  std::vector<std::string> kernels;
  std::optional<llvm::json::Object> device; ///< registers, shared, spills, waves, bound_us, bound_by, ...
};

struct Entry {
  struct State {
    std::string name, bytes;
  };
  std::string name;
  std::vector<std::string> dims;
  std::vector<std::string> inputs, outputs; ///< "ids [B, T] i64"
  std::vector<State> states;
  std::string flops, integers, reads, arena;
  std::vector<Phase> phases;
  std::map<std::string, int64_t> given; ///< the lengths that the numbers of a device are of
  Memory memory;
};

/// The entries of a module of stage `llvm`.
std::vector<Entry> entriesOf(mlir::ModuleOp module, const Graph &graph, const Places &places);

/// Puts what a device's report says of its kernels in the place of the phases.
void addDevice(std::vector<Entry> &entries, const llvm::json::Object &chip, const Graph &graph, const Places &places);

} // namespace heddle::report

#endif
