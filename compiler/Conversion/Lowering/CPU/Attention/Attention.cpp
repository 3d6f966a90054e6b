//===- Attention.cpp - attention as calls of kernels ----------------------===//
//
// Phases, a barrier between them: rows of keys and values are packed (not where a cache
// holds them already), the beginnings of the batch elements are found, then every thread
// takes its share of (batch element, key head, block of rows).
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/CPU/Attention/AttentionKernel.h"
#include "compiler/Conversion/Lowering/CPU/Attention/AttentionStored.h"
#include "compiler/Conversion/Lowering/CPU/Linear/LinearKernel.h"
#include "compiler/Conversion/Lowering/CPU/RegisterPrograms.h"
#include "compiler/Conversion/Lowering/Ops/CachePart.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::plan;
using model::ModelTensorType;
using model::Size;

/// Of the phase that packs rows: they are read once and written once.
static Cost bytesOfPacking(const KernelShape &plan) {
  attn::SdpaOp op = plan.op;
  Cost cost{"sdpa", 0, false, 0, 0};
  for (auto [source, tensor] : {std::pair(plan.keySource, op.getKey()), std::pair(plan.valueSource, op.getValue())})
    if (source == Source::Rows)
      cost.read = cost.read + bytesWhereItLies(tensor);
  cost.written = cost.read;
  return cost;
}

/// Why the kernel cannot find the texts of the batch elements in their slots; empty: it can, or there are none.
static std::string refuseSlots(attn::SdpaOp op) {
  auto key = op.getKey().getDefiningOp<model::AppendOp>(), value = op.getValue().getDefiningOp<model::AppendOp>();
  if (!op.getStarts())
    return (key && key.getSlots()) || (value && value.getSlots()) ? "reads rows of slots, but has no starts" : "";
  bool caches = key && value && cacheLayoutOf(op.getKey()) && cacheLayoutOf(op.getValue());
  if (!caches || !key.getSlots() || key.getSlots() != value.getSlots() || key.getStarts() != op.getStarts() ||
      value.getStarts() != op.getStarts())
    return "has starts, so its keys and values are caches with the same slots and starts";
  return "";
}

static LogicalResult lowerAttention(Lowering &l, attn::SdpaOp op) {
  KernelShape plan(op);
  Location loc = op.getLoc();
  if (std::string why = refuseSlots(op); !why.empty())
    return op.emitOpError(why);
  MLIRContext *ctx = op.getContext();
  Value result = l.allocatePointer(op->getResult(0)), scratch = l.scratchPointer(op);

  Value key = keysOrValues(l, op.getKey()), value = keysOrValues(l, op.getValue());
  std::string name = "heddle_attention_" + llvm::utohexstr(llvm::xxh3_64bits(plan.text()), true);
  auto call = [&](StringRef suffix, Value key, Value value, const Length &items, void (*build)(AttentionCode)) {
    auto kernel = l.kernel(loc, name + suffix.str(), AttentionArguments::typeOf(plan, ctx), [&](Code &c, Block *block) {
      AttentionArguments args(plan, block);
      build(AttentionCode(c, plan, l.machine, args));
    });
    Values operands = {l.pointer(op.getQuery()), key, value, result, scratch};
    for (Value t : plan.tensors())
      operands.push_back(l.pointer(plan.sourceOf(t)));
    for (const KernelShape::Lookup &lookup : plan.lookups) {
      auto type = RankedTensorType::get({int64_t(lookup.entries.size())}, l.b.getI32Type());
      operands.push_back(lookup.entries.empty()
                             ? Value(LLVM::ZeroOp::create(l.b, l.Code::pointer()))
                             : l.constantArray(DenseElementsAttr::get(type, ArrayRef<int32_t>(lookup.entries))));
    }
    Values lengths;
    for (const Size &n : plan.lengths)
      lengths.push_back(l.size(n));
    if (plan.slotted)
      operands.append({l.pointer(op.getKey().getDefiningOp<model::AppendOp>().getSlots()), l.pointer(op.getStarts())});
    l.forStretches(loc, items, items, [&](Value from, Value to) {
      Values mine = operands;
      mine.append({l.tid, from, to});
      mine.append(lengths);
      l.call(kernel, mine);
    });
  };

  l.b.setLoc(loc);
  bool packs = plan.keySource == Source::Rows || plan.valueSource == Source::Rows;
  if (packs) {
    bool one = plan.keySource != plan.valueSource; // of the two
    std::string suffix = !one ? "_pack" : plan.keySource == Source::Rows ? "_pack_keys" : "_pack_values";
    Length elements = plan.sharedKeys ? l.number(1) : l.size(plan.batch);
    Length heads = l.mul(elements, plan.kvHeads * plan.classes), blocks = l.size(plan.keyBlocks());
    call(suffix, key, value, l.mul(heads, blocks), emitPack);
  }
  if (!plan.leading.empty())
    call("_anchors", key, value, l.size(plan.batch), emitAnchors);
  if (packs || !plan.leading.empty()) {
    l.noteCost([&] { return bytesOfPacking(plan); });
    l.barrier(loc);
  }
  if (plan.keySource == Source::Rows)
    key = l.at(scratch, l.size(plan.atKeys()), l.f32());
  if (plan.valueSource == Source::Rows)
    value = l.at(scratch, l.size(plan.atValues()), l.f32());
  Length groups = l.mul(l.size(plan.batch), plan.groups() * plan.classes), blocks = l.size(plan.rowBlocks());
  call("", key, value, l.mul(groups, blocks), emitAttention);
  l.noteCost([&] { return costOf(op); });
  l.barrier(loc);
  return success();
}

