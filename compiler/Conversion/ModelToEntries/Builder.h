//===- Builder.h - an entry, built backwards from its result ----*- C++ -*-===//
//
// Builds an entry backwards from its results. get(value, mode) is the counterpart of a value
// of @run in the entry: only its new rows, its last row, or all rows. It asks for the
// operands first, so only what is needed is built. The same walk runs twice: planning records
// what is asked for, and every reason why something cannot be computed; building makes ops.
//
// A mode has one letter for each step axis: 'n' the new rows, 'l' the last new row, 'a' all
// rows. A mask or a bias has the letter of its queries only.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_MODELTOENTRIES_BUILDER_H
#define HEDDLE_COMPILER_CONVERSION_MODELTOENTRIES_BUILDER_H

#include "compiler/Conversion/ModelToEntries/StepAnalysis.h"

namespace heddle::entries {

/// A reason against the step, and the value whose rows a state would have had to keep.
struct Refusal {
  const Reason *reason;
  mlir::Value held;
};

/// A value that no token reaches: @once stores it in a state, @step loads it.
struct Kept {
  mlir::Value value; ///< of @run
  std::string state;
  model::StateType type;
};

/// One entry while it is planned and built; `into` is its function, empty at first.
class Builder {
public:
  Builder(StepAnalysis &kinds, mlir::func::FuncOp into, bool once)
      : kinds(kinds), into(into), once(once), b(into.getContext()) {}

  /// The value in `mode`; null while planning, and after a refusal.
  mlir::Value get(mlir::Value v, std::string mode);

  //===-- phases ------------------------------------------------------------===//
  /// Ends planning: the inputs of @run that were asked for become arguments of the entry.
  void beginBuilding();
  /// Whether something was refused; then nothing can be built.
  bool refused() const { return !refusals.empty(); }
  /// Ends the function with a return of `results` and gives it their types and `names`.
  void finish(llvm::ArrayRef<mlir::Value> results, llvm::ArrayRef<std::string> names);

  /// @step: the values that @once has to store, in the order in which they were asked for.
  /// @once: the same list.
  std::vector<Kept> kept;
  void planKept();
  void storeKept();
  /// An i64 that is not 0 if any of the guards `values` differs from the value that the
  /// states were computed with.
  mlir::Value refill(llvm::ArrayRef<mlir::Value> values);
  llvm::SmallVector<Refusal> refusals;
  /// An op could not be rebuilt, a mistake of the compiler; reported where it arose.
  bool broken = false;

  //===-- for the rules -----------------------------------------------------===//
  /// Whether a rule has asked for all it needs and must not make ops.
  bool stop() const { return planning || broken || !refusals.empty(); }
  mlir::Value refuse(const Reason *reason, mlir::Value held = {});
  /// Where the counterpart of `v` is built: in the entry, or in a repeat of it.
  mlir::OpBuilder &at(mlir::Value v) { return at(v.getParentRegion()); }
  mlir::OpBuilder &at(mlir::Region *region);
  /// A new argument of the entry for a state of `v`, with `shape` for every iteration of the
  /// repeats around it; `what` is part of its name.
  mlir::Value state(mlir::Value v, llvm::StringRef what, llvm::ArrayRef<model::Size> shape, mlir::Type element);
  model::StateType stateType(mlir::Value v, llvm::ArrayRef<model::Size> shape, mlir::Type element);
  /// The indices of the repeats around `v` that are being built.
  llvm::SmallVector<mlir::Value> indices(mlir::Value v);
  /// A copy of `op` with other operands and types inferred anew, inserted by `b`.
  mlir::Operation *again(mlir::OpBuilder &b, mlir::Operation *op, mlir::ValueRange operands);
  /// The type of `v` in `mode`.
  model::ModelTensorType typeIn(mlir::Value v, llvm::StringRef mode);
  /// The mode in which an op reads `operand` if `result` is asked for in `mode`; none if the
  /// op has no rule for it.
  std::optional<std::string> modeOf(mlir::OpOperand &operand, mlir::Value result, llvm::StringRef mode);

  // states (States.cpp)
  mlir::Value append(mlir::Value v);
  mlir::Value load(mlir::Value v);

private:
  struct Frame {
    model::RepeatOp source;
    mlir::Block *block;
    mlir::OpBuilder b;
  };
  mlir::Value make(mlir::Value v, const std::string &mode);
  mlir::Value argument(mlir::BlockArgument a, const std::string &mode);
  mlir::Value generic(mlir::OpResult v, const std::string &mode);
  mlir::Value attention(attn::SdpaOp op, const std::string &mode);           // StepAttention.cpp
  mlir::Value maskOrBias(mlir::Value v, const std::string &mode);            // StepAttention.cpp
  mlir::Value alongRows(mlir::OpResult v, const std::string &mode);          // StepRules.cpp
  void planCarried(model::RepeatOp op, unsigned i, const std::string &mode); // Repeat.cpp
  void buildRepeat(model::RepeatOp op);
  void storeInside(model::RepeatOp op);
  mlir::Value defaulted(model::DefaultOp op, const std::string &mode);
  bool wasPlanned(mlir::Value v, llvm::StringRef mode) const {
    return planned.count({v.getAsOpaquePointer(), mode.str()});
  }

  StepAnalysis &kinds;
  mlir::func::FuncOp into;
  const bool once;
  mlir::OpBuilder b;
  bool planning = true;
  using Key = std::pair<void *, std::string>;
  std::map<Key, mlir::Value> memo;
  std::set<Key> planned;
  std::deque<Frame> frames;
  std::set<void *> built; ///< repeats that are rebuilt already
  unsigned numStates = 0;
  std::map<std::string, mlir::Value> keptStates; ///< @once: the argument of each state
};

/// Whether to keep the operands of `v` and compute it again: if they are smaller, or are themselves computed again.
bool replays(mlir::Value v, const StepAnalysis &kinds);
/// The contents of `state` (in a part that `at` chooses); in a call with past = 0 `empty`, or zeros.
mlir::Value loadPast(mlir::OpBuilder &b, mlir::Location loc, mlir::Value state, mlir::ValueRange at,
                     model::ModelTensorType type, mlir::Value empty = {});
/// Rows [from, to) of `v` along `axis`.
mlir::Value sliceRows(mlir::OpBuilder &b, mlir::Location loc, mlir::Value v, unsigned axis, model::Size from,
                      model::Size to);

} // namespace heddle::entries

#endif
