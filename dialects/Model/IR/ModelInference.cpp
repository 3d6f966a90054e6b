//===- ModelInference.cpp - result types of elementwise, linear and norm ops ----===//
//
// Inference is the check of shapes: misfitting operands are reported at the op's location,
// which is the JSON token it came from. Moving ops are in MovingInference.cpp.
//
//===----------------------------------------------------------------------===//

#include "dialects/Model/IR/Inference.h"

using namespace mlir;
using namespace heddle::model;
using namespace heddle::model::inference;

std::optional<SmallVector<Size>> heddle::model::broadcast(ArrayRef<ModelTensorType> types, std::string *whyNot) {
  int64_t rank = 0;
  for (ModelTensorType t : types)
    rank = std::max(rank, t.getRank());
  SmallVector<Size> sizes(rank, Size(1));
  for (ModelTensorType t : types)
    for (int64_t i = 0; i < t.getRank(); ++i) {
      Size mine = t.getSize(i), &all = sizes[rank - t.getRank() + i];
      if (mine == all || mine.is(1))
        continue;
      if (!all.is(1)) {
        if (whyNot) {
          *whyNot = "shapes do not broadcast: " + mine.str() + " against " + all.str() + " in";
          for (ModelTensorType u : types)
            *whyNot += " " + show(u);
        }
        return std::nullopt;
      }
      all = mine;
    }
  return sizes;
}

bool heddle::model::inference::stretches(ArrayRef<Size> from, ArrayRef<Size> to) {
  if (from.size() > to.size())
    return false;
  for (auto [mine, all] : llvm::zip(from, to.take_back(from.size())))
    if (mine != all && !mine.is(1))
      return false;
  return true;
}

static LogicalResult inferBroadcast(MLIRContext *ctx, Loc loc, ArrayRef<ModelTensorType> types, Type element,
                                    Types &out) {
  std::string why;
  std::optional<SmallVector<Size>> sizes = broadcast(types, &why);
  if (!sizes)
    return refuse(loc, why);
  return give(loc, ModelTensorType::get(ctx, *sizes, element), out);
}

LogicalResult SizeOp::inferReturnTypes(MLIRContext *ctx, Loc loc, Adaptor op, Types &out) {
  if (std::optional<Size> size = Size::parse(op.getSize()); !size || !size->fits()) // size_c1
    return refuse(loc, "'", op.getSize(), "' is not a size form");
  return give(loc, ModelTensorType::get(ctx, ArrayRef<Size>{}, IntegerType::get(ctx, 64)), out);
}

LogicalResult RangeOp::inferReturnTypes(MLIRContext *ctx, Loc loc, Adaptor op, Types &out) {
  std::optional<Size> from = Size::parse(op.getFrom()), to = Size::parse(op.getTo());
  if (!from || !to) // range_c1
    return refuse(loc, "range needs two size forms");
  Size n = *to - *from;
  if (n.constant() && *n.constant() < 0)
    n = Size(0);
  return give(loc, ModelTensorType::get(ctx, ArrayRef<Size>{n}, IntegerType::get(ctx, 64)), out);
}

//===-- elementwise ------------------------------------------------------------===//

LogicalResult UnaryOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor op, Types &out) {
  ModelTensorType t = typeOf(op.getOperand());
  Type e = t.getElementType();
  bool integer = op.getKind() == UnaryKind::neg || op.getKind() == UnaryKind::abs;
  bool fits = op.getKind() == UnaryKind::logical_not ? e.isInteger(1) : e.isF32() || (integer && e.isInteger(64));
  if (!fits) // unary_c1
    return refuse(loc, stringifyUnaryKind(op.getKind()), " does not take elements of ", e);
  return give(loc, t, out);
}

LogicalResult BinaryOp::inferReturnTypes(MLIRContext *ctx, Loc loc, Adaptor op, Types &out) {
  ModelTensorType a = typeOf(op.getLhs()), b = typeOf(op.getRhs());
  Type e = a.getElementType();
  if (e != b.getElementType()) // binary_c1
    return refuse(loc, "operands have element types ", e, " and ", b.getElementType());
  bool logic = op.getKind() == BinaryKind::logical_and || op.getKind() == BinaryKind::logical_or;
  bool real = op.getKind() == BinaryKind::div || op.getKind() == BinaryKind::pow;
  if (logic ? !e.isInteger(1) : e.isInteger(1) || (real && !e.isF32())) // binary_c3
    return refuse(loc, stringifyBinaryKind(op.getKind()), " does not take elements of ", e);
  return inferBroadcast(ctx, loc, {a, b}, e, out); // binary_c2
}

