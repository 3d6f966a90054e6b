//===- Graph.h - the model as its description has it ------------*- C++ -*-===//
//
// A tree of statements, repeats and blocks of the library with ops as its leaves, and the values between them.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_REPORT_GRAPH_H
#define HEDDLE_COMPILER_REPORT_GRAPH_H

#include "compiler/Report/ReportPlaces.h"
#include "compiler/Report/Sources.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <set>

namespace heddle::report {

struct Node {
  std::optional<size_t> parent;
  std::string kind;  ///< inputs, statement, repeat, if, block, op, outputs
  std::string label; ///< the name that it assigns, or of the block that it calls
  std::string what;  ///< what it is, in a few words
  std::string path;  ///< in the description
  Span source;
  int64_t count = 0; ///< of a repeat
  // Of ops.
  std::string op;
  int32_t loc = -1;
  std::vector<std::string> shape;
  std::string element;
  std::vector<std::string> params; ///< names of parameters that it reads
};

struct Graph {
  std::vector<Node> nodes;
  std::set<std::pair<size_t, size_t>> edges; ///< a value of one node that another one takes

  /// The node that does the work of an op of a later stage, by its location; `ops` ("linear+map") and the parameter
  /// `weight` choose among several. None: nothing of the description is there.
  std::optional<size_t> find(const Places &places, int32_t loc, llvm::StringRef ops, llvm::StringRef weight) const;
};

/// The graph of @run at stage `model`.
Graph graphOf(mlir::func::FuncOp run, Places &places, Sources &sources);

} // namespace heddle::report

#endif
