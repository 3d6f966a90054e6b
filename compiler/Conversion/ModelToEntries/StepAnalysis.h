//===- StepAnalysis.h - two questions of every value ------------*- C++ -*-===//
//
// Classifies every value of @run for the cached step, by two questions. Can its new rows be
// computed from new rows and states? Do its old rows stay what they were (is it stable)? Its
// shape says where the step axis is: length T + c, where row r belongs to token r - c. The rest
// is inferred forward (step.md sections 1 and 2), to a fixed point where a repeat carries values.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_MODELTOENTRIES_STEPANALYSIS_H
#define HEDDLE_COMPILER_CONVERSION_MODELTOENTRIES_STEPANALYSIS_H

#include "dialects/Attn/IR/Attn.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <deque>
#include <optional>

namespace heddle::entries {

/// The names in `model.generate`.
struct Roles {
  std::string tokens, logits, mask, positions, source;
  std::set<std::string> extend;
  std::string axis; ///< the step axis, "T"
  /// The id of padding, where no input says what is padding and the id ends no text.
  std::optional<int64_t> pad;
  /// Whether an input has a value for each token.
  bool grows(llvm::StringRef input) const {
    return input == tokens || (!mask.empty() && input == mask) || (!positions.empty() && input == positions) ||
           extend.count(input.str());
  }
};

enum class Kind {
  Fixed,     ///< does not depend on tokens
  Frozen,    ///< no step axis, made of the first rows of stable values
  Now,       ///< no step axis, changes with every token
  Rows,      ///< one step axis
  Grid,      ///< two step axes
  Odd,       ///< an axis whose length is not T + c: no row for each token
  MaskOrBias ///< a mask or a bias that depends on rows
};

/// Why the rows of a value change later, or cannot be computed in a step.
struct Reason {
  mlir::Location where;
  std::string why;
  mlir::Value frontier; ///< the value without step axis that caused it, if one did
};

/// What is known of a value.
struct Facts {
  Kind kind = Kind::Fixed;
  bool inputs = false; ///< depends on an input of @run
  bool past = false;   ///< row t depends on rows <= t, not on row t alone
  const Reason *unstable = nullptr;
};

class StepAnalysis {
public:
  StepAnalysis(mlir::func::FuncOp run, const Roles &roles) : run(run), roles(roles) {}

  /// Classifies every value; those in `steady` (guards) are assumed not to change.
  void classify(const llvm::DenseSet<mlir::Value> &steady);

  const Facts &of(mlir::Value v) const { return facts.find(v)->second; }
  /// The axes whose length uses the step dim.
  llvm::SmallVector<unsigned, 2> stepAxes(mlir::Value v) const;
  /// The c of the axis' length T + c; none if its length has another form.
  std::optional<int64_t> offset(mlir::Value v, unsigned axis) const;
  int64_t offset(mlir::Value v) const { return *offset(v, stepAxes(v).front()); }
  bool uses(llvm::StringRef form) const;
  /// Whether the op mixes rows of one of its operands.
  bool isAlong(mlir::Operation *op) const;
  /// How many rows ahead of itself a query of the attention sees; 0 or less: causal; none:
  /// unlimited.
  std::optional<int64_t> ahead(attn::SdpaOp op) const;

  /// For an op that works along `axis`, the step axis of its operand: why no step can do so, or
  /// null.
  const Reason *along(mlir::OpOperand &operand, unsigned axis);
  const Reason *reason(mlir::Operation &op, std::string why, mlir::Value frontier = {});

  mutable mlir::func::FuncOp run;
  const Roles &roles;

private:
  void classify(mlir::Operation &op);
  void classify(model::RepeatOp op);
  void classify(model::DefaultOp op);
  void attention(attn::SdpaOp op, Facts &f);
  void classifyMaskOrBias(mlir::Operation &op);
  Kind shapeOf(mlir::Value v) const;

  llvm::DenseMap<mlir::Value, Facts> facts;
  llvm::DenseSet<mlir::Value> steady;
  std::deque<Reason> reasons;
};

/// The step dim in the entry: `past` rows, then `new` ones.
model::Size pastDim();
model::Size newDim();
model::Size allRows(); ///< past + new

/// A value in words, for messages: "the slice [T-1:T] of the step axis".
std::string describe(mlir::Value v, const StepAnalysis &kinds);

} // namespace heddle::entries

#endif
