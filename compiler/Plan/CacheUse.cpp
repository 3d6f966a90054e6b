//===- CacheUse.cpp - how the rows of a state are read --------------------===//

#include "compiler/Plan/CacheUse.h"
#include "compiler/Plan/KeyClasses.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::model;
using namespace heddle::plan;

void CacheUse::object(StringRef why, Operation *op) {
  if (why.empty() || !objection.empty())
    return;
  objection = why;
  because = op;
}

void CacheUse::join(std::optional<attn::CacheKind> as, int64_t g, int64_t d, std::optional<int64_t> far,
                    Operation *reader) {
  if (!as)
    object("an op that is no attention reads its rows", reader);
  else if (role && role != as)
    object("its rows are keys of one attention and values of another", reader);
  else if (role && heads != g)
    object("attentions read it with different numbers of key heads", reader);
  else if (role && classes != d)
    object("attentions read it with masks of different dilation", reader);
  role = as;
  heads = g;
  classes = d;
  behind = behind && far ? std::optional(std::max(*behind, *far)) : std::nullopt;
}

/// How far back of its own position a query of `op` may look among the rows of `append`.
static std::optional<int64_t> farthestBack(attn::SdpaOp op, AppendOp append) {
  auto mask = op.getMask() ? op.getMask().getDefiningOp<mask::MaskOpInterface>() : mask::MaskOpInterface();
  std::optional<Size> first = Size::parse(op.getPast()), start = Size::parse(op.getKeyStart());
  // The mean over all values needs all of them.
  if (!mask || !first || !start || !start->is(0) || op.getMaskedRows() == attn::MaskedRows::mean)
    return std::nullopt;
  Size all = cast<ModelTensorType>(append.getResult().getType()).getSize(1),
       fresh = append.getRows().getType().getSize(1);
  // Queries are the new rows, or the last of them alone.
  if (*first != all - fresh && *first != all - Size(1))
    return std::nullopt;
  return mask.reach().behind;
}

static void joinReaders(Value rows, CacheUse &use) {
  auto append = rows.getDefiningOp<AppendOp>();
  for (OpOperand &o : rows.getUses()) {
    auto sdpa = dyn_cast<attn::SdpaOp>(o.getOwner());
    bool isKey = sdpa && o.getOperandNumber() == 1, isValue = sdpa && o.getOperandNumber() == 2;
    use.join(isKey     ? std::optional(attn::CacheKind::keys)
             : isValue ? std::optional(attn::CacheKind::values)
                       : std::nullopt,
             sdpa ? int64_t(sdpa.getKvHeads()) : 0, sdpa ? keyClasses(sdpa) : 1,
             sdpa && append ? farthestBack(sdpa, append) : std::nullopt, o.getOwner());
  }
}

/// Why an op does not read or write [B, rows, features] of a state [iterations..., B, rows, features], the only shape
/// that a cache layout has blocks for; "" if it does.
static StringRef misfit(Value state, OperandRange indices, Value rows) {
  auto type = dyn_cast<StateType>(state.getType());
  auto part = dyn_cast<ModelTensorType>(rows.getType());
  bool fits = type && part && part.getRank() == 3 && type.getRank() == int64_t(indices.size()) + 3 &&
              part.getElementType().isF32();
  return fits ? "" : "the state has another shape than [batch, rows, features] of f32";
}

/// How one function uses a state: the roles of all its users joined.
static CacheUse useOf(BlockArgument state) {
  CacheUse use;
  Operation *loads = nullptr, *stores = nullptr;
  for (Operation *user : state.getUsers()) {
    if (auto append = dyn_cast<AppendOp>(user)) {
      use.object(misfit(state, append.getIndices(), append.getRows()), user);
      if (append.getAxis() != 1)
        use.object("rows are appended along another axis than the second", user);
      joinReaders(append.getResult(), use);
    } else if (auto load = dyn_cast<LoadOp>(user)) {
      use.object(misfit(state, load.getIndices(), load.getResult()), user);
      joinReaders(load.getResult(), use);
      loads = user;
    } else if (auto store = dyn_cast<StoreOp>(user)) {
      use.object(misfit(state, store.getIndices(), store.getValue()), user);
      stores = user;
    } else {
      use.object("an op reads it that is no append, load or store", user);
    }
  }
  // A load gives a view of the state, not a copy, so a store in the same function could overwrite what is still read.
  if (loads && stores)
    use.object("one entry loads and stores it, and what was loaded is not copied", loads);
  return use;
}

CacheUse heddle::plan::useOf(ArrayRef<BlockArgument> state) {
  CacheUse use;
  for (BlockArgument arg : state) {
    CacheUse mine = ::useOf(arg);
    use.object(mine.objection, mine.because);
    if (mine.role)
      use.join(mine.role, mine.heads, mine.classes, mine.behind, arg.getOwner()->getParentOp());
  }
  return use;
}

llvm::StringMap<SmallVector<BlockArgument>> heddle::plan::statesOf(ModuleOp module) {
  llvm::StringMap<SmallVector<BlockArgument>> states;
  for (auto f : module.getOps<func::FuncOp>())
    for (BlockArgument arg : f.getArguments())
      if (auto name = f.getArgAttrOfType<StringAttr>(arg.getArgNumber(), "model.state"))
        states[name.getValue()].push_back(arg);
  return states;
}

std::optional<int64_t> heddle::plan::leastRing(int64_t behind, int64_t piece, int64_t block) {
  if (behind > (int64_t(1) << 40))
    return std::nullopt;
  int64_t rows = std::max<int64_t>(behind, 0) + piece - 1;
  return (llvm::divideCeil(rows, block) + 1) * block;
}
