//===- AttentionPlan.cpp - shapes, tensors and scratch of an attention ----===//

#include "compiler/Conversion/Lowering/Facts/AttentionPlan.h"
#include "compiler/Conversion/Lowering/CPU/CPUPlan.h"
#include "compiler/Conversion/Lowering/CPU/Linear/MatrixTiles.h"
#include "compiler/Conversion/Lowering/Facts/KeptRows.h"
#include "compiler/Plan/CacheLayout.h"
#include "compiler/Plan/KeyClasses.h"
#include "dialects/Attn/IR/AttnPlanAttrs.h"
#include "dialects/Model/IR/ReservedDims.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::plan;
using model::ModelTensorType;
using model::Size;

static ModelTensorType typeOf(Value v) { return cast<ModelTensorType>(v.getType()); }
static constexpr int64_t kLeastRows = 8;  ///< rows that are computed at once
static constexpr int64_t kMostKeys = 256; ///< code of a whole tile is unrolled over its vectors

static int64_t up16(int64_t n) { return (n + 15) / 16 * 16; }
static Size ceilDiv(const Size &n, int64_t d) { return (n + Size(d - 1)).floorDiv(Size(d)); }

static bool biasKnowsHeads(Value bias) {
  Operation *op = bias.getDefiningOp();
  if (isa<attn::RelativeDotOp>(op))
    return true;
  if (auto dense = dyn_cast<attn::DenseBiasOp>(op)) {
    ModelTensorType t = typeOf(dense.getTensor());
    return t.getRank() == 4 && !t.getSize(1).is(1);
  }
  return false;
}

/// Collects the leaves of a bias, each once.
static void biasLeaves(Value bias, SmallVectorImpl<Operation *> &leaves) {
  Operation *op = bias.getDefiningOp();
  if (!isa<attn::BiasAddOp, attn::BiasScaleOp>(op)) {
    if (!llvm::is_contained(leaves, op))
      leaves.push_back(op);
    return;
  }
  for (Value operand : op->getOperands())
    biasLeaves(operand, leaves);
}

/// The leaves of the attention's bias.
static SmallVector<Operation *> leavesOf(attn::SdpaOp op) {
  SmallVector<Operation *> leaves;
  if (op.getBias())
    biasLeaves(op.getBias(), leaves);
  return leaves;
}

/// Whether query heads that share a key head have different masks or biases.
static bool isHeadAware(attn::SdpaOp op) {
  auto root = op.getMask() ? op.getMask().getDefiningOp<mask::MaskOpInterface>() : mask::MaskOpInterface();
  return (root && (root.dependsOn() & mask::Head)) ||
         llvm::any_of(leavesOf(op), [](Operation *leaf) { return biasKnowsHeads(leaf->getResult(0)); });
}

/// Whether values may be stored in pairs: the tiles of all batch elements begin at key 0, and no other op reads them.
static bool mayPair(attn::SdpaOp op) {
  return model::attentionArithmeticOf(op).dots && !cacheLayoutOf(op.getValue()) &&
         (!op.getMask() || mask::leadingKeys(op.getMask()).empty()) && op.getMaskedRows() != attn::MaskedRows::mean;
}

attn::ScheduleAttr heddle::loops::usualTiles(attn::SdpaOp op) {
  int64_t packed = isHeadAware(op) ? 1 : int64_t(op.getHeads()) / int64_t(op.getKvHeads());
  return attn::ScheduleAttr::get(op.getContext(), kRowTile, kKeyTile, kPanel, packed, keyClasses(op), mayPair(op),
                                 /*tiled=*/false);
}

