//===- AttentionShape.cpp - widths, tensors and layouts of an attention ----===//

#include "compiler/Conversion/Lowering/Facts/AttentionShape.h"
#include "compiler/Plan/CacheLayout.h"
#include "compiler/Plan/KeyClasses.h"
#include "dialects/Attn/IR/AttnPlanAttrs.h"
#include "dialects/Model/IR/TensorType.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::plan;
using model::ModelTensorType;
using model::Size;
using model::typeOf;

static Size ceilDiv(const Size &n, int64_t d) { return (n + Size(d - 1)).floorDiv(Size(d)); }

static void collectLeaves(Value bias, SmallVectorImpl<Operation *> &leaves) {
  Operation *op = bias.getDefiningOp();
  if (!isa<attn::BiasAddOp, attn::BiasScaleOp>(op)) {
    if (!llvm::is_contained(leaves, op))
      leaves.push_back(op);
    return;
  }
  for (Value operand : op->getOperands())
    collectLeaves(operand, leaves);
}

SmallVector<Operation *> heddle::loops::biasLeaves(Value bias) {
  SmallVector<Operation *> leaves;
  collectLeaves(bias, leaves);
  return leaves;
}

int64_t heddle::loops::headWidth(Value rows, int64_t heads) {
  std::optional<Size> width = typeOf(rows).getSize(2).exactDiv(Size(heads));
  return width ? width->constant().value_or(0) : 0;
}

/// The buckets of distances j - i from -reach to reach; beyond it they are constant.
static AttentionShape::Lookup lookupOf(attn::BucketBiasOp op, int64_t step) {
  int64_t buckets = *typeOf(op.getTable()).getSize(0).constant(), far = op.getMaxDistance(), d = far;
  auto bucket = [&](int64_t at) { return attn::bucketOf(at, buckets, far, op.getTwoSided()); };
  while (d > 1 && bucket(d - 1) == bucket(far) && bucket(1 - d) == bucket(-far))
    --d;
  AttentionShape::Lookup lookup;
  lookup.reach = (d + step - 1) / step;
  for (int64_t n = -lookup.reach; n <= lookup.reach; ++n)
    lookup.entries.push_back(bucket(n * step));
  return lookup;
}

/// DeBERTa's buckets of i - j, up to where they leave a table of `rows` rows on either side.
static AttentionShape::Lookup lookupOf(attn::RelativeDotOp op, int64_t step) {
  AttentionShape::Lookup lookup;
  if (!op.getBucket())
    return lookup;
  int64_t size = (*op.getBucket())[0], far = (*op.getBucket())[1];
  int64_t rows = typeOf(op.getTable()).getSize(0).constant().value_or(2 * size), d = far;
  while (d < (1 << 16) && attn::logBucketOf(d, size, far) < rows)
    ++d;
  lookup.reach = (d + step - 1) / step;
  for (int64_t n = -lookup.reach; n <= lookup.reach; ++n)
    lookup.entries.push_back(attn::logBucketOf(n * step, size, far));
  return lookup;
}

AttentionShape::AttentionShape(attn::SdpaOp op) : op(op), arithmetic(model::attentionArithmeticOf(op)) {
  ModelTensorType q = typeOf(op.getQuery()), k = typeOf(op.getKey());
  heads = op.getHeads();
  kvHeads = op.getKvHeads();
  batch = q.getSize(0);
  rows = q.getSize(1);
  keys = k.getSize(1);
  past = Size::parse(op.getPast()).value_or(Size(0));
  keyStart = Size::parse(op.getKeyStart()).value_or(Size(0));
  width = headWidth(op.getQuery(), heads);
  valueWidth = headWidth(op.getValue(), kvHeads);
  sharedKeys = k.getSize(0).is(1) && !batch.is(1);
  slotted = bool(op.getStarts());
  std::optional<CacheLayout> keyCache = cacheLayoutOf(op.getKey()), valueCache = cacheLayoutOf(op.getValue());
  keySource = keyCache ? Source::Cache : Source::Rows;
  valueSource = valueCache ? Source::Cache : Source::Rows;
  attn::ScheduleAttr tiles = attn::scheduleOf(op);
  classes = tiles.getClasses();
  rowTile = tiles.getRows();
  keyTile = tiles.getKeys();
  keyRoom = keyCache ? keyCache->room : roomOfClass(keys, classes, keyTile);
  valueRoom = valueCache ? valueCache->room : roomOfClass(keys, classes, keyTile);
  keyRing = keyCache ? keyCache->ring : 0;
  valueRing = valueCache ? valueCache->ring : 0;

  llvm::DenseMap<Value, Value> made;
  if (op.getMask()) {
    mask = copyOf(op.getMask(), made);
    leading = mask::leadingKeys(mask);
  }
  counted = mask && mask::isCounted(mask);
  paired = tiles.getPaired();
  if (op.getBias()) {
    bias = copyOf(op.getBias(), made);
    biases = biasLeaves(bias);
  }
  if (op.getSinks())
    sinks = addTensor(op.getSinks());
  packed = tiles.getPacked();

  for (Operation *leaf : biases) {
    lookups.emplace_back();
    if (auto bucket = dyn_cast<attn::BucketBiasOp>(leaf))
      lookups.back() = lookupOf(bucket, classes);
    else if (auto dot = dyn_cast<attn::RelativeDotOp>(leaf))
      lookups.back() = lookupOf(dot, classes);
  }
}

Value AttentionShape::addTensor(Value source) {
  Value tensor = own->addArgument(source.getType(), source.getLoc());
  sources.push_back(source);
  return tensor;
}

/// `made` has the copies so far: what an attention says twice stays one.
Value AttentionShape::copyOf(Value value, llvm::DenseMap<Value, Value> &made) {
  if (Value known = made.lookup(value))
    return known;
  if (isa<ModelTensorType>(value.getType()))
    return addTensor(value);
  Operation *op = value.getDefiningOp();
  if (!op) // an argument; refused by checkSupport
    return value;
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(copyOf(operand, made));
  Operation *copy = op->clone();
  copy->setOperands(operands);
  own->push_back(copy);
  return made[value] = copy->getResult(0);
}

Size AttentionShape::rowBlocks() const { return ceilDiv(ceilDiv(rows, classes) * Size(packed), rowTile); }
Size AttentionShape::keyBlocks() const { return ceilDiv(ceilDiv(keys, classes), keyTile); }

Size AttentionShape::atValues() const {
  Size elements = sharedKeys ? Size(1) : batch;
  return keySource == Source::Cache ? Size(0) : elements * Size(kvHeads * classes * keyWords()) * keyRoom;
}
Size AttentionShape::atAnchors() const {
  Size elements = sharedKeys ? Size(1) : batch;
  return atValues() +
         (valueSource == Source::Cache ? Size(0) : elements * Size(kvHeads * classes * valueWords()) * valueRoom);
}
