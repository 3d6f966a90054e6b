//===- KernelShape.cpp - what one attention kernel is made for ------------===//

#include "compiler/Conversion/Lowering/CPU/Attention/KernelShape.h"
#include "compiler/Conversion/Lowering/CPU/Linear/KeptRows.h"
#include "compiler/Conversion/Lowering/CPU/Linear/MatrixTiles.h"
#include "dialects/Attn/IR/AttnPlanAttrs.h"
#include "dialects/Model/IR/ReservedDims.h"
#include "dialects/Model/IR/TensorType.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using model::Size;
using model::typeOf;

static int64_t up16(int64_t n) { return (n + 15) / 16 * 16; }

KernelShape::KernelShape(attn::SdpaOp op) : AttentionShape(op) {
  for (Value tensor : tensors())
    for (auto [axis, n] : llvm::enumerate(typeOf(tensor).getSizes()))
      if (!n.constant())
        axes.push_back({tensor, int64_t(axis)});
  layOutArea();
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

void KernelShape::layOutArea() {
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
  for (auto [leaf, lookup] : llvm::zip_equal(biases, lookups)) {
    int64_t floats = 0;
    if (isa<attn::BucketBiasOp>(leaf))
      floats = packed * tableStride(lookup.reach);
    else if (auto dot = dyn_cast<attn::RelativeDotOp>(leaf))
      floats = relativeFloats(*this, headWidth(dot.getX(), dot.getHeads()), dot.getKeySide());
    atBias.push_back(reserve(floats));
  }
  at = std::max(at, atScores + (rowTile + 1) * scoreStride()); // a row of scores is read after the last one
  threadFloats = at + 16;                                      // areas of two threads never share a cache line
}

std::optional<int64_t> KernelShape::numberOf(Role role) const {
  std::optional<int64_t> count = rows.constant();
  if ((role != Role::Rows && role != Role::RowBlocks) || !count || *count >= kLeastRows)
    return std::nullopt;
  return lengths[indexOf(role)].constant();
}

size_t KernelShape::indexOf(attn::RelativeDotOp bias) const {
  const auto *at = llvm::find(biases, bias.getOperation());
  return size_t(Role::KeyRing) + (rings ? 2 : 0) +
         std::count_if(biases.begin(), at, llvm::IsaPred<attn::RelativeDotOp>);
}

size_t KernelShape::indexOf(Value tensor, int64_t axis) const {
  const auto *at = llvm::find(axes, std::pair(tensor, axis));
  assert(at != axes.end() && "the shape notes every tensor");
  return lengths.size() - size_t(axes.end() - at);
}

Size KernelShape::atThreads() const {
  // anchors are i64; 16 floats a batch element keep the areas after them aligned
  return atAnchors() + (leading.empty() ? Size(0) : batch * Size(16));
}
Size KernelShape::scratchBytes() const {
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

/// Axes that are numbers keep their numbers: code is made for them (an axis of 1 is not read along).
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

std::string KernelShape::text() const {
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
