//===- PlanParameters.cpp - the weights blob ------------------------------===//
//
// Every layout in which some op reads a tensor of the file becomes one entry of the blob; the
// entries of a repeat's layers are at a constant distance from each other, so that the one body
// of the repeat finds them by arithmetic. Functions share entries: @run and @step read the
// same bytes.
//
//===----------------------------------------------------------------------===//

#include "compiler/Plan/Indices.h"
#include "compiler/Plan/ParameterBlob.h"
#include "compiler/Plan/Passes.h"
#include "compiler/Plan/Target.h"
#include "dialects/Model/IR/Arithmetic.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"
#include "dialects/Remarks/Remark.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

namespace heddle::plan {
#define GEN_PASS_DEF_PLANPARAMETERSPASS
#include "compiler/Plan/Passes.h.inc"
} // namespace heddle::plan

using namespace mlir;
using namespace heddle;
using namespace heddle::model;

static constexpr int64_t kAlignment = 64;
static constexpr int64_t kTablePanel = 32; ///< rows of a panel of a table of codes that is not multiplied

namespace {
/// One tensor of the weights file, or one name pattern over the layers of a repeat, in one layout.
struct Entry {
  StringAttr name;
  LayoutAttr layout;
  ModelTensorType type;
  SmallVector<plan::IndexRange> ranges; ///< for each index the range that covers all readers
  SmallVector<int64_t> strides;
  int64_t offset = 0;
};

struct PlanParameters final : heddle::plan::impl::PlanParametersPassBase<PlanParameters> {
  void runOnOperation() override;
  LayoutAttr natural(Type element, bool stored);
  LayoutAttr panels(ConvOp op);
  LayoutAttr panels(LinearOp op);
  LayoutAttr panels(CodedAttr table);
  LayoutAttr bias(LinearOp op);
  LogicalResult separate(ParamOp op);
  LogicalResult note(ParamOp op);
  Entry &entryOf(ParamOp op);
  void remarkOnLayouts();

  /// By name and layout; of codes also by the range of indices, because other layers may be coded in another way.
  llvm::MapVector<std::tuple<Attribute, Attribute, Attribute>, Entry> entries;
  llvm::DenseMap<Attribute, LayoutAttr> wholePanels; ///< name -> panels of all rows
  Arithmetic arithmetic;
  const plan::Target *target = nullptr;
};
} // namespace

/// Row-major, as in the file. `stored`: reals are rounded to the module's storage type.
LayoutAttr PlanParameters::natural(Type element, bool stored) {
  WeightLayout layout;
  layout.type = element.isInteger(64)  ? PackedType::I64
                : element.isInteger(1) ? PackedType::Bool
                : stored               ? packedTypeOf(arithmetic.stored)
                                       : PackedType::F32;
  return LayoutAttr::get(&getContext(), layout);
}

/// How a depthwise convolution reads its weight: taps of so many channels side by side.
LayoutAttr PlanParameters::panels(ConvOp op) {
  WeightLayout layout;
  layout.panel = target->tilesOf(op).getPanel();
  return LayoutAttr::get(&getContext(), layout);
}

/// The layout in which a linear reads its weight: panels as wide as its tiles.
LayoutAttr PlanParameters::panels(LinearOp op) {
  WeightLayout layout = rowsTakenBy(op);
  Arithmetic mine = arithmeticOf(op);
  layout.type = packedTypeOf(mine.stored);
  layout.coding = mine.coding;
  ScheduleAttr schedule = scheduleOf(op);
  layout.panel = (schedule ? schedule : target->tilesOf(op)).getPanel();
  layout.inOut = op.getInOut();
  return LayoutAttr::get(&getContext(), layout);
}

/// The layout of a table of codes that no linear shares.
LayoutAttr PlanParameters::panels(CodedAttr table) {
  WeightLayout layout;
  layout.panel = kTablePanel;
  layout.coding = table.getCoding();
  layout.inOut = table.getInOut();
  return LayoutAttr::get(&getContext(), layout);
}

/// The layout of its bias: the elements of the part that it computes.
LayoutAttr PlanParameters::bias(LinearOp op) { return LayoutAttr::get(&getContext(), rowsTakenBy(op)); }

