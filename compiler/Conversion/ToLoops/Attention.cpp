//===- Attention.cpp - attention as calls of kernels ----------------------===//
//
// Phases, a barrier between them: rows of keys and values are packed (not where a cache
// holds them already), the beginnings of the batch elements are found, then every thread
// takes its share of (batch element, key head, block of rows).
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ToLoops/AttentionKernel.h"
#include "compiler/Plan/CacheLayout.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::plan;
using model::ModelTensorType;
using model::Size;

Size heddle::loops::attentionScratchBytes(attn::SdpaOp op) { return AttentionPlan(op).scratchBytes(); }

/// Indices are the loop variables of repeats, or constants of the description.
static Value indexValue(Lowering &l, Value index) {
  APInt constant;
  return matchPattern(index, m_ConstantInt(&constant)) ? l.constant(constant.getSExtValue()) : l.pointer(index);
}

/// The part of a state with a cache layout that belongs to one iteration.
static Value cachePart(Lowering &l, const CacheLayout &layout) {
  auto state = cast<model::StateType>(layout.state.getType());
  int64_t skipped = layout.indices.size();
  Value part = l.constant(0);
  for (auto [i, index] : llvm::enumerate(layout.indices))
    part = l.add(l.mul(part, l.size(state.getSize(i))), indexValue(l, index));
  Size perIteration = layout.element * Size(layout.heads);
  for (int64_t i = skipped; i < state.getRank() - 2; ++i)
    perIteration = perIteration * state.getSize(i);
  return l.at(l.pointer(layout.state), l.mul(part, l.size(perIteration)), l.f32());
}

LogicalResult heddle::loops::lowerAttention(Lowering &l, attn::SdpaOp op) {
  AttentionPlan plan(op);
  Location loc = op.getLoc();
  MLIRContext *ctx = op.getContext();
  Value result = l.allocatePointer(op->getResult(0)), scratch = l.scratchPointer(op);

  auto source = [&](Value operand) {
    std::optional<CacheLayout> cache = cacheLayoutOf(operand);
    return cache ? cachePart(l, *cache) : l.pointer(operand);
  };
  Value key = source(op.getKey()), value = source(op.getValue());
  std::string name = "heddle_attention_" + llvm::utohexstr(llvm::xxh3_64bits(plan.text()), true);
  auto call = [&](StringRef suffix, Value key, Value value, Value items, auto build) {
    auto kernel = l.kernel(loc, name + suffix.str(), AttentionKernel::typeOf(plan, ctx), [&](OpBuilder &b, Block *block) {
      AttentionKernel k(plan, l.machine, b, loc);
      build(k, block);
    });
    Values operands = {l.pointer(op.getQuery()), key, value, result, scratch};
    for (Value t : plan.tensors)
      operands.push_back(l.pointer(t));
    for (const AttentionPlan::Lookup &lookup : plan.lookups) {
      auto type = RankedTensorType::get({int64_t(lookup.entries.size())}, l.b.getI32Type());
      operands.push_back(lookup.entries.empty()
                             ? Value(LLVM::ZeroOp::create(l.b, l.Code::pointer()))
                             : l.constantArray(DenseElementsAttr::get(type, ArrayRef<int32_t>(lookup.entries))));
    }
    auto [from, to] = l.share(items);
    operands.append({l.tid, from, to});
    for (const Size &n : plan.lengths)
      operands.push_back(l.size(n));
    l.call(kernel, operands);
  };

  l.b.setLoc(loc);
  bool packs = plan.keySource == Source::Rows || plan.valueSource == Source::Rows;
  if (packs) {
    Value elements = plan.sharedKeys ? l.constant(1) : l.size(plan.batch);
    call("_pack", key, value, l.mul(l.mul(elements, plan.kvHeads * plan.classes), l.size(plan.keyBlocks())),
         [](AttentionKernel &k, Block *block) { k.emitPack(block); });
  }
  if (!plan.leading.empty())
    call("_anchors", key, value, l.size(plan.batch), [](AttentionKernel &k, Block *block) { k.emitAnchors(block); });
  if (packs || !plan.leading.empty())
    l.barrier(loc);
  if (plan.keySource == Source::Rows)
    key = l.at(scratch, l.size(plan.atKeys()), l.f32());
  if (plan.valueSource == Source::Rows)
    value = l.at(scratch, l.size(plan.atValues()), l.f32());
  call("", key, value, l.mul(l.mul(l.size(plan.batch), plan.groups() * plan.classes), l.size(plan.rowBlocks())),
       [](AttentionKernel &k, Block *block) { k.emit(block); });
  l.barrier(loc);
  return success();
}