std::string heddle::loops::refuseTiles(attn::SdpaOp op) {
  attn::ScheduleAttr tiles = attn::scheduleOf(op);
  if (!tiles)
    return "has no tiles; the pass model-plan-schedules gives it some";
  if (tiles.getTiled())
    return "has a program of tiles that threads share, which this target has not";
  if (tiles.getRows() < kLeastRows)
    return "has work items of " + std::to_string(tiles.getRows()) + " rows, but rows are computed " +
           std::to_string(kLeastRows) + " at once";
  if (tiles.getPanel() != kPanel)
    return "has panels of " + std::to_string(tiles.getPanel()) + " keys; loops are made of " + std::to_string(kPanel);
  if (tiles.getKeys() < kPanelsAtOnce * kPanel || tiles.getKeys() > kMostKeys)
    return "has tiles of " + std::to_string(tiles.getKeys()) + " keys; they have " +
           std::to_string(kPanelsAtOnce * kPanel) + " to " + std::to_string(kMostKeys);
  if (tiles.getClasses() > 1 &&
      tiles.getKeys() < 2 * kPanelsAtOnce * kPanel) // a class has room for whole halves of tiles
    return "has tiles of " + std::to_string(tiles.getKeys()) + " keys; in classes they have " +
           std::to_string(2 * kPanelsAtOnce * kPanel) + " or more";
  if (tiles.getRows() < kRowTile &&
      llvm::any_of(leavesOf(op), [](Operation *leaf) { return isa<attn::RelativeDotOp>(leaf); }))
    return "has work items of " + std::to_string(tiles.getRows()) + " rows; with a relative_dot they have " +
           std::to_string(kRowTile) + " or more";
  if (tiles.getPacked() != 1 && tiles.getPacked() != usualTiles(op).getPacked())
    return "has " + std::to_string(tiles.getPacked()) + " query heads together; it may have 1 or " +
           std::to_string(usualTiles(op).getPacked());
  if (tiles.getClasses() != 1 && tiles.getClasses() != keyClasses(op))
    return "falls into " + std::to_string(tiles.getClasses()) + " classes; its mask allows 1 or " +
           std::to_string(keyClasses(op));
  if (tiles.getPaired() && !mayPair(op))
    return "has paired values, which need products of pairs, all tiles at key 0 and no cache";
  for (Value rows : {Value(op.getKey()), Value(op.getValue())})
    if (std::optional<CacheLayout> cache = cacheLayoutOf(rows)) {
      attn::CacheAttr mark = attn::cacheOf(rows.getDefiningOp());
      if (mark.getBlock() != tiles.getKeys() || mark.getPanel() != tiles.getPanel() ||
          mark.getClasses() != tiles.getClasses())
        return "reads a cache with blocks of " + std::to_string(mark.getBlock()) + " rows, panels of " +
               std::to_string(mark.getPanel()) + " and " + std::to_string(mark.getClasses()) +
               " classes, but has others";
      if (cache->heads != int64_t(op.getKvHeads()) || cache->keys != (rows == op.getKey()) ||
          cache->stored != model::attentionArithmeticOf(op).stored)
        return "reads a cache that is not laid out for it";
    }
  return "";
}

/// The buckets of distances j - i from -reach to reach; beyond it they are constant.
static AttentionPlan::Lookup lookupOf(attn::BucketBiasOp op, int64_t step) {
  int64_t buckets = *typeOf(op.getTable()).getSize(0).constant(), far = op.getMaxDistance(), d = far;
  auto bucket = [&](int64_t at) { return attn::bucketOf(at, buckets, far, op.getTwoSided()); };
  while (d > 1 && bucket(d - 1) == bucket(far) && bucket(1 - d) == bucket(-far))
    --d;
  AttentionPlan::Lookup lookup;
  lookup.reach = (d + step - 1) / step;
  for (int64_t n = -lookup.reach; n <= lookup.reach; ++n)
    lookup.entries.push_back(bucket(n * step));
  return lookup;
}

