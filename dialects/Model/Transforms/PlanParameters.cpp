//===- PlanParameters.cpp - the weights blob ------------------------------===//
//
// Every layout in which some op reads a tensor of the file becomes one entry of the blob; the
// entries of a repeat's layers lie at a constant distance from each other, so that the one body
// of the repeat finds them by arithmetic. Functions share entries: @run and @step read the
// same bytes.
//
//===----------------------------------------------------------------------===//

#include "dialects/Model/IR/Arithmetic.h"
#include "dialects/Model/Transforms/Blob.h"
#include "dialects/Model/Transforms/Passes.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

namespace heddle::model {
#define GEN_PASS_DEF_PLANPARAMETERSPASS
#include "dialects/Model/Transforms/Passes.h.inc"
} // namespace heddle::model

using namespace mlir;
using namespace heddle::model;

static constexpr int64_t kAlignment = 64;

namespace {
struct Span {
  int64_t first = 0, end = 0;
};
/// One pattern in one layout.
struct Entry {
  StringAttr name;
  DictionaryAttr pack;
  ModelTensorType type;
  SmallVector<Span> ranges; ///< hull over all readers, one an index
  SmallVector<int64_t> strides;
  int64_t offset = 0, bytes = 0;
};

struct PlanParameters final : heddle::model::impl::PlanParametersPassBase<PlanParameters> {
  void runOnOperation() override;
  DictionaryAttr natural(bool stored);
  DictionaryAttr layout(LinearOp op, bool bias);
  LogicalResult separate(ParamOp op);
  LogicalResult note(ParamOp op);

  llvm::MapVector<std::pair<Attribute, Attribute>, Entry> entries;
  llvm::DenseMap<Attribute, DictionaryAttr> wholePanels; ///< name -> a pack of all rows
  Arithmetic arithmetic;
};
} // namespace

/// Elements as they stand; `stored`: in the module's type of storage.
DictionaryAttr PlanParameters::natural(bool stored) {
  Builder b(&getContext());
  SmallVector<NamedAttribute> members{b.getNamedAttr("layout", b.getStringAttr("natural"))};
  if (stored && arithmetic.halves())
    members.push_back(b.getNamedAttr("element", b.getStringAttr(wordOf(arithmetic.stored))));
  return b.getDictionaryAttr(members);
}

/// How a linear reads its weight (panels) or its bias: all rows, or those of its part.
DictionaryAttr PlanParameters::layout(LinearOp op, bool bias) {
  Builder b(&getContext());
  SmallVector<NamedAttribute> members{b.getNamedAttr("layout", b.getStringAttr(bias ? "natural" : "panel32"))};
  if (!bias)
    members.push_back(b.getNamedAttr("in_out", b.getBoolAttr(op.getInOut())));
  if (!bias && arithmetic.halves())
    members.push_back(b.getNamedAttr("element", b.getStringAttr(wordOf(arithmetic.stored))));
  auto part = op->getAttrOfType<IntegerAttr>("part");
  if (part && op.getParts() && op.getParts()->size() > 1) {
    members.push_back(b.getNamedAttr("part", part));
    members.push_back(b.getNamedAttr("parts", op.getPartsAttr()));
    members.push_back(b.getNamedAttr("groups", b.getI64IntegerAttr(op.getGroups())));
  }
  return b.getDictionaryAttr(members);
}

/// The values that an index operand takes in the name.
static std::optional<Span> rangeOf(Value index) {
  APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant)))
    return Span{constant.getSExtValue(), constant.getSExtValue() + 1};
  auto arg = dyn_cast<BlockArgument>(index);
  auto repeat = arg ? dyn_cast<RepeatOp>(arg.getOwner()->getParentOp()) : RepeatOp();
  if (!repeat || arg.getArgNumber() != 0)
    return std::nullopt;
  int64_t first = 0;
  if (auto attr = repeat->getAttrOfType<IntegerAttr>("first"))
    first = attr.getInt();
  return Span{first, first + int64_t(repeat.getCount())};
}