/// Splits a parameter so that each ParamOp has one layout: readers that need another get a copy of the op.
LogicalResult PlanParameters::separate(ParamOp op) {
  llvm::MapVector<Attribute, ParamOp> byLayout;
  Type element = op.getType().getElementType();
  for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
    LayoutAttr layout = natural(element, /*stored=*/false);
    auto linear = dyn_cast<LinearOp>(use.getOwner());
    if (linear && use.getOperandNumber() == 1)
      layout = panels(linear);
    else if (linear && linear.getBias() && use.getOperandNumber() == 2)
      layout = bias(linear);
    else if (auto conv = dyn_cast<ConvOp>(use.getOwner()); conv && conv.isDepthwise() && use.getOperandNumber() == 1)
      layout = panels(conv);
    else if (auto table = dyn_cast<EmbeddingOp>(use.getOwner()); table && use.getOperandNumber() == 1) {
      auto it = wholePanels.find(op.getNameAttr());
      layout = it != wholePanels.end() ? it->second
               : op.getCoded()         ? panels(*op.getCoded())
                                       : natural(element, /*stored=*/true);
    }
    if (op.getCoded() && layout.getCoding() && layout.getInOut() != op.getCoded()->getInOut())
      return use.getOwner()->emitError("sums over another axis than the groups of the codes of ") << op.getNameAttr();
    if (op.getCoded() && op.getCoded()->isSearched() && !layout.getCoding())
      return use.getOwner()->emitError("reads ")
             << op.getNameAttr() << ", which is rounded to codes; linears and embeddings can read these";
    ParamOp &mine = byLayout[layout];
    if (!mine) {
      mine = byLayout.size() == 1 ? op : cast<ParamOp>(OpBuilder(op).clone(*op));
      mine.setLayoutAttr(layout);
    }
    use.set(mine);
  }
  if (byLayout.empty())
    op.erase();
  for (auto &[layout, mine] : byLayout)
    if (failed(note(mine)))
      return failure();
  return success();
}

Entry &PlanParameters::entryOf(ParamOp op) {
  SmallVector<int64_t> ranges;
  for (Value index : op.getIndices())
    if (std::optional<plan::IndexRange> range = plan::rangeOf(index); range && op.getCoded())
      ranges.append({range->first, range->end});
  return entries[{op.getNameAttr(), op.getLayoutAttr(), DenseI64ArrayAttr::get(&getContext(), ranges)}];
}

LogicalResult PlanParameters::note(ParamOp op) {
  Entry &entry = entryOf(op);
  ModelTensorType type = op.getType();
  for (const Size &s : type.getSizes())
    if (!s.constant())
      return op.emitError("a parameter has constant lengths, but is ") << type;
  if (!entry.name) {
    entry.name = op.getNameAttr();
    entry.layout = op.getLayoutAttr();
    entry.type = type;
    entry.ranges.resize(op.getIndices().size(), plan::IndexRange{INT64_MAX, INT64_MIN});
  }
  if (entry.type != type)
    return op.emitError("parameter ") << op.getNameAttr() << " is read as " << type << " and as " << entry.type;
  for (auto [i, index] : llvm::enumerate(op.getIndices())) {
    std::optional<plan::IndexRange> range = plan::rangeOf(index);
    if (!range)
      return op.emitError("index ") << i << " of a parameter must be that of a repeat";
    entry.ranges[i].first = std::min(entry.ranges[i].first, range->first);
    entry.ranges[i].end = std::max(entry.ranges[i].end, range->end);
  }
  return success();
}

/// Decides for each parameter how it is packed and where it is in the blob. One parameter that is used in several
/// layouts becomes several; one under indices of repeats takes as many entries, with strides between.
void PlanParameters::runOnOperation() {
  ModuleOp module = getOperation();
  if (failed(verifyArithmetic(module)))
    return signalPassFailure();
  arithmetic = arithmeticOf(module);
  target = plan::targetOf(module);
  if (!target)
    return signalPassFailure();
  SmallVector<ParamOp> params;
  module.walk([&](ParamOp op) {
    params.push_back(op);
    for (OpOperand &use : op->getUses())
      if (auto linear = dyn_cast<LinearOp>(use.getOwner()); linear && use.getOperandNumber() == 1)
        if (LayoutAttr layout = panels(linear); layout.getParts().empty())
          wholePanels.try_emplace(op.getNameAttr(), layout);
  });
  for (ParamOp op : params)
    if (failed(separate(op)))
      return signalPassFailure();

  Builder b(&getContext());
  int64_t offset = 0;
  SmallVector<BlobEntryAttr> blob;
  for (auto &[key, e] : entries) {
    e.offset = offset;
    SmallVector<int64_t> shape;
    for (const Size &s : e.type.getSizes())
      shape.push_back(*s.constant());
    int64_t stride = llvm::alignTo(e.layout.getLayout().bytes(shape), kAlignment);
    SmallVector<int64_t> firsts, counts;
    e.strides.resize(e.ranges.size());
    for (int64_t i = int64_t(e.ranges.size()) - 1; i >= 0; --i) {
      e.strides[i] = stride;
      stride *= e.ranges[i].end - e.ranges[i].first;
    }
    for (const plan::IndexRange &r : e.ranges) {
      firsts.push_back(r.first);
      counts.push_back(r.end - r.first);
    }
    offset += stride;
    blob.push_back(BlobEntryAttr::get(&getContext(), e.name, b.getDenseI64ArrayAttr(shape), e.layout, e.offset,
                                      b.getDenseI64ArrayAttr(firsts), b.getDenseI64ArrayAttr(counts),
                                      b.getDenseI64ArrayAttr(e.strides)));
  }
  setBlob(module, blob, offset);

  module.walk([&](ParamOp op) {
    Entry &e = entryOf(op);
    int64_t at = e.offset;
    for (auto [i, index] : llvm::enumerate(op.getIndices()))
      at += (plan::rangeOf(index)->base() - e.ranges[i].first) * e.strides[i];
    op.setOffset(at);
    op.setStrides(e.strides);
  });
  if (remarks::wanted(module))
    remarkOnLayouts();
}