LogicalResult CompareOp::inferReturnTypes(MLIRContext *ctx, Loc loc, Adaptor op, Types &out) {
  ModelTensorType a = typeOf(op.getLhs()), b = typeOf(op.getRhs());
  if (a.getElementType() != b.getElementType()) // compare_c1
    return refuse(loc, "operands have element types ", a.getElementType(), " and ", b.getElementType());
  return inferBroadcast(ctx, loc, {a, b}, IntegerType::get(ctx, 1), out); // compare_c2
}

LogicalResult SelectOp::inferReturnTypes(MLIRContext *ctx, Loc loc, Adaptor op, Types &out) {
  ModelTensorType c = typeOf(op.getCondition()), a = typeOf(op.getYes()), b = typeOf(op.getNo());
  if (a.getElementType() != b.getElementType()) // select_c1
    return refuse(loc, "branches have element types ", a.getElementType(), " and ", b.getElementType());
  return inferBroadcast(ctx, loc, {c, a, b}, a.getElementType(), out); // select_c2
}

//===-- projections ------------------------------------------------------------===//

LogicalResult EmbeddingOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor op, Types &out) {
  ModelTensorType table = typeOf(op.getTable());
  if (table.getRank() != 2) // embedding_c1
    return refuse(loc, "the table must be [rows, width], but is ", show(table));
  SmallVector<Size> sizes = typeOf(op.getIds()).getSizes();
  sizes.push_back(table.getSize(1));
  return give(loc, table.withSizes(sizes), out);
}

LogicalResult LinearOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor op, Types &out) {
  ModelTensorType x = typeOf(op.getInput()), w = typeOf(op.getWeight());
  if (x.getRank() < 1)
    return refuse(loc, "linear needs an operand with features, but got a scalar");
  Size n = x.getSize(x.getRank() - 1);
  if (op.getFilter()) {
    if (w.getRank() < 3 || op.getInOut() || !w.getCount().constant() || w.getCount() != w.getSize(0) * n) // linear_c5
      return refuse(loc, "a filter is [m, c, k...] in numbers with c * k... the ", n.str(),
                    " features of the operand, but the weight is ", show(w));
  } else if (w.getRank() != 2 || w.getSize(op.getInOut() ? 0 : 1) != n) // linear_c1
    return refuse(loc, "weight is ", show(w), op.getInOut() ? " (in_out)" : " (out_in)", ", the operand has ", n.str(),
                  " features");
  Size m = w.getSize(op.getInOut() ? 1 : 0);
  if (op.getBias()) {
    ModelTensorType b = typeOf(op.getBias());
    if (b.getRank() != 1 || b.getSize(0) != m) // linear_c2
      return refuse(loc, "bias should be [", m.str(), "], is ", show(b));
  }
  SmallVector<int64_t> parts(op.getParts() ? *op.getParts() : ArrayRef<int64_t>{1});
  Size total = 0;
  int64_t groups = op.getGroups();
  for (int64_t p : parts) {
    if (p <= 0) // linear_c3
      return refuse(loc, "a part must be positive, but got ", p);
    total = total + Size(p);
  }
  std::optional<Size> unit = groups > 0 ? m.exactDiv(Size(groups) * total) : std::nullopt;
  if (!unit) // linear_c3
    return refuse(loc, m.str(), " features do not split into ", groups, " groups of ", total.str(), " units");
  SmallVector<Size> sizes = x.getSizes();
  // `part = j` (model-split-linear) keeps one of the results.
  std::optional<int64_t> part = op.getPart();
  if (part && (*part < 0 || *part >= int64_t(parts.size()))) // linear_c6
    return refuse(loc, "part ", *part, " of ", parts.size(), " does not exist");
  for (int64_t p : part ? ArrayRef(parts).slice(*part, 1) : ArrayRef(parts)) {
    sizes.back() = *unit * Size(p) * Size(groups);
    if (failed(give(loc, x.withSizes(sizes), out)))
      return failure();
  }
  return success();
}

