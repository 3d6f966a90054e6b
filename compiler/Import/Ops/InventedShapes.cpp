// Shapes of weights for `heddle mask` without weights, which shows what attention sees and needs no weight's value. A
// shape is what the op says; a width that the op leaves to the file is the last one that the model, or the tower it
// belongs to, named. If shapes do not fit then, the model is refused.
#include "compiler/Import/Ops/OpCall.h"

using namespace heddle;
using llvm::StringRef;
using K = Value::Kind;
using Sizes = std::vector<int64_t>;
using Shape = std::optional<Sizes>;

/// Rows of a table whose number is not given: more than any position.
static constexpr int64_t manyRows = 1 << 20;

bool heddle::isManyRows(int64_t n) { return n == manyRows; }

/// An attribute that is a list of integers, such as `shape` and `taps`.
static Shape lengthsOf(const Value &v) {
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

/// Whether a number is a width: a constant of the description called `width`, `v_width` or so has it; if there is no
/// such constant, any number may be one.
static bool isWidth(const Environment &constants, int64_t n) {
  bool none = true;
  for (const std::string &name : constants.names()) {
    const Value *v = constants.find(name);
    if (!StringRef(name).ends_with("width") || !v->is(K::Integer))
      continue;
    if (v->asInteger() == n)
      return true;
    none = false;
  }
  return none;
}

/// The shape of the part `kind` (weight, bias) of this op: from its attributes and the width of its operand where they
/// say it, else from the width of the model. None where nothing says it: the model is refused.
Shape OpCall::inventedShape(StringRef kind) {
  // The width of the model, or of the tower that this op belongs to: the op that begins a tower names its width.
  auto begins = [&](std::optional<int64_t> n) {
    if (n && isWidth(*evaluator.fileScope.env, *n))
      body.width = n;
    return n;
  };
  auto width = [&](std::optional<int64_t> otherwise) {
    const Value *named = evaluator.fileScope.env->find("width");
    return body.width ? body.width : named && named->is(K::Integer) ? std::optional(named->asInteger()) : otherwise;
  };
  StringRef op = spec.name;
  if (op == "embedding") {
    std::optional<int64_t> own = begins(optionalInteger("width")), wide = own ? own : width(std::nullopt);
    return wide ? Shape(Sizes{optionalInteger("rows").value_or(manyRows), *wide}) : std::nullopt;
  }
  if (op == "parameter")
    return lengthsOf(attr("shape"));
  if (op == "bucket_bias")
    return Shape(Sizes{integer("buckets"), integer("heads")});
  mlir::Value x = operands.empty() || operands[0].isBad() ? mlir::Value() : tensor(0);
  auto type = x ? llvm::dyn_cast<model::ModelTensorType>(x.getType()) : model::ModelTensorType();
  std::optional<int64_t> last = type && type.getRank() ? type.getSize(type.getRank() - 1).constant() : std::nullopt;
  if (!last)
    return std::nullopt;
  if (op == "linear") {
    int64_t out = *width(last);
    Value split = attr("split"), given = attr("bias");
    if (std::optional<int64_t> said = optionalInteger("out")) {
      out = *said;
    } else if (split.is(K::Integer)) {
      out *= split.asInteger();
    } else if (split.is(K::List)) { // units a group: the first part is the width
      auto units = [](const Value &part) {
        return part.is(K::Integer) ? part.asInteger() : part.is(K::Real) ? int64_t(part.asReal()) : 0;
      };
      int64_t all = 0, first = split.asList().empty() ? 0 : units(split.asList().front());
      for (const Value &part : split.asList())
        all += units(part);
      out = first ? out / first * all : out;
    } else if (mlir::Value bias = given.isArray() ? in.materialize(given, at) : mlir::Value()) {
      out = tensorType(bias).getSize(tensorType(bias).getRank() - 1).constant().value_or(out);
    }
    return kind == "bias" ? Shape(Sizes{out}) : isOther("layout") ? Shape(Sizes{*last, out}) : Shape(Sizes{out, *last});
  }
  if (op == "conv") {
    std::optional<int64_t> said = begins(optionalInteger("out"));
    int64_t out = said ? *said : *width(last);
    Value taps = attr("taps"); // a number is one for every axis between the first and the last
    Shape shape = taps.is(K::Integer) ? Shape(Sizes(type.getRank() - 2, taps.asInteger())) : lengthsOf(taps);
    if (kind == "bias" || !shape)
      return kind == "bias" ? Shape(Sizes{out}) : std::nullopt;
    shape->insert(shape->begin(), {out, *last / integer("groups", 1, 1)});
    return shape;
  }
  bool norm = op == "layer_norm" || op == "rms_norm" || op == "group_norm" || op == "batch_norm";
  return norm ? Shape(Sizes{*last}) : std::nullopt;
}
