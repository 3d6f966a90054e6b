//===- EntryCard.cpp - what a program says of its entries -----------------===//
//
// Notes on the module, while the functions of stage `buffers` are there, what the card will say of them
// (dialects/Card): dims, inputs, outputs, states, conditions on lengths, operations, bytes, arena and phases of each,
// and the tables whose rows are selected by data. The functions of the entries are in a table, in the order of this
// list.
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Frame/Lookups.h"
#include "compiler/Conversion/Lowering/Frame/Lowering.h"
#include "compiler/Plan/CacheLayout.h"
#include "dialects/Card/IR/Card.h"
#include "dialects/Model/IR/Conditions.h"
#include "dialects/Model/IR/ReservedDims.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using model::ModelTensorType;
using model::Size;
using model::StateType;

/// The bytes of a state as the plan laid it out, a formula over dims.
Size heddle::loops::stateBytes(func::FuncOp function, unsigned argument) {
  auto type = cast<StateType>(function.getArgument(argument).getType());
  attn::CacheAttr cache = attn::cacheOf(function, argument);
  Size bytes = Code::bytesOf(type.getElementType());
  for (int64_t i = 0; i < type.getRank(); ++i) {
    Size n = type.getSize(i);
    // A cache has blocks of rows, class by class; with 16 bits two numbers of a head share a word.
    if (cache && i == type.getRank() - 2)
      n = cache.roomOf(n) * Size(cache.getClasses());
    if (cache && cache.halves() && i == type.getRank() - 1) {
      Size heads = cache.getHeads();
      n = (n.floorDiv(heads) + Size(1)).floorDiv(Size(2)) * heads;
    }
    bytes = bytes * n;
  }
  return bytes;
}

/// The number of equal parts of a state in each of which every row of the batch has one piece: the product of the axes
/// in front of the batch axis. 0: there is no batch axis.
static int64_t rowGroups(StateType type, StringRef batch) {
  int64_t groups = 1;
  for (Size size : type.getSizes()) {
    if (size == Size::dim(batch))
      return groups;
    if (!size.constant())
      return 0;
    groups *= *size.constant();
  }
  return 0;
}

/// The batch is the first axis of the tokens; "" where there are none.
static std::string batchDim(ModuleOp module, ArrayRef<func::FuncOp> entries) {
  auto roles = module->getAttrOfType<DictionaryAttr>("model.generate");
  auto tokens = roles ? roles.getAs<StringAttr>("tokens") : StringAttr();
  std::string batch;
  for (func::FuncOp f : entries)
    for (BlockArgument arg : f.getArguments())
      if (auto t = dyn_cast<ModelTensorType>(arg.getType());
          t && tokens && t.getRank() == 2 && f.getArgAttr(arg.getArgNumber(), "model.name") == tokens)
        batch = t.getAxes().front().str();
  return batch;
}

/// A count as a form; 0 where it leaves 64 bits, as that of a window of 2^62 keys does: it is then not known.
static std::string counted(const Size &count) { return count.fits() ? count.str() : "0"; }

namespace {
/// Makes the attribute of one entry.
class EntryCard {
public:
  EntryCard(func::FuncOp f, StringRef batch) : f(f), b(f.getContext()), batch(batch) {}
  FailureOr<card::EntryAttr> make(ArrayRef<Phase> phases);

private:
  func::FuncOp f;
  Builder b;
  StringRef batch;

  StringAttr text(StringRef text) { return b.getStringAttr(text); }
  StringAttr orNone(StringRef text) { return text.empty() ? StringAttr() : b.getStringAttr(text); }
  ArrayAttr list(ArrayRef<Attribute> all) { return all.empty() ? ArrayAttr() : b.getArrayAttr(all); }
  StringAttr nameOf(DictionaryAttr attrs, StringRef key, unsigned i) {
    auto name = attrs ? attrs.getAs<StringAttr>(key) : StringAttr();
    return name ? name : text("v" + std::to_string(i));
  }
  card::StateAttr state(unsigned argument);
  card::PhaseAttr phase(const Phase &phase);
  LogicalResult conditions(SmallVectorImpl<Attribute> &requirements);
};
} // namespace

/// The layout of a text's rows in its piece of a cache is known in `batch`, so that a beginning of them can be copied.
card::StateAttr EntryCard::state(unsigned argument) {
  bool inSlots = f.getName() == "batch";
  StringRef rowDim = inSlots ? StringRef(model::kSlotsDim) : batch;
  auto type = cast<StateType>(f.getArgumentTypes()[argument]);
  int64_t groups = rowDim.empty() ? 0 : rowGroups(type, rowDim), ring = 0;
  DenseI64ArrayAttr rows;
  attn::CacheAttr cache = groups && inSlots ? attn::cacheOf(f, argument) : attn::CacheAttr();
  if (cache && cache.getRing()) {
    ring = cache.getRing() * cache.getClasses();
  } else if (cache) {
    int64_t width = *type.getSize(type.getRank() - 1).constant() / cache.getHeads();
    int64_t words = cache.halves() ? (width + 1) / 2 : width, classes = cache.getClasses();
    int64_t block = *cache.roomOf(Size(classes)).constant(); // the room of one row in each class
    rows = b.getDenseI64ArrayAttr({cache.getHeads() * classes, block * words * 4, block * classes});
  }
  return card::StateAttr::get(b.getContext(), nameOf(f.getArgAttrDict(argument), "model.state", argument),
                              text(stateBytes(f, argument).str()), groups, rows, ring);
}

