//===- Conditions.cpp - what ops ask of lengths ---------------------------===//
//
// An op asks that each length it makes is not negative, that no divisor in it is 0, and what its own rule below says.
// Whether a condition always holds, or follows from another, is decided by the least number that a form can be:
// dims are 0 or more and no larger than their bounds, so each term has a least one.
//
//===----------------------------------------------------------------------===//

#include "dialects/Model/IR/Conditions.h"
#include "dialects/Model/IR/Names.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace heddle::model;

namespace {
/// What dims are between; 0 and no limit where nothing else is said.
struct Bounds {
  std::map<std::string, int64_t> least, most;
};
} // namespace

//===-- what always holds --------------------------------------------------------===//

namespace {
/// What a form is between; none at an end where it has no limit.
struct Interval {
  std::optional<int64_t> least, most;
};
} // namespace

using Limit = std::optional<int64_t>;

static Limit sum(Limit a, Limit b) {
  int64_t n;
  return a && b && !__builtin_add_overflow(*a, *b, &n) ? Limit(n) : std::nullopt;
}
static Limit product(Limit a, Limit b) {
  int64_t n;
  return a && b && !__builtin_mul_overflow(*a, *b, &n) ? Limit(n) : std::nullopt;
}
static Limit floorDiv(Limit a, int64_t n) { return a ? Limit(*a / n - (*a % n < 0)) : std::nullopt; }

/// Products of what may be negative are left without limits.
static Interval combine(char op, Interval a, Interval b) {
  switch (op) {
  case '+': return {sum(a.least, b.least), sum(a.most, b.most)};
  case '-': return {sum(a.least, product(b.most, -1)), sum(a.most, product(b.least, -1))};
  case '*':
    if (a.least && b.least && *a.least >= 0 && *b.least >= 0)
      return {product(a.least, b.least), product(a.most, b.most)};
    return {};
  case '/':
    if (b.least && b.least == b.most && *b.least > 0)
      return {floorDiv(a.least, *b.least), floorDiv(a.most, *b.least)};
    if (a.least && b.least && *a.least >= 0 && *b.least >= 0) // where it is 0 nothing is computed
      return {Limit(0), a.most};
    return {};
  case 'M':
    return {a.least && b.least ? Limit(std::max(*a.least, *b.least))
            : a.least          ? a.least
                               : b.least,
            a.most && b.most ? Limit(std::max(*a.most, *b.most)) : std::nullopt};
  default:
    return {a.least && b.least ? Limit(std::min(*a.least, *b.least)) : std::nullopt,
            a.most && b.most ? Limit(std::min(*a.most, *b.most))
            : a.most         ? a.most
                             : b.most};
  }
}

/// What `form` is between: terms one by one, so that a dim which occurs twice may be at both of its ends.
static Interval intervalOf(const Size &form, const Bounds &bounds) {
  auto constant = [](int64_t n) { return Interval{n, n}; };
  auto dim = [&](StringRef name) {
    auto least = bounds.least.find(name.str()), most = bounds.most.find(name.str());
    return Interval{least == bounds.least.end() ? 0 : least->second,
                    most == bounds.most.end() ? Limit() : Limit(most->second)};
  };
  auto [plus, minus] = form.sides();
  auto range = [&](const Size &side) {
    return visitSize<Interval>(side.str(),
                               {constant, dim, [](char op, Interval a, Interval b) { return combine(op, a, b); }})
        .value_or(Interval());
  };
  return form.fits() ? combine('-', range(plus), range(minus)) : Interval();
}

static bool isNeverNegative(const Size &form, const Bounds &bounds) {
  std::optional<int64_t> least = intervalOf(form, bounds).least;
  return least && *least >= 0;
}

