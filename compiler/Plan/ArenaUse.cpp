//===- ArenaUse.cpp - how well an arena is used ---------------------------===//

#include "compiler/Plan/ArenaUse.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"
#include "dialects/Model/IR/Names.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::plan;

std::string ArenaPart::name() const {
  StringRef named = result ? model::nameOf(model::locationOf(op->getResult(*result))) : model::nameOf(op->getLoc());
  std::string text = named.empty() ? op->getName().getStringRef().str() : named.str();
  return result ? text : "scratch memory of " + text;
}

/// Each storage once; false where a form has no number.
static bool collectParts(func::FuncOp function, const Lengths &lengths, std::vector<ArenaPart> &parts) {
  llvm::DenseSet<int64_t> seen;
  bool good = true;
  auto note = [&](Operation *op, std::optional<unsigned> result, model::PlaceAttr place,
                  const std::optional<model::Life> &life) {
    if (!place || !place.inArena() || !life || !seen.insert(life->storage).second)
      return;
    std::optional<int64_t> offset = place.getOffset().evaluate(lengths), bytes = life->bytes.evaluate(lengths);
    good &= offset && bytes;
    if (good)
      parts.push_back({op, result, *life, *offset, int64_t(llvm::alignTo(uint64_t(*bytes), 64))});
  };
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    note(op, std::nullopt, model::scratchOf(op), model::scratchLifeOf(op));
    for (OpResult result : op->getResults())
      note(op, result.getResultNumber(), model::placeOf(result), model::lifeOf(result));
  });
  return good;
}

/// From the part that ends highest down to the ground, each on the one below. The first that does not live with one
/// above it is blocked.
static std::optional<std::pair<unsigned, unsigned>> blockedIn(ArrayRef<ArenaPart> parts) {
  auto top = llvm::max_element(
      parts, [](const ArenaPart &a, const ArenaPart &c) { return a.offset + a.bytes < c.offset + c.bytes; });
  SmallVector<unsigned> above;
  for (unsigned at = top - parts.begin(); at < parts.size();) {
    for (unsigned one : above)
      if (!parts[one].livesWith(parts[at]))
        return std::pair(one, at);
    above.push_back(at);
    auto below = llvm::find_if(parts, [&](const ArenaPart &part) {
      return part.bytes && part.livesWith(parts[at]) && part.offset + part.bytes == parts[at].offset;
    });
    at = below - parts.begin();
  }
  return std::nullopt;
}

std::optional<ArenaUse> plan::arenaUse(func::FuncOp function, const Lengths &lengths) {
  ArenaUse use;
  std::optional<model::Size> arena = model::arenaOf(function);
  if (!arena || !collectParts(function, lengths, use.parts))
    return std::nullopt;
  std::map<int64_t, int64_t> changes; // bytes by number
  for (const ArenaPart &part : use.parts) {
    use.reserved = std::max(use.reserved, part.offset + part.bytes);
    changes[part.life.begin] += part.bytes;
    if (part.life.end != model::kToTheEnd)
      changes[part.life.end + 1] -= part.bytes;
  }
  int64_t now = 0;
  for (auto [number, change] : changes)
    if (now += change; now > use.alive) {
      use.alive = now;
      use.at = number;
    }
  if (use.reserved > use.alive)
    use.blocked = blockedIn(use.parts);
  return use;
}
