//===- SkipPadding.cpp - the pass model-skip-padding -----------------------===//
//
// The pass: rows of padding that are not needed (DeadRows.h) are not computed. Ops that keep rows
// apart work on packed rows, [1, live, ..] instead of [B, T, ..]; attention and all others see
// rows in their places, and the queries of padding are hidden like its keys. Rows that are
// selected by position (the first, the last) are always computed.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ModelToEntries/DeadRows.h"
#include "compiler/Conversion/ModelToEntries/LiveRows.h"
#include "compiler/Conversion/ModelToEntries/Passes.h"
#include "compiler/Conversion/ModelToEntries/Report.h"
#include "dialects/Model/IR/Names.h"
#include "dialects/Model/IR/ReservedDims.h"
#include "dialects/Model/IR/TensorType.h"
#include "dialects/Remarks/Remark.h"

namespace heddle {
#define GEN_PASS_DEF_SKIPPADDINGPASS
#include "compiler/Conversion/ModelToEntries/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;
using namespace heddle::entries;
using model::ModelTensorType;
using model::Size;
using model::typeOf;

namespace {
/// Rewrites one function so that linears and what is between them work on the rows that are no padding.
class Packer {
public:
  Packer(func::FuncOp function, const DeadRows &dead, bool mayZero)
      : function(function), dead(dead), mayZero(mayZero), b(function.getContext()) {}

  /// Decides whether any linear can leave out rows of padding; then `run` rewrites the function.
  bool plan();
  void run();
  /// How many ops work on live rows only.
  size_t packedOps() const { return chosen.size(); }
  /// Why some linear computes rows of padding nevertheless.
  std::optional<Objection> why;

private:
  func::FuncOp function;
  const DeadRows &dead;
  bool mayZero; ///< whether rows of padding of outputs may become 0
  OpBuilder b;
  SetVector<Operation *> early;           ///< ops that the list of live rows is computed by
  DenseSet<Operation *> chosen;           ///< ops that will work on packed rows
  DenseMap<Value, Value> packed;          ///< a value's packed rows
  DenseSet<Value> gone;                   ///< values that exist as packed rows only
  DenseMap<Value, Value> unpacked;        ///< for those: the rows in their places, once needed
  DenseMap<Value, ModelTensorType> types; ///< for those: the type before
  DenseMap<Value, Value> masks;
  Value live, list;
  Operation *first = nullptr; ///< the op that computes the list

  std::optional<Objection> collectEarly(Value v);
  bool isPackable(Operation *op) const;
  /// Whether an operand must be packed if its op is; none if it cannot be.
  std::optional<bool> needsPacking(Operation *op, unsigned operand) const;
  bool carriesPacked(model::RepeatOp op, unsigned i) const { return isPacked(op.getCarriedArgs()[i]); }
  bool isPacked(Value v) const { return dead.isFree(v) && *dead.axesOf(v) == RowAxes{0, 1}; }
  ModelTensorType packedType(ModelTensorType t) const {
    return t.withSize(0, Size(1)).withSize(1, typeOf(list).getSize(0));
  }

  Value makeLive();
  void makeList();
  void insertBehind(Value v);
  Value getPacked(Value v);
  Value getWhole(Value v);
  Value hideQueries(attn::SdpaOp op);
  void rewrite(Operation *op);
};
} // namespace

//===-- planning -----------------------------------------------------------------===//

/// Collects what the list of live rows is computed by: it moves to the top of the function.
std::optional<Objection> Packer::collectEarly(Value v) {
  Operation *op = v.getDefiningOp();
  if (!op || early.contains(op))
    return std::nullopt;
  bool state = isa<model::AppendOp, model::LoadOp>(op) && op->getOperand(0).hasOneUse();
  if (op->getBlock() != &function.getBody().front() || !(state || isPure(op)) ||
      isa<model::RepeatOp, model::LinearOp, attn::SdpaOp>(op))
    return Objection{op->getLoc(),
                     "which rows are padding, or which of them are read, is only known in the course of the model"};
  std::optional<Objection> why;
  auto visit = [&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (!why && !op->isAncestor(operand.getParentBlock()->getParentOp()))
        why = collectEarly(operand);
  };
  visit(op);
  for (Region &region : op->getRegions())
    region.walk(visit);
  early.insert(op); // after its operands
  return why;
}

std::optional<bool> Packer::needsPacking(Operation *op, unsigned operand) const {
  auto type = dyn_cast<ModelTensorType>(op->getOperand(operand).getType());
  if (!type)
    return std::nullopt;
  auto step = cast<model::StepInterface>(op);
  auto goesTo = [&](int64_t axis, unsigned to) {
    model::StepRelation r = step.relateStep(operand, axis);
    return r.kind == model::StepRelation::Same && r.axis == to;
  };
  SmallVector<unsigned> batch, row;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    if (goesTo(i, 0))
      batch.push_back(i);
    if (goesTo(i, 1))
      row.push_back(i);
  }
  if (batch.size() > 1 || row.size() > 1)
    return std::nullopt;
  bool hasBatch = !batch.empty() && !type.getSize(batch[0]).is(1), hasRow = !row.empty() && !type.getSize(row[0]).is(1);
  if (!hasBatch && !hasRow)
    return false;
  // [B|1, T|1, ..] or [T, ..]
  if (row.empty() || row[0] != batch.size() || (!batch.empty() && batch[0] != 0))
    return std::nullopt;
  return true;
}

