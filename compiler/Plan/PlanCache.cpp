//===- PlanCache.cpp - states laid out for the attention kernel -----------===//
//
// A state that only attention reads, as keys or as values, need not look like a tensor: it is
// laid out as the kernel wants to read it, and who writes it writes it so. That holds for rows
// that every step appends and for what @once keeps of an encoder alike.
//
// Where every reader's mask says how far back it looks (`reach`), appended rows stand in a ring:
// it holds what the first of the longest piece of new rows may still see, and the piece. Longer
// texts then come in pieces, which the card says.
//
//===----------------------------------------------------------------------===//

#include "compiler/Plan/KeyClasses.h"
#include "compiler/Plan/Passes.h"
#include "compiler/Plan/Target.h"
#include "dialects/Attn/IR/Plan.h"
#include "dialects/Model/IR/Arithmetic.h"
#include "dialects/Model/IR/Plan.h"

namespace heddle::plan {
#define GEN_PASS_DEF_PLANCACHEPASS
#include "compiler/Plan/Passes.h.inc"
} // namespace heddle::plan

using namespace mlir;
using namespace heddle;
using namespace heddle::model;

namespace {
/// How the rows of a state are read.
struct Use {
  std::optional<attn::CacheKind> role; ///< none: nobody has read them yet
  int64_t heads = 0, classes = 1;
  bool good = true; ///< nothing but attention reads them, always in one role
  /// The farthest row back that a new row looks at; none: any.
  std::optional<int64_t> behind = 0;

  void join(std::optional<attn::CacheKind> as, int64_t g, int64_t d, std::optional<int64_t> far) {
    good &= as && (!role || (role == as && heads == g && classes == d));
    role = as;
    heads = g;
    classes = d;
    behind = behind && far ? std::optional(std::max(*behind, *far)) : std::nullopt;
  }
};
} // namespace

/// How far back of its own position a query of `op` may look among the rows of `append`.
static std::optional<int64_t> farthestBack(attn::SdpaOp op, AppendOp append) {
  auto mask = op.getMask() ? op.getMask().getDefiningOp<mask::MaskOpInterface>() : mask::MaskOpInterface();
  std::optional<Size> first = Size::parse(op.getPast()), start = Size::parse(op.getKeyStart());
  // The mean over all values needs all of them.
  if (!mask || !first || !start || !start->is(0) || op.getMaskedRows() == attn::MaskedRows::mean)
    return std::nullopt;
  Size all = cast<ModelTensorType>(append.getResult().getType()).getSize(1), fresh = append.getRows().getType().getSize(1);
  // Queries are the new rows, or the last of them alone.
  if (*first != all - fresh && *first != all - Size(1))
    return std::nullopt;
  return mask.reach().behind;
}

static void joinReaders(Value rows, Use &use) {
  auto append = rows.getDefiningOp<AppendOp>();
  for (OpOperand &o : rows.getUses()) {
    auto sdpa = dyn_cast<attn::SdpaOp>(o.getOwner());
    bool isKey = sdpa && o.getOperandNumber() == 1, isValue = sdpa && o.getOperandNumber() == 2;
    use.join(isKey ? std::optional(attn::CacheKind::keys) : isValue ? std::optional(attn::CacheKind::values) : std::nullopt, sdpa ? int64_t(sdpa.getKvHeads()) : 0,
             sdpa ? heddle::plan::keyClasses(sdpa) : 1, sdpa && append ? farthestBack(sdpa, append) : std::nullopt);
  }
}

/// The longest text that the model takes; none: any.
static std::optional<int64_t> longestText(ModuleOp module) {
  auto roles = module->getAttrOfType<DictionaryAttr>("model.generate");
  auto bounds = module->getAttrOfType<DictionaryAttr>("model.dims");
  auto tokens = roles ? roles.getAs<StringAttr>("tokens") : StringAttr();
  auto run = module.lookupSymbol<func::FuncOp>("run");
  if (!tokens || !bounds || !run)
    return std::nullopt;
  for (BlockArgument arg : run.getArguments()) {
    auto type = dyn_cast<ModelTensorType>(arg.getType());
    if (!type || !type.getRank() || run.getArgAttr(arg.getArgNumber(), "model.name") != tokens)
      continue;
    std::optional<std::string> dim = type.getSize(type.getRank() - 1).bareDim();
    auto bound = dim ? bounds.getAs<IntegerAttr>(*dim) : IntegerAttr();
    return bound ? std::optional(bound.getInt()) : std::nullopt;
  }
  return std::nullopt;
}

/// Rows after which places come again: what the first row of a piece sees and the piece, wherever
/// in a block that begins. None where no text is longer than the ring and its twin block.
static std::optional<int64_t> ringFor(int64_t behind, int64_t piece, std::optional<int64_t> longest, int64_t block) {
  if (behind > (int64_t(1) << 40))
    return std::nullopt;
  int64_t rows = std::max<int64_t>(behind, 0) + piece - 1;
  int64_t ring = (llvm::divideCeil(rows, block) + 1) * block;
  return longest && *longest <= ring + block ? std::nullopt : std::optional(ring);
}

