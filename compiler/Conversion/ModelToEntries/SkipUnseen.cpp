//===- SkipUnseen.cpp - the pass model-skip-unseen -------------------------===//
//
// Linears whose rows only a masked attention reads. Where the mask has a term queries(t), t known
// before the layers, a query with t = 0 sees nothing, whatever it is: its row is not computed, and
// keys and values of a text without any such query are not computed either. Longformer's global
// tokens are the case: three linears of every layer serve the few rows that are global.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ModelToEntries/LiveRows.h"
#include "compiler/Conversion/ModelToEntries/Passes.h"
#include "dialects/Attn/IR/Attn.h"
#include "dialects/Model/IR/Names.h"
#include "dialects/Model/IR/TensorType.h"
#include "dialects/Remarks/Remark.h"

namespace heddle {
#define GEN_PASS_DEF_SKIPUNSEENPASS
#include "compiler/Conversion/ModelToEntries/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;
using namespace heddle::entries;
using model::ModelTensorType;
using model::Size;
using model::typeOf;

namespace {
/// Rewrites the linears in front of one function's attentions.
class Narrower {
public:
  explicit Narrower(func::FuncOp function) : function(function), b(function.getContext()) {}
  void run();

private:
  /// Which rows a list names: those where every tensor of `terms` is not 0, or all rows of texts that have such a row.
  struct Rows {
    SmallVector<Value> terms;
    bool ofText;
  };

  func::FuncOp function;
  OpBuilder b;
  std::map<std::tuple<SmallVector<void *>, bool, void *>, Value> lists; ///< by terms, ofText and the list they refine