bool Packer::isPackable(Operation *op) const {
  if (!isa<model::StepInterface>(op) || !isPure(op) || op->getNumResults() == 0 || early.contains(op))
    return false;
  for (Region &region : op->getRegions())
    if (!region.empty())
      return false;
  for (Value result : op->getResults())
    if (!isPacked(result))
      return false;
  if (auto rearrange = dyn_cast<model::RearrangeOp>(op)) { // keeps the first two axes
    std::optional<model::AxesPattern> pattern = model::parsePattern(rearrange.getPattern());
    for (unsigned i : {0, 1})
      if (pattern->left[i].size() != 1 || pattern->left[i] != pattern->right[i] ||
          rearrange.getSizes().contains(pattern->left[i][0]))
        return false;
  }
  bool any = false;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    std::optional<bool> needs = needsPacking(op, i);
    if (!needs)
      return false;
    any |= *needs;
  }
  return any;
}

bool Packer::plan() {
  bool linears = false;
  function.walk([&](model::LinearOp op) { linears |= dead.axesOf(op->getResult(0)).has_value(); });
  if (!linears)
    return false;
  if (!isSaidToBePadding(dead.rows)) {
    why =
        Objection{dead.rows.mask.getLoc(),
                  "nothing says that rows with keys that no row sees are padding: their mask should have a default, be "
                  "the mask of 'generate', or compare ids with != to the id of padding"};
    return false;
  }
  Operation *end = function.getBody().front().getTerminator();
  if (!mayZero && llvm::any_of(end->getOperands(), [&](Value v) { return dead.axesOf(v).has_value(); })) {
    why = Objection{end->getLoc(), "an output has them; --padded-rows=skip makes them 0 there"};
    return false;
  }
  why = collectEarly(dead.rows.mask);
  for (Operation *read : dead.reads())
    if (auto gather = dyn_cast<model::GatherOp>(read); gather && !why)
      why = collectEarly(gather.getAt());
  if (why)
    return false;
  bool worth = false;
  function.walk([&](Operation *op) {
    if (isPackable(op)) {
      chosen.insert(op);
      worth |= isa<model::LinearOp>(op);
      return;
    }
    auto linear = dyn_cast<model::LinearOp>(op);
    if (!linear || !dead.axesOf(linear->getResult(0)) || why)
      return;
    const Objection *o = dead.objection(linear->getResult(0));
    why = o ? *o : Objection{op->getLoc(), "its rows are not stored one after the other"};
  });
  return worth;
}

//===-- the list of live rows ----------------------------------------------------===//

