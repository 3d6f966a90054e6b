//===- TilePlan.cpp - the tiles that chips like ---------------------------===//

#include "compiler/Conversion/ToLoops/Gpu/TilePlan.h"
#include "llvm/ADT/STLExtras.h"

using namespace heddle;
using namespace heddle::loops;
using tile::Spread;

/// Shared memory, and sums of a thread: 2 x 16.25 KiB and 64; 3 x 16 KiB and 64; 3 x 32 KiB and 64, which lets two
/// blocks share a multiprocessor of sm_90a; 4 x 9 KiB and 8.
static constexpr TileShape kReals{128, 128, 16, 2, false, Spread::block, 16, 16};
static constexpr TileShape kPairs{128, 128, 16, 3, false, Spread::mma, 2, 4};
static constexpr TileShape kGroups{128, 128, 32, 3, true, Spread::wgmma, 2, 1, 2};
static constexpr TileShape kLowPairs{16, 128, 16, 4, false, Spread::mma, 1, 8};

/// Chips whose groups of warps multiply by themselves.
static bool hasGroups(llvm::StringRef chip) { return chip == "sm_90a"; }

llvm::SmallVector<TileForm> heddle::loops::tallTiles(Sides sides, model::TargetAttr target) {
  if (sides == Sides::Reals)
    return {{kReals, {}}};
  TileForm usual{kPairs, {}}, grouped{kGroups, {}};
  llvm::SmallVector<llvm::StringRef> chips;
  if (target && sides == Sides::Groups)
    target.getChip().split(chips, '+');
  for (llvm::StringRef chip : chips)
    (hasGroups(chip) ? grouped : usual).on.push_back(chip);
  if (grouped.on.empty())
    return {{kPairs, {}}};
  if (usual.on.empty())
    return {{kGroups, {}}};
  return {usual, grouped};
}

TileShape heddle::loops::lowTile() { return kLowPairs; }