LogicalResult MatmulOp::inferReturnTypes(MLIRContext *ctx, Loc loc, Adaptor op, Types &out) {
  ModelTensorType a = typeOf(op.getLhs()), b = typeOf(op.getRhs());
  int64_t ra = a.getRank(), rb = b.getRank();
  if (ra < 2 || rb < 2 || a.getSize(ra - 1) != b.getSize(rb - 2)) // matmul_c1
    return refuse(loc, "matmul of ", show(a), " and ", show(b), " does not fit");
  SmallVector<Size> la = a.getSizes(), lb = b.getSizes();
  std::string why;
  std::optional<SmallVector<Size>> lead =
      broadcast({a.withSizes(ArrayRef(la).drop_back(2)), b.withSizes(ArrayRef(lb).drop_back(2))}, &why);
  if (!lead) // matmul_c2
    return refuse(loc, why);
  lead->push_back(la[ra - 2]);
  lead->push_back(lb[rb - 1]);
  return give(loc, a.withSizes(*lead), out);
}

LogicalResult ConvOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor op, Types &out) {
  ModelTensorType x = typeOf(op.getInput()), w = typeOf(op.getWeight());
  int64_t n = w.getRank() - 2;
  if (n < 1 || x.getRank() != n + 2) // conv_c1
    return refuse(loc, "weight ", show(w), " does not fit an operand ", show(x));
  if (int64_t(op.getStride().size()) != n || int64_t(op.getDilation().size()) != n ||
      int64_t(op.getPadding().size()) != 2 * n) // conv_c2
    return refuse(loc, "stride and dilation have ", n, " numbers, padding ", 2 * n);
  int64_t groups = op.getGroups();
  Size in = x.getSize(n + 1), m = w.getSize(0);
  if (groups < 1 || in != w.getSize(1) * Size(groups)) // conv_c3
    return refuse(loc, "weight is ", show(w), " with ", groups, " groups, the operand has ", in.str(), " channels");
  if (!m.exactDiv(Size(groups))) // conv_c3
    return refuse(loc, m.str(), " results do not divide into ", groups, " groups");
  if (op.getBias() && (typeOf(op.getBias()).getRank() != 1 || typeOf(op.getBias()).getSize(0) != m)) // conv_c4
    return refuse(loc, "bias should be [", m.str(), "], is ", show(typeOf(op.getBias())));
  SmallVector<Size> sizes = x.getSizes();
  for (int64_t i = 0; i < n; ++i) {
    if (op.getStride()[i] < 1 || op.getDilation()[i] < 1) // conv_c2
      return refuse(loc, "stride and dilation must be positive");
    Size reach = Size(op.getDilation()[i]) * (w.getSize(2 + i) - Size(1)) + Size(1);
    Size room = sizes[1 + i] + Size(op.getPadding()[2 * i]) + Size(op.getPadding()[2 * i + 1]) - reach;
    sizes[1 + i] = room.floorDiv(Size(op.getStride()[i])) + Size(1);
    if (sizes[1 + i].constant() && *sizes[1 + i].constant() < 1) // conv_c5
      return refuse(loc, "an axis of ", x.getSize(1 + i).str(), " is shorter than ", reach.str(), " taps");
  }
  sizes[n + 1] = m;
  return give(loc, x.withSizes(sizes), out);
}

LogicalResult TopKOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor op, Types &out) {
  ModelTensorType t = typeOf(op.getOperand());
  std::optional<int64_t> n = t.getRank() ? t.getSize(t.getRank() - 1).constant() : std::nullopt;
  if (!n || op.getK() < 1 || int64_t(op.getK()) > *n) // top_k_c1
    return refuse(loc, "k must lie in 1 .. the length of the last axis, but is ", op.getK(), " of ", show(t));
  return give(loc, t, out);
}

//===-- norms ------------------------------------------------------------------===//

