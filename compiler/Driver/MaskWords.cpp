//===- MaskWords.cpp - a mask as the description would say it -------------===//

#include "compiler/Driver/MaskReport.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle;

static std::string signOf(model::ComparePredicate p) {
  const char *signs[] = {"==", "!=", "<", "<=", ">", ">="};
  return signs[unsigned(p)];
}
static std::string signOf(model::BinaryKind k) {
  const char *signs[] = {"+", "-", "*", "/", "//", "%", "**", "min", "max", "and", "or"};
  return signs[unsigned(k)];
}

static std::string operand(Value v) {
  std::string text = describeTensor(v);
  bool plain = llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
  return plain || text.back() == ')' || text.back() == ']' ? text : "(" + text + ")";
}

static std::string numbers(ElementsAttr value) {
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

std::string heddle::describeTensor(Value v) {
  if (auto argument = dyn_cast<BlockArgument>(v)) {
    auto f = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    auto name = f ? f.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "model.name") : StringAttr();
    return name ? name.getValue().str() : "value";
  }
  return llvm::TypeSwitch<Operation *, std::string>(v.getDefiningOp())
      .Case([](model::DefaultOp op) { return describeTensor(op.getInput()); })
      .Case([](model::ConstantOp op) { return numbers(op.getValue()); })
      .Case([](model::ParamOp op) { return op.getName().str(); })
      .Case([](model::SizeOp op) { return op.getSize().str(); })
      .Case([](model::RangeOp op) {
        return "range(" + (op.getFrom() == "0" ? "" : op.getFrom().str() + ", ") + op.getTo().str() + ")";
      })
      .Case([](model::CompareOp op) { return operand(op.getLhs()) + " " + signOf(op.getPredicate()) + " " + operand(op.getRhs()); })
      .Case([](model::BinaryOp op) {
        std::string sign = signOf(op.getKind());
        if (llvm::isAlpha(sign[0]) && sign[0] == 'm')
          return sign + "(" + describeTensor(op.getLhs()) + ", " + describeTensor(op.getRhs()) + ")";
        return operand(op.getLhs()) + " " + sign + " " + operand(op.getRhs());
      })
      .Case([](model::UnaryOp op) {
        std::string name = model::stringifyUnaryKind(op.getKind()).str();
        return name == "neg" ? "-" + operand(op.getOperand()) : name == "not" ? "not " + operand(op.getOperand()) : name + "(" + describeTensor(op.getOperand()) + ")";
      })
      .Case<model::CastOp, model::BroadcastOp, model::UnsqueezeOp, model::SqueezeOp>(
          [](auto op) { return describeTensor(op->getOperand(0)); })
      .Default([](Operation *op) {
        std::string text = op->getName().stripDialect().str() + "(";
        for (auto [i, v] : llvm::enumerate(op->getOperands()))
          text += (i ? ", " : "") + (isa<model::ModelTensorType>(v.getType()) ? describeTensor(v) : std::string(".."));
        return text + ")";
      });
}

/// A composition inside another one stands in parentheses.
static std::string inner(Value mask, StringRef around) {
  std::string text = describeMask(mask);
  Operation *op = mask.getDefiningOp();
  bool composed = isa<mask::AndOp, mask::OrOp, mask::AddOp, mask::SelectOp>(op) && op->getName().getStringRef() != around;
  return composed ? "(" + text + ")" : text;
}

std::string heddle::describeMask(Value mask) {
  if (!mask)
    return "all";
  auto pair = [](Operation *op, StringRef word) {
    StringRef own = op->getName().getStringRef();
    return inner(op->getOperand(0), own) + (" " + word + " ").str() + inner(op->getOperand(1), own);
  };
  auto limit = [](std::optional<uint64_t> n) { return n ? std::to_string(int64_t(*n)) : std::string("null"); };
  return llvm::TypeSwitch<Operation *, std::string>(mask.getDefiningOp())
      .Case([&](mask::AndOp op) { return pair(op, "and"); })
      .Case([&](mask::OrOp op) { return pair(op, "or"); })
      .Case([&](mask::AddOp op) { return pair(op, "+"); })
      .Case([&](mask::NotOp op) { return "not " + inner(op.getOperand(), ""); })
      .Case([&](mask::SelectOp op) {
        return operand(op.getCondition()) + " ? " + inner(op.getYes(), "") + " : " + inner(op.getNo(), "");
      })
      .Case([&](mask::WindowOp op) {
        return "window(" + limit(op.getLeft()) + ", " + limit(op.getRight()) +
               (op.getLabels() ? ", " + describeTensor(op.getLabels()) : "") + ")";
      })
      .Case([](mask::DilatedOp op) { return "dilated(" + std::to_string(op.getStep()) + ")"; })
      .Case([](mask::BlocksOp op) { return "blocks(" + std::to_string(op.getSize()) + ", " + describeTensor(op.getLists()) + ")"; })
      .Case([](mask::DocumentOp op) {
        bool same = op.getQueryIds() == op.getKeyIds();
        return "document(" + describeTensor(op.getQueryIds()) + (same ? "" : ", " + describeTensor(op.getKeyIds())) + ")";
      })
      .Default([](Operation *op) {
        std::string text = op->getName().stripDialect().str();
        for (auto [i, v] : llvm::enumerate(op->getOperands()))
          text += (i ? ", " : "(") + (isa<mask::MaskType>(v.getType()) ? describeMask(v) : describeTensor(v));
        return op->getNumOperands() ? text + ")" : text;
      });
}