/// DeBERTa's buckets of i - j, up to where they leave a table of `rows` rows on either side.
static AttentionPlan::Lookup lookupOf(attn::RelativeDotOp op, int64_t step) {
  AttentionPlan::Lookup lookup;
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

AttentionPlan::AttentionPlan(attn::SdpaOp op) : op(op), arithmetic(model::attentionArithmeticOf(op)) {
  ModelTensorType q = typeOf(op.getQuery()), k = typeOf(op.getKey()), v = typeOf(op.getValue());
  heads = op.getHeads();
  kvHeads = op.getKvHeads();
  batch = q.getSize(0);
  rows = q.getSize(1);
  keys = k.getSize(1);
  past = Size::parse(op.getPast()).value_or(Size(0));
  keyStart = Size::parse(op.getKeyStart()).value_or(Size(0));
  width = q.getSize(2).exactDiv(Size(heads))->constant().value_or(0);
  valueWidth = v.getSize(2).exactDiv(Size(kvHeads))->constant().value_or(0);
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
    biasLeaves(bias, biases);
  }
  if (op.getSinks())
    sinks = addTensor(op.getSinks());
  packed = tiles.getPacked();

  int64_t at = 0;
  auto reserve = [&](int64_t floats) {
    int64_t here = at;
    at += up16(floats);
    return here;
  };
  atQuery = reserve(rowTile * queryWords());
  atScores = reserve(rowTile * scoreStride());
  atOutput = reserve(rowTile * up16(valueWidth));
  atSum = reserve(rowTile * 16);
  atScale = reserve(rowTile);
  atMax = reserve(rowTile);
  atBounds = reserve(rowTile);
  atCounts = counted ? reserve(rowTile * scoreStride()) : 0;
  matrix = arithmetic.dots && MatrixTiles::has(op, "amx-bf16") && width % (2 * MatrixTiles::words) == 0 &&
           valueWidth % MatrixTiles::results == 0 && rowTile % MatrixTiles::rows == 0 && keyTile % 64 == 0;
  atPairs = matrix || (arithmetic.dots && !paired) ? reserve(keyTile / 2 * pairStride()) : 0;
  for (Operation *bias : biases) {
    int64_t floats = 0;
    lookups.emplace_back();
    if (auto bucket = dyn_cast<attn::BucketBiasOp>(bias)) {
      lookups.back() = lookupOf(bucket, classes);
      floats = packed * tableStride(lookups.back().reach);
    } else if (auto dot = dyn_cast<attn::RelativeDotOp>(bias)) {
      lookups.back() = lookupOf(dot, classes);
      ModelTensorType x = typeOf(dot.getX());
      std::optional<Size> w = x.getSize(2).exactDiv(Size(int64_t(dot.getHeads())));
      floats = relativeFloats(*this, w && w->constant() ? *w->constant() : 0, dot.getKeySide());
    }
    atBias.push_back(reserve(floats));
  }
  at = std::max(at, atScores + (rowTile + 1) * scoreStride()); // a row of scores is read after the last one
  threadFloats = at + 16;                                      // areas of two threads never share a cache line

  auto root = mask ? mask.getDefiningOp<mask::MaskOpInterface>() : mask::MaskOpInterface();
  rings = keyRing || valueRing || (root && root.reach().behind);
  Size there = slotted ? Size::dim(model::kPastDim) : Size(0); // in the longest text
  lengths = {rows,        keys - there, past - there, keyStart,    keyRoom,    valueRoom,
             rowBlocks(), keyBlocks(),  atValues(),   atAnchors(), atThreads()}; // in the order of Role
  if (rings)
    for (int64_t ring : {keyRing, valueRing})
      lengths.push_back(Size(ring ? ring : kNoRing));
  for (Operation *bias : biases)
    if (auto dot = dyn_cast<attn::RelativeDotOp>(bias))
      lengths.push_back(Size::parse(dot.getZero()).value_or(Size(0)));
  for (auto [tensor, axis] : axes)
    lengths.push_back(typeOf(tensor).getSize(axis));
}

std::optional<int64_t> AttentionPlan::numberOf(Role role) const {
  std::optional<int64_t> count = rows.constant();
  if ((role != Role::Rows && role != Role::RowBlocks) || !count || *count >= kLeastRows)
    return std::nullopt;
  return lengths[indexOf(role)].constant();
}

