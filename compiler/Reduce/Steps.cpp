//===- Steps.cpp - the ways in which IR can become smaller ----------------===//

#include "compiler/Reduce/Steps.h"
#include "dialects/Model/IR/Model.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include <functional>
#include <set>

using namespace mlir;
using namespace heddle;
using model::Size;

void heddle::dropDeadOps(ModuleOp module) {
  for (bool changed = true; changed;) {
    SmallVector<Operation *> dead;
    module->walk([&](Operation *op) {
      if (isOpTriviallyDead(op) && !isa<FunctionOpInterface>(op))
        dead.push_back(op);
    });
    changed = !dead.empty();
    for (Operation *op : dead)
      if (op->use_empty())
        op->erase();
  }
}

/// The item number `place` of `all`; nothing behind the last one.
template <typename T> static std::optional<T> at(ArrayRef<T> all, int64_t place) {
  return place < int64_t(all.size()) ? std::optional<T>(all[place]) : std::nullopt;
}
static SmallVector<Operation *> opsIn(ModuleOp module) {
  SmallVector<Operation *> ops;
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != module.getOperation())
      ops.push_back(op);
  });
  return ops;
}
static SmallVector<FunctionOpInterface> functionsIn(ModuleOp module) {
  SmallVector<FunctionOpInterface> functions;
  module->walk([&](FunctionOpInterface f) { functions.push_back(f); });
  return functions;
}

//===-- functions, attributes, results ---------------------------------------===//

static Stepped dropSymbol(ModuleOp module, int64_t place, const ValueBecomesInput &) {
  SmallVector<Operation *> symbols;
  for (Operation &op : *module.getBody())
    symbols.push_back(&op);
  std::optional<Operation *> op = at<Operation *>(symbols, place);
  if (!op)
    return Stepped::NoMore;
  (*op)->erase();
  return Stepped::Done;
}

/// Of the module and of every op what its operation does not need.
static Stepped dropAttribute(ModuleOp module, int64_t place, const ValueBecomesInput &) {
  SmallVector<Operation *> ops = {module};
  llvm::append_range(ops, opsIn(module));
  for (Operation *op : ops) {
    auto own = llvm::to_vector(op->getDiscardableAttrs());
    if (place < int64_t(own.size())) {
      op->removeDiscardableAttr(own[place].getName());
      return Stepped::Done;
    }
    place -= int64_t(own.size());
  }
  return Stepped::NoMore;
}

namespace {
/// A result of a function with one block, and what it returns for it.
struct Result {
  func::FuncOp function;
  unsigned number;
  OpOperand &returned() { return function.getBody().front().getTerminator()->getOpOperand(number); }
};
} // namespace

static SmallVector<Result> resultsIn(ModuleOp module) {
  SmallVector<Result> results;
  for (func::FuncOp f : module.getOps<func::FuncOp>())
    if (!f.isExternal() && f.getBody().hasOneBlock())
      for (unsigned i = 0; i < f.getNumResults(); ++i)
        results.push_back({f, i});
  return results;
}

static Stepped dropResult(ModuleOp module, int64_t place, const ValueBecomesInput &) {
  SmallVector<Result> results = resultsIn(module);
  if (place >= int64_t(results.size()))
    return Stepped::NoMore;
  Result one = results[place];
  Operation *end = one.function.getBody().front().getTerminator();
  end->eraseOperand(one.number);
  return succeeded(one.function.eraseResult(one.number)) ? Stepped::Done : Stepped::Nothing;
}

/// A function returns what its result was made of.
static Stepped returnOperand(ModuleOp module, int64_t place, const ValueBecomesInput &) {
  for (Result one : resultsIn(module)) {
    Operation *maker = one.returned().get().getDefiningOp();
    int64_t operands = maker ? int64_t(maker->getNumOperands()) : 0;
    if (place >= operands) {
      place -= operands;
      continue;
    }
    Value operand = maker->getOperand(unsigned(place));
    if (!isa<model::ModelTensorType>(operand.getType()))
      return Stepped::Nothing;
    one.returned().set(operand);
    SmallVector<Type> types(one.function.getResultTypes());
    types[one.number] = operand.getType();
    one.function.setType(FunctionType::get(module.getContext(), one.function.getArgumentTypes(), types));
    return Stepped::Done;
  }
  return Stepped::NoMore;
}

static Stepped dropArgument(ModuleOp module, int64_t place, const ValueBecomesInput &) {
  for (FunctionOpInterface f : functionsIn(module)) {
    if (place >= int64_t(f.getNumArguments())) {
      place -= f.getNumArguments();
      continue;
    }
    bool used = f.isExternal() || !f.getArgument(unsigned(place)).use_empty();
    return !used && succeeded(f.eraseArgument(unsigned(place))) ? Stepped::Done : Stepped::Nothing;
  }
  return Stepped::NoMore;
}

//===-- statements -------------------------------------------------------------===//

