// Imports attention and the biases of its scores; and the table from an op's name to the function that imports it.
#include "compiler/Import/Ops/OpCall.h"
#include "compiler/Import/Ops/OpHandlers.h"
#include "dialects/Attn/IR/Misfit.h"

#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace heddle;
using heddle::model::ModelTensorType;
using heddle::model::Size;
using llvm::StringRef;
using llvm::Twine;
using E = Emitter::Element;
using K = Value::Kind;

static std::vector<Value> poison() { return {Value::poison()}; }

/// q [B, T, heads·w], k [B, S, kv_heads·w], v [B, S, kv_heads·u]. Mask and bias are checked against the axes of the
/// scores [B, heads, T, S], and a mask that hides everything is refused. Without `scale` it is 1/√w.
std::vector<Value> ops::attention(OpCall &c) {
  // Operands and attributes, each by itself.
  mlir::Value q = c.tensor(0, E::Real), k = c.tensor(1, E::Real), v = c.tensor(2, E::Real);
  int64_t heads = c.integer("heads", std::nullopt, 1), kvHeads = c.integer("kv_heads", heads, 1);
  Value mask = c.attr("mask"), bias = c.attr("bias"), sinks = c.attr("sinks");
  auto wrong = [&](StringRef attribute, const Value &v, StringRef remedy) {
    c.fail(Error::WrongAttribute, c.place(attribute),
           attribute + " must be a " + attribute + ", found " + c.shown(v) + (v.isArray() ? remedy : ""));
  };
  if (!mask.isNull() && !mask.isBad() && !mask.is(K::Mask))
    wrong("mask", mask, "; say keys(t), queries(t) or dense(t) to make a tensor a mask");
  if (!bias.isNull() && !bias.isBad() && !bias.is(K::Bias))
    wrong("bias", bias, "; dense_bias makes one of a tensor");
  double cap = c.real("softcap", 0), scale = c.real("scale", 0);
  bool scaled = !c.attr("scale").isNull();
  Size start = c.size("key_start", 0);
  mlir::Value sink;
  if (!sinks.isNull() && !sinks.isBad()) {
    sink = c.in.materialize(sinks, E::Real, c.place("sinks"));
    c.bad |= !sink;
  }
  if (c.bad)
    return poison();
  auto lies = [&](const Value &v, StringRef attribute) { // along the axes of the scores: a T is never an S
    ModelTensorType a = tensorType(q), b = tensorType(k);
    auto show = [](mlir::Value t) { return Value::ofIr(K::Tensor, t).show(); };
    if (a.getRank() != 3 || b.getRank() != 3)
      return;
    mask::Scores scores{a.getSize(0), a.getSize(1), b.getSize(1), heads, show};
    if (auto no = attn::misfit(v.asIr(), scores))
      c.fail(Error::MaskMisfit, c.place(attribute), *no)
          .note(c.in.places.of(attn::misfittingPart(v.asIr(), scores)->getLoc()), "made here");
  };
  // Masks and biases against the axes of the scores.
  if (mask.is(K::Mask))
    lies(mask, "mask");
  if (mask.is(K::Mask) && mask::truthOf(mask.asIr()) == mask::Truth::Never)
    c.fail(
        Error::MaskMisfit, c.place("mask"),
        "a mask that lets some key be seen expected; this one sees nothing, whatever the data, and every row would be 0");
  if (bias.is(K::Bias))
    lies(bias, "bias");
  if (c.bad)
    return poison();
  if (!scaled) {
    ModelTensorType t = tensorType(q);
    std::optional<int64_t> n = t.getRank() == 3 ? t.getSize(2).constant() : std::nullopt;
    if (!n || *n % heads) {
      c.fail(Error::Misfit, Twine(heads) + " heads do not divide the query, " + Value::ofIr(K::Tensor, q).show() +
                                ": expected [B, rows, heads x width]");
      return poison();
    }
    scale = 1 / std::sqrt(static_cast<double>(*n / heads));
  }
  // `all` hides nothing: no mask at all.
  bool masked = mask.is(K::Mask) && mask::truthOf(mask.asIr()) != mask::Truth::Always;
  // The op: optional operands in the order mask, bias, sinks.
  llvm::SmallVector<mlir::Value> operands = {q, k, v};
  if (masked)
    operands.push_back(mask.asIr());
  if (bias.is(K::Bias))
    operands.push_back(bias.asIr());
  if (sink)
    operands.push_back(sink);
  auto rows = attn::symbolizeMaskedRows(c.body.session.options.maskedRows);
  Emitter::Attrs attrs = {
      c.in.segments({1, 1, 1, masked, bias.is(K::Bias), sink ? 1 : 0, /*starts=*/0}),
      c.in.intAttr("heads", heads),
      c.in.intAttr("kv_heads", kvHeads),
      c.in.realAttr("scale", scale),
      c.in.textAttr("key_start", start.str()),
      c.in.attr("masked_rows", attn::MaskedRowsAttr::get(&c.in.context, rows.value_or(attn::MaskedRows::zero)))};
  if (cap != 0)
    attrs.push_back(c.in.realAttr("softcap", cap));
  return {c.in.emit<attn::SdpaOp>(c.at, operands, attrs)};
}

