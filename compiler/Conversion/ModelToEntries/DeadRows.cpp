//===- DeadRows.cpp - rows that are not needed ------------------------------===//

#include "compiler/Conversion/ModelToEntries/DeadRows.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::entries;
using model::ModelTensorType;
using model::Size;

namespace {
/// Whether no query sees a padded row under `mask`.
bool hides(Value mask, const PaddedRows &rows, llvm::function_ref<bool(Value)> isMask) {
  using mask::Truth;
  Truth padding = rows.inverted ? Truth::Always : Truth::Never;
  return mask::truthOf(mask, [&](Value t) { return isMask(t) ? padding : Truth::Unknown; }) == Truth::Never;
}

Size lengthOf(Value v, int64_t axis) { return cast<ModelTensorType>(v.getType()).getSize(axis); }

/// The name of the state that an argument is.
StringRef stateName(Value v) {
  auto arg = dyn_cast<BlockArgument>(v);
  auto function = arg ? dyn_cast<func::FuncOp>(arg.getOwner()->getParentOp()) : func::FuncOp();
  auto name = function ? function.getArgAttrOfType<StringAttr>(arg.getArgNumber(), "model.state") : StringAttr();
  return name ? name.getValue() : StringRef();
}

/// Whether all rows are equal: a default in place of a mask that a step has no input for.
bool isConstant(Value v) {
  while (auto stretched = v.getDefiningOp<model::BroadcastOp>())
    v = stretched.getOperand();
  return v.getDefiningOp<model::ConstantOp>() != nullptr;
}

std::string nameOf(Operation *op) { return op->getName().stripDialect().str(); }
} // namespace

SmallVector<PaddedRows> entries::findPaddedRows(func::FuncOp function) {
  SmallVector<std::pair<PaddedRows, unsigned>> found;
  function.walk([&](attn::SdpaOp op) {
    // The keys are the rows of this call, or a cache that ends with them.
    auto append = op.getKey().getDefiningOp<model::AppendOp>();
    Size batch = lengthOf(op.getKey(), 0), keys = lengthOf(op.getKey(), 1);
    Size rows = append && append.getAxis() == 1 ? append.getRows().getType().getSize(1) : keys;
    if (!op.getMask() || batch.constant() || rows.constant() || batch == rows)
      return;
    for (Value t : mask::keySetsOf(op.getMask())) {
      auto type = cast<ModelTensorType>(t.getType());
      PaddedRows here{batch, rows, keys - rows, t, /*inverted=*/false};
      auto isMask = [&](Value v) { return v == t; };
      if (!hides(op.getMask(), here, isMask))
        here.inverted = true;
      if (isConstant(t) || type.getRank() != 2 || type.getSize(0) != batch || type.getSize(1) != keys ||
          !hides(op.getMask(), here, isMask))
        continue;
      auto *known = llvm::find_if(found, [&](auto &f) {
        return f.first.mask == t && f.first.rows == rows && f.first.inverted == here.inverted;
      });
      if (known != found.end())
        ++known->second;
      else
        found.push_back({here, 1});
    }
  });
  llvm::stable_sort(found, [](auto &a, auto &b) { return a.second > b.second; });
  SmallVector<PaddedRows> out;
  for (auto &[rows, count] : found)
    if (llvm::none_of(out, [&rows = rows](PaddedRows &o) { return o.batch == rows.batch && o.rows == rows.rows; }))
      out.push_back(rows);
  return out;
}

