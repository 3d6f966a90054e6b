//===- Builder.h - an entry, built backwards from its result ----*- C++ -*-===//
//
// get(value, mode) gives the value of @run in the entry that is being built: only its new
// rows, its last row, or all of them. It asks the operands first, so only what is needed
// comes to be. The same walk runs twice: planning records what is asked and every reason
// why something cannot be had; building makes ops.
//
// A mode has one letter for each step axis: 'n' the new rows, 'l' the last of them, 'a' all
// rows. A mask or a bias has the letter of its queries.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_MODELTOENTRIES_BUILDER_H
#define HEDDLE_COMPILER_CONVERSION_MODELTOENTRIES_BUILDER_H

#include "compiler/Conversion/ModelToEntries/Kinds.h"

namespace heddle::entries {

/// A reason, and the value whose rows had to be kept when it was met.
struct Refusal {
  const Reason *reason;
  mlir::Value held;
};

/// A value that no token reaches, kept by @once for @step.
struct Kept {
  mlir::Value value; ///< of @run
  std::string state;
  model::StateType type;
};

class Builder {
public:
  Builder(Kinds &kinds, mlir::func::FuncOp into, bool once)
      : kinds(kinds), into(into), once(once), b(into.getContext()) {}

  mlir::Value get(mlir::Value v, std::string mode);

  //===-- phases ------------------------------------------------------------===//
  /// Ends planning: inputs of @run that were asked become arguments of the entry.
  void beginBuilding();
  /// Gives up: nothing can be built any more.
  bool refused() const { return !refusals.empty(); }
  /// Makes the signature of the function fit its body; `results` with their names.
  void finish(llvm::ArrayRef<mlir::Value> results, llvm::ArrayRef<std::string> names);

  /// @step: what has been asked of @once, in order. @once: what it has to keep.
  std::vector<Kept> kept;
  void planKept();
  void storeKept();
  /// Whether a guard still has the value that the states were made with: an i64, not 0 when
  /// it has not. `values` are the guards.
  mlir::Value refill(llvm::ArrayRef<mlir::Value> values);
  llvm::SmallVector<Refusal> refusals;
  /// A program error (an op that cannot be rebuilt); reported where it arose.
  bool broken = false;

  //===-- for the rules -----------------------------------------------------===//
  /// True when the rule has asked all it needs and must not make ops.
  bool stop() const { return planning || broken || !refusals.empty(); }
  mlir::Value refuse(const Reason *reason, mlir::Value held = {});
  /// Where ops that stand for `v` go.
  mlir::OpBuilder &at(mlir::Value v) { return at(v.getParentRegion()); }
  mlir::OpBuilder &at(mlir::Region *region);
  /// A new state argument for `v`, one of `shape` for every iteration of the repeats around it.
  mlir::Value state(mlir::Value v, llvm::StringRef what, llvm::ArrayRef<model::Size> shape, mlir::Type element);
  model::StateType stateType(mlir::Value v, llvm::ArrayRef<model::Size> shape, mlir::Type element);
  /// The indices of the iterations that are being built around `v`.
  llvm::SmallVector<mlir::Value> indices(mlir::Value v);
  /// `op` again with other operands; types are inferred anew. Inserted by `b`.
  mlir::Operation *again(mlir::OpBuilder &b, mlir::Operation *op, mlir::ValueRange operands);
  /// The type of `v` in `mode`.
  model::ModelTensorType typeIn(mlir::Value v, llvm::StringRef mode);
  /// The mode in which an op reads `operand` when its result is asked in `mode`.
  std::optional<std::string> modeOf(mlir::OpOperand &operand, mlir::Value result, llvm::StringRef mode);

  // states (States.cpp)
  mlir::Value append(mlir::Value v);
  bool replays(mlir::Value v);
  mlir::Value load(mlir::Value v);
  /// What `state` holds; in a call that begins a text `empty`, or else zeros.
  mlir::Value loadPast(mlir::OpBuilder &b, mlir::Location loc, mlir::Value state, mlir::ValueRange at, model::ModelTensorType type, mlir::Value empty = {});

  mlir::Value sliceRows(mlir::OpBuilder &b, mlir::Location loc, mlir::Value v, unsigned axis, model::Size from, model::Size to);

private:
  struct Frame {
    model::RepeatOp source;
    mlir::Block *block;
    mlir::OpBuilder b;
  };
  mlir::Value make(mlir::Value v, const std::string &mode);
  mlir::Value argument(mlir::BlockArgument a, const std::string &mode);
  mlir::Value generic(mlir::OpResult v, const std::string &mode);
  mlir::Value attention(attn::SdpaOp op, const std::string &mode);   // Pairs.cpp
  mlir::Value pairs(mlir::Value v, const std::string &mode);         // Pairs.cpp
  mlir::Value alongRows(mlir::OpResult v, const std::string &mode);  // Along.cpp
  mlir::Value cumsum(model::CumsumOp op);                            // Along.cpp
  mlir::Value conv(model::ConvOp op, unsigned axis);                 // Along.cpp
  mlir::Value slice(model::SliceOp op, unsigned axis, const std::string &mode);
  mlir::Value behind(mlir::OpResult v, mlir::Value rows, const std::string &mode);
  mlir::Value tail(mlir::Value owner, mlir::Value rows, unsigned axis, int64_t count);
  void planCarried(model::RepeatOp op, unsigned i, const std::string &mode); // Repeat.cpp
  void buildRepeat(model::RepeatOp op);
  void storeInside(model::RepeatOp op);
  mlir::Value defaulted(model::DefaultOp op, const std::string &mode);
  bool wasPlanned(mlir::Value v, llvm::StringRef mode) const { return planned.count({v.getAsOpaquePointer(), mode.str()}); }
  bool isAlong(mlir::Operation *op);

  Kinds &kinds;
  mlir::func::FuncOp into;
  const bool once;
  mlir::OpBuilder b;
  bool planning = true;
  using Key = std::pair<void *, std::string>;
  std::map<Key, mlir::Value> memo;
  std::set<Key> planned;
  std::deque<Frame> frames;
  std::set<void *> built; ///< repeats that have been rebuilt
  unsigned numStates = 0;
  std::map<std::string, mlir::Value> keptStates; ///< @once: the argument of each state
};

} // namespace heddle::entries

#endif