//===--- biases ---------------------------------------------------------------===//

/// The slopes of ALiBi for the number of heads that is the op's operand, [heads].
static std::optional<ConstantTensor> slopes(OpCall &c) {
  const Value &heads = c.operands[0];
  if (heads.isBad())
    return std::nullopt;
  if (!heads.is(K::Integer) || heads.asInteger() < 1 || heads.asInteger() > 4096) {
    c.fail(Error::WrongValue, "a number of heads expected, found " + heads.show());
    return std::nullopt;
  }
  ConstantTensor t;
  t.reals = attn::alibiSlopes(heads.asInteger());
  t.shape = {heads.asInteger()};
  return t;
}

std::vector<Value> ops::alibiSlopes(OpCall &c) {
  std::optional<ConstantTensor> t = slopes(c);
  return {t ? Value::constant(*t) : Value::poison()};
}

/// The operand is a number of heads or a tensor of slopes. An explicit "symmetric": false says that a bias which grows
/// towards the future is meant, so no warning is given (Warnings.h).
std::vector<Value> ops::alibi(OpCall &c) {
  bool symmetric = c.flag("symmetric", false);
  mlir::Value m;
  if (c.operands[0].isArray()) {
    m = c.tensor(0, E::Real);
  } else if (std::optional<ConstantTensor> t = slopes(c)) {
    m = c.in.constantOp(*t, E::Real, c.at);
  }
  if (c.bad || !m)
    return poison();
  if (tensorType(m).getRank() != 1) {
    c.fail(Error::Misfit, "slopes [heads] expected, found " + c.operands[0].show());
    return poison();
  }
  Emitter::Attrs attrs;
  if (symmetric)
    attrs.push_back(c.in.unitAttr("symmetric"));
  Value bias = c.in.emitBias<attn::AlibiOp>(c.at, {m}, attrs);
  if (!symmetric && bias.is(K::Bias) && !c.attr("symmetric").isNull())
    c.body.meant.insert(bias.asIr().getDefiningOp());
  return {bias};
}

/// T5's bias: a table [buckets, heads] read by the bucket of the distance. Half of the buckets (of each side) are exact
/// distances, the others logarithmic up to max_distance.
std::vector<Value> ops::bucketBias(OpCall &c) {
  int64_t heads = c.integer("heads", std::nullopt, 1), buckets = c.integer("buckets", std::nullopt, 2),
          far = c.integer("max_distance", std::nullopt, 1);
  bool both = c.flag("two_sided", false);
  mlir::Value table = c.realWeight("weight");
  if (c.bad || !table)
    return poison();
  ModelTensorType t = tensorType(table);
  if (t.getRank() != 2 || !t.getSize(0).is(buckets) || !t.getSize(1).is(heads)) {
    c.fail(Error::WeightMisshapen, "weight should be [" + Twine(buckets) + ", " + Twine(heads) + "], is " +
                                       Value::ofIr(K::Tensor, table).show());
    return poison();
  }
  int64_t exact = (both ? buckets / 2 : buckets) / 2;
  if (exact < 1 || far <= exact) {
    c.fail(Error::WrongAttribute, c.place("max_distance"),
           "max_distance should exceed the " + Twine(exact) + " exact buckets, found " + Twine(far));
    return poison();
  }
  Emitter::Attrs attrs = {c.in.intAttr("max_distance", far)};
  if (both)
    attrs.push_back(c.in.unitAttr("two_sided"));
  return {c.in.emitBias<attn::BucketBiasOp>(c.at, {table}, attrs)};
}