/// Whether a mask of rows is made only of inputs that may mark padding; `any`: one was met.
static bool comesFromPadding(Value v, bool inverted, bool &any) {
  if (auto arg = dyn_cast<BlockArgument>(v)) {
    auto function = dyn_cast<func::FuncOp>(arg.getOwner()->getParentOp());
    if (!function)
      return false;
    auto name = function.getArgAttrOfType<StringAttr>(arg.getArgNumber(), "model.name");
    auto roles = function->getParentOfType<ModuleOp>()->getAttrOfType<DictionaryAttr>("model.generate");
    auto role = roles ? roles.getAs<StringAttr>("mask") : StringAttr();
    any = true;
    return function.getArgAttr(arg.getArgNumber(), "model.default") || (name && role && name == role);
  }
  Operation *op = v.getDefiningOp();
  if (auto append = dyn_cast<model::AppendOp>(op))
    return comesFromPadding(append.getRows(), inverted, any);
  if (auto compare = dyn_cast<model::CompareOp>(op)) {
    Value ids = compare.getLhs();
    if (auto kept = ids.getDefiningOp<model::AppendOp>())
      ids = kept.getRows();
    auto wanted = inverted ? model::ComparePredicate::eq : model::ComparePredicate::ne;
    if (compare.getPredicate() == wanted && isa<BlockArgument>(ids) && isConstant(compare.getRhs()) &&
        cast<ModelTensorType>(ids.getType()).getElementType().isInteger(64))
      return any = true;
  }
  if (op->getNumResults() != 1 || !isPure(op) || isa<model::RepeatOp, model::ParamOp>(op))
    return false;
  bool turned = isa<model::UnaryOp>(op) && cast<model::UnaryOp>(op).getKind() == model::UnaryKind::logical_not;
  return llvm::all_of(op->getOperands(), [&](Value o) { return comesFromPadding(o, inverted != turned, any); });
}

bool entries::isSaidToBePadding(const PaddedRows &rows) {
  bool any = false;
  return comesFromPadding(rows.mask, rows.inverted, any) && any;
}

DeadRows::DeadRows(func::FuncOp function, PaddedRows given) : rows(std::move(given)), function(function) {
  SmallVector<Value> values;
  function.walk([&](Operation *op) {
    for (Value v : op->getResults())
      if (axesOf(v))
        values.push_back(v);
    for (Region &region : op->getRegions())
      for (Value v : region.getArguments())
        if (axesOf(v))
          values.push_back(v);
  });
  // Start with every value free and propagate objections to a fixed point: from a use to the
  // value, and from a result to the operands.
  for (bool changed = true; changed;) {
    changed = false;
    for (Value v : llvm::reverse(values)) {
      if (objections.count(v))
        continue;
      for (OpOperand &use : v.getUses())
        if (std::optional<Objection> o = ask(use)) {
          objections.try_emplace(v, std::move(*o));
          changed = true;
          break;
        }
      // A carried value is one value: an objection to the result holds for the argument.
      auto arg = dyn_cast<BlockArgument>(v);
      auto repeat = arg ? dyn_cast<model::RepeatOp>(arg.getOwner()->getParentOp()) : model::RepeatOp();
      if (repeat && arg.getArgNumber() > 0 && !objections.count(v))
        if (const Objection *o = objection(repeat.getResult(arg.getArgNumber() - 1))) {
          Objection copy = *o;
          objections.try_emplace(v, std::move(copy));
          changed = true;
        }
      if (auto result = dyn_cast<OpResult>(v))
        if (auto owner = dyn_cast<model::RepeatOp>(result.getOwner());
            owner && result.getResultNumber() < owner.getNumCarried() && !objections.count(v))
          if (const Objection *o = objection(owner.getCarriedArgs()[result.getResultNumber()])) {
            Objection copy = *o;
            objections.try_emplace(v, std::move(copy));
            changed = true;
          }
    }
  }
  function.walk([&](Operation *op) {
    if (isa<model::SliceOp, model::GatherOp>(op) && isFree(op->getOperand(0)) && !axesOf(op->getResult(0)))
      positional.push_back(op);
  });
}

const Objection *DeadRows::objection(Value v) const {
  auto it = objections.find(v);
  return it == objections.end() ? nullptr : &it->second;
}

std::optional<RowAxes> DeadRows::axesOf(Value v) const {
  auto type = dyn_cast<ModelTensorType>(v.getType());
  if (!type)
    return std::nullopt;
  SmallVector<unsigned> batches, lines;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    if (type.getSize(i) == rows.batch)
      batches.push_back(i);
    if (type.getSize(i) == rows.rows)
      lines.push_back(i);
  }
  if (batches.size() != 1 || lines.size() != 1)
    return std::nullopt;
  return RowAxes{batches[0], lines[0]};
}

bool DeadRows::hidesKeys(attn::SdpaOp op) const {
  return op.getMaskedRows() != attn::MaskedRows::mean &&
         hides(op.getMask(), rows, [&](Value v) { return v == rows.mask; });
}

