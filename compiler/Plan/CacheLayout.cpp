//===- CacheLayout.cpp - how a state holds keys or values -----------------===//

#include "compiler/Plan/CacheLayout.h"
#include "dialects/Attn/IR/AttnPlanAttrs.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::plan;
using model::Size;

std::optional<CacheLayout> heddle::plan::cacheLayoutOf(Value rows) {
  Operation *op = rows.getDefiningOp();
  return op ? cacheLayoutOf(op) : std::nullopt;
}

bool heddle::plan::standsForCache(Operation *op) {
  return isa<model::AppendOp, model::LoadOp>(op) && attn::cacheOf(op);
}

std::optional<CacheLayout> heddle::plan::cacheLayoutOf(Operation *op) {
  Value where;
  OperandRange indices = op->getOperands();
  if (auto append = dyn_cast<model::AppendOp>(op))
    where = append.getState(), indices = append.getIndices();
  else if (auto load = dyn_cast<model::LoadOp>(op))
    where = load.getState(), indices = load.getIndices();
  else if (auto store = dyn_cast<model::StoreOp>(op))
    where = store.getState(), indices = store.getIndices();
  else
    return std::nullopt;
  attn::CacheAttr cache = attn::cacheOf(op);
  if (!cache)
    return std::nullopt;
  auto state = cast<model::StateType>(where.getType());
  int64_t width = *state.getSize(state.getRank() - 1).constant() / cache.getHeads();
  model::Stored stored = cache.getElement().isBF16()  ? model::Stored::bf16
                         : cache.getElement().isF16() ? model::Stored::f16
                                                      : model::Stored::f32;
  CacheLayout layout{where,
                     indices,
                     cache.getKind() == attn::CacheKind::keys,
                     stored,
                     cache.getHeads(),
                     width,
                     cache.halves() ? (width + 1) / 2 : width,
                     cache.getClasses(),
                     cache.roomOf(state.getSize(state.getRank() - 2)),
                     cache.getRing(),
                     {}};
  layout.element = layout.room * Size(layout.classes * layout.words);
  return layout;
}
