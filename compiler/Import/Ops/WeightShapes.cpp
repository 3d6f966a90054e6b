// Weights that an op asks for and the file lacks: the shape that the op expects, and a stand-in so that the import goes
// on and reports all that are missing.
#include "compiler/Import/Ops/OpCall.h"

#include "llvm/ADT/STLExtras.h"

using namespace heddle;
using llvm::StringRef;
using llvm::Twine;
using K = Value::Kind;

/// From the op's attributes and the features of its operand; an axis that neither tells is none.
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
    bool inOut = isOther("layout") && !rowsAreOutputs;
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

/// Notes the weight and yields a parameter in its place: of the expected shape if all of it is known, else of that of a
/// tensor that nothing reads, has nearly the name and fits. Otherwise the op is bad and what uses it stays silent.
mlir::Value OpCall::missing(StringRef kind, const std::string &name, const std::string &why) {
  std::vector<std::optional<int64_t>> shape = expectedShape(kind);
  std::string text;
  for (std::optional<int64_t> n : shape)
    text += (text.empty() ? "" : ", ") + (n ? std::to_string(*n) : std::string("?"));
  // Told when all is known; the calls that lead here are known now.
  At shown = in.places.shown(at);
  std::string output = body.weights.names()->outputWithout(name);
  if (body.session.options.needed)
    return listed(kind, name, std::move(shape), !output.empty());
  body.weights.note({shown.loc, at.loc, in.places.pathOf(at), in.places.block(), name, spec.name.str() + ": " + why,
                     shape.empty() ? "" : "[" + text + "]", output});
  if (!output.empty()) {
    bad = true; // so is all that is made of it, and an output that is not is whole
    return {};
  }
  auto unknown = [](std::optional<int64_t> n) { return !n || *n < 1; };
  if (shape.empty() || llvm::any_of(shape, unknown)) {
    // A tensor that nothing reads, is named much the same and fits as far as can be seen.
    std::vector<std::string> left =
        body.weights.countMissing() < 200 ? body.weights.names()->unread() : std::vector<std::string>();
    std::optional<WeightNames::Found> near = body.weights.names()->nearestStored(name, left);
    bool fits = near && (shape.empty() || near->tensor.shape.size() == shape.size());
    for (size_t i = 0; fits && i < shape.size(); ++i)
      fits = unknown(shape[i]) || *shape[i] == near->tensor.shape[i];
    if (!fits) {
      bad = true;
      return {};
    }
    shape.assign(near->tensor.shape.begin(), near->tensor.shape.end());
  }
  return standIn(kind, name, shape);
}

/// A parameter of this shape in the place of one that is not there.
mlir::Value OpCall::standIn(StringRef kind, const std::string &name, llvm::ArrayRef<std::optional<int64_t>> shape) {
  if (kind == "weight") {
    weightShape.clear();
    for (std::optional<int64_t> n : shape)
      weightShape.push_back(*n);
  }
  llvm::SmallVector<model::Size> sizes;
  for (std::optional<int64_t> n : shape)
    sizes.push_back(model::Size(*n));
  mlir::Type type = model::ModelTensorType::get(&in.context, sizes, in.builder.getF32Type());
  return in.param(at, name, type);
}

/// Writes the weight into the list of what the model needs. A length that the op does not say is that of `heddle mask`,
/// so that what follows is listed, too.
mlir::Value OpCall::listed(StringRef kind, const std::string &name, std::vector<std::optional<int64_t>> shape,
                           bool optional) {
  auto unknown = [](std::optional<int64_t> n) { return !n || *n < 1; };
  NeededWeight needed;
  needed.name = name;
  needed.dtype = "F32";
  needed.optional = optional;
  if (shape.empty() || llvm::any_of(shape, unknown)) {
    std::optional<std::vector<int64_t>> invented = inventedShape(kind);
    bool fits = invented && (shape.empty() || shape.size() == invented->size());
    if (fits && shape.empty())
      shape.resize(invented->size());
    for (size_t i = 0; fits && i < shape.size(); ++i)
      if (unknown(shape[i])) {
        shape[i] = (*invented)[i];
        needed.assumed = true;
      }
  }
  for (std::optional<int64_t> n : shape)
    needed.shape.push_back(unknown(n) || isManyRows(*n) ? -1 : *n);
  body.session.options.needed->push_back(std::move(needed));
  if (shape.empty() || llvm::any_of(shape, unknown)) {
    bad = true;
    return {};
  }
  return standIn(kind, name, shape);
}