/// Whether `v` is a constant 0.
static bool isZero(Value v) {
  auto constant = v.getDefiningOp<model::ConstantOp>();
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  if (!dense || !dense.isSplat())
    return false;
  return isa<FloatType>(dense.getElementType()) ? dense.getSplatValue<APFloat>().isZero()
                                                : dense.getSplatValue<APInt>().isZero();
}

/// Whether `v` is computed from the mask row by row and is 0 wherever the mask is.
bool DeadRows::isMaskOrZero(Value v) const {
  for (Operation *op = v.getDefiningOp(); op && v != rows.mask; op = v.getDefiningOp()) {
    auto compare = dyn_cast<model::CompareOp>(op);
    bool notZero = compare && compare.getPredicate() == model::ComparePredicate::ne && isZero(compare.getRhs());
    if (!notZero && !isa<model::CastOp, model::UnsqueezeOp, model::BroadcastOp>(op))
      return false;
    v = op->getOperand(0);
  }
  return v == rows.mask && rows.past.is(0) && !rows.inverted;
}

std::optional<Objection> DeadRows::ask(OpOperand &use) const {
  Operation *op = use.getOwner();
  RowAxes axes = *axesOf(use.get());
  unsigned operand = use.getOperandNumber();
  if (isa<func::ReturnOp, model::DefaultOp>(op)) // an output, or a default for an input
    return std::nullopt;
  if (auto sdpa = dyn_cast<attn::SdpaOp>(op))
    return askAttention(sdpa, operand);
  if (auto dot = dyn_cast<attn::RelativeDotOp>(op); dot && operand == 0)
    return askBias(dot.getResult(), dot.getKeySide());
  if (isa<model::AppendOp, model::StoreOp>(op))
    return askState(op);
  auto inherited = [&](Value v) {
    const Objection *o = objection(v);
    return o ? std::optional(*o) : std::nullopt;
  };
  if (auto repeat = dyn_cast<model::RepeatOp>(op))
    return inherited(repeat.getCarriedArgs()[operand]);
  if (auto repeat = dyn_cast<model::RepeatOp>(op->getParentOp()); repeat && isa<model::YieldOp>(op)) {
    if (!axesOf(repeat.getResult(operand)))
      return Objection{op->getLoc(), "it is collected as something else than rows"};
    return inherited(repeat.getResult(operand));
  }
  if (auto product = dyn_cast<model::BinaryOp>(op); product && product.getKind() == model::BinaryKind::mul)
    if (isMaskOrZero(operand == 0 ? product.getRhs() : product.getLhs()))
      return std::nullopt;
  if (auto select = dyn_cast<model::SelectOp>(op); select && operand == 1 && isMaskOrZero(select.getCondition()))
    return std::nullopt;
  return askRowWise(use, axes);
}

std::optional<Objection> DeadRows::askRowWise(OpOperand &use, RowAxes axes) const {
  Operation *op = use.getOwner();
  unsigned operand = use.getOperandNumber();
  for (Type t : op->getResultTypes())
    if (isa<mask::MaskType, attn::BiasType>(t))
      return Objection{op->getLoc(), "a mask or a bias is made of it"};
  auto step = dyn_cast<model::StepInterface>(op);
  if (!step)
    return Objection{op->getLoc(), nameOf(op) + " reads it whole"};
  model::StepRelation batch = step.relateStep(operand, axes.batch), row = step.relateStep(operand, axes.row);
  if (auto slice = dyn_cast<model::SliceOp>(op); slice && row.kind == model::StepRelation::Along)
    if ((*Size::parse(slice.getTo()) - *Size::parse(slice.getFrom())).constant())
      return std::nullopt; // these rows are always computed
  if (auto gather = dyn_cast<model::GatherOp>(op); gather && row.kind == model::StepRelation::Along)
    if (gather.getAt().getType().getRank() == 1 && axes == RowAxes{0, 1})
      return std::nullopt;
  for (const model::StepRelation &r : {batch, row}) {
    if (r.kind == model::StepRelation::Mixed)
      return Objection{op->getLoc(), r.why};
    if (r.kind == model::StepRelation::Along)
      return Objection{op->getLoc(), nameOf(op) + " works along the rows"};
  }
  for (Value result : op->getResults()) {
    std::optional<RowAxes> out = axesOf(result);
    if (!out || !(*out == RowAxes{batch.axis, row.axis}))
      return Objection{op->getLoc(), nameOf(op) + " brings rows together"};
    if (const Objection *o = objection(result))
      return *o;
  }
  return std::nullopt;
}

