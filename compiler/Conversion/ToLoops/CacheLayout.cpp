//===- CacheLayout.cpp - how a state holds keys or values -----------------===//

#include "compiler/Conversion/ToLoops/CacheLayout.h"
#include "compiler/Conversion/ToLoops/KeyClasses.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using model::Size;

std::optional<CacheLayout> heddle::loops::cacheLayoutOf(Value rows) {
  Operation *op = rows.getDefiningOp();
  return op ? cacheLayoutOf(op) : std::nullopt;
}

static int64_t ringOf(DictionaryAttr mark) {
  auto ring = mark.getAs<IntegerAttr>("ring");
  return ring ? ring.getInt() : 0;
}

int64_t heddle::loops::cacheClasses(DictionaryAttr mark) {
  auto classes = mark.getAs<IntegerAttr>("classes");
  return classes ? classes.getInt() : 1;
}

Size heddle::loops::cacheRoom(DictionaryAttr mark, const Size &rows) {
  Size room = roomOfClass(rows, cacheClasses(mark));
  int64_t ring = ringOf(mark);
  return ring ? Size::min(room, Size(ring + 128)) : room;
}

bool heddle::loops::standsForCache(Operation *op) {
  return isa<model::AppendOp, model::LoadOp>(op) && op->hasAttr("cache");
}

std::optional<CacheLayout> heddle::loops::cacheLayoutOf(Operation *op) {
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
  auto mark = op->getAttrOfType<DictionaryAttr>("cache");
  auto state = dyn_cast<model::StateType>(where.getType());
  if (!mark || !state || state.getRank() < 3)
    return std::nullopt;
  auto kind = mark.getAs<StringAttr>("kind");
  auto heads = mark.getAs<IntegerAttr>("heads");
  std::optional<int64_t> features = state.getSize(state.getRank() - 1).constant();
  if (!kind || !heads || !features || heads.getInt() < 1 || *features % heads.getInt())
    return std::nullopt;
  int64_t width = *features / heads.getInt();
  auto element = mark.getAs<StringAttr>("element");
  model::Stored stored = element ? model::storedOf(element.getValue()).value_or(model::Stored::f32) : model::Stored::f32;
  CacheLayout layout{where, indices, kind.getValue() == "keys", stored, heads.getInt(), width, stored != model::Stored::f32 ? (width + 1) / 2 : width,
                     cacheClasses(mark), cacheRoom(mark, state.getSize(state.getRank() - 2)), ringOf(mark), {}};
  layout.element = layout.room * Size(layout.classes * layout.words);
  return layout;
}