  SmallVector<Value> termsOf(attn::SdpaOp op);
  /// Whether a value is computed in front of the layers, so that a list of rows can be made of it there.
  bool isKnownBefore(Value v) { return v.getParentBlock() == &function.getBody().front(); }
  void narrow(OpOperand &operand, const Rows &rows, StringRef which);
  Value listOf(const Rows &rows, ModelTensorType whole, Value outer);
};
} // namespace

/// The tensors [B, T] of the mask's terms queries(t), without those that only say what is padding: rows of padding
/// are left out by model-skip-padding, or are wanted.
SmallVector<Value> Narrower::termsOf(attn::SdpaOp op) {
  SmallVector<Value> terms, open{op.getMask()};
  SmallPtrSet<Value, 4> padding;
  while (!open.empty()) {
    Operation *term = open.pop_back_val().getDefiningOp();
    if (auto both = dyn_cast_or_null<mask::AndOp>(term))
      open.append({both.getLhs(), both.getRhs()});
    else if (auto keys = dyn_cast_or_null<mask::KeysOp>(term))
      padding.insert(keys.getTensor());
    else if (auto queries = dyn_cast_or_null<mask::QueriesOp>(term))
      terms.push_back(queries.getTensor());
  }
  // What the rows of the query are packed by, is a list of what is no padding.
  if (auto unpacked = op.getQuery().getDefiningOp<model::UnpackRowsOp>())
    if (auto list = unpacked.getRows().getDefiningOp<model::LiveRowsOp>())
      padding.insert(list.getMask());
  ModelTensorType query = typeOf(op.getQuery());
  llvm::erase_if(terms, [&](Value t) {
    return padding.contains(t) || !isKnownBefore(t) || typeOf(t).getRank() != 2 ||
           typeOf(t).getSize(0) != query.getSize(0) || typeOf(t).getSize(1) != query.getSize(1);
  });
  llvm::sort(terms, [](Value x, Value y) { return x.getAsOpaquePointer() < y.getAsOpaquePointer(); });
  return terms;
}

/// The list of `rows` of tensors [B, T, ..] like `whole`; where `outer` is given, of their rows that it has packed.
Value Narrower::listOf(const Rows &rows, ModelTensorType whole, Value outer) {
  SmallVector<void *> key;
  for (Value t : rows.terms)
    key.push_back(t.getAsOpaquePointer());
  Value &list = lists[{key, rows.ofText, outer ? outer.getAsOpaquePointer() : nullptr}];
  if (list)
    return list;
  // Behind what it is made of.
  Block &block = function.getBody().front();
  Operation *last = outer ? outer.getDefiningOp() : nullptr;
  for (Value t : rows.terms)
    if (Operation *op = t.getDefiningOp(); op && (!last || last->isBeforeInBlock(op)))
      last = op;
  last ? b.setInsertionPointAfter(last) : b.setInsertionPointToStart(&block);
  Location loc = model::locationOf(rows.terms.front());
  Value wanted;
  for (Value t : rows.terms) {
    Type element = typeOf(t).getElementType();
    if (!element.isInteger(1)) {
      Value zero =
          element.isF32() ? model::ConstantOp::create(b, loc, 0.0) : model::ConstantOp::create(b, loc, int64_t(0));
      t = model::CompareOp::create(b, loc, model::ComparePredicate::ne, t, zero);
    }
    wanted = wanted ? Value(model::BinaryOp::create(b, loc, model::BinaryKind::logical_and, wanted, t)) : t;
  }
  if (rows.ofText) {
    wanted = model::CastOp::create(b, loc, wanted, b.getI64Type());
    wanted = model::ReduceOp::create(b, loc, model::ReduceKind::max, wanted, b.getDenseI64ArrayAttr({1}), true);
    ModelTensorType type = typeOf(wanted);
    wanted = model::BroadcastOp::create(b, loc, type.withSize(1, whole.getSize(1)), wanted);
  }
  if (outer)
    wanted = model::PackRowsOp::create(b, loc, wanted, outer);
  std::string name = newLiveDim(function);
  return list = model::LiveRowsOp::create(b, model::withName(name, loc), wanted, b.getStringAttr(name));
}

/// Makes the linear after an attention's operand, `which`, work on `rows` only, if the attention alone reads it.
void Narrower::narrow(OpOperand &operand, const Rows &rows, StringRef which) {
  auto unpacked = operand.get().getDefiningOp<model::UnpackRowsOp>();
  Value result = unpacked ? unpacked.getOperand() : operand.get();
  auto linear = result.getDefiningOp<model::LinearOp>();
  StringRef why = !linear                                                       ? "no linear makes them"
                  : linear->getNumResults() != 1 || !linear.getExtras().empty() ? "their linear makes other values, too"
                  : !result.hasOneUse() || !operand.get().hasOneUse()           ? "another op reads them, too"
                  : typeOf(linear.getInput()).getRank() != 3 ||
                          typeOf(operand.get()).getSize(0) != typeOf(rows.terms.front()).getSize(0)
                      ? "their rows are not those that the mask tells apart"
                      : "";
  if (!why.empty()) {
    remarks::missed(operand.getOwner(), remarks::UnseenSkipped, which + " that the mask hides are computed: " + why);
    return;
  }
  remarks::passed(operand.getOwner(), remarks::UnseenSkipped) << which << " that the mask hides are not computed";
  Value list = listOf(rows, typeOf(operand.get()), unpacked ? unpacked.getRows() : Value());
  b.setInsertionPoint(linear);
  Location loc = linear.getLoc();
  linear.getInputMutable().assign(model::PackRowsOp::create(b, loc, linear.getInput(), list));
  ModelTensorType type = typeOf(result);
  result.setType(type.withSize(0, Size(1)).withSize(1, typeOf(list).getSize(0)));
  b.setInsertionPointAfter(linear);
  Value placed = model::UnpackRowsOp::create(b, loc, type, result, list);
  result.replaceAllUsesExcept(placed, placed.getDefiningOp());
}

void Narrower::run() {
  SmallVector<attn::SdpaOp> ops;
  function.walk([&](attn::SdpaOp op) { ops.push_back(op); });
  for (attn::SdpaOp op : ops) {
    // The mean of all values is what a row that sees nothing would be.
    if (!op.getMask() || op.getPast() != "0" || op.getMaskedRows() == attn::MaskedRows::mean)
      continue;
    SmallVector<Value> terms = termsOf(op);
    if (terms.empty())
      continue;
    narrow(op.getQueryMutable(), {terms, /*ofText=*/false}, "queries");
    narrow(op.getKeyMutable(), {terms, /*ofText=*/true}, "keys");
    narrow(op.getValueMutable(), {terms, /*ofText=*/true}, "values");
  }
}

namespace {
struct SkipUnseenPass : heddle::impl::SkipUnseenPassBase<SkipUnseenPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isDeclaration())
        Narrower(function).run();
  }
};
} // namespace
