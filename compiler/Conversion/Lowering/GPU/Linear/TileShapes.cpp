//===- TileShapes.cpp - the tiles that chips like ---------------------------===//

#include "compiler/Conversion/Lowering/GPU/Linear/TileShapes.h"
#include "llvm/ADT/STLExtras.h"

using namespace heddle;
using namespace heddle::loops;
using tile::Spread;

/// Shared memory, and sums of a thread: 2 x 16.25 KiB and 64; 3 x 16 KiB and 64; 3 x 32 KiB and 64, which lets two
/// blocks share a multiprocessor of sm_90a.
static constexpr TileShape kReals{128, 128, 16, 2, false, Spread::block, 16, 16, 1};
static constexpr TileShape kPairs{128, 128, 16, 3, false, Spread::mma, 2, 4};
static constexpr TileShape kGroups{128, 128, 32, 3, true, Spread::wgmma, 2, 1, 2};

/// Few rows wait for weights, so a tile has few columns, and much of k is on its way: 768 results are 96 blocks, each
/// with 10 KiB of weights in flight in 36 KiB (f32: 38), so that four fit a multiprocessor. Panels are read 32 wide.
static constexpr TileShape kLowReals{16, 8, 64, 6, false, Spread::cyclic, 16, 8};
static constexpr TileShape kLowPairs{16, 32, 64, 3, false, Spread::mma, 1, 4};
static constexpr TileShape kLowGroups{16, 8, 64, 6, false, Spread::mma, 1, 1};

/// Chips whose groups of warps multiply by themselves.
static bool hasGroups(llvm::StringRef chip) { return chip == "sm_90a"; }

/// What those chips of the target take that have no such groups, and the others; one of them where all are alike.
template <typename Form> static llvm::SmallVector<Form> byChip(Form usual, Form grouped, model::TargetAttr target) {
  llvm::SmallVector<llvm::StringRef> chips;
  if (target)
    target.getChip().split(chips, '+');
  for (llvm::StringRef chip : chips)
    (hasGroups(chip) ? grouped : usual).on.push_back(chip);
  bool both = !usual.on.empty() && !grouped.on.empty();
  if (both)
    return {usual, grouped};
  Form &only = grouped.on.empty() ? usual : grouped;
  only.on.clear();
  return {only};
}

llvm::SmallVector<TileForm> heddle::loops::tallTiles(Sides sides, model::TargetAttr target) {
  if (sides != Sides::Groups)
    return {{sides == Sides::Reals ? kReals : kPairs, {}}};
  return byChip<TileForm>({kPairs, {}}, {kGroups, {}}, target);
}

llvm::SmallVector<AttentionForm> heddle::loops::tallAttention(bool groups, model::TargetAttr target) {
  if (!groups)
    return {{Spread::mma, {}}};
  return byChip<AttentionForm>({Spread::mma, {}}, {Spread::wgmma, {}}, target);
}

int64_t heddle::loops::featuresOfTile(int64_t width) {
  constexpr int64_t kMost = 128, kUnit = 32;
  int64_t shares = (width + kMost - 1) / kMost;
  return shares == 1 ? width : (width + shares * kUnit - 1) / (shares * kUnit) * kUnit;
}

TileShape heddle::loops::lowTile(Sides sides) {
  switch (sides) {
  case Sides::Reals: return kLowReals;
  case Sides::Pairs: return kLowPairs;
  case Sides::Groups: return kLowGroups;
  }
  llvm_unreachable("all sides are there");
}