/// Whether a text may come in pieces: none of them may make the step begin anew (a guard), and
/// the first must hold all that later ones take from the beginning.
static bool comesInPieces(ModuleOp module, int64_t piece) {
  for (auto f : module.getOps<func::FuncOp>())
    for (unsigned i = 0; i < f.getNumResults(); ++i)
      if (auto name = f.getResultAttrOfType<StringAttr>(i, "model.name"); name && name.getValue() == "refill")
        return false;
  auto prompt = module->getAttrOfType<IntegerAttr>("model.shortest_prompt");
  return !prompt || prompt.getInt() <= piece;
}

/// [iterations..., B, rows, features], of which [B, rows, features] is written or read at once.
static bool fits(Value state, OperandRange indices, Value rows) {
  auto type = dyn_cast<StateType>(state.getType());
  auto part = dyn_cast<ModelTensorType>(rows.getType());
  return type && part && part.getRank() == 3 && type.getRank() == int64_t(indices.size()) + 3 &&
         part.getElementType().isF32();
}

/// Of all uses of a state in one function.
static Use useOf(BlockArgument state) {
  Use use;
  bool loads = false, stores = false;
  for (Operation *user : state.getUsers()) {
    if (auto append = dyn_cast<AppendOp>(user)) {
      use.good &= fits(state, append.getIndices(), append.getRows()) && append.getAxis() == 1;
      joinReaders(append.getResult(), use);
    } else if (auto load = dyn_cast<LoadOp>(user)) {
      use.good &= fits(state, load.getIndices(), load.getResult());
      joinReaders(load.getResult(), use);
      loads = true;
    } else if (auto store = dyn_cast<StoreOp>(user)) {
      use.good &= fits(state, store.getIndices(), store.getValue());
      stores = true;
    } else {
      use.good = false;
    }
  }
  // What is loaded is the state itself, so nobody may write over it meanwhile.
  use.good &= !(loads && stores);
  return use;
}

namespace {
struct PlanCache final : heddle::plan::impl::PlanCachePassBase<PlanCache> {
  using PlanCachePassBase::PlanCachePassBase;
  void runOnOperation() override {
    // The choice belongs to a state's name: every function that has the state must agree.
    llvm::StringMap<SmallVector<BlockArgument>> states;
    for (auto f : getOperation().getOps<func::FuncOp>())
      for (BlockArgument arg : f.getArguments())
        if (auto name = f.getArgAttrOfType<StringAttr>(arg.getArgNumber(), "model.state"))
          states[name.getValue()].push_back(arg);
    Builder b(&getContext());
    ModuleOp module = getOperation();
    const plan::Target *target = plan::targetOf(module);
    if (!target)
      return signalPassFailure();
    auto [block, panel] = target->cacheBlock();
    std::optional<int64_t> longest = longestText(module);
    bool pieces = comesInPieces(module, longestPiece);
    int64_t shortest = 0; // of all rings
    for (auto &[name, args] : states) {
      Use use;
      for (BlockArgument arg : args) {
        Use mine = useOf(arg);
        use.good &= mine.good;
        if (mine.role)
          use.join(mine.role, mine.heads, mine.classes, mine.behind);
      }
      if (!use.good || !use.role)
        continue;
      Stored stored = arithmeticOf(module).stored;
      Type element = stored == Stored::bf16 ? Type(b.getBF16Type()) : stored == Stored::f16 ? Type(b.getF16Type()) : Type(b.getF32Type());
      // Each class goes round a ring of its own.
      int64_t turn = 0;
      auto ofClass = [&](int64_t rows) { return rows / use.classes + (rows % use.classes != 0); };
      if (std::optional<int64_t> ring = pieces && use.behind ? ringFor(ofClass(*use.behind), ofClass(longestPiece), longest ? std::optional(ofClass(*longest)) : longest, block)
                                                             : std::nullopt) {
        turn = *ring;
        int64_t rows = *ring * use.classes;
        shortest = shortest ? std::min(shortest, rows) : rows;
      }
      auto cache = attn::CacheAttr::get(&getContext(), *use.role, use.heads, element, block, panel, use.classes, turn);
      for (BlockArgument arg : args) {
        attn::setCache(arg.getOwner()->getParentOp(), arg.getArgNumber(), cache);
        for (Operation *user : arg.getUsers())
          attn::setCache(user, cache);
      }
    }
    if (auto step = module.lookupSymbol<func::FuncOp>("step"); step && shortest)
      setPieces(step, PiecesAttr::get(&getContext(), longestPiece, shortest));
  }
};
} // namespace
