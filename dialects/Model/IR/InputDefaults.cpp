//===- InputDefaults.cpp - what stands for inputs that grow ---------------===//

#include "dialects/Model/IR/InputDefaults.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::model;

static std::string inputNameOf(func::FuncOp f, Value input) {
  auto arg = dyn_cast<BlockArgument>(input);
  auto name = arg ? f.getArgAttrOfType<StringAttr>(arg.getArgNumber(), "model.name") : StringAttr();
  return name ? name.str() : "";
}

/// The one number that `op` stands for everywhere, if it is a constant.
static std::optional<double> constantOf(DefaultOp op) {
  Value v = cast<YieldOp>(op.getBody().front().getTerminator()).getOperand(0);
  while (auto stretched = v.getDefiningOp<BroadcastOp>())
    v = stretched.getOperand();
  auto constant = v.getDefiningOp<ConstantOp>();
  auto values = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  if (!values || !values.isSplat())
    return std::nullopt;
  if (isa<FloatType>(values.getElementType()))
    return values.getSplatValue<APFloat>().convertToDouble();
  APInt number = values.getSplatValue<APInt>();
  return number.getBitWidth() == 1 ? double(number.getZExtValue()) : double(number.getSExtValue());
}

std::optional<double> model::numberOf(Attribute value) {
  if (auto integer = dyn_cast_or_null<IntegerAttr>(value))
    return double(integer.getInt());
  if (auto real = dyn_cast_or_null<FloatAttr>(value))
    return real.getValueAsDouble();
  return std::nullopt;
}

SmallVector<std::string> model::extendedDefaults(func::FuncOp run) {
  auto module = run->getParentOfType<ModuleOp>();
  auto roles = module ? module->getAttrOfType<DictionaryAttr>("model.generate") : DictionaryAttr();
  auto extend = roles ? roles.getAs<DictionaryAttr>("extend") : DictionaryAttr();
  SmallVector<std::string> names;
  if (!extend)
    return names;
  for (DefaultOp op : run.getBody().front().getOps<DefaultOp>()) {
    std::string name = inputNameOf(run, op.getInput());
    Attribute next = extend.get(name);
    if (next && (!constantOf(op) || constantOf(op) != numberOf(next)))
      names.push_back(std::move(name));
  }
  return names;
}

/// Puts the region of a default in front of it; what it yields, stretched to the type of the input.
static Value inlined(OpBuilder &b, DefaultOp op) {
  Block &body = op.getBody().front();
  auto yield = cast<YieldOp>(body.getTerminator());
  Value v = yield.getOperand(0);
  yield.erase();
  op->getBlock()->getOperations().splice(op->getIterator(), body.getOperations());
  b.setInsertionPoint(op);
  return v.getType() == op.getType() ? v : BroadcastOp::create(b, op.getLoc(), op.getType(), v).getResult();
}

OwningOpRef<func::FuncOp> model::defaultsOf(func::FuncOp run, ArrayRef<std::string> names) {
  OwningOpRef<func::FuncOp> made(cast<func::FuncOp>(run->clone()));
  func::FuncOp f = *made;
  f.setName(kDefaultsEntry);
  IRRewriter rewriter(f.getContext());
  SmallVector<Value> results;
  SmallVector<Attribute> attributes;
  for (DefaultOp op : llvm::make_early_inc_range(f.getBody().front().getOps<DefaultOp>())) {
    std::string name = inputNameOf(f, op.getInput());
    if (!llvm::is_contained(names, name))
      continue;
    results.push_back(inlined(rewriter, op));
    op.getResult().replaceAllUsesWith(results.back());
    op.erase();
    attributes.push_back(rewriter.getDictionaryAttr(rewriter.getNamedAttr("model.name", rewriter.getStringAttr(name))));
  }
  Operation *end = f.getBody().front().getTerminator();
  rewriter.setInsertionPoint(end);
  func::ReturnOp::create(rewriter, end->getLoc(), results);
  end->erase();
  (void)runRegionDCE(rewriter, f->getRegions());
  llvm::BitVector unused(f.getNumArguments());
  for (BlockArgument arg : f.getArguments())
    unused[arg.getArgNumber()] = arg.use_empty();
  f.setType(rewriter.getFunctionType(f.getArgumentTypes(), ValueRange(results).getTypes()));
  f.setResAttrsAttr(rewriter.getArrayAttr(attributes));
  (void)f.eraseArguments(unused);
  return made;
}