/// What threads do up to a barrier: "linear+map", its products, operations and bytes.
card::PhaseAttr EntryCard::phase(const Phase &phase) {
  llvm::SetVector<StringRef> ops;
  Size operations = 0, bytes = 0;
  bool dots = false, integers = false;
  for (const Cost &cost : phase.costs) {
    ops.insert(cost.op);
    operations = operations + cost.operations;
    bytes = bytes + cost.read + cost.written;
    dots |= cost.dots;
    integers |= cost.integers;
  }
  return card::PhaseAttr::get(b.getContext(), text(ops.empty() ? "-" : llvm::join(ops, "+")),
                              orNone(dots       ? "dots"
                                     : integers ? "integers"
                                                : ""),
                              phase.repeats, text(counted(operations)), text(counted(bytes)), orNone(phase.weight),
                              StringAttr(), StringAttr(), StringAttr(), ArrayAttr());
}

/// What its ops ask of lengths (dialects/Model/IR/Conditions.h).
LogicalResult EntryCard::conditions(SmallVectorImpl<Attribute> &requirements) {
  SmallVector<std::string> dims = entryDims(f);
  auto orDash = [&](StringRef word) { return text(word.empty() ? "-" : word); };
  for (const model::Condition &c : model::conditionsIn(f)) {
    for (const Size &side : {c.left, c.right})
      for (const std::string &dim : side.dims())
        if (!llvm::is_contained(dims, dim))
          return c.op->emitOpError() << "takes " << c.str() << ", but no input of @" << f.getName() << " has the dim "
                                     << dim;
    requirements.push_back(card::RequireAttr::get(b.getContext(), text(c.left.str()), text(c.right.str()),
                                                  orDash(model::wordOf(c.op)), orDash(model::tokenOf(c.op->getLoc())),
                                                  c.differ, orNone(c.without)));
  }
  return success();
}

FailureOr<card::EntryAttr> EntryCard::make(ArrayRef<Phase> phases) {
  SmallVector<Attribute> dims, inputs, outputs, states, requirements, work;
  for (const std::string &dim : entryDims(f))
    dims.push_back(text(dim));
  for (BlockArgument arg : f.getArguments()) {
    unsigned i = arg.getArgNumber();
    if (auto type = dyn_cast<ModelTensorType>(arg.getType()))
      inputs.push_back(card::TensorAttr::get(b.getContext(), nameOf(f.getArgAttrDict(i), "model.name", i), type,
                                             bool(f.getArgAttr(i, "model.default")), false));
    else
      states.push_back(state(i));
  }
  for (auto [i, type] : llvm::enumerate(f.getResultTypes()))
    outputs.push_back(card::TensorAttr::get(b.getContext(), nameOf(f.getResultAttrDict(i), "model.name", i),
                                            cast<ModelTensorType>(type), false,
                                            bool(f.getResultAttr(i, "model.optional_all"))));
  if (failed(conditions(requirements)))
    return failure();
  for (const Phase &one : phases)
    work.push_back(phase(one));
  Size integers = integerOperations(f);
  return card::EntryAttr::get(b.getContext(), text(f.getName()), b.getArrayAttr(dims), list(inputs), list(outputs),
                              list(states), list(requirements), model::piecesOf(f), text(counted(operations(f))),
                              orNone(integers.is(0) ? "" : counted(integers)), text(counted(bytesRead(f))),
                              text(model::arenaOf(f).value_or(Size(64)).str()), list(work), ArrayAttr(), ArrayAttr());
}

LogicalResult heddle::loops::noteEntries(ModuleOp module, ArrayRef<func::FuncOp> entries,
                                         ArrayRef<std::vector<Phase>> phases) {
  std::string batch = batchDim(module, entries);
  SmallVector<card::EntryAttr> all;
  for (auto [i, f] : llvm::enumerate(entries)) {
    ArrayRef<Phase> mine;
    if (!phases.empty())
      mine = phases[i];
    FailureOr<card::EntryAttr> entry = EntryCard(f, batch).make(mine);
    if (failed(entry))
      return failure();
    all.push_back(*entry);
  }
  card::setEntries(module, all);
  card::setLookups(module, lookupTexts(module));
  return success();
}
