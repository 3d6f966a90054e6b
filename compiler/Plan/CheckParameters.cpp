//===- CheckParameters.cpp - parameters and the blob ----------------------===//
//
// A parameter names bytes of the blob, and `model.blob` says which tensor of the file is there and how. Both must
// agree, and so must the layout and what reads the parameter.
//
//===----------------------------------------------------------------------===//

#include "compiler/Plan/Indices.h"
#include "compiler/Plan/PlanCheck.h"
#include "dialects/Model/IR/Arithmetic.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::model;
using namespace heddle::plan;

/// Whether both take the same rows of the tensor.
static bool sameRows(const WeightLayout &a, const WeightLayout &b) {
  return a.part == b.part && a.groups == b.groups && a.parts == b.parts;
}

/// Whether the reader of `use` can work with elements that are in `layout`.
static bool canRead(OpOperand &use, const WeightLayout &layout) {
  Operation *reader = use.getOwner();
  Arithmetic arithmetic = arithmeticOf(reader);
  PackedType stored = packedTypeOf(arithmetic.stored);
  auto linear = dyn_cast<LinearOp>(reader);
  bool all = layout.parts.empty();
  if (linear && use.getOperandNumber() == 1 && layout.panel)
    return layout.type == stored && layout.coding == arithmetic.coding && layout.inOut == linear.getInOut() &&
           sameRows(layout, rowsTakenBy(linear));
  if (linear && linear.getBias() && use.getOperandNumber() == 2)
    return !layout.panel && layout.type == PackedType::F32 && (all || sameRows(layout, rowsTakenBy(linear)));
  if (auto conv = dyn_cast<ConvOp>(reader); conv && conv.isDepthwise() && use.getOperandNumber() == 1 && layout.panel)
    return layout.type == PackedType::F32 && all;
  if (isa<EmbeddingOp>(reader) && use.getOperandNumber() == 1)
    return layout.type == stored && layout.coding == arithmetic.coding && all &&
           !(layout.coding.ordered && layout.inOut); // its rows are features, which are in another order
  return !layout.panel && all && layout.type != PackedType::BF16 &&
         layout.type != PackedType::F16; // its elements as they are
}

/// What is wrong with the place of `op` in an entry of the blob; empty: nothing.
static std::string misplaced(ParamOp op, BlobEntryAttr entry) {
  ArrayRef<int64_t> firsts = entry.getFirsts(), counts = entry.getCounts(), strides = entry.getStrides();
  if (firsts.size() != op.getIndices().size())
    return "has " + std::to_string(op.getIndices().size()) + " indices, but its entry of the blob " +
           std::to_string(firsts.size());
  int64_t at = entry.getOffset();
  bool over = false;
  for (auto [i, index] : llvm::enumerate(op.getIndices())) {
    IndexRange range = *rangeOf(index);
    if (range.first < firsts[i] || range.end > firsts[i] + counts[i])
      return "has indices from " + std::to_string(range.first) + " to " + std::to_string(range.end - 1) +
             ", but its entry of the blob from " + std::to_string(firsts[i]) + " to " +
             std::to_string(firsts[i] + counts[i] - 1);
    int64_t far = 0;
    over |= llvm::MulOverflow(range.base() - firsts[i], strides[i], far) || llvm::AddOverflow(at, far, at);
  }
  if (over || at != int64_t(*op.getOffset()) || *op.getStrides() != strides)
    return "is at " + std::to_string(*op.getOffset()) + " of the blob, but its entry there at " + std::to_string(at) +
           ", or at other strides";
  return "";
}

void heddle::plan::checkParameters(ModuleOp module, Report report) {
  // A name may have several entries in one layout, each of other layers.
  llvm::DenseMap<std::pair<Attribute, Attribute>, SmallVector<BlobEntryAttr, 1>> blob;
  for (BlobEntryAttr entry : blobOf(module))
    blob[{entry.getName(), entry.getLayout()}].push_back(entry);
  module.walk([&](ParamOp op) {
    if (!op.getLayout() || !op.getOffset())
      return report(op, "has no place in the blob; the pass model-plan-parameters gives it one");
    if (!llvm::all_of(op.getIndices(), [](Value index) { return rangeOf(index).has_value(); }))
      return report(op, "has an index that is neither a constant nor that of a repeat");
    for (OpOperand &use : op->getUses())
      if (!canRead(use, op.getLayout()->getLayout())) {
        std::string text;
        llvm::raw_string_ostream(text) << "is in the blob as " << *op.getLayout() << ", which '"
                                       << use.getOwner()->getName() << "' cannot read as its operand "
                                       << use.getOperandNumber();
        return report(op, text);
      }
    if (!hasBlob(module))
      return;
    SmallVector<int64_t> shape;
    for (const Size &n : op.getType().getSizes())
      shape.push_back(*n.constant());
    auto entries = blob.find({op.getNameAttr(), *op.getLayout()});
    if (entries == blob.end() || entries->second.front().getShape().asArrayRef() != ArrayRef(shape))
      return report(op, "is no entry of the blob: 'model.blob' has none of its name, shape and layout");
    std::string why;
    for (BlobEntryAttr entry : entries->second)
      if (why = misplaced(op, entry); why.empty())
        return;
    report(op, why);
  });
}

void heddle::plan::checkTiledPlan(ModuleOp module, Report report) {
  if (const Target *target = targetOf(module)) // else it has said so
    checkTiles(module, *target, report);
  checkParameters(module, report);
  checkCaches(module, report);
}
