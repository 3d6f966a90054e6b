//===- SlotArena.cpp - an arena of slots ----------------------------------===//

#include "compiler/Plan/ArenaLayout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace heddle;
using namespace heddle::plan;
using model::Size;

/// Whether a size form subtracts no term, so that it is at least 0 for all dims.
static bool subtractsNothing(const Size &form) { return !llvm::StringRef(form.str()).contains('-'); }

/// In the order in which they come to life each takes the slot that fits best among those whose last user is gone, or a
/// new one. "Fits" means: for all values of the dims.
ArenaLayout plan::slotArena(llvm::ArrayRef<Tenant> tenants) {
  struct Slot {
    Size bytes;
    int64_t end, last;
    llvm::SmallVector<unsigned> users;
  };
  llvm::SmallVector<Slot> slots;
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, tenants.size()));
  llvm::stable_sort(order, [&](unsigned a, unsigned c) { return tenants[a].numbers.begin < tenants[c].numbers.begin; });
  for (unsigned i : order) {
    const Tenant &t = tenants[i];
    Slot *best = nullptr;
    int rank = 0; // best fit among free slots. 3: as large, 2: larger, 1: smaller, so the slot grows
    for (Slot &slot : slots) {
      if (slot.end >= t.numbers.begin || slot.last >= t.levels.begin)
        continue;
      int mine = slot.bytes == t.bytes                    ? 3
                 : subtractsNothing(slot.bytes - t.bytes) ? 2
                 : subtractsNothing(t.bytes - slot.bytes) ? 1
                                                          : 0;
      if (mine > rank) {
        best = &slot;
        rank = mine;
      }
      if (rank == 3)
        break;
    }
    if (!best) {
      slots.push_back({t.bytes, t.numbers.end, t.levels.end, {}});
      best = &slots.back();
    }
    if (rank == 1)
      best->bytes = t.bytes;
    best->end = t.numbers.end;
    best->last = std::max(best->last, t.levels.end);
    best->users.push_back(i);
  }
  ArenaLayout layout;
  layout.offsets.resize(tenants.size());
  for (Slot &slot : slots) {
    for (unsigned i : slot.users)
      layout.offsets[i] = layout.bytes;
    bool whole = slot.bytes.exactDiv(Size(64)).has_value();
    layout.bytes = layout.bytes + (whole ? slot.bytes : (slot.bytes + Size(63)).floorDiv(Size(64)) * Size(64));
  }
  return layout;
}
