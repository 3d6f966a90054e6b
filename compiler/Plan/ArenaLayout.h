//===- ArenaLayout.h - where in the arena what lies -------------*- C++ -*-===//
//
// Storages that live at the same time lie apart; all others may overlap, in part too. Sizes are forms over dims, and so
// are the offsets: they hold for every value of the dims. How good an arrangement is, is measured at some dims.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_PLAN_ARENALAYOUT_H
#define HEDDLE_COMPILER_PLAN_ARENALAYOUT_H

#include "compiler/Plan/Positions.h"
#include "dialects/Model/IR/Size.h"

namespace heddle::plan {

/// What needs memory of the arena for a time.
struct Tenant {
  model::Size bytes;
  Span numbers; ///< of ops
  Span levels;  ///< where ops that need nothing of each other are done at the same time
};

/// Offsets are multiples of 64 bytes.
struct ArenaLayout {
  std::vector<model::Size> offsets; ///< of each tenant
  model::Size bytes = 0;            ///< of all
};

/// Values of the dims of a function, and of `threads`.
using Lengths = std::map<std::string, int64_t>;

/// Short and long texts, few and many, within the bounds of the module.
std::vector<Lengths> lengthsToTry(mlir::func::FuncOp function);

/// Tenants lie on one another. Several arrangements are tried; the one that is best where it is worst of `samples`,
/// compared with what lives at once, is taken.
ArenaLayout stackArena(llvm::ArrayRef<Tenant> tenants, llvm::ArrayRef<Lengths> samples);

/// The arena is cut into slots, one tenant in each at a time: of two tenants either both have one place or they have no
/// byte in common, as the kernels of a device need it (compiler/Conversion/ToKernels/Phases.cpp). Levels count.
ArenaLayout slotArena(llvm::ArrayRef<Tenant> tenants);

} // namespace heddle::plan

#endif
