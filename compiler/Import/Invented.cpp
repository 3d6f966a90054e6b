// The shapes of weights where there are none to look at: `heddle mask` asks what attention sees,
// and no number of them says that. A shape is what the op says; where the op leaves a width to
// the file, it is the one that the model first named. What does not fit then is refused.
#include "compiler/Import/OpCall.h"

using namespace heddle;
using llvm::StringRef;
using K = Value::Kind;
using Sizes = std::vector<int64_t>;
using Shape = std::optional<Sizes>;

/// Of a table that nobody gives the rows of: more than any position.
static constexpr int64_t manyRows = 1 << 20;

/// A list of integers, as `shape` and `taps` are given.
static Shape integersOf(const Value &v) {
  Sizes out;
  if (!v.is(K::List))
    return std::nullopt;
  for (const Value &n : v.asList()) {
    if (!n.is(K::Integer))
      return std::nullopt;
    out.push_back(n.asInteger());
  }
  return out;
}

Shape OpCall::inventedShape(StringRef kind) {
  auto width = [&](std::optional<int64_t> first) {
    if (!in.width)
      in.width = first;
    return in.width;
  };
  StringRef op = spec.name;
  if (op == "embedding") {
    std::optional<int64_t> own = optionalInteger("width"), wide = own ? own : width(own);
    width(own);
    return wide ? Shape(Sizes{optionalInteger("rows").value_or(manyRows), *wide}) : std::nullopt;
  }
  if (op == "parameter")
    return integersOf(attr("shape"));
  if (op == "bucket_bias")
    return Shape(Sizes{integer("buckets"), integer("heads")});
  mlir::Value x = operands.empty() || operands[0].isBad() ? mlir::Value() : tensor(0);
  auto type = x ? llvm::dyn_cast<model::ModelTensorType>(x.getType()) : model::ModelTensorType();
  std::optional<int64_t> last = type && type.getRank() ? type.getSize(type.getRank() - 1).constant() : std::nullopt;
  if (!last)
    return std::nullopt;
  if (op == "linear") {
    Value split = attr("split");
    int64_t parts = split.is(K::Integer) ? split.asInteger() : 1;
    int64_t named = *width(last), out = optionalInteger("out").value_or(named * parts);
    return kind == "bias" ? Shape(Sizes{out}) : isOther("layout") ? Shape(Sizes{*last, out}) : Shape(Sizes{out, *last});
  }
  if (op == "conv") {
    int64_t out = optionalInteger("out").value_or(*width(last));
    Shape shape = integersOf(attr("taps"));
    if (kind == "bias" || !shape)
      return kind == "bias" ? Shape(Sizes{out}) : std::nullopt;
    shape->insert(shape->begin(), {out, *last / integer("groups", 1, 1)});
    return shape;
  }
  bool norm = op == "layer_norm" || op == "rms_norm" || op == "group_norm" || op == "batch_norm";
  return norm ? Shape(Sizes{*last}) : std::nullopt;
}
