//===- MaskWords.cpp - a mask as the description would say it -------------===//

#include "compiler/Driver/MaskReport.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle;

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

namespace {
/// How tightly a text holds together: what is looser than its surroundings is put in parentheses.
enum Level { Or, And, Not, Comparison, Sum, Product, Atom };
struct Words {
  std::string text;
  Level level = Atom;
};
} // namespace

static Words wordsOf(Value v);
static std::string within(Value v, Level around) {
  Words w = wordsOf(v);
  return w.level < around ? "(" + w.text + ")" : w.text;
}

static Words wordsOf(Value v) {
  if (auto argument = dyn_cast<BlockArgument>(v)) {
    auto f = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    auto name = f ? f.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "model.name") : StringAttr();
    return {name ? name.getValue().str() : "value"};
  }
  auto form = [](StringRef size) -> Words { return {size.str(), llvm::all_of(size, llvm::isAlnum) ? Atom : Sum}; };
  return llvm::TypeSwitch<Operation *, Words>(v.getDefiningOp())
      .Case([](model::DefaultOp op) { return wordsOf(op.getInput()); })
      .Case([](model::ConstantOp op) -> Words { return {numbers(op.getValue())}; })
      .Case([](model::ParamOp op) -> Words { return {op.getName().str()}; })
      .Case([&](model::SizeOp op) { return form(op.getSize()); })
      .Case([](model::RangeOp op) -> Words {
        return {"range(" + (op.getFrom() == "0" ? "" : op.getFrom().str() + ", ") + op.getTo().str() + ")"};
      })
      .Case([](model::CompareOp op) -> Words {
        const char *signs[] = {"==", "!=", "<", "<=", ">", ">="};
        return {within(op.getLhs(), Sum) + " " + signs[unsigned(op.getPredicate())] + " " + within(op.getRhs(), Sum), Comparison};
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
        return name == "neg" ? Words{"-" + within(op.getOperand(), Atom), Sum} : Words{name + "(" + wordsOf(op.getOperand()).text + ")"};
      })
      .Case([](model::SelectOp op) -> Words {
        return {within(op->getOperand(0), Not) + " ? " + within(op->getOperand(1), Not) + " : " + within(op->getOperand(2), Not), Or};
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

/// Constant lists of key blocks as they were written: without the filling of -1.
static std::string listsOf(Value v) {
  auto constant = v.getDefiningOp<model::ConstantOp>();
  auto ints = constant ? dyn_cast<DenseIntElementsAttr>(constant.getValue()) : DenseIntElementsAttr();
  if (!ints || ints.getType().getRank() != 2)
    return describeTensor(v);
  int64_t rows = ints.getType().getDimSize(0), entries = ints.getType().getDimSize(1);
  auto values = ints.getValues<APInt>();
  std::string text;
  for (int64_t r = 0; r < std::min<int64_t>(rows, 8); ++r) {
    std::string row;
    for (int64_t i = 0; i < entries; ++i)
      if (int64_t n = values[r * entries + i].getSExtValue(); n != -1)
        row += (row.empty() ? "" : ", ") + std::to_string(n);
    text += (r ? ", [" : "[") + row + "]";
  }
  return "[" + text + (rows > 8 ? ", ..]" : "]");
}

/// A composition inside another one stands in parentheses.
static std::string inner(Value mask, StringRef around) {
  std::string text = describeMask(mask);
  Operation *op = mask.getDefiningOp();
  bool composed = isa<mask::AndOp, mask::OrOp, mask::AddOp, mask::SelectOp>(op) && op->getName().getStringRef() != around;
  return composed ? "(" + text + ")" : text;
}

/// A bound of a band: `i + 1`, `max(i + 1, n)`.
static std::string boundOf(mask::BandOp op, std::optional<ArrayAttr> maps, StringRef ofTerms, StringRef ofMaps) {
  auto several = [](ArrayRef<std::string> all, StringRef name) {
    return all.size() == 1 ? all.front() : name.str() + "(" + llvm::join(all, ", ") + ")";
  };
  std::vector<std::string> bounds;
  for (AffineMap map : maps->getAsValueRange<AffineMapAttr>()) {
    std::vector<std::string> terms;
    for (AffineExpr term : map.getResults()) {
      AffineExpr base = term;
      int64_t plus = 0;
      if (auto sum = dyn_cast<AffineBinaryOpExpr>(term); sum && sum.getKind() == AffineExprKind::Add)
        if (auto constant = dyn_cast<AffineConstantExpr>(sum.getRHS())) {
          base = sum.getLHS();
          plus = constant.getValue();
        }
      auto symbol = dyn_cast<AffineSymbolExpr>(base);
      auto constant = dyn_cast<AffineConstantExpr>(base);
      std::string text = constant ? std::to_string(constant.getValue())
                         : symbol ? describeTensor(op.getBounds()[symbol.getPosition()])
                                  : std::string("i");
      if (plus)
        text += (plus > 0 ? " + " : " - ") + std::to_string(std::abs(plus));
      terms.push_back(std::move(text));
    }
    bounds.push_back(several(terms, ofTerms));
  }
  return several(bounds, ofMaps);
}

/// `causal`, `window(l, r)`, or the bounds of k for row i.
static std::string bandOf(mask::BandOp op) {
  // The c of a single bound i + c.
  auto shift = [](std::optional<ArrayAttr> maps) -> std::optional<int64_t> {
    if (!maps || maps->size() != 1)
      return std::nullopt;
    AffineMap map = cast<AffineMapAttr>((*maps)[0]).getValue();
    AffineExpr i = getAffineDimExpr(0, map.getContext());
    auto rest = map.getNumResults() == 1 ? dyn_cast<AffineConstantExpr>(map.getResult(0) - i) : AffineConstantExpr();
    return rest ? std::optional(rest.getValue()) : std::nullopt;
  };
  std::optional<int64_t> from = shift(op.getFrom()), below = shift(op.getBelow());
  if (!op.getFrom() && below == 1)
    return "causal";
  if ((from || !op.getFrom()) && (below || !op.getBelow()))
    return "window(" + (from ? std::to_string(-*from) : "null") + ", " + (below ? std::to_string(*below - 1) : "null") + ")";
  return (op.getFrom() ? boundOf(op, op.getFrom(), "min", "max") + " <= " : std::string()) + "k" +
         (op.getBelow() ? " < " + boundOf(op, op.getBelow(), "max", "min") : std::string());
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
        return within(op.getCondition(), Not) + " ? " + inner(op.getYes(), "") + " : " + inner(op.getNo(), "");
      })
      .Case([&](mask::WindowOp op) {
        return "window(" + limit(op.getLeft()) + ", " + limit(op.getRight()) +
               (op.getLabels() ? ", " + describeTensor(op.getLabels()) : "") + ")";
      })
      .Case([](mask::BandOp op) { return bandOf(op); })
      .Case([](mask::DilatedOp op) { return "dilated(" + std::to_string(op.getStep()) + ")"; })
      .Case([](mask::BlocksOp op) { return "blocks(" + std::to_string(op.getSize()) + ", " + listsOf(op.getLists()) + ")"; })
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