/// Scores of x [B, rows, heads·w] with a table of relative positions, [n, w] for all heads or [n, heads·w].
std::vector<Value> ops::relativeDot(OpCall &c) {
  mlir::Value x = c.tensor(0, E::Real), table = c.tensor(1, E::Real);
  int64_t heads = c.integer("heads", std::nullopt, 1);
  Size zero = c.size("zero");
  bool keySide = c.isOther("side");
  std::vector<int64_t> bucket;
  if (!c.attr("bucket").isNull())
    bucket = c.integers("bucket", 2, 0);
  if (c.bad)
    return poison();
  ModelTensorType t = tensorType(x), r = tensorType(table);
  std::optional<Size> width = t.getRank() == 3 ? t.getSize(2).exactDiv(Size(heads)) : std::nullopt;
  if (!width || r.getRank() != 2 || (r.getSize(1) != *width && r.getSize(1) != t.getSize(2))) {
    c.fail(Error::Misfit, "[B, rows, " + Twine(heads) + " heads x width] and a table [rows, width] expected, found " +
                              c.operands[0].show() + " and " + c.operands[1].show());
    return poison();
  }
  if (!bucket.empty() && (bucket[0] < 4 || bucket[1] <= bucket[0] / 2 + 1)) {
    c.fail(Error::WrongAttribute, c.place("bucket"),
           "bucket should be [size, far] with a size of at least 4 and far beyond " + Twine(bucket[0] / 2 + 1) +
               ", found [" + Twine(bucket[0]) + ", " + Twine(bucket[1]) + "]");
    return poison();
  }
  Emitter::Attrs attrs = {c.in.intAttr("heads", heads), c.in.textAttr("zero", zero.str())};
  if (keySide)
    attrs.push_back(c.in.unitAttr("key_side"));
  if (!bucket.empty())
    attrs.push_back(c.in.intsAttr("bucket", bucket));
  return {c.in.emitBias<attn::RelativeDotOp>(c.at, {x, table}, attrs)};
}

std::vector<Value> ops::denseBias(OpCall &c) {
  mlir::Value t = c.tensor(0, E::Real);
  if (c.bad)
    return poison();
  int64_t rank = tensorType(t).getRank();
  if (rank < 2 || rank > 4) {
    c.fail(Error::Misfit, "a tensor of rank 2, 3 or 4 expected, found " + c.operands[0].show());
    return poison();
  }
  return {c.in.emitBias<attn::DenseBiasOp>(c.at, {t})};
}

//===--- the table ------------------------------------------------------------===//

std::vector<Value> heddle::importOp(OpCall &c) {
  ops::Handler *handler = llvm::StringSwitch<ops::Handler *>(c.spec.name)
                              .Case("linear", ops::linear)
                              .Case("embedding", ops::embedding)
                              .Case("parameter", ops::parameter)
                              .Case("conv", ops::conv)
                              .Case("experts", ops::experts)
                              .Case("layer_norm", ops::layerNorm)
                              .Case("rms_norm", ops::rmsNorm)
                              .Case("group_norm", ops::groupNorm)
                              .Case("batch_norm", ops::batchNorm)
                              .Case("l2_norm", ops::l2Norm)
                              .Case("matmul", ops::matmul)
                              .Cases({"mean", "sum", "max", "argmax"}, ops::reduce)
                              .Case("cumsum", ops::cumsum)
                              .Cases({"softmax", "log_softmax"}, ops::softmax)
                              .Case("top_k", ops::topK)
                              .Case("concat", ops::concat)
                              .Case("pad", ops::pad)
                              .Case("gather", ops::gather)
                              .Case("rearrange", ops::rearrange)
                              .Case("sinusoidal", ops::sinusoidal)
                              .Case("rotary", ops::rotary)
                              .Case("interpolate", ops::interpolate)
                              .Case("attention", ops::attention)
                              .Case("alibi", ops::alibi)
                              .Case("alibi_slopes", ops::alibiSlopes)
                              .Case("bucket_bias", ops::bucketBias)
                              .Case("relative_dot", ops::relativeDot)
                              .Case("dense_bias", ops::denseBias)
                              .Default(nullptr);
  if (!handler) {
    c.fail(Error::OurMistake, "is in the table of ops and has no importer");
    return poison();
  }
  std::vector<Value> results = handler(c);
  c.in.weightsRead.clear();
  return results;
}