/// One ParamOp a layout: the readers of another layout get a copy of the op.
LogicalResult PlanParameters::separate(ParamOp op) {
  llvm::MapVector<Attribute, ParamOp> byPack;
  for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
    DictionaryAttr pack = natural(/*stored=*/false);
    auto linear = dyn_cast<LinearOp>(use.getOwner());
    if (linear && use.getOperandNumber() == 1)
      pack = layout(linear, /*bias=*/false);
    else if (linear && linear.getBias() && use.getOperandNumber() == 2)
      pack = layout(linear, /*bias=*/true);
    else if (auto table = dyn_cast<EmbeddingOp>(use.getOwner()); table && use.getOperandNumber() == 1) {
      auto it = wholePanels.find(op.getNameAttr());
      pack = it != wholePanels.end() ? it->second : natural(/*stored=*/true);
    }
    ParamOp &mine = byPack[pack];
    if (!mine) {
      mine = byPack.size() == 1 ? op : cast<ParamOp>(OpBuilder(op).clone(*op));
      mine->setAttr("pack", pack);
    }
    use.set(mine);
  }
  if (byPack.empty())
    op.erase();
  for (auto &[pack, mine] : byPack)
    if (failed(note(mine)))
      return failure();
  return success();
}

LogicalResult PlanParameters::note(ParamOp op) {
  auto pack = op->getAttrOfType<DictionaryAttr>("pack");
  Entry &entry = entries[{op.getNameAttr(), pack}];
  ModelTensorType type = op.getType();
  for (const Size &s : type.getSizes())
    if (!s.constant())
      return op.emitError("a parameter has constant lengths, but is ") << type;
  if (!entry.name) {
    entry.name = op.getNameAttr();
    entry.pack = pack;
    entry.type = type;
    entry.ranges.resize(op.getIndices().size(), Span{INT64_MAX, INT64_MIN});
  }
  if (entry.type != type)
    return op.emitError("parameter ") << op.getNameAttr() << " is read as " << type << " and as " << entry.type;
  for (auto [i, index] : llvm::enumerate(op.getIndices())) {
    std::optional<Span> range = rangeOf(index);
    if (!range)
      return op.emitError("index ") << i << " of a parameter must be that of a repeat";
    entry.ranges[i].first = std::min(entry.ranges[i].first, range->first);
    entry.ranges[i].end = std::max(entry.ranges[i].end, range->end);
  }
  return success();
}

/// The word for the type in which the elements of an entry are stored.
static std::string elementOf(DictionaryAttr pack, Type type) {
  if (auto element = pack.getAs<StringAttr>("element"))
    return element.getValue().str();
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}
static int64_t elementBytes(DictionaryAttr pack, Type t) {
  return pack.get("element") ? 2 : t.isF32() ? 4 : t.isInteger(64) ? 8 : 1;
}

/// Rows that are packed: those of one part, or all of `rows`.
static int64_t packedRows(DictionaryAttr pack, int64_t rows) {
  auto parts = pack.getAs<DenseI64ArrayAttr>("parts");
  if (!parts)
    return rows;
  int64_t total = 0;
  for (int64_t p : parts.asArrayRef())
    total += p;
  return rows / total * parts[pack.getAs<IntegerAttr>("part").getInt()];
}

static int64_t packedBytes(DictionaryAttr pack, ModelTensorType type) {
  int64_t count = *type.getCount().constant();
  if (pack.getAs<StringAttr>("layout").getValue() == "natural")
    return packedRows(pack, count) * elementBytes(pack, type.getElementType());
  bool inOut = cast<BoolAttr>(pack.get("in_out")).getValue();
  int64_t n = *type.getSize(inOut ? 1 : 0).constant(), k = *type.getSize(inOut ? 0 : 1).constant();
  // Halves keep pairs of k side by side, f32 every k.
  int64_t deep = pack.get("element") ? (k + 1) / 2 : k;
  return (packedRows(pack, n) + 31) / 32 * 32 * deep * 4;
}

