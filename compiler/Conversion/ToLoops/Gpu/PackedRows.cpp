//===- PackedRows.cpp - rows of keys and values as attention reads them ---===//
//
// Keys lie in panels, values in rows (AttentionPlan.h). What an append or a store brings goes into a cache; what an
// attention finds as rows of a tensor goes into its scratch, in the same way.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ToLoops/Gpu/PackedRows.h"
#include "compiler/Conversion/ToLoops/Halves.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::plan;
using model::Size;

/// One row of one head, from `source` (f32) to `target`, its place as a key (`layout.keys`: words [w][panel of 16
/// keys], `target` is the key's own word of component 0) or as a value (words [w]).
static void writeRow(Lowering &l, const CacheLayout &layout, Value source, Value target) {
  bool halves = layout.stored != model::Stored::f32;
  int64_t w = layout.width, step = layout.keys ? kPanel : 1;
  l.elements(l.constant(halves ? (w + 1) / 2 : w), [&](Value word) {
    Value place = l.at(target, l.mul(word, step), l.f32());
    if (!halves)
      return l.store(l.loadF32(source, word), place);
    Value even = l.mul(word, 2), odd = l.add(even, 1), there = l.less(odd, l.constant(w));
    Value first = l.loadF32(source, even), second = l.loadF32(source, l.select(there, odd, even));
    l.store(pairWord(l, layout.stored, first, l.select(there, second, l.real(0.0))), place);
  });
}

void heddle::loops::emitPackedRows(Lowering &l, Location loc, const CacheWrite &write) {
  const CacheLayout &layout = write.layout;
  Value fresh = write.fresh;
  int64_t w = layout.width, heads = layout.heads, classes = layout.classes, words = layout.words;
  l.parallelFor(loc, l.mul(l.mul(write.batch, heads), fresh), [&](Value item) {
    Value row = l.rem(item, fresh), outer = l.div(item, fresh);
    Value head = l.rem(outer, l.constant(heads)), batch = l.div(outer, l.constant(heads));
    Value from = l.at(write.source, l.mul(l.add(l.mul(l.add(l.mul(batch, fresh), row), heads), head), w), l.f32());
    Value position = l.add(write.past, row), number = l.rem(position, l.constant(classes)),
          at = l.div(position, l.constant(classes));
    Value base = l.at(write.part, l.mul(l.add(l.mul(outer, classes), number), write.room), l.f32());
    write.places(l, at, [&](Value place) {
      Value word = l.mul(place, words);
      if (layout.keys)
        word = l.add(l.mul(l.div(place, l.constant(kPanel)), words * kPanel), l.rem(place, l.constant(kPanel)));
      writeRow(l, layout, from, l.at(base, word, l.f32()));
    });
  });
}

Value heddle::loops::packOperand(Lowering &l, const AttentionPlan &plan, bool keys, Value rows) {
  CacheLayout layout{.state = {},
                     .indices = OperandRange(static_cast<OpOperand *>(nullptr), 0),
                     .keys = keys,
                     .stored = plan.arithmetic.stored,
                     .heads = plan.kvHeads,
                     .width = keys ? plan.width : plan.valueWidth,
                     .words = keys ? plan.keyWords() : plan.valueWords(),
                     .classes = plan.classes,
                     .room = keys ? plan.keyRoom : plan.valueRoom,
                     .ring = 0,
                     .element = Size(0)};
  Size begin = keys ? plan.atKeys() : plan.atValues();
  Value part = l.at({l.scratchPointer(plan.op), l.size(begin)}, l.f32());
  Value elements = plan.sharedKeys ? l.constant(1) : l.size(plan.batch);
  CacheWrite write{
      layout, part, rows, elements, l.size(plan.keys), l.constant(0), l.size(layout.room * Size(layout.words))};
  emitPackedRows(l, plan.op.getLoc(), write);
  return part;
}