/// How each parameter is packed, and which ones are stored more than once.
void PlanParameters::remarkOnLayouts() {
  llvm::MapVector<Attribute, SmallVector<Entry *, 2>> copies; // of a name
  for (auto &[key, entry] : entries)
    copies[entry.name].push_back(&entry);
  llvm::DenseMap<Attribute, ParamOp> first;
  getOperation().walk([&](ParamOp op) { first.try_emplace(op.getNameAttr(), op); });
  auto bytesOf = [](const Entry &e) {
    SmallVector<int64_t> shape;
    for (const Size &s : e.type.getSizes())
      shape.push_back(*s.constant());
    int64_t bytes = e.layout.getLayout().bytes(shape);
    for (const plan::IndexRange &r : e.ranges)
      bytes *= r.end - r.first;
    return bytes;
  };
  for (auto &[name, all] : copies) {
    ParamOp op = first.lookup(name);
    bool matrix = op.getType().getRank() == 2;
    int64_t bytes = 0;
    for (Entry *entry : all) {
      bytes += bytesOf(*entry);
      if (int64_t panel = entry->layout.getPanel())
        remarks::passed(op, remarks::LayoutPanels)
            << op.getName() << " is packed in panels of " << remarks::number("panel", panel) << ", "
            << remarks::number("bytes", bytesOf(*entry)) << " bytes";
    }
    if (matrix && llvm::none_of(all, [](Entry *entry) { return entry->layout.getPanel(); }))
      remarks::missed(op, remarks::LayoutPanels, op.getName() + " is stored as in its file: no linear multiplies by it")
          .add("bytes", bytes);
    if (all.size() > 1)
      remarks::analysis(op, remarks::LayoutPanels)
          << op.getName() << " is stored " << remarks::number("copies", all.size())
          << " times, since its readers take other rows or layouts of it: " << remarks::number("bytes", bytes)
          << " bytes in all";
  }
}

//===-- ParameterBlob.h --------------------------------------------------------===//

uint64_t heddle::plan::blobBytes(ModuleOp module) { return blobBytesOf(module); }

std::string heddle::plan::filledName(StringRef pattern, ArrayRef<int64_t> indices) {
  std::string name = pattern.str();
  for (auto [k, value] : llvm::enumerate(indices)) {
    std::string place = "{" + std::to_string(k) + "}";
    for (size_t at; (at = name.find(place)) != std::string::npos;)
      name.replace(at, place.size(), std::to_string(value));
  }
  return name;
}

std::vector<heddle::plan::BlobTensor> heddle::plan::blobTensors(ModuleOp module) {
  std::vector<BlobTensor> all;
  for (BlobEntryAttr entry : blobOf(module)) {
    BlobTensor t;
    t.shape = entry.getShape().asArrayRef().vec();
    t.layout = entry.getLayout().getLayout();
    ArrayRef<int64_t> firsts = entry.getFirsts(), counts = entry.getCounts(), strides = entry.getStrides();
    SmallVector<int64_t> at(firsts.size(), 0);
    for (bool more = true; more;) {
      t.offset = entry.getOffset();
      SmallVector<int64_t> indices;
      for (unsigned i = 0; i < at.size(); ++i) {
        t.offset += strides[i] * at[i];
        indices.push_back(firsts[i] + at[i]);
      }
      t.name = filledName(entry.getName(), indices);
      all.push_back(t);
      more = false;
      for (int i = int(at.size()) - 1; i >= 0 && !more; --i)
        if (++at[i] < counts[i])
          more = true;
        else
          at[i] = 0;
    }
  }
  return all;
}
