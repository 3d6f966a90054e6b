//===- Target.h - what a plan asks of a target ------------------*- C++ -*-===//
//
// What a plan asks of a target. Which states are caches and which values share memory is decided for all targets alike;
// numbers (tiles, panels, blocks, working memory) are each target's and are asked here. A target knows nothing of the
// passes.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_PLAN_TARGET_H
#define HEDDLE_COMPILER_PLAN_TARGET_H

#include "dialects/Attn/IR/Attn.h"
#include "mlir/IR/DialectInterface.h"

namespace heddle::plan {

/// What a target makes ready before the tiles of a linear pass over its operands.
struct Preparation {
  int64_t pitch = 0;        ///< words from one row of the left side to the next; 0: as many as a row has
  int64_t rowsTogether = 1; ///< rows of the left side are made ready in multiples of so many
  int64_t panelBytes = 0;  ///< of each thread: a panel that it decodes, unpacks or widens; 0: it reads them as they are
  int64_t threadBytes = 0; ///< of each thread: `panelBytes`, or what else it needs in their place
};

class Target {
public:
  virtual ~Target() = default;
  /// The name in #model.target, under which it was added.
  llvm::StringRef name() const { return known; }
  /// The tiles of a linear or a matmul; of a depthwise convolution the panel counts.
  virtual model::ScheduleAttr tilesOf(mlir::Operation *op) const = 0;
  /// The tiles of an attention.
  virtual attn::ScheduleAttr tilesOf(attn::SdpaOp op) const = 0;
  /// Why the tiles of a linear or a matmul are these, for a remark; "": there is nothing to say.
  virtual llvm::StringRef whyTiles(mlir::Operation *op) const { return ""; }
  /// Remarks on what the target has decided for an op that has its tiles, its layouts and its place; only called where
  /// somebody wants remarks.
  virtual void remarkOn(mlir::Operation *op) const {}
  /// Why the tiles on the op cannot be lowered; "" if they can. (A schedule may be written by hand.)
  virtual std::string refusal(mlir::Operation *op) const = 0;
  /// Keys of a block and of a panel of a cache.
  virtual std::pair<int64_t, int64_t> cacheBlock() const = 0;
  /// How the operands of a linear are made ready; its scratch memory has room for them.
  virtual Preparation preparationOf(model::LinearOp op) const { return {}; }
  /// Bytes of working memory of an op that has its schedule.
  virtual model::Size scratchBytes(mlir::Operation *op) const = 0;
  /// Bytes of a result that is not laid out as its type says, so that nothing else may be in its place; none: it is.
  virtual std::optional<model::Size> bytesOf(mlir::OpResult result) const { return std::nullopt; }
  /// Whether a program can have @batch, whose rows are texts of their own.
  virtual bool hasBatchEntry() const { return false; }
  /// Whether code after the op reads its working memory again, to the end of the function.
  virtual bool scratchLasts(mlir::Operation *op) const { return false; }
  /// Whether ops that need nothing of each other are done at the same time, however far apart they are: then none of
  /// them may have its result where another one still reads.
  virtual bool worksByLevels() const { return false; }
  /// An earlier op of the block whose scratch memory (same size) this op reuses, contents included; null: it has its
  /// own.
  virtual mlir::Operation *leavesScratchFor(mlir::Operation *op) const { return nullptr; }

private:
  friend class Targets;
  std::string known;
};

/// The targets that a context knows, kept by the dialect of #model.target.
class Targets final : public mlir::DialectInterface::Base<Targets> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Targets)
  explicit Targets(mlir::Dialect *dialect) : Base(dialect) {}
  /// The targets of `dialect`.
  static Targets &of(model::ModelDialect *dialect);
  void add(llvm::StringRef name, std::unique_ptr<Target> target) {
    target->known = name.str();
    all.push_back(std::move(target));
  }
  const Target *find(llvm::StringRef name) const;
  /// The names of all, joined by commas.
  std::string names() const;
  const Target *first() const { return all.empty() ? nullptr : all.front().get(); }

private:
  std::vector<std::unique_ptr<Target>> all;
};

/// The target of the module around `op`, or the first target if the module names none; null after an error at `op`.
const Target *targetOf(mlir::Operation *op);

} // namespace heddle::plan

#endif