std::optional<Objection> DeadRows::askAttention(attn::SdpaOp op, unsigned operand) const {
  Value v = op->getOperand(operand);
  bool itself = lengthOf(op.getKey(), 1) == rows.past + rows.rows; // queries are rows of the space in any case
  if (!(*axesOf(v) == RowAxes{0, 1}) || (v != op.getQuery() && v != op.getKey() && v != op.getValue()))
    return Objection{op.getLoc(), "attention reads it whole"};
  if ((itself || v != op.getQuery()) && !hidesKeys(op))
    return Objection{op.getLoc(),
                     op.getMaskedRows() == attn::MaskedRows::mean
                         ? "a row that sees nothing is the mean of all values, hidden ones too"
                         : "attention may see keys of padding: its mask does not imply keys(..) of the padding"};
  if (v == op.getQuery())
    if (const Objection *o = objection(op.getResult()))
      return *o;
  return std::nullopt;
}

/// Asks all attentions that a bias reaches.
std::optional<Objection> DeadRows::askBias(Value bias, bool keySide) const {
  for (Operation *user : bias.getUsers()) {
    std::optional<Objection> o;
    if (auto sdpa = dyn_cast<attn::SdpaOp>(user)) {
      if (keySide && !hidesKeys(sdpa))
        return Objection{user->getLoc(), "attention may see keys of padding, and its bias reads them"};
      if (const Objection *result = keySide ? nullptr : objection(sdpa.getResult()))
        o = *result;
      else if (!keySide && !axesOf(sdpa.getResult()))
        o = Objection{user->getLoc(), "its bias is read by other rows"};
    } else if (isa<attn::BiasAddOp, attn::BiasScaleOp>(user)) {
      o = askBias(user->getResult(0), keySide);
    } else {
      o = Objection{user->getLoc(), nameOf(user) + " reads a bias"};
    }
    if (o)
      return o;
  }
  return std::nullopt;
}

/// Rows in a state: they must be hidden wherever the state is read.
std::optional<Objection> DeadRows::askState(Operation *op) const {
  if (auto append = dyn_cast<model::AppendOp>(op)) {
    for (OpOperand &use : append.getResult().getUses()) {
      auto sdpa = dyn_cast<attn::SdpaOp>(use.getOwner());
      if (!sdpa || append.getResult() == sdpa.getQuery() || !hidesKeys(sdpa))
        return Objection{use.getOwner()->getLoc(), "the rows that a state keeps are read where padding is not hidden"};
    }
    if (!append.getState().hasOneUse())
      return Objection{op->getLoc(), "the state is read elsewhere"};
    return std::nullopt;
  }
  auto store = cast<model::StoreOp>(op);
  StringRef kept = stateName(store.getState());
  SmallVector<StringRef> masks; // states that hold the mask
  func::FuncOp(function).walk([&](model::StoreOp other) {
    if (other.getValue() == rows.mask && other.getIndices().empty())
      masks.push_back(stateName(other.getState()));
  });
  Objection seen{op->getLoc(), "a state keeps it, and what reads that does not hide the padding"};
  for (func::FuncOp f : func::FuncOp(function)->getParentOfType<ModuleOp>().getOps<func::FuncOp>()) {
    if (f == function)
      continue;
    for (BlockArgument arg : f.getArguments()) {
      if (kept.empty() || stateName(arg) != kept)
        continue;
      for (Operation *reader : arg.getUsers()) {
        auto load = dyn_cast<model::LoadOp>(reader);
        if (!load)
          return seen;
        auto isMask = [&](Value v) {
          auto from = v.getDefiningOp<model::LoadOp>();
          return from && llvm::is_contained(masks, stateName(from.getState()));
        };
        for (Operation *user : load.getResult().getUsers()) {
          auto sdpa = dyn_cast<attn::SdpaOp>(user);
          if (!sdpa || load.getResult() == sdpa.getQuery() || sdpa.getMaskedRows() == attn::MaskedRows::mean ||
              !hides(sdpa.getMask(), rows, isMask))
            return seen;
        }
      }
    }
  }
  return kept.empty() ? std::optional(seen) : std::nullopt;
}
