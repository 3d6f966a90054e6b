//===- MaskWords.cpp - a mask as the description would say it -------------===//
//
// Leaves say themselves (MaskOpInterface::describe); here are the connectives, with their
// parentheses, and the small tensors that masks are made of.
//
//===----------------------------------------------------------------------===//

#include "compiler/MaskReport/MaskReport.h"
#include "dialects/Model/IR/Names.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle;

/// The elements of a constant: one that stands for all, or the first few.
static std::string elements(ElementsAttr value) {
  if (auto bools = dyn_cast<DenseIntElementsAttr>(value); bools && bools.getElementType().isInteger(1)) {
    auto word = [](bool b) { return b ? "true" : "false"; };
    if (bools.isSplat())
      return word(bools.getSplatValue<bool>());
    std::string text;
    for (auto [i, b] : llvm::enumerate(bools.getValues<bool>())) {
      if (i == 6)
        return "[" + text + ", ..]";
      text += (i ? ", " : "") + std::string(word(b));
    }
    return "[" + text + "]";
  }
  if (auto ints = dyn_cast<DenseIntElementsAttr>(value)) {
    if (ints.isSplat())
      return std::to_string(ints.getSplatValue<APInt>().getSExtValue());
    std::string text;
    for (auto [i, n] : llvm::enumerate(ints.getValues<APInt>())) {
      if (i == 6)
        return "[" + text + ", ..]";
      text += (i ? ", " : "") + std::to_string(n.getSExtValue());
    }
    return "[" + text + "]";
  }
  if (auto reals = dyn_cast<DenseFPElementsAttr>(value); reals && reals.isSplat()) {
    std::string text;
    llvm::raw_string_ostream(text) << reals.getSplatValue<APFloat>().convertToDouble();
    return text;
  }
  return "[..]";
}

namespace {
/// How tightly a text holds together: what is looser than its surroundings is put in parentheses.
enum Level { Or, And, Not, Comparison, Sum, Product, Atom };
struct Words {
  std::string text;
  Level level = Atom;
};
} // namespace

static Words wordsOf(Value v);
/// A value in parentheses where its operator binds weaker than the one around it.
static std::string within(Value v, Level around) {
  Words w = wordsOf(v);
  return w.level < around ? "(" + w.text + ")" : w.text;
}

static Words wordsOf(Value v) {
  if (auto argument = dyn_cast<BlockArgument>(v)) {
    auto f = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    StringRef kind = isa<model::StateType>(v.getType()) ? "model.state" : "model.name";
    auto name = f ? f.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kind) : StringAttr();
    return {name ? name.getValue().str() : "value"};
  }
  auto form = [](StringRef size) -> Words { return {size.str(), llvm::all_of(size, llvm::isAlnum) ? Atom : Sum}; };
  return llvm::TypeSwitch<Operation *, Words>(v.getDefiningOp())
      .Case([](model::DefaultOp op) { return wordsOf(op.getInput()); })
      .Case([](model::ConstantOp op) -> Words {
        StringRef name = model::nameOf(op.getLoc()); // of the statement, where a reader looks for it
        return {name.empty() || op.getValue().getNumElements() == 1 ? elements(op.getValue()) : name.str()};
      })
      .Case([](model::ParamOp op) -> Words { return {op.getName().str()}; })
      .Case([](model::AppendOp op) -> Words { return {"(past, " + wordsOf(op.getRows()).text + ")"}; })
      .Case([](model::LoadOp op) { return wordsOf(op.getState()); })
      .Case([&](model::SizeOp op) { return form(op.getSize()); })
      .Case([](model::RangeOp op) -> Words {
        return {"range(" + (op.getFrom() == "0" ? "" : op.getFrom().str() + ", ") + op.getTo().str() + ")"};
      })
      .Case([](model::CompareOp op) -> Words {
        const char *signs[] = {"==", "!=", "<", "<=", ">", ">="};
        return {within(op.getLhs(), Sum) + " " + signs[unsigned(op.getPredicate())] + " " + within(op.getRhs(), Sum),
                Comparison};
      })
      .Case([](model::BinaryOp op) -> Words {
        const char *signs[] = {"+", "-", "*", "/", "//", "%", "**", "min", "max", "and", "or"};
        const Level levels[] = {Sum, Sum, Product, Product, Product, Product, Product, Atom, Atom, And, Or};
        unsigned k = unsigned(op.getKind());
        if (levels[k] == Atom)
          return {std::string(signs[k]) + "(" + wordsOf(op.getLhs()).text + ", " + wordsOf(op.getRhs()).text + ")"};
        Level right = levels[k] == Sum ? Product : levels[k] == Product ? Atom : levels[k];
        return {within(op.getLhs(), levels[k]) + " " + signs[k] + " " + within(op.getRhs(), right), levels[k]};
      })
      .Case([](model::UnaryOp op) -> Words {
        std::string name = model::stringifyUnaryKind(op.getKind()).str();
        if (name == "not")
          return {"not " + within(op.getOperand(), Not), Not};
        return name == "neg" ? Words{"-" + within(op.getOperand(), Atom), Sum}
                             : Words{name + "(" + wordsOf(op.getOperand()).text + ")"};
      })
      .Case([](model::SelectOp op) -> Words {
        return {within(op->getOperand(0), Not) + " ? " + within(op->getOperand(1), Not) + " : " +
                    within(op->getOperand(2), Not),
                Or};
      })
      .Case<model::CastOp, model::BroadcastOp, model::UnsqueezeOp, model::SqueezeOp>(
          [](auto op) { return wordsOf(op->getOperand(0)); })
      .Default([](Operation *op) -> Words {
        std::string text = op->getName().stripDialect().str() + "(";
        for (auto [i, v] : llvm::enumerate(op->getOperands()))
          text += (i ? ", " : "") + (isa<model::ModelTensorType>(v.getType()) ? wordsOf(v).text : std::string(".."));
        return {text + ")"};
      });
}

std::string heddle::describeTensor(Value v) { return wordsOf(v).text; }

/// A composition inside another one is in parentheses.
static std::string inner(Value mask, StringRef around) {
  std::string text = describeMask(mask);
  Operation *op = mask.getDefiningOp();
  bool composed =
      isa<mask::AndOp, mask::OrOp, mask::AddOp, mask::SelectOp>(op) && op->getName().getStringRef() != around;
  return composed ? "(" + text + ")" : text;
}

std::string heddle::describeMask(Value mask) {
  if (!mask)
    return "all";
  auto pair = [](Operation *op, StringRef word) {
    StringRef own = op->getName().getStringRef();
    return inner(op->getOperand(0), own) + (" " + word + " ").str() + inner(op->getOperand(1), own);
  };
  return llvm::TypeSwitch<Operation *, std::string>(mask.getDefiningOp())
      .Case([&](mask::AndOp op) { return pair(op, "and"); })
      .Case([&](mask::OrOp op) { return pair(op, "or"); })
      .Case([&](mask::AddOp op) { return pair(op, "+"); })
      .Case([&](mask::NotOp op) { return "not " + inner(op.getOperand(), ""); })
      .Case([&](mask::SelectOp op) {
        return within(op.getCondition(), Not) + " ? " + inner(op.getYes(), "") + " : " + inner(op.getNo(), "");
      })
      .Default([](Operation *op) { return cast<mask::MaskOpInterface>(op).describe(describeTensor); });
}