void PlanParameters::runOnOperation() {
  ModuleOp module = getOperation();
  if (failed(verifyArithmetic(module)))
    return signalPassFailure();
  arithmetic = arithmeticOf(module);
  SmallVector<ParamOp> params;
  module.walk([&](ParamOp op) {
    params.push_back(op);
    for (OpOperand &use : op->getUses())
      if (auto linear = dyn_cast<LinearOp>(use.getOwner()); linear && use.getOperandNumber() == 1)
        if (DictionaryAttr pack = layout(linear, false); !pack.get("parts"))
          wholePanels.try_emplace(op.getNameAttr(), pack);
  });
  for (ParamOp op : params)
    if (failed(separate(op)))
      return signalPassFailure();

  Builder b(&getContext());
  int64_t offset = 0;
  SmallVector<Attribute> blob;
  for (auto &[key, e] : entries) {
    e.offset = offset;
    e.bytes = packedBytes(e.pack, e.type);
    int64_t stride = llvm::alignTo(e.bytes, kAlignment);
    SmallVector<int64_t> firsts, counts;
    e.strides.resize(e.ranges.size());
    for (int64_t i = int64_t(e.ranges.size()) - 1; i >= 0; --i) {
      e.strides[i] = stride;
      stride *= e.ranges[i].end - e.ranges[i].first;
    }
    for (const Span &r : e.ranges) {
      firsts.push_back(r.first);
      counts.push_back(r.end - r.first);
    }
    offset += stride;
    SmallVector<int64_t> shape;
    for (const Size &s : e.type.getSizes())
      shape.push_back(*s.constant());
    blob.push_back(b.getDictionaryAttr(
        {b.getNamedAttr("name", e.name), b.getNamedAttr("pack", e.pack),
         b.getNamedAttr("shape", b.getDenseI64ArrayAttr(shape)),
         b.getNamedAttr("element", b.getStringAttr(elementOf(e.pack, e.type.getElementType()))),
         b.getNamedAttr("firsts", b.getDenseI64ArrayAttr(firsts)),
         b.getNamedAttr("counts", b.getDenseI64ArrayAttr(counts)),
         b.getNamedAttr("strides", b.getDenseI64ArrayAttr(e.strides)),
         b.getNamedAttr("offset", b.getI64IntegerAttr(e.offset)), b.getNamedAttr("bytes", b.getI64IntegerAttr(e.bytes))}));
  }
  module->setAttr("model.blob", b.getArrayAttr(blob));
  module->setAttr("model.blob_bytes", b.getI64IntegerAttr(offset));

  module.walk([&](ParamOp op) {
    Entry &e = entries[{op.getNameAttr(), op->getAttr("pack")}];
    int64_t at = e.offset;
    for (auto [i, index] : llvm::enumerate(op.getIndices())) {
      APInt constant;
      // A constant index counts in the name itself; a repeat's from its `first`.
      int64_t base = matchPattern(index, m_ConstantInt(&constant)) ? 0 : rangeOf(index)->first;
      at += (base - e.ranges[i].first) * e.strides[i];
    }
    op->setAttr("offset", b.getI64IntegerAttr(at));
    op->setAttr("strides", b.getDenseI64ArrayAttr(e.strides));
  });
}

//===-- Blob.h -----------------------------------------------------------------===//

uint64_t heddle::model::blobBytes(ModuleOp module) {
  auto bytes = module->getAttrOfType<IntegerAttr>("model.blob_bytes");
  return bytes ? bytes.getInt() : 0;
}

static std::string filled(StringRef pattern, ArrayRef<int64_t> indices) {
  std::string name = pattern.str();
  for (auto [k, value] : llvm::enumerate(indices)) {
    std::string place = "{" + std::to_string(k) + "}";
    for (size_t at; (at = name.find(place)) != std::string::npos;)
      name.replace(at, place.size(), std::to_string(value));
  }
  return name;
}

std::vector<BlobTensor> heddle::model::blobTensors(ModuleOp module) {
  std::vector<BlobTensor> all;
  auto blob = module->getAttrOfType<ArrayAttr>("model.blob");
  if (!blob)
    return all;
  for (auto entry : blob.getAsRange<DictionaryAttr>()) {
    auto pack = entry.getAs<DictionaryAttr>("pack");
    auto numbers = [&](StringRef key) { return entry.getAs<DenseI64ArrayAttr>(key).asArrayRef(); };
    BlobTensor t;
    t.shape = numbers("shape").vec();
    t.element = entry.getAs<StringAttr>("element").getValue().str();
    t.bytes = entry.getAs<IntegerAttr>("bytes").getInt();
    t.panel32 = pack.getAs<StringAttr>("layout").getValue() == "panel32";
    if (t.panel32)
      t.inOut = cast<BoolAttr>(pack.get("in_out")).getValue();
    if (auto parts = pack.getAs<DenseI64ArrayAttr>("parts")) {
      t.parts = parts.asArrayRef().vec();
      t.part = pack.getAs<IntegerAttr>("part").getInt();
      t.groups = pack.getAs<IntegerAttr>("groups").getInt();
    }
    ArrayRef<int64_t> firsts = numbers("firsts"), counts = numbers("counts"), strides = numbers("strides");
    SmallVector<int64_t> at(firsts.size(), 0);
    for (bool more = true; more;) {
      t.offset = entry.getAs<IntegerAttr>("offset").getInt();
      SmallVector<int64_t> indices;
      for (unsigned i = 0; i < at.size(); ++i) {
        t.offset += strides[i] * at[i];
        indices.push_back(firsts[i] + at[i]);
      }
      t.name = filled(entry.getAs<StringAttr>("name").getValue(), indices);
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
