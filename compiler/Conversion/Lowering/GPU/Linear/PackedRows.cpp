//===- PackedRows.cpp - rows of keys and values as attention reads them ---===//
//
// Keys are in panels (of pairs in groups of four words), values in rows (AttentionShape.h). What an append or a store
// brings goes into a cache; what an attention finds as rows of a tensor goes into its scratch, in the same way.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/GPU/Linear/PackedRows.h"
#include "compiler/Conversion/Lowering/Language/Halves.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::plan;
using model::Size;

static constexpr int64_t kGroup = 4; ///< words

bool heddle::loops::keysInGroups(Lowering &l, int64_t words) {
  return model::arithmeticOf(l.function).dots && words % kGroup == 0;
}

Value heddle::loops::wordOfKey(Lowering &l, int64_t words, Value place, Value word) {
  Value panel = l.mul(l.div(place, l.constant(kPanel)), words), key = l.rem(place, l.constant(kPanel));
  if (!keysInGroups(l, words))
    return l.add(l.mul(l.add(panel, word), kPanel), key);
  Value inside = l.rem(word, l.constant(kGroup)), before = l.mul(l.add(panel, l.sub(word, inside)), kPanel);
  return l.add({before, l.add(l.mul(key, kGroup), inside)});
}

/// One row of one head, from `source` (f32) to row `at` after `base`.
static void writeRow(Lowering &l, const CacheLayout &layout, Value source, Value base, Value at) {
  bool halves = layout.stored != model::Stored::f32;
  int64_t w = layout.width, words = layout.words;
  l.elements(l.constant(halves ? (w + 1) / 2 : w), [&](Value word) {
    Value index = layout.keys ? wordOfKey(l, words, at, word) : l.add(l.mul(at, words), word);
    Value place = l.at(base, index, l.f32());
    if (!halves)
      return l.store(l.loadF32(source, word), place);
    Value even = l.mul(word, 2), odd = l.add(even, 1), there = l.less(odd, l.constant(w));
    Value first = l.loadF32(source, even), second = l.loadF32(source, l.select(there, odd, even));
    l.store(pairWord(l, layout.stored, first, l.select(there, second, l.real(0.0))), place);
  });
}

void heddle::loops::emitPackedRows(Lowering &l, Location loc, const CacheWrite &write) {
  const CacheLayout &layout = write.layout;
  Length fresh = write.fresh;
  int64_t w = layout.width, heads = layout.heads, classes = layout.classes;
  l.parallelFor(loc, l.mul(l.mul(write.batch, heads), fresh), [&](Value item) {
    Value row = l.rem(item, fresh), outer = l.div(item, fresh);
    Value head = l.rem(outer, l.constant(heads)), batch = l.div(outer, l.constant(heads));
    Value from = l.at(write.source, l.mul(l.add(l.mul(l.add(l.mul(batch, fresh), row), heads), head), w), l.f32());
    Value position = l.add(write.past, row), number = l.rem(position, l.constant(classes)),
          at = l.div(position, l.constant(classes));
    Value base = l.at(write.part, l.mul(l.add(l.mul(outer, classes), number), write.room), l.f32());
    write.places(l, at, [&](Value place) { writeRow(l, layout, from, base, place); });
  });
}

Value heddle::loops::packOperand(Lowering &l, const AttentionShape &plan, bool keys, Value rows) {
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
  Length elements = plan.sharedKeys ? l.number(1) : l.size(plan.batch);
  CacheWrite write{
      layout, part, rows, elements, l.size(plan.keys), l.number(0), l.size(layout.room * Size(layout.words))};
  emitPackedRows(l, plan.op.getLoc(), write);
  return part;
}
