//===- ArenaUse.h - how well an arena is used -------------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_PLAN_ARENAUSE_H
#define HEDDLE_COMPILER_PLAN_ARENAUSE_H

#include "compiler/Plan/ArenaLayout.h"
#include "dialects/Model/IR/LifeAttrs.h"

namespace heddle::plan {

/// A storage of the arena at some dims; offset and bytes are whole lines of 64 bytes.
struct ArenaPart {
  mlir::Operation *op = nullptr;  ///< the first in the text that has it
  std::optional<unsigned> result; ///< of the op; none: its scratch memory
  model::Life life;
  int64_t offset = 0, bytes = 0;

  bool livesWith(const ArenaPart &other) const { return life.begin <= other.life.end && other.life.begin <= life.end; }
  /// The name of the value, or of the op whose scratch memory it is.
  std::string name() const;
};

/// What a function with a memory plan needs at some dims.
struct ArenaUse {
  int64_t reserved = 0; ///< bytes, without those that the arena ends with
  int64_t alive = 0;    ///< most bytes that live at once: no plan needs fewer
  int64_t at = 0;       ///< number of the op at which they do (compiler/Plan/Positions.h)
  std::vector<ArenaPart> parts;
  /// Two parts one above the other, in what makes the arena as high as it is, that do not live at the same time: a part
  /// between them lives with both. None where the arena is as large as what lives at once.
  std::optional<std::pair<unsigned, unsigned>> blocked;
};

/// From the attributes of a function of the stage `buffers`; none where it has none or a dim has no length.
std::optional<ArenaUse> arenaUse(mlir::func::FuncOp function, const Lengths &lengths);

} // namespace heddle::plan

#endif
