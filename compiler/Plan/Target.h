//===- Target.h - what a plan asks of a target ------------------*- C++ -*-===//
//
// A plan is made of what every target has in common (which states are caches, which values share memory) and of
// numbers that are each target's own. The latter are asked here; a target knows nothing of the passes.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_PLAN_TARGET_H
#define HEDDLE_COMPILER_PLAN_TARGET_H

#include "dialects/Attn/IR/Attn.h"
#include "mlir/IR/DialectInterface.h"

namespace heddle::plan {

class Target {
public:
  virtual ~Target() = default;
  /// As #model.target spells it.
  virtual llvm::StringRef name() const = 0;
  /// Rows of a panel of this linear's weight.
  virtual int64_t panelOf(model::LinearOp op) const = 0;
  /// The tiles of a linear or a matmul.
  virtual model::ScheduleAttr tilesOf(mlir::Operation *op) const = 0;
  /// The tiles of an attention.
  virtual attn::ScheduleAttr tilesOf(attn::SdpaOp op) const = 0;
  /// Why code of these tiles cannot be made for the op; empty: it can. (A schedule may be written by hand.)
  virtual std::string refusal(mlir::Operation *op) const = 0;
  /// Keys of a block and of a panel of a cache.
  virtual std::pair<int64_t, int64_t> cacheBlock() const = 0;
  /// Working memory of an op that has its schedule; 0 bytes where it needs none.
  virtual model::Size scratchBytes(mlir::Operation *op) const = 0;
};

/// The targets that a context knows; they hang on the dialect that holds #model.target.
class Targets final : public mlir::DialectInterface::Base<Targets> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Targets)
  explicit Targets(mlir::Dialect *dialect) : Base(dialect) {}
  /// Where `dialect` keeps them.
  static Targets &of(model::ModelDialect *dialect);
  void add(std::unique_ptr<Target> target) { all.push_back(std::move(target)); }
  const Target *find(llvm::StringRef name) const;
  const Target *first() const { return all.empty() ? nullptr : all.front().get(); }

private:
  std::vector<std::unique_ptr<Target>> all;
};

/// The target of the module around `op`, the first there is where nobody has said; null after an error at `op`.
const Target *targetOf(mlir::Operation *op);

} // namespace heddle::plan

#endif
