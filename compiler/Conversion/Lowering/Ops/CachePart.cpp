//===- CachePart.cpp - where an attention finds keys and values -----------===//
//
// Addresses in a cache of keys and values: the part of this iteration of the repeats, and the places of a key in a
// ring.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Ops/CachePart.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::plan;
using model::ModelTensorType;
using model::Size;

/// The indices number the part row-major over the state's leading axes; a part has `heads` heads of `element` words
/// each, for every batch row and every other leading axis.
Value heddle::loops::cachePart(Lowering &l, const CacheLayout &layout) {
  auto state = cast<model::StateType>(layout.state.getType());
  int64_t skipped = layout.indices.size();
  Value part = l.constant(0);
  for (auto [i, index] : llvm::enumerate(layout.indices))
    part = l.add({l.mul(part, l.size(state.getSize(i))), l.index(index)});
  Size perIteration = layout.element * Size(layout.heads);
  for (int64_t i = skipped; i < state.getRank() - 2; ++i)
    perIteration = perIteration * state.getSize(i);
  return l.at({l.pointer(layout.state), l.mul(part, l.size(perIteration))}, l.f32());
}

Value heddle::loops::keysOrValues(Lowering &l, Value operand) {
  std::optional<CacheLayout> cache = cacheLayoutOf(operand);
  return cache ? cachePart(l, *cache) : l.pointer(operand);
}

/// An append writes after the rows that its result has next to the new ones; a store from row 0.
FailureOr<CacheWrite> heddle::loops::cacheWrite(Lowering &l, Operation *op) {
  std::optional<CacheLayout> layout = cacheLayoutOf(op);
  auto append = dyn_cast<model::AppendOp>(op);
  Value written = append ? append.getRows() : cast<model::StoreOp>(op).getValue();
  auto rows = cast<ModelTensorType>(written.getType());
  if (!layout || rows.getRank() != 3)
    return op->emitOpError("needs a state [.., batch, rows, heads * width] for its cache layout");
  l.b.setLoc(op->getLoc());
  Value part = cachePart(l, *layout), source = l.pointer(written);
  Length fresh = l.size(rows.getSize(1)), past = l.number(0);
  if (append)
    past = l.sub(l.size(cast<ModelTensorType>(append.getResult().getType()).getSize(1)), fresh);
  Value room = l.size(layout->room * Size(layout->words));
  Length batch = l.size(rows.getSize(0));
  Value slots, starts;
  if (append && append.getSlots()) {
    slots = l.pointer(append.getSlots());
    starts = l.pointer(append.getStarts());
  }
  return CacheWrite{*layout, part, source, batch, fresh, past, room, slots, starts};
}

/// Element `at` of an i64 tensor.
static Value placeAt(Lowering &l, Value places, Value at) {
  Type i64 = l.b.getI64Type();
  return l.toIndex(l.load(i64, l.at(places, at, i64)));
}

Value CacheWrite::elementOf(Lowering &l, Value element) const { return slots ? placeAt(l, slots, element) : element; }
Value CacheWrite::pastOf(Lowering &l, Value element) const { return starts ? placeAt(l, starts, element) : past; }

/// Without a ring the place is the key. With one it is key mod ring, and once more one ring further on, if that is
/// within the room.
void CacheWrite::places(Lowering &l, Value key, function_ref<void(Value)> body) const {
  if (!layout.ring)
    return body(key);
  Value place = l.rem(key, l.constant(layout.ring)), twin = l.add(place, layout.ring);
  l.Code::loop(place, l.min({l.add(twin, 1), l.size(layout.room)}), layout.ring, body);
}
