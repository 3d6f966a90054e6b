//===- AttnPlanAttrs.cpp - what the plan writes on attention and its states ===//

#include "dialects/Attn/IR/AttnPlanAttrs.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::attn;

static constexpr llvm::StringLiteral kCache = "attn.cache", kSchedule = "attn.schedule";

/// `cache` may be on a state [.., rows, features] whose features divide into the cache's heads.
static LogicalResult verifyCache(Operation *op, Type type, Attribute value) {
  auto cache = dyn_cast<CacheAttr>(value);
  if (!cache)
    return op->emitError() << "expected '" << kCache << "' to be an #attn.cache, got " << value;
  auto state = dyn_cast<model::StateType>(type);
  if (!state || state.getRank() < 3 || !state.getElementType().isF32())
    return op->emitError() << "expected '" << kCache << "' on a state [.., batch, rows, features] of f32, got " << type;
  std::optional<int64_t> features = state.getSize(state.getRank() - 1).constant();
  if (!features || *features % cache.getHeads())
    return op->emitError() << "features of " << state << " do not divide into the " << cache.getHeads()
                           << " heads of its cache";
  return success();
}

static Value stateOf(Operation *op) {
  if (auto append = dyn_cast<model::AppendOp>(op))
    return append.getState();
  if (auto load = dyn_cast<model::LoadOp>(op))
    return load.getState();
  if (auto store = dyn_cast<model::StoreOp>(op))
    return store.getState();
  return {};
}

LogicalResult AttnDialect::verifyOperationAttribute(Operation *op, NamedAttribute attr) {
  if (attr.getName() == kCache) {
    Value state = stateOf(op);
    if (!state)
      return op->emitError() << "expected '" << kCache << "' on an append, a load or a store, got " << op->getName();
    return verifyCache(op, state.getType(), attr.getValue());
  }
  if (attr.getName() == kSchedule) {
    auto sdpa = dyn_cast<SdpaOp>(op);
    auto schedule = dyn_cast<ScheduleAttr>(attr.getValue());
    if (!sdpa || !schedule)
      return op->emitError() << "expected '" << kSchedule << "' to be the #attn.schedule of an attn.sdpa, got "
                             << attr.getValue();
    int64_t keyHeads = sdpa.getKvHeads();
    if (keyHeads < 1) // this is asked before the op's own sdpa_c2, which refuses it
      return success();
    int64_t shared = int64_t(sdpa.getHeads()) / keyHeads;
    if (shared % schedule.getPacked()) // schedule_c3
      return op->emitError() << "expected a divisor of the " << shared << " query heads of a key head as 'packed', got "
                             << schedule.getPacked();
  }
  return success();
}

LogicalResult AttnDialect::verifyRegionArgAttribute(Operation *op, unsigned region, unsigned argument,
                                                    NamedAttribute attr) {
  if (attr.getName() != kCache)
    return success();
  return verifyCache(op, op->getRegion(region).getArgument(argument).getType(), attr.getValue());
}

CacheAttr heddle::attn::cacheOf(Operation *op) { return op->getAttrOfType<CacheAttr>(kCache); }
void heddle::attn::setCache(Operation *op, CacheAttr cache) { op->setAttr(kCache, cache); }
CacheAttr heddle::attn::cacheOf(Operation *function, unsigned argument) {
  return cast<FunctionOpInterface>(function).getArgAttrOfType<CacheAttr>(argument, kCache);
}
void heddle::attn::setCache(Operation *function, unsigned argument, CacheAttr cache) {
  cast<FunctionOpInterface>(function).setArgAttr(argument, kCache, cache);
}

ScheduleAttr heddle::attn::scheduleOf(SdpaOp op) { return op->getAttrOfType<ScheduleAttr>(kSchedule); }
void heddle::attn::setSchedule(SdpaOp op, ScheduleAttr schedule) { op->setAttr(kSchedule, schedule); }
