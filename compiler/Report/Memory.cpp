//===- Memory.cpp - the arena over time -----------------------------------===//

#include "compiler/Report/Memory.h"
#include "compiler/Plan/ArenaUse.h"
#include "compiler/Plan/Lengths.h"
#include "compiler/Plan/Positions.h"
#include "dialects/Model/IR/LifeAttrs.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"
#include "dialects/Model/IR/Names.h"
#include "dialects/Model/IR/ReservedDims.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::report;

namespace {
/// Collects the places of a function. Lives are in numbers of ops; a report counts the ops that have a place.
class Walk {
public:
  Walk(func::FuncOp function, Places &places) : places(places), positions(function) {
    function.walk<WalkOrder::PreOrder>([&](Operation *op) { addStep(op); });
    function.walk<WalkOrder::PreOrder>([&](Operation *op) { addRows(op); });
  }
  Memory memory;

private:
  Places &places;
  plan::Positions positions;
  std::vector<int64_t> numbers; ///< of the steps' ops
  std::set<int64_t> storages;   ///< that have a row

  void addStep(Operation *op);
  void addRows(Operation *op);
  void add(Operation *op, StringRef name, StringRef kind, model::PlaceAttr place, const model::Life &life);
};
} // namespace

void Walk::addStep(Operation *op) {
  bool placed = llvm::any_of(op->getResults(), [](OpResult result) {
    model::PlaceAttr place = model::placeOf(result);
    return place && place.getKind() != model::PlaceKind::none;
  });
  if (!placed && !model::scratchOf(op) && !isa<model::AppendOp, model::LoadOp, model::StoreOp>(op))
    return;
  memory.steps.push_back({places.loc(op->getLoc()), op->getName().getStringRef().str()});
  numbers.push_back(positions.of(op).begin);
}

void Walk::addRows(Operation *op) {
  StringRef word = op->getName().stripDialect();
  for (OpResult result : op->getResults())
    if (std::optional<model::Life> life = model::lifeOf(result)) {
      StringRef name = model::nameOf(op->getLoc(), op->getNumResults() == 1 ? 0 : result.getResultNumber());
      add(op, name.empty() ? word : name, op->getName().getStringRef(), model::placeOf(result), *life);
    }
  if (std::optional<model::Life> life = model::scratchLifeOf(op)) {
    StringRef name = model::nameOf(op->getLoc());
    add(op, ("scratch of " + (name.empty() ? word : name)).str(), "scratch", model::scratchOf(op), *life);
  }
}

/// The first row of a storage lives as long as that; results that have it later begin at their op.
void Walk::add(Operation *op, StringRef name, StringRef kind, model::PlaceAttr place, const model::Life &life) {
  if (!place || !place.inArena())
    return;
  auto stepAt = [&](int64_t number) {
    return std::max<int64_t>(1, llvm::upper_bound(numbers, number) - numbers.begin());
  };
  MemoryRow row;
  row.name = name.str();
  row.loc = places.loc(op->getLoc());
  row.kind = kind.str();
  row.offset = place.getOffset().str();
  row.bytes = life.bytes.str();
  row.inPlace = !storages.insert(life.storage).second;
  row.first = stepAt(row.inPlace ? positions.of(op).begin : life.begin);
  row.last = std::max(row.first, stepAt(life.end));
  memory.rows.push_back(std::move(row));
}

/// Lengths of a call where --dims says none: a text of 128 positions, of the cached step all of them new.
static std::map<std::string, int64_t> lengthsOf(func::FuncOp function, const std::map<std::string, int64_t> &given) {
  constexpr int64_t kText = 128;
  std::map<std::string, int64_t> lengths = {{"threads", 1}};
  auto text = given.find("T");
  for (const std::string &dim : plan::entryDims(function)) {
    auto known = given.find(dim);
    bool one = dim == "B" || dim == model::kSlotsDim || dim == model::kAskedDim;
    int64_t length = text == given.end() ? kText : text->second;
    lengths[dim] = known != given.end()         ? known->second
                   : one                        ? 1
                   : dim == model::kPastDim     ? 0
                   : dim == model::kCapacityDim ? 2 * length
                                                : length;
  }
  return lengths;
}

Memory report::memoryOf(func::FuncOp function, const std::map<std::string, int64_t> &given, Places &places) {
  Memory memory = std::move(Walk(function, places).memory);
  std::map<std::string, int64_t> lengths = lengthsOf(function, given);
  std::optional<plan::ArenaUse> use = plan::arenaUse(function, lengths);
  if (!use)
    return memory;
  memory.use = MemoryUse{std::move(lengths), use->reserved, use->alive, std::nullopt};
  if (use->blocked)
    memory.use->blocked.emplace(use->parts[use->blocked->first].name(), use->parts[use->blocked->second].name());
  return memory;
}