//===-- the cache ------------------------------------------------------------------------===//

/// Rows go where attention reads them: those of an append behind the past ones, those of a store
/// from the first place on.
LogicalResult heddle::loops::lowerCacheWrite(Lowering &l, Operation *op) {
  std::optional<CacheLayout> layout = cacheLayoutOf(op);
  auto append = dyn_cast<model::AppendOp>(op);
  Value written = append ? append.getRows() : cast<model::StoreOp>(op).getValue();
  auto rows = cast<ModelTensorType>(written.getType());
  if (!layout || rows.getRank() != 3)
    return op->emitOpError("needs a state [.., batch, rows, heads * width] for its cache layout");
  Location loc = op->getLoc();
  l.b.setLoc(loc);
  int64_t w = layout->width, words = layout->words, g = layout->heads, stride = g * w;
  Value part = cachePart(l, *layout), source = l.pointer(written);
  Value fresh = l.size(rows.getSize(1)), past = l.constant(0);
  if (append)
    past = l.sub(l.size(cast<ModelTensorType>(append.getResult().getType()).getSize(1)), fresh);
  Value total = l.add(past, fresh);
  Value room = l.size(layout->room * Size(words));
  // Items are (batch element, head, class, panel of 16 keys). A class may have a panel less than another.
  int64_t classes = layout->classes;
  auto countBelow = [&](Value position, Value number) { // keys of a class that stand before a position
    return l.div(l.sub(l.add(position, classes - 1), number), l.constant(classes));
  };
  Value none = l.constant(0), firstPanel = l.div(countBelow(past, l.constant(classes - 1)), l.constant(kPanel));
  Value lastPanel = l.div(l.add(countBelow(total, none), kPanel - 1), l.constant(kPanel));
  Value panels = l.sub(lastPanel, firstPanel);
  l.parallelFor(loc, l.mul(l.mul(l.size(rows.getSize(0)), g * classes), panels), [&](Value item) {
    Value outer = l.div(item, panels), first = l.mul(l.add(firstPanel, l.rem(item, panels)), kPanel);
    Value number = l.rem(outer, l.constant(classes)), heads = l.div(outer, l.constant(classes));
    Value head = l.rem(heads, l.constant(g)), batch = l.div(heads, l.constant(g));
    Value from = l.at(source, l.add(l.mul(l.mul(batch, fresh), stride), l.mul(head, w)), l.f32());
    Value base = l.at(part, l.mul(outer, room), l.f32());
    Value begin = l.max(first, countBelow(past, number)), end = l.min(l.add(first, kPanel), countBelow(total, number));
    auto rowAt = [&](Value k) { return l.at(from, l.mul(l.sub(l.add(l.mul(k, classes), number), past), stride), l.f32()); };
    // `target` is the place of the class's key `first`.
    auto write = [&](Value target) {
      if (!layout->keys) {
        l.Code::loop(begin, end, 1, [&](Value k) {
          packValue(l, layout->stored, rowAt(k), w, l.at(target, l.mul(l.sub(k, first), words), l.f32()));
        });
        return;
      }
      l.when(l.equal(l.sub(end, begin), l.constant(kPanel)), [&] {
        packPanel(l, layout->stored, rowAt(first), classes * stride, w, target, l.constant(kPanel));
      }, [&] {
        l.Code::loop(begin, end, 1, [&](Value k) { packKey(l, layout->stored, rowAt(k), w, target, l.sub(k, first)); });
      });
    };
    if (!layout->ring) {
      write(l.at(base, l.mul(first, words), l.f32()));
      return;
    }
    // What stands in the first block of a ring stands behind the last one too, where there is room.
    Value place = l.rem(first, l.constant(layout->ring)), twin = l.add(place, layout->ring);
    l.Code::loop(place, l.min(l.add(twin, 1), l.size(layout->room)), layout->ring,
                 [&](Value at) { write(l.at(base, l.mul(at, words), l.f32())); });
  });
  l.barrier(loc);
  return success();
}
