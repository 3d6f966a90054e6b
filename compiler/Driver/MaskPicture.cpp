//===- MaskPicture.cpp - heddle mask --------------------------------------===//
//
// For every attention: the mask as an expression, how many tiles are empty, full and
// partial, and a picture. The elements come from the reference interpreter, which is the
// meaning of the mask dialect; only what the mask depends on is computed.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Inspect.h"
#include "compiler/Interpreter/Evaluator.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::evaluation;

/// The name a reader knows a tensor by: of the input it is, or of what it is made of.
static std::string nameOf(Value v) {
  if (auto arg = dyn_cast<BlockArgument>(v)) {
    auto f = dyn_cast<func::FuncOp>(arg.getOwner()->getParentOp());
    auto name = f ? f.getArgAttrOfType<StringAttr>(arg.getArgNumber(), "model.name") : StringAttr();
    return name ? name.getValue().str() : "value";
  }
  Operation *op = v.getDefiningOp();
  if (auto d = dyn_cast<model::DefaultOp>(op))
    return nameOf(d.getInput());
  if (auto c = dyn_cast<model::CompareOp>(op))
    return nameOf(c.getLhs()) + " " + stringifyComparePredicate(c.getPredicate()).str() + " " + nameOf(c.getRhs());
  if (auto c = dyn_cast<model::ConstantOp>(op))
    if (auto splat = dyn_cast<SplatElementsAttr>(c.getValue()); splat && splat.getElementType().isInteger(64))
      return std::to_string(splat.getSplatValue<int64_t>());
  if (op->getNumOperands() == 1)
    return nameOf(op->getOperand(0));
  return op->getName().stripDialect().str() + "(..)";
}

/// The mask as the description would say it.
static std::string expressionOf(Value mask) {
  Operation *op = mask.getDefiningOp();
  std::string name = op->getName().stripDialect().str();
  auto inner = [](Value v) {
    std::string text = expressionOf(v);
    return isa<mask::AndOp, mask::OrOp, mask::AddOp, mask::SelectOp>(v.getDefiningOp()) ? "(" + text + ")" : text;
  };
  if (isa<mask::AndOp, mask::OrOp, mask::AddOp>(op)) {
    auto side = [&](Value v) { return v.getDefiningOp()->getName() == op->getName() ? expressionOf(v) : inner(v); };
    return side(op->getOperand(0)) + " " + (name == "add" ? "+" : name) + " " + side(op->getOperand(1));
  }
  if (auto n = dyn_cast<mask::NotOp>(op))
    return "not " + inner(n.getOperand());
  if (auto s = dyn_cast<mask::SelectOp>(op))
    return nameOf(s.getCondition()) + " ? " + inner(s.getYes()) + " : " + inner(s.getNo());
  if (auto w = dyn_cast<mask::WindowOp>(op)) {
    auto limit = [](std::optional<uint64_t> n) { return n ? std::to_string(int64_t(*n)) : std::string("null"); };
    return "window(" + limit(w.getLeft()) + ", " + limit(w.getRight()) +
           (w.getLabels() ? ", " + nameOf(w.getLabels()) : "") + ")";
  }
  if (auto d = dyn_cast<mask::DilatedOp>(op))
    return "dilated(" + std::to_string(d.getStep()) + ")";
  if (auto b = dyn_cast<mask::BlocksOp>(op))
    return "blocks(" + std::to_string(b.getSize()) + ", ..)";
  if (op->getNumOperands() == 0)
    return name;
  std::string operands;
  for (Value v : op->getOperands())
    operands += (operands.empty() ? "" : ", ") + nameOf(v);
  return name + "(" + operands + ")";
}

/// Gives every argument of `f` a value: ones of the length `size`, where a dim is not bound yet.
static LogicalResult bindArguments(Evaluator &e, func::FuncOp f, int64_t size) {
  for (BlockArgument arg : f.getArguments()) {
    auto type = dyn_cast<model::ModelTensorType>(arg.getType());
    if (!type)
      continue;
    std::vector<int64_t> shape;
    for (const model::Size &s : type.getSizes()) {
      for (const std::string &d : s.dims())
        e.dims.insert({d, d == "B" ? 1 : size});
      shape.push_back(s.evaluate(e.dims).value_or(1));
    }
    Tensor t = Tensor::zeros(kindOf(type), shape);
    std::fill(t.ints.begin(), t.ints.end(), 1);
    // An input with a default is left out, so that the default's meaning is what is shown.
    if (!f.getArgAttr(arg.getArgNumber(), "model.default"))
      e.set(arg, std::move(t));
  }
  return success();
}