/// What an op makes becomes an input of its function.
static Stepped cut(ModuleOp module, int64_t place, const ValueBecomesInput &becomesInput) {
  SmallVector<Operation *> ops = opsIn(module);
  std::reverse(ops.begin(), ops.end()); // the last one first
  std::optional<Operation *> op = at<Operation *>(ops, place);
  if (!op)
    return Stepped::NoMore;
  auto function = dyn_cast<FunctionOpInterface>((*op)->getParentOp());
  if (!function || (*op)->use_empty())
    return Stepped::Nothing;
  std::set<std::string> taken;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto name = function.getArgAttrOfType<StringAttr>(i, "model.name"))
      taken.insert(name.str());
  Builder b(module.getContext());
  for (Value result : (*op)->getResults()) {
    if (result.use_empty())
      continue;
    std::string name;
    for (unsigned i = 0; name.empty() || !taken.insert(name).second; ++i)
      name = "value" + std::to_string(i);
    if (becomesInput)
      becomesInput(result, name);
    auto attributes = b.getDictionaryAttr(b.getNamedAttr("model.name", b.getStringAttr(name)));
    unsigned number = function.getNumArguments();
    if (failed(function.insertArgument(number, result.getType(), attributes, result.getLoc())))
      return Stepped::Nothing;
    result.replaceAllUsesWith(function.getArgument(number));
  }
  return Stepped::Done;
}

/// A statement goes: who read its result reads an operand of the same type.
static Stepped bypass(ModuleOp module, int64_t place, const ValueBecomesInput &) {
  for (Operation *op : opsIn(module))
    for (Value result : op->getResults())
      for (Value operand : op->getOperands())
        if (operand.getType() == result.getType() && !result.use_empty() && place-- == 0) {
          result.replaceAllUsesWith(operand);
          return Stepped::Done;
        }
  return Stepped::NoMore;
}

/// An op without results goes, such as a store.
static Stepped dropOp(ModuleOp module, int64_t place, const ValueBecomesInput &) {
  for (Operation *op : opsIn(module))
    if (op->use_empty() && !op->hasTrait<OpTrait::IsTerminator>() && !isa<FunctionOpInterface>(op) && place-- == 0) {
      op->erase();
      return Stepped::Done;
    }
  return Stepped::NoMore;
}

//===-- repeats, widths -----------------------------------------------------------===//

static std::optional<model::RepeatOp> repeatAt(ModuleOp module, int64_t place) {
  SmallVector<model::RepeatOp> repeats;
  module->walk([&](model::RepeatOp op) { repeats.push_back(op); });
  return at<model::RepeatOp>(repeats, place);
}

static Stepped shortenRepeat(ModuleOp module, int64_t place, const ValueBecomesInput &) {
  std::optional<model::RepeatOp> repeat = repeatAt(module, place);
  if (!repeat)
    return Stepped::NoMore;
  if (repeat->getCount() <= 1)
    return Stepped::Nothing;
  repeat->setCount(1);
  return Stepped::Done;
}

/// The body of a repeat of one turn is in its place.
static Stepped writeOutRepeat(ModuleOp module, int64_t place, const ValueBecomesInput &) {
  std::optional<model::RepeatOp> repeat = repeatAt(module, place);
  if (!repeat)
    return Stepped::NoMore;
  if (repeat->getCount() != 1 || repeat->getNumResults() != repeat->getNumCarried())
    return Stepped::Nothing;
  OpBuilder b(*repeat);
  Value first = arith::ConstantIndexOp::create(b, repeat->getLoc(), int64_t(repeat->getFirst()));
  Block &body = repeat->getBody().front();
  repeat->getIndex().replaceAllUsesWith(first);
  for (auto [argument, value] : llvm::zip_equal(repeat->getCarriedArgs(), repeat->getCarried()))
    argument.replaceAllUsesWith(value);
  model::YieldOp end = repeat->getYield();
  for (auto [result, value] : llvm::zip_equal(repeat->getResults(), end.getOperands()))
    result.replaceAllUsesWith(value);
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator()))
    op.moveBefore(*repeat);
  repeat->erase();
  return Stepped::Done;
}

/// A number that is a length somewhere is half of it in all types.
static Stepped halveWidth(ModuleOp module, int64_t place, const ValueBecomesInput &) {
  std::set<int64_t, std::greater<>> lengths;
  AttrTypeWalker walker;
  walker.addWalk([&](model::ModelTensorType type) {
    for (const Size &size : type.getSizes())
      if (std::optional<int64_t> n = size.constant(); n && *n > 1)
        lengths.insert(*n);
  });
  module->walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      walker.walk(type);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Type type : block.getArgumentTypes())
          walker.walk(type);
  });
  if (place >= int64_t(lengths.size()))
    return Stepped::NoMore;
  int64_t width = *std::next(lengths.begin(), place);
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](model::ModelTensorType type) -> std::optional<Type> {
    SmallVector<Size> sizes;
    for (const Size &size : type.getSizes())
      sizes.push_back(size.is(width) ? Size(width / 2) : size);
    return model::ModelTensorType::get(type.getContext(), sizes, type.getElementType());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false, /*replaceTypes=*/true);
  return Stepped::Done;
}

ArrayRef<ReductionStep> heddle::reductionSteps() {
  static constexpr ReductionStep steps[] = {dropSymbol, shortenRepeat, writeOutRepeat, dropResult, returnOperand, cut,
                                            bypass,     dropOp,        dropArgument,   halveWidth, dropAttribute};
  return steps;
}