/// The tensor [B, T] that is not 0 where a row is computed.
Value Packer::makeLive() {
  const PaddedRows &rows = dead.rows;
  Location loc = rows.mask.getLoc();
  Value mask = rows.mask;
  auto text = [&](const Size &s) { return b.getStringAttr(s.str()); };
  if (!rows.past.is(0))
    mask = model::SliceOp::create(b, loc, mask, b.getI64IntegerAttr(1), text(rows.past), text(rows.past + rows.rows));
  if (dead.reads().empty() && !rows.inverted)
    return mask;
  Type element = typeOf(mask).getElementType();
  if (!element.isInteger(1)) {
    Value zero =
        element.isF32() ? model::ConstantOp::create(b, loc, 0.0) : model::ConstantOp::create(b, loc, int64_t(0));
    auto predicate = rows.inverted ? model::ComparePredicate::eq : model::ComparePredicate::ne;
    mask = model::CompareOp::create(b, loc, predicate, mask, zero);
  } else if (rows.inverted) {
    mask = model::UnaryOp::create(b, loc, model::UnaryKind::logical_not, mask);
  }
  for (Operation *read : dead.reads()) {
    Location at = read->getLoc();
    Value range = model::RangeOp::create(b, at, b.getStringAttr("0"), text(rows.rows)), hit;
    if (auto slice = dyn_cast<model::SliceOp>(read)) {
      Value from = model::SizeOp::create(b, at, slice.getFromAttr()),
            to = model::SizeOp::create(b, at, slice.getToAttr());
      Value behind = model::CompareOp::create(b, at, model::ComparePredicate::ge, range, from);
      Value before = model::CompareOp::create(b, at, model::ComparePredicate::lt, range, to);
      hit = model::BinaryOp::create(b, at, model::BinaryKind::logical_and, behind, before);
    } else {
      Value chosen = model::UnsqueezeOp::create(b, at, cast<model::GatherOp>(read).getAt(), b.getI64IntegerAttr(1));
      hit = model::CompareOp::create(b, at, model::ComparePredicate::eq, range, chosen);
    }
    mask = model::BinaryOp::create(b, at, model::BinaryKind::logical_or, mask, hit);
  }
  // In the type of the mask, so that the attentions of all entries read the same.
  return element.isInteger(1) ? mask : Value(model::CastOp::create(b, loc, mask, element));
}

void Packer::makeList() {
  Block &block = function.getBody().front();
  SmallVector<Operation *> ordered(early.begin(), early.end());
  llvm::sort(ordered, [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
  for (Operation *op : llvm::reverse(ordered))
    op->moveBefore(&block, block.begin());
  ordered.empty() ? b.setInsertionPointToStart(&block) : b.setInsertionPointAfter(ordered.back());
  live = makeLive();
  std::string name = newLiveDim(function);
  list = model::LiveRowsOp::create(b, model::withName(name, dead.rows.mask.getLoc()), live, b.getStringAttr(name));
  first = list.getDefiningOp();
}

//===-- packing ------------------------------------------------------------------===//

void Packer::insertBehind(Value v) {
  Operation *op = v.getDefiningOp();
  if (op && (op->getBlock() != first->getBlock() || first->isBeforeInBlock(op)))
    return b.setInsertionPointAfter(op);
  if (auto arg = dyn_cast<BlockArgument>(v); arg && arg.getOwner() != first->getBlock())
    return b.setInsertionPointToStart(arg.getOwner());
  b.setInsertionPointAfter(first);
}

Value Packer::getPacked(Value v) {
  if (Value known = packed.lookup(v))
    return known;
  insertBehind(v);
  ModelTensorType type = typeOf(v);
  SmallVector<Size> rest = type.getSizes(), whole{dead.rows.batch, dead.rows.rows};
  bool leading = rest.front() == dead.rows.rows;
  whole.append(rest.begin() + (leading ? 1 : 2), rest.end()); // [T, ..] or [B|1, T|1, ..]
  Value x = v;
  if (type.withSizes(whole) != type)
    x = model::BroadcastOp::create(b, model::locationOf(v), type.withSizes(whole), v);
  return packed[v] = model::PackRowsOp::create(b, model::locationOf(v), x, list);
}

Value Packer::getWhole(Value v) {
  if (!gone.contains(v))
    return v;
  if (Value known = unpacked.lookup(v))
    return known;
  insertBehind(packed[v]);
  return unpacked[v] = model::UnpackRowsOp::create(b, model::locationOf(v), types[v], packed[v], list);
}

/// The attention's mask with rows of padding seeing nothing.
Value Packer::hideQueries(attn::SdpaOp op) {
  Value mask = op.getMask();
  if (Value known = mask ? masks.lookup(mask) : Value())
    return known;
  bool shared = mask && mask.getDefiningOp()->getBlock() == first->getBlock();
  if (shared)
    insertBehind(mask);
  else
    b.setInsertionPoint(op);
  Value rows =
      mask::QueriesOp::create(b, op.getLoc(), TypeRange(mask::MaskType::get(b.getContext())), ValueRange(live));
  Value both = mask ? Value(mask::AndOp::create(b, mask.getLoc(), rows.getType(), mask, rows)) : rows;
  return shared ? masks[mask] = both : both;
}

void Packer::rewrite(Operation *op) {
  auto repeat = dyn_cast<model::RepeatOp>(op);
  auto around = isa<model::YieldOp>(op) ? dyn_cast<model::RepeatOp>(op->getParentOp()) : model::RepeatOp();
  if (chosen.contains(op)) {
    SmallVector<Value> operands;
    for (auto [i, v] : llvm::enumerate(op->getOperands()))
      operands.push_back(*needsPacking(op, i) ? getPacked(v) : v);
    b.setInsertionPoint(op);
    Operation *rows = b.clone(*op);
    rows->setOperands(operands);
    for (auto [was, now] : llvm::zip_equal(op->getResults(), rows->getResults())) {
      now.setType(packedType(typeOf(was)));
      types[was] = typeOf(was);
      packed[was] = now;
      gone.insert(was);
    }
    return;
  }
  if (auto sdpa = dyn_cast<attn::SdpaOp>(op); sdpa && isPacked(sdpa.getResult()))
    sdpa.getMaskMutable().assign(hideQueries(sdpa));
  for (auto [i, v] : llvm::enumerate(op->getOperands())) {
    bool carried =
        (repeat && carriesPacked(repeat, i)) || (around && i < around.getNumCarried() && carriesPacked(around, i));
    op->setOperand(i, carried ? getPacked(v) : getWhole(v));
  }
  for (unsigned i = 0; repeat && i < repeat.getNumCarried(); ++i)
    if (carriesPacked(repeat, i))
      for (Value v : {Value(repeat.getCarriedArgs()[i]), Value(repeat.getResult(i))}) {
        types[v] = typeOf(v);
        packed[v] = v;
        gone.insert(v);
      }
}

void Packer::run() {
  SmallVector<Operation *> ops;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != function)
      ops.push_back(op);
  });
  makeList();
  for (Operation *op : ops)
    rewrite(op);
  for (auto [i, v] : llvm::enumerate(function.getBody().front().getTerminator()->getOperands()))
    if (v.getDefiningOp<model::UnpackRowsOp>())
      function.setResultAttr(i, "model.padded_rows", b.getStringAttr("zero"));
  // Only now carried values change their type: until here it told which axes are rows.
  for (auto &[v, type] : types)
    if (packed[v] == v)
      v.setType(packedType(type));
  for (Operation *op : llvm::reverse(ops))
    if (chosen.contains(op)) {
      assert(op->use_empty() && "every reader has been given packed rows, or rows at their places");
      op->erase();
    }
}