/// What `v` depends on, in order, then `v` itself.
static LogicalResult evaluate(Evaluator &e, Value v) {
  Operation *op = v.getDefiningOp();
  if (!op || e.has(v))
    return success();
  for (Value operand : op->getOperands())
    if (failed(evaluate(e, operand)))
      return failure();
  return e.run(op);
}

static void draw(const Console &console, const MaskValue &mask, int64_t rows, int64_t keys, int64_t past, int64_t keyStart, int64_t head) {
  int64_t seen = 0;
  auto sees = [&](int64_t i, int64_t k) { return mask.sees({0, head, i, k, past + i, keyStart + k}) > 0; };
  for (int64_t i = 0; i < rows; ++i) {
    console.out << "    ";
    for (int64_t k = 0; k < keys; ++k) {
      bool s = sees(i, k);
      seen += s;
      console.out << (s ? "██" : "· ");
    }
    console.out << "\n";
  }
  int64_t tile = std::max<int64_t>(1, std::min<int64_t>(32, rows / 4)), empty = 0, full = 0, partial = 0;
  for (int64_t i = 0; i < rows; i += tile)
    for (int64_t k = 0; k < keys; k += tile) {
      int64_t n = 0, all = 0;
      for (int64_t a = i; a < std::min(rows, i + tile); ++a)
        for (int64_t b = k; b < std::min(keys, k + tile); ++b, ++all)
          n += sees(a, b);
      ++(n == 0 ? empty : n == all ? full : partial);
    }
  console.out << "    " << rows << " rows x " << keys << " keys: " << llvm::format("%.0f", 100.0 * double(seen) / double(std::max<int64_t>(1, rows * keys)))
               << " % visible; tiles of " << tile << " x " << tile << ": " << empty << " empty, " << full << " full, "
               << partial << " partial\n";
}

int heddle::showMasks(const Console &console, const CompileOptions &options, const InspectOptions &look) {
  std::unique_ptr<MLIRContext> context = makeContext();
  int code = Ok;
  OwningOpRef<ModuleOp> module = load(console, *context, options.import, code);
  if (!module)
    return code;
  auto run = module->lookupSymbol<func::FuncOp>("run");
  if (!run)
    return console.complain(InputError, "the module has no function @run");
  if (look.size < 1 || look.size > 4096)
    return console.complain(UsageError, "--size lies in 1..4096");
  int number = 0;
  bool good = true;
  run.walk([&](attn::SdpaOp op) {
    States states;
    Evaluator e({}, &states, [](StringRef) -> FailureOr<Tensor> { return failure(); }, {});
    if (failed(bindArguments(e, run, look.size)))
      good = false;
    auto rows = [&](Value v) {
      return cast<model::ModelTensorType>(v.getType()).getSize(1).evaluate(e.dims).value_or(look.size);
    };
    std::string where;
    if (auto repeat = op->getParentOfType<model::RepeatOp>())
      where = " (" + std::to_string(repeat.getCount()) + " layers)";
    console.out << "attention " << number++ << where << ": "
                 << (op.getMask() ? expressionOf(op.getMask()) : std::string("all")) << "\n";
    MaskValue all{[](const Pair &) { return 1; }, {}};
    if (op.getMask() && failed(evaluate(e, op.getMask()))) {
      good = false;
      return;
    }
    FailureOr<int64_t> start = e.size(op, op.getKeyStart()), past = e.size(op, op.getPast());
    if (failed(start) || failed(past)) {
      good = false;
      return;
    }
    draw(console, op.getMask() ? e.mask(op.getMask()) : all, rows(op.getQuery()), rows(op.getKey()), *past, *start, 0);
  });
  if (number == 0)
    console.out << "no attention in this model\n";
  return good ? Ok : InputError;
}
