// Weights that are asked for and not there: what their ops know of their shapes, and one table of all.
#include "compiler/Import/OpCall.h"

#include "llvm/ADT/STLExtras.h"

using namespace heddle;
using llvm::StringRef;
using llvm::Twine;
using K = Value::Kind;

std::vector<std::optional<int64_t>> OpCall::expectedShape(StringRef kind) {
  using Axis = std::optional<int64_t>;
  StringRef op = spec.name;
  auto given = [&](StringRef name) -> Axis {
    Value v = attr(name);
    return v.is(K::Integer) ? Axis(v.asInteger()) : std::nullopt;
  };
  auto features = [&]() -> Axis {
    if (operands.empty() || !operands[0].is(K::Tensor))
      return std::nullopt;
    model::ModelTensorType t = tensorType(operands[0].asIr());
    return t.getRank() ? t.getSize(t.getRank() - 1).constant() : std::nullopt;
  };
  if (op == "linear") {
    Axis in = features(), out = given("out");
    bool inOut = isOther("layout");
    if (kind == "bias")
      return {weightShape.size() == 2 ? Axis(weightShape[inOut ? 1 : 0]) : out};
    return inOut ? std::vector<Axis>{in, out} : std::vector<Axis>{out, in};
  }
  if (op == "embedding")
    return {given("rows"), given("width")};
  if (op.ends_with("_norm"))
    return {features()};
  if (op == "parameter")
    if (Value shape = attr("shape"); shape.is(K::List)) {
      std::vector<Axis> out;
      for (const Value &n : shape.asList())
        out.push_back(n.is(K::Integer) ? Axis(n.asInteger()) : std::nullopt);
      return out;
    }
  return {};
}

mlir::Value OpCall::missing(StringRef kind, const std::string &name, const std::string &why) {
  std::vector<std::optional<int64_t>> shape = expectedShape(kind);
  std::string text;
  for (std::optional<int64_t> n : shape)
    text += (text.empty() ? "" : ", ") + (n ? std::to_string(*n) : std::string("?"));
  // Told when all is known; the calls that lead here are known now.
  At shown = in.places.shown(at);
  importer.missing.push_back({shown.loc, at.loc, in.places.pathOf(at), in.places.block(), name,
                        spec.name.str() + ": " + why, shape.empty() ? "" : "[" + text + "]"});
  auto unknown = [](std::optional<int64_t> n) { return !n || *n < 1; };
  if (shape.empty() || llvm::any_of(shape, unknown)) {
    // A tensor that nothing reads, is named much the same and fits as far as can be seen.
    std::vector<std::string> left = importer.missing.size() < 200 ? importer.weightNames->unread() : std::vector<std::string>();
    std::optional<WeightNames::Found> near = importer.weightNames->nearestStored(name, left);
    bool fits = near && (shape.empty() || near->tensor.shape.size() == shape.size());
    for (size_t i = 0; fits && i < shape.size(); ++i)
      fits = unknown(shape[i]) || *shape[i] == near->tensor.shape[i];
    if (!fits) {
      bad = true;
      return {};
    }
    shape.assign(near->tensor.shape.begin(), near->tensor.shape.end());
  }
  if (kind == "weight") {
    weightShape.clear();
    for (std::optional<int64_t> n : shape)
      weightShape.push_back(*n);
  }
  llvm::SmallVector<model::Size> sizes;
  for (std::optional<int64_t> n : shape)
    sizes.push_back(model::Size(*n));
  mlir::Type type = model::ModelTensorType::get(&in.context, sizes, in.builder.getF32Type());
  return in.create(at, model::ParamOp::getOperationName(), {}, {type}, {in.textAttr("name", name)})->getResult(0);
}

void Importer::reportMissing() {
  bool alone = !sink.hasErrors();
  std::vector<Missing> all;
  std::set<std::string> seen;
  for (Missing &m : missing)
    if (seen.insert(m.name).second)
      all.push_back(std::move(m));
  std::vector<std::string> left = weightNames->unread();
  const Missing &first = all.front();
  Diagnostic *d;
  if (all.size() == 1) {
    d = &sink.error(first.shown, first.path, first.why);
    if (!first.expected.empty())
      d->note({}, "a tensor " + first.expected + " is expected");
  } else {
    d = &sink.error(first.shown, first.path, Twine(all.size()) + " weights that are read here and below are not in " + quote(weightsFile));
    d->table.push_back({"weight", "expected", "nearest that nothing reads", "asked for at"});
    for (const Missing &m : llvm::ArrayRef(all).take_front(WeightNames::mostRows)) {
      std::optional<WeightNames::Found> near = weightNames->nearestStored(m.name, left);
      d->table.push_back({escaped(m.name), m.expected.empty() ? "?" : m.expected,
                          near ? escaped(near->name) + " " + shapeText(near->tensor.shape) : "nothing near it", placeText(m.shown)});
    }
    if (all.size() > WeightNames::mostRows)
      d->table.push_back({"and " + std::to_string(all.size() - WeightNames::mostRows) + " more"});
  }
  if (!(first.shown == first.asked) && first.asked)
    d->note(first.asked, "in the block " + quote(first.block));
  // What is left over is the best hint, where nothing else kept it from being read.
  if (!alone || left.empty())
    return;
  std::string some;
  for (size_t i = 0; i < left.size() && i < 6; ++i)
    some += (i ? ", " : "") + escaped(left[i]);
  d->note({}, "the file has " + Twine(left.size()) + (left.size() == 1 ? " tensor" : " tensors") + " that nothing reads: " + some +
                  (left.size() > 6 ? ", ..." : ""));
}