/// `bounds`, and what `known` says of a dim that is alone in it: "2*T >= 5" that T is 3 or more.
static Bounds with(const Condition &known, Bounds bounds) {
  for (const auto &[side, other] : {std::pair(known.left, known.right), {known.right, known.left}}) {
    std::set<std::string> dims = side.dims();
    std::optional<int64_t> number = other.constant();
    std::optional<Size> times = dims.size() == 1 ? side.exactDiv(Size::dim(*dims.begin())) : std::nullopt;
    if (known.differ || !number || !times || times->constant().value_or(0) < 1)
      continue;
    int64_t n = *times->constant();
    if (side == known.left) {
      int64_t &least = bounds.least.try_emplace(*dims.begin(), 0).first->second;
      least = std::max(least, *number / n + (*number % n > 0));
    } else {
      int64_t &most = bounds.most.try_emplace(*dims.begin(), INT64_MAX).first->second;
      most = std::min(most, *number / n - (*number % n < 0));
    }
  }
  return bounds;
}

std::optional<bool> Condition::holds(const std::map<std::string, int64_t> &dims) const {
  std::optional<int64_t> a = left.evaluate(dims), b = right.evaluate(dims);
  if (!a || !b)
    return std::nullopt;
  return differ ? *a != *b : *a >= *b;
}

//===-- what ops ask ---------------------------------------------------------------===//

namespace {
/// The conditions of one op, as they are found.
class Collector {
public:
  Collector(Operation *op, const Bounds &bounds, SmallVectorImpl<Condition> &out) : op(op), bounds(bounds), out(out) {}
  void collect();

private:
  Operation *op;
  const Bounds &bounds;
  SmallVectorImpl<Condition> &out;

  /// `form` is 0 or more.
  void atLeastZero(const Size &form) {
    if (!isNeverNegative(form, bounds))
      add(form, false);
  }
  /// No divisor in `form` is 0.
  void hasValue(const Size &form) {
    for (const Size &divisor : form.divisors())
      if (!isNeverNegative(divisor - Size(1), bounds))
        add(divisor, true);
  }
  /// Both, of a form that an attribute holds.
  Size length(StringRef text) {
    Size form = Size::parse(text).value_or(Size(0)); // what is no form was refused
    hasValue(form);
    return form;
  }
  void add(const Size &form, bool differ) {
    auto [left, right] = form.sides();
    out.push_back({left, right, differ, op, ""});
  }
  void holdsAll(Value at, const Size &rows);
  void ownRule();
};
} // namespace

/// All positions in `at` are in 0 .. rows - 1, where they are known without the data: constants and ranges.
void Collector::holdsAll(Value at, const Size &rows) {
  while (Operation *moved = at.getDefiningOp())
    if (isa<SqueezeOp, UnsqueezeOp, BroadcastOp>(moved))
      at = moved->getOperand(0);
    else
      break;
  if (auto range = at.getDefiningOp<RangeOp>()) {
    atLeastZero(length(range.getFrom()));
    atLeastZero(rows - length(range.getTo()));
  }
  auto constant = at.getDefiningOp<ConstantOp>();
  auto numbers = constant ? dyn_cast<DenseIntElementsAttr>(constant.getValue()) : DenseIntElementsAttr();
  if (!numbers || numbers.empty())
    return;
  int64_t least = INT64_MAX, most = INT64_MIN;
  for (const APInt &number : numbers.getValues<APInt>()) {
    least = std::min(least, number.getSExtValue());
    most = std::max(most, number.getSExtValue());
  }
  atLeastZero(Size(least));
  atLeastZero(rows - Size(most) - Size(1));
}