/// Each of `weights` (or null) is [features of x]. Clause C1 of a norm asks for features, C2 for weights that fit:
/// layer_norm_c1, layer_norm_c2, rms_norm_c1, rms_norm_c2, group_norm_c2, batch_norm_c1, batch_norm_c2, l2_norm_c1.
static LogicalResult inferNorm(Loc loc, Value x, ArrayRef<Value> weights, Types &out) {
  ModelTensorType t = typeOf(x);
  if (t.getRank() < 1)
    return refuse(loc, "a norm needs an operand with features, but got a scalar");
  Size n = t.getSize(t.getRank() - 1);
  for (Value w : weights)
    if (w && (typeOf(w).getRank() != 1 || typeOf(w).getSize(0) != n))
      return refuse(loc, "weight should be [", n.str(), "], is ", show(typeOf(w)));
  return give(loc, t, out);
}
LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor op, Types &out) {
  return inferNorm(loc, op.getInput(), {op.getWeight(), op.getBias()}, out);
}
LogicalResult RmsNormOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor op, Types &out) {
  return inferNorm(loc, op.getInput(), {op.getWeight()}, out);
}
LogicalResult GroupNormOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor op, Types &out) {
  ModelTensorType t = typeOf(op.getInput());
  int64_t g = op.getGroups();
  if (t.getRank() < 3 || g < 1 || !t.getSize(t.getRank() - 1).exactDiv(Size(g))) // group_norm_c1
    return refuse(loc, "the channels of ", show(t), " do not divide into ", g, " groups");
  return inferNorm(loc, op.getInput(), {op.getWeight(), op.getBias()}, out);
}
LogicalResult BatchNormOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor op, Types &out) {
  return inferNorm(loc, op.getInput(), {op.getMean(), op.getVariance(), op.getWeight(), op.getBias()}, out);
}
LogicalResult L2NormOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor op, Types &out) {
  return inferNorm(loc, op.getInput(), {}, out);
}

//===-- positions --------------------------------------------------------------===//

LogicalResult SinusoidalOp::inferReturnTypes(MLIRContext *ctx, Loc loc, Adaptor op, Types &out) {
  if (int64_t(op.getWidth()) < 2 || op.getWidth() % 2) // sinusoidal_c1
    return refuse(loc, "width must be even and positive, but is ", op.getWidth());
  SmallVector<Size> sizes = typeOf(op.getPositions()).getSizes();
  sizes.push_back(Size(int64_t(op.getWidth())));
  return give(loc, ModelTensorType::get(ctx, sizes, Float32Type::get(ctx)), out);
}

LogicalResult RotaryOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor op, Types &out) {
  ModelTensorType x = typeOf(op.getInput()), p = typeOf(op.getPositions()), f = typeOf(op.getFrequencies());
  int64_t d = op.getHeadWidth();
  std::optional<Size> heads = d < 1 || x.getRank() < 2 ? std::nullopt : x.getSize(x.getRank() - 1).exactDiv(Size(d));
  if (!heads) // rotary_c1
    return refuse(loc, show(x), " does not divide into heads of width ", d);
  std::optional<int64_t> n = f.getRank() ? f.getSize(f.getRank() - 1).constant() : std::nullopt;
  if (!n || 2 * *n > d) // rotary_c2
    return refuse(loc, "frequencies ", show(f), " turn more features than a head of width ", d, " has");
  SmallVector<Size> lead = x.getSizes(), outer = f.getSizes();
  lead.pop_back();
  outer.pop_back();
  if (!stretches(p.getSizes(), lead)) // rotary_c3
    return refuse(loc, "positions ", show(p), " do not fit ", show(x));
  if (outer.size() > lead.size()) // the last of them counts heads
    lead.push_back(*heads);
  if (!stretches(outer, lead)) // rotary_c4
    return refuse(loc, "frequencies ", show(f), " do not fit ", show(x), " of ", heads->str(), " heads");
  if (!typeOf(op.getAmplitude()).getCount().is(1)) // rotary_c5
    return refuse(loc, "expected an amplitude that is one number, got ", show(typeOf(op.getAmplitude())));
  return give(loc, x, out);
}

LogicalResult InterpolateOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor op, Types &out) {
  ModelTensorType x = typeOf(op.getInput());
  SmallVector<Size> sizes = x.getSizes();
  if (op.getSizes().size() + 2 > sizes.size() ||                                  // interpolate_c1
      (!op.getScales().empty() && op.getScales().size() != op.getSizes().size())) // interpolate_c2
    return refuse(loc, op.getSizes().size(), " sizes do not fit ", show(x));
  for (Value scale : op.getScales())
    if (!typeOf(scale).getCount().is(1)) // interpolate_c2
      return refuse(loc, "expected a scale that is one number, got ", show(typeOf(scale)));
  for (auto [i, s] : llvm::enumerate(op.getSizes().getAsValueRange<StringAttr>())) {
    std::optional<Size> size = Size::parse(s);
    if (!size) // interpolate_c3
      return refuse(loc, "'", s, "' is not a size form");
    sizes[1 + i] = *size;
  }
  return give(loc, x.withSizes(sizes), out);
}