//===-- the cache ------------------------------------------------------------------------===//

static LogicalResult lowerCacheWrite(Lowering &l, Operation *op) {
  FailureOr<CacheWrite> write = cacheWrite(l, op);
  if (failed(write))
    return failure();
  Location loc = op->getLoc();
  const CacheLayout &layout = write->layout;
  Length fresh = write->fresh;
  int64_t w = layout.width, words = layout.words, g = layout.heads, stride = g * w;
  // Items are (batch element, head, class, panel of 16 keys). A class may have a panel less than another.
  int64_t classes = layout.classes;
  auto countBelow = [&](auto position, auto number) { // keys of a class that are before a position
    return l.div(l.sub(l.add(position, classes - 1), number), l.number(classes));
  };
  auto firstPanelOf = [&](auto past) { return l.div(countBelow(past, l.number(classes - 1)), l.number(kPanel)); };
  Length none = l.number(0), panels;
  if (write->starts) { // as many as new rows may touch, wherever they begin; of some texts the last one is empty
    panels = l.div(l.add(countBelow(fresh, none), 2 * kPanel - 2 + (classes > 1)), kPanel);
  } else {
    Length lastPanel = l.parts(countBelow(l.add(write->past, fresh), none), kPanel);
    panels = l.sub(lastPanel, firstPanelOf(write->past));
  }
  l.parallelFor(loc, l.mul(l.mul(write->batch, g * classes), panels), [&](Value item) {
    Value outer = l.div(item, panels);
    Value number = l.rem(outer, l.constant(classes)), heads = l.div(outer, l.constant(classes));
    Value head = l.rem(heads, l.constant(g)), batch = l.div(heads, l.constant(g));
    Value past = write->pastOf(l, batch), total = l.add(past, fresh);
    Value first = l.mul(l.add({firstPanelOf(past), l.rem(item, panels)}), kPanel);
    Value from = l.at(write->source, l.add({l.mul(l.mul(batch, fresh), stride), l.mul(head, w)}), l.f32());
    if (write->slots)
      outer = l.add({l.mul(l.add({l.mul(write->elementOf(l, batch), g), head}), classes), number});
    Value base = l.at(write->part, l.mul(outer, write->room), l.f32());
    Value begin = l.max(first, countBelow(past, number)),
          end = l.min({l.add(first, kPanel), countBelow(total, number)});
    auto rowAt = [&](Value k) {
      return l.at(from, l.mul(l.sub(l.add(l.mul(k, classes), number), past), stride), l.f32());
    };
    // `target` is the place of the class's key `first`.
    auto writePanel = [&](Value target) {
      if (!layout.keys) {
        l.Code::loop(begin, end, 1, [&](Value k) {
          Value row = rowAt(k), to = l.at(target, l.mul(l.sub(k, first), words), l.f32());
          packValue(l, layout.stored, row, w, to);
        });
        return;
      }
      l.when(
          l.equal(l.sub(end, begin), l.constant(kPanel)),
          [&] { packPanel(l, layout.stored, rowAt(first), classes * stride, w, target, l.constant(kPanel)); },
          [&] {
            l.Code::loop(begin, end, 1, [&](Value k) {
              Value row = rowAt(k);
              packKey(l, layout.stored, row, w, target, l.sub(k, first));
            });
          });
    };
    write->places(l, first, [&](Value place) { writePanel(l.at(base, l.mul(place, words), l.f32())); });
  });
  l.noteCost([&] { return costOfWrite(op, layout.stored); });
  l.barrier(loc);
  return success();
}

const Programs &heddle::loops::registerPrograms() {
  static constexpr Programs programs{lowerLinear, lowerAttention, lowerCacheWrite, nullptr, keepRows};
  return programs;
}