size_t AttentionPlan::indexOf(attn::RelativeDotOp bias) const {
  const auto *at = llvm::find(biases, bias.getOperation());
  return size_t(Role::KeyRing) + (rings ? 2 : 0) +
         std::count_if(biases.begin(), at, llvm::IsaPred<attn::RelativeDotOp>);
}

size_t AttentionPlan::indexOf(Value tensor, int64_t axis) const {
  const auto *at = llvm::find(axes, std::pair(tensor, axis));
  assert(at != axes.end() && "the plan notes every tensor");
  return lengths.size() - size_t(axes.end() - at);
}

Value AttentionPlan::addTensor(Value source) {
  Value tensor = own->addArgument(source.getType(), source.getLoc());
  sources.push_back(source);
  for (auto [axis, n] : llvm::enumerate(typeOf(tensor).getSizes()))
    if (!n.constant())
      axes.push_back({tensor, int64_t(axis)});
  return tensor;
}

/// `made` has the copies so far: what an attention says twice stays one.
Value AttentionPlan::copyOf(Value value, llvm::DenseMap<Value, Value> &made) {
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

Size AttentionPlan::rowBlocks() const { return ceilDiv(ceilDiv(rows, classes) * Size(packed), rowTile); }
Size AttentionPlan::keyBlocks() const { return ceilDiv(ceilDiv(keys, classes), keyTile); }

Size AttentionPlan::atValues() const {
  Size elements = sharedKeys ? Size(1) : batch;
  return keySource == Source::Cache ? Size(0) : elements * Size(kvHeads * classes * keyWords()) * keyRoom;
}
Size AttentionPlan::atAnchors() const {
  Size elements = sharedKeys ? Size(1) : batch;
  return atValues() +
         (valueSource == Source::Cache ? Size(0) : elements * Size(kvHeads * classes * valueWords()) * valueRoom);
}
Size AttentionPlan::atThreads() const {
  // anchors are i64; 16 floats a batch element keep the areas after them aligned
  return atAnchors() + (leading.empty() ? Size(0) : batch * Size(16));
}
Size AttentionPlan::scratchBytes() const {
  return (atThreads() + Size::dim(model::kThreadsDim) * Size(threadFloats)) * Size(4);
}

//===-- the text -------------------------------------------------------------------===//

/// The properties of an op but the lengths among them, which are arguments.
static Attribute propertiesOf(Operation *op) {
  NamedAttrList properties(dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute()));
  for (StringRef length : {"past", "key_start", "zero"})
    properties.erase(length);
  return properties.getDictionary(op->getContext());
}

/// Axes that are numbers stand as they are: code is made for them (an axis of 1 is not read along).
static void write(llvm::raw_ostream &os, Value value) {
  Operation *op = value.getDefiningOp();
  if (!op) {
    os << 't' << cast<BlockArgument>(value).getArgNumber() << typeOf(value).getElementType() << '[';
    for (const Size &n : typeOf(value).getSizes())
      os << (n.constant() ? n.str() : "?") << ',';
    os << "],";
    return;
  }
  os << op->getName() << propertiesOf(op) << '(';
  for (Value operand : op->getOperands())
    write(os, operand);
  os << "),";
}

std::string AttentionPlan::text() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << propertiesOf(op) << ' ' << int(arithmetic.stored) << arithmetic.dots << ' ' << width << ' ' << valueWidth << ' '
     << sharedKeys << ' ' << numberOf(Role::Rows).value_or(0) << rings << (slotted ? "slotted" : "")
     << attn::scheduleOf(op);
  for (Value part : {mask, bias, sinks})
    if (part)
      write(os, part);
    else
      os << "none,";
  if (std::optional<KeptRows> kept = keptRows(op->getResult(0)))
    os << "rounded " << kept->pitch;
  return text;
}