//===-- the pass -----------------------------------------------------------------===//

namespace {
struct SkipPaddingPass : heddle::impl::SkipPaddingPassBase<SkipPaddingPass> {
  using SkipPaddingPassBase::SkipPaddingPassBase;
  void runOnOperation() override {
    if (rows == "compute")
      return;
    // Users of a Hugging Face model read its outputs by the mask that they gave; what an output
    // of a description says of padding may be wanted.
    bool mayZero = rows == "skip" || getOperation()->hasAttr("model.padding_unread");
    SmallVector<Attribute> lines;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isDeclaration())
        continue;
      for (PaddedRows &padded : findPaddedRows(function)) {
        DeadRows dead(function, padded);
        Packer packer(function, dead, mayZero);
        Location mask = padded.mask.getLoc();
        if (packer.plan()) {
          packer.run();
          remarks::passed(remarks::Where(mask, function.getNameAttr()), remarks::PaddingSkipped)
              << remarks::number("ops", packer.packedOps()) << " ops work on rows that are no padding";
        }
        if (packer.why) {
          remarks::missed(remarks::Where(packer.why->where, function.getNameAttr()), remarks::PaddingSkipped,
                          packer.why->why)
              .note(mask, "this says which rows are padding");
          std::string text = "@" + function.getName().str() + " computes rows of padding (" + padded.batch.str() +
                             " x " + padded.rows.str() + "): " + place(packer.why->where) + ": " + packer.why->why;
          lines.push_back(StringAttr::get(&getContext(), text));
        }
      }
    }
    if (!lines.empty())
      getOperation()->setAttr("model.padding_report", ArrayAttr::get(&getContext(), lines));
  }
};
} // namespace