void Collector::ownRule() {
  auto have = [](auto o, int64_t axis) { return o.getOperand().getType().getSize(axis); };
  TypeSwitch<Operation *>(op)
      .Case([&](SizeOp o) { length(o.getSize()); })
      .Case([&](RangeOp o) {
        length(o.getTo());
        length(o.getFrom());
      })
      .Case([&](SliceOp o) { // to - from is the length of the result's axis
        atLeastZero(have(o, o.getAxis()) - length(o.getTo()));
        atLeastZero(length(o.getFrom()));
      })
      .Case([&](PadOp o) {
        atLeastZero(length(o.getBefore()));
        atLeastZero(length(o.getAfter()));
      })
      .Case([&](WindowsOp o) {
        for (auto [i, size] : llvm::enumerate(o.getSize()))
          atLeastZero(have(o, 1 + int64_t(i)) - Size(o.getDilation()[i]) * Size(size - 1) - Size(1));
      })
      .Case([&](ConvOp o) { // the taps fit, at least once
        ModelTensorType x = o.getInput().getType(), w = o.getWeight().getType();
        for (int64_t i = 0; i < w.getRank() - 2; ++i)
          atLeastZero(x.getSize(1 + i) + Size(o.getPadding()[2 * i]) + Size(o.getPadding()[2 * i + 1]) -
                      Size(o.getDilation()[i]) * (w.getSize(2 + i) - Size(1)) - Size(1));
      })
      .Case([&](GatherOp o) { holdsAll(o.getAt(), have(o, 1)); })
      .Case([&](EmbeddingOp o) { holdsAll(o.getIds(), o.getTable().getType().getSize(0)); })
      .Case([&](InterpolateOp o) { // nothing has no neighbours
        for (int64_t i = 0, n = o.getSizes().size(); i < n; ++i)
          atLeastZero(o.getInput().getType().getSize(1 + i) - Size(1));
      })
      .Case([&](ReduceOp o) { // there is no largest of no elements
        if (o.getKind() == ReduceKind::max || o.getKind() == ReduceKind::argmax)
          for (int64_t axis : o.getAxes())
            atLeastZero(have(o, axis) - Size(1));
      });
}

void Collector::collect() {
  ownRule();
  for (Type type : op->getResultTypes())
    if (auto tensor = dyn_cast<ModelTensorType>(type))
      for (const Size &axis : tensor.getSizes()) {
        hasValue(axis);
        atLeastZero(axis);
      }
}

SmallVector<Condition> heddle::model::conditionsOf(Operation *op) {
  SmallVector<Condition> all;
  Collector(op, {}, all).collect();
  return all;
}

/// Whether `c` says nothing next to `known`.
static bool saysNothing(const Condition &c, const Condition &known, const Bounds &bounds) {
  if (!known.without.empty() && known.without != c.without)
    return false;
  Size form = c.left - c.right, least = c.differ ? form - Size(1) : form;
  if (known.differ)
    return c.differ && form == known.left - known.right;
  return isNeverNegative(least - (known.left - known.right), bounds) || isNeverNegative(least, with(known, bounds));
}

/// Of an op that computes a default, the name of the input; else "".
static std::string inputWithout(Operation *op) {
  auto of = op->getParentOfType<DefaultOp>();
  auto input = of ? dyn_cast<BlockArgument>(of.getInput()) : BlockArgument();
  auto function = input ? dyn_cast<FunctionOpInterface>(input.getOwner()->getParentOp()) : FunctionOpInterface();
  auto name = function ? function.getArgAttrOfType<StringAttr>(input.getArgNumber(), "model.name") : StringAttr();
  return name ? name.getValue().str() : "";
}

SmallVector<Condition> heddle::model::conditionsIn(Operation *function) {
  Bounds bounds;
  if (auto module = function->getParentOfType<ModuleOp>())
    if (auto dims = module->getAttrOfType<DictionaryAttr>("model.dims"))
      for (NamedAttribute dim : dims)
        if (auto bound = dyn_cast<IntegerAttr>(dim.getValue()))
          bounds.most[dim.getName().str()] = bound.getInt();
  SmallVector<Condition> all;
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    SmallVector<Condition> own;
    Collector(op, bounds, own).collect();
    for (Condition &c : own) {
      c.without = inputWithout(op);
      if (llvm::any_of(all, [&](const Condition &known) { return saysNothing(c, known, bounds); }))
        continue;
      llvm::erase_if(all, [&](const Condition &known) { return saysNothing(known, c, bounds); });
      all.push_back(c);
    }
  });
  return all;
}

//===-- words for messages ----------------------------------------------------------===//

std::string heddle::model::wordOf(Operation *op) { return op->getName().stripDialect().str(); }

std::string heddle::model::tokenOf(Location where) {
  auto file = where->findInstanceOf<FileLineColLoc>();
  if (!file)
    return "";
  std::string place = std::to_string(file.getLine()) + ":" + std::to_string(file.getColumn());
  // The statement says where; without the file's name a description from standard input makes the same program.
  StringRef path = pathOf(where);
  return path.empty() ? llvm::sys::path::filename(file.getFilename().getValue()).str() + ":" + place
                      : path.str() + " (" + place + ")";
}
