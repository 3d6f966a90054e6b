//===- Kinds.h - two questions of every value -------------------*- C++ -*-===//
//
// Can the new rows of a value be computed from new rows and states? Do its old rows stay
// what they were (is it stable)? The shape says where the step axis is: length T + c, row r
// belongs to token r - c. The rest is a forward pass over @run (step.md sections 1 and 2),
// to a fixed point where a repeat carries values.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_MODELTOENTRIES_KINDS_H
#define HEDDLE_COMPILER_CONVERSION_MODELTOENTRIES_KINDS_H

#include "dialects/Attn/IR/Attn.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <deque>

namespace heddle::entries {

/// What `model.generate` says.
struct Roles {
  std::string tokens, logits, mask, positions, source;
  std::set<std::string> extend;
  std::string axis; ///< the step axis, "T"
  /// Does the input grow with the tokens?
  bool grows(llvm::StringRef input) const {
    return input == tokens || (!mask.empty() && input == mask) || (!positions.empty() && input == positions) ||
           extend.count(input.str());
  }
};

enum class Kind {
  Fixed,  ///< no token reaches it
  Frozen, ///< no step axis, made of the first rows of stable rows
  Now,    ///< no step axis, changes with every token
  Rows,   ///< one step axis
  Grid,   ///< two step axes
  Odd,    ///< lengths that are no row a token
  Pairs   ///< a mask or a bias that rows reach
};

/// Why the rows of a value do not stay, or cannot be had at all.
struct Reason {
  mlir::Location where;
  std::string why;
  mlir::Value frontier; ///< the value without step axis through which it came, if it did
};

struct Facts {
  Kind kind = Kind::Fixed;
  bool inputs = false; ///< a run-time input reaches it
  bool past = false;   ///< row t from rows <= t
  const Reason *unstable = nullptr;
};

class Kinds {
public:
  Kinds(mlir::func::FuncOp run, const Roles &roles) : run(run), roles(roles) {}

  /// Classifies every value. `steady`: values that are taken for unchanging (guards).
  void classify(const llvm::DenseSet<mlir::Value> &steady);

  const Facts &of(mlir::Value v) const { return facts.find(v)->second; }
  /// The axes whose length uses the step dim.
  llvm::SmallVector<unsigned, 2> stepAxes(mlir::Value v) const;
  /// c of the length T + c of the step axis `axis`; none where it has another form.
  std::optional<int64_t> offset(mlir::Value v, unsigned axis) const;
  int64_t offset(mlir::Value v) const { return *offset(v, stepAxes(v).front()); }
  bool uses(llvm::StringRef form) const;
  /// How far ahead of itself a row of the attention sees, beyond itself (<= 0: causal); none:
  /// no limit.
  std::optional<int64_t> ahead(attn::SdpaOp op) const;

  /// For an op that works along the step axis of its operand: why no step can, or null.
  const Reason *along(mlir::OpOperand &operand, unsigned axis);
  const Reason *reason(mlir::Operation &op, std::string why, mlir::Value frontier = {});

  mutable mlir::func::FuncOp run;
  const Roles &roles;

private:
  void classify(mlir::Operation &op);
  void classify(model::RepeatOp op);
  void classify(model::DefaultOp op);
  void attention(attn::SdpaOp op, Facts &f);
  void pairs(mlir::Operation &op);
  Kind shapeOf(mlir::Value v) const;

  llvm::DenseMap<mlir::Value, Facts> facts;
  llvm::DenseSet<mlir::Value> steady;
  std::deque<Reason> reasons;
};

/// "T" itself, or what it is called by the rest of the entry: [past, past + new).
model::Size pastDim();
model::Size newDim();
model::Size allRows(); ///< past + new

/// Words for a value in a message: "the slice [T-1:T] of the step axis".
std::string describe(mlir::Value v, const Kinds &kinds);

} // namespace heddle::entries

#endif
