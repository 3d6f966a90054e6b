//===- MovingInference.cpp - result types of ops that move or reduce ------===//

#include "dialects/Model/IR/Inference.h"

using namespace mlir;
using namespace heddle::model;
using namespace heddle::model::inference;

static LogicalResult checkAxis(Loc loc, int64_t axis, ModelTensorType t) {
  if (axis < 0 || axis >= t.getRank())
    return refuse(loc, "axis ", axis, " does not exist in ", show(t));
  return success();
}

LogicalResult SliceOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor op, Types &out) {
  ModelTensorType t = typeOf(op.getOperand());
  std::optional<Size> from = Size::parse(op.getFrom()), to = Size::parse(op.getTo());
  if (failed(checkAxis(loc, op.getAxis(), t))) // slice_c1
    return failure();
  if (!from || !to || !from->fits() || !to->fits()) // slice_c2
    return refuse(loc, "a slice needs two size forms");
  Size n = *to - *from, have = t.getSize(op.getAxis());
  auto certainlyNegative = [](Size s) { return s.constant() && *s.constant() < 0; };
  if (certainlyNegative(n) || certainlyNegative(*from) || certainlyNegative(have - *to)) // slice_c3
    return refuse(loc, "rows ", from->str(), " to ", to->str(), " do not lie in an axis of ", have.str());
  return give(loc, t.withSize(op.getAxis(), n), out);
}

LogicalResult SqueezeOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor op, Types &out) {
  ModelTensorType t = typeOf(op.getOperand());
  if (failed(checkAxis(loc, op.getAxis(), t))) // squeeze_c1
    return failure();
  if (!t.getSize(op.getAxis()).is(1)) // squeeze_c2
    return refuse(loc, "axis ", op.getAxis(), " of ", show(t), " has not length 1");
  SmallVector<Size> sizes = t.getSizes();
  sizes.erase(sizes.begin() + op.getAxis());
  return give(loc, t.withSizes(sizes), out);
}

LogicalResult UnsqueezeOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor op, Types &out) {
  ModelTensorType t = typeOf(op.getOperand());
  if (int64_t(op.getAxis()) < 0 || int64_t(op.getAxis()) > t.getRank()) // unsqueeze_c1
    return refuse(loc, "axis ", op.getAxis(), " cannot be inserted into ", show(t));
  SmallVector<Size> sizes = t.getSizes();
  sizes.insert(sizes.begin() + op.getAxis(), Size(1));
  return give(loc, t.withSizes(sizes), out);
}

//===-- rearrange --------------------------------------------------------------===//

std::optional<AxesPattern> heddle::model::parsePattern(StringRef text) {
  auto [left, right] = text.split("->");
  if (right.empty() || right.contains("->"))
    return std::nullopt;
  auto side = [](StringRef s) -> std::optional<std::vector<PatternGroup>> {
    std::vector<PatternGroup> groups;
    bool inside = false;
    s = s.trim();
    while (!s.empty()) {
      if (s.consume_front("(")) {
        if (inside)
          return std::nullopt;
        inside = true;
        groups.emplace_back();
      } else if (s.consume_front(")")) {
        if (!inside)
          return std::nullopt;
        inside = false;
      } else {
        StringRef word = s.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
        if (word.empty())
          return std::nullopt;
        s = s.drop_front(word.size());
        if (!inside)
          groups.emplace_back();
        groups.back().push_back(word.str());
      }
      s = s.ltrim();
    }
    return inside ? std::nullopt : std::optional(groups);
  };
  auto l = side(left), r = side(right);
  if (!l || !r)
    return std::nullopt;
  return AxesPattern{*l, *r};
}

/// The length of each name of a rearrangement: given, or what is left of the operand's axis when the other names of its
/// group are divided out. None, with `whyNot`, where that does not determine them or they do not multiply up.
std::optional<std::map<std::string, Size>> heddle::model::patternSizes(const AxesPattern &pattern,
                                                                       ModelTensorType operand, DictionaryAttr given,
                                                                       std::string &whyNot) {
  auto fail = [&](const Twine &why) {
    whyNot = why.str();
    return std::nullopt;
  };
  if (int64_t(pattern.left.size()) != operand.getRank()) // rearrange_c3
    return fail("the pattern has " + Twine(pattern.left.size()) + " axes on its left, the operand is " + show(operand));
  std::map<std::string, Size> sizes;
  std::vector<std::string> leftNames, rightNames;
  for (NamedAttribute a : given) {
    std::optional<Size> s = Size::parse(cast<StringAttr>(a.getValue()).getValue());
    if (!s) // rearrange_c4
      return fail("the size of '" + a.getName().getValue() + "' is not a form");
    sizes[a.getName().str()] = *s;
  }
  for (auto [axis, group] : llvm::enumerate(pattern.left)) {
    Size rest = operand.getSize(axis), known = 1;
    std::string open;
    int unknown = 0;
    for (const std::string &name : group) {
      if (name == "1")
        continue;
      leftNames.push_back(name);
      if (auto it = sizes.find(name); it != sizes.end()) {
        known = known * it->second;
      } else {
        open = name;
        ++unknown;
      }
    }
    std::optional<Size> left = rest.exactDiv(known);
    if (unknown > 1)
      return fail("two lengths of axis " + Twine(axis) + " are unknown; give one in 'sizes'"); // rearrange_c2
    if (!left || (unknown == 0 && !left->is(1)))                                               // rearrange_c2
      return fail("axis " + Twine(axis) + " of " + show(operand) + " does not divide by " + known.str());
    if (unknown)
      sizes[open] = *left;
  }
  for (const PatternGroup &group : pattern.right)
    for (const std::string &name : group)
      if (name != "1")
        rightNames.push_back(name);
  llvm::sort(leftNames);
  llvm::sort(rightNames);
  if (leftNames != rightNames || std::adjacent_find(leftNames.begin(), leftNames.end()) != leftNames.end())
    return fail("the two sides of the pattern name different axes"); // rearrange_c1
  for (NamedAttribute a : given)
    if (!llvm::is_contained(leftNames, a.getName().str())) // rearrange_c4
      return fail("sizes gives '" + a.getName().getValue() + "', which is not on the left of the pattern");
  return sizes;
}

LogicalResult RearrangeOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor op, Types &out) {
  ModelTensorType t = typeOf(op.getOperand());
  std::optional<AxesPattern> pattern = parsePattern(op.getPattern());
  if (!pattern) // rearrange_c3
    return refuse(loc, "'", op.getPattern(), "' is not a pattern like 'b t (h d) -> b h t d'");
  std::string why;
  std::optional<std::map<std::string, Size>> sizes = patternSizes(*pattern, t, op.getSizes(), why);
  if (!sizes)
    return refuse(loc, why);
  SmallVector<Size> result;
  for (const PatternGroup &group : pattern->right) {
    Size n = 1;
    for (const std::string &name : group)
      n = name == "1" ? n : n * (*sizes)[name];
    result.push_back(n);
  }
  return give(loc, t.withSizes(result), out);
}

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor op, Types &out) {
  if (op.getOperands().empty()) // concat_c1
    return refuse(loc, "concat needs operands");
  ModelTensorType first = typeOf(op.getOperands()[0]);
  int64_t rank = 0, axis = op.getAxis();
  for (Value v : op.getOperands())
    rank = std::max(rank, typeOf(v).getRank());
  if (axis < 0 || axis >= rank) // concat_c1
    return refuse(loc, "axis ", axis, " does not exist in operands of rank ", rank);
  Size total = 0;
  SmallVector<ModelTensorType> others;
  for (Value v : op.getOperands()) {
    ModelTensorType t = typeOf(v);
    if (t.getElementType() != first.getElementType()) // concat_c2
      return refuse(loc, "operands have element types ", first.getElementType(), " and ", t.getElementType());
    int64_t at = axis - (rank - t.getRank());
    total = total + (at < 0 ? Size(1) : t.getSize(at));
    others.push_back(at < 0 ? t : t.withSize(at, Size(1)));
  }
  std::string why;
  std::optional<SmallVector<Size>> sizes = broadcast(others, &why);
  if (!sizes) // concat_c3
    return refuse(loc, why);
  (*sizes)[axis] = total;
  return give(loc, first.withSizes(*sizes), out);
}

LogicalResult PadOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor op, Types &out) {
  ModelTensorType t = typeOf(op.getOperand());
  std::optional<Size> before = Size::parse(op.getBefore()), after = Size::parse(op.getAfter());
  if (failed(checkAxis(loc, op.getAxis(), t))) // pad_c1
    return failure();
  if (!before || !after || !before->fits() || !after->fits()) // pad_c2
    return refuse(loc, "pad needs two size forms");
  for (const Size &rows : {*before, *after})
    if (rows.constant().value_or(0) < 0) // pad_c2
      return refuse(loc, "cannot pad by ", before->str(), " and ", after->str(), " rows");
  return give(loc, t.withSize(op.getAxis(), t.getSize(op.getAxis()) + *before + *after), out);
}

LogicalResult GatherOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor op, Types &out) {
  ModelTensorType x = typeOf(op.getOperand()), at = typeOf(op.getAt());
  if (x.getRank() < 2 ||                                                                              // gather_c1
      at.getRank() < 1 || at.getRank() > 2 || (at.getSize(0) != x.getSize(0) && !x.getSize(0).is(1))) // gather_c2
    return refuse(loc, "positions ", show(at), " do not fit rows of ", show(x));
  SmallVector<Size> sizes = at.getSizes();
  for (int64_t i = 2; i < x.getRank(); ++i)
    sizes.push_back(x.getSize(i));
  return give(loc, x.withSizes(sizes), out);
}

LogicalResult LiveRowsOp::inferReturnTypes(MLIRContext *ctx, Loc loc, Adaptor op, Types &out) {
  if (typeOf(op.getMask()).getRank() != 2) // live_rows_c1
    return refuse(loc, "a mask of rows has rank 2, found ", show(typeOf(op.getMask())));
  std::optional<Size> dim = Size::parse(op.getDim());
  if (!dim || !dim->bareDim()) // live_rows_c2
    return refuse(loc, "'", op.getDim(), "' is no name for a dim");
  return give(loc, ModelTensorType::get(ctx, {*dim}, IntegerType::get(ctx, 64)), out);
}

LogicalResult PackRowsOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor op, Types &out) {
  ModelTensorType x = typeOf(op.getOperand()), rows = typeOf(op.getRows());
  if (x.getRank() < 2 || rows.getRank() != 1) // pack_rows_c1
    return refuse(loc, "cannot take the rows ", show(rows), " of ", show(x));
  return give(loc, x.withSize(0, Size(1)).withSize(1, rows.getSize(0)), out);
}

LogicalResult WindowsOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor op, Types &out) {
  ModelTensorType x = typeOf(op.getOperand());
  int64_t axes = x.getRank() - 2;
  for (ArrayRef<int64_t> numbers : {op.getSize(), op.getStride(), op.getDilation()})
    if (axes < 1 || int64_t(numbers.size()) != axes ||
        llvm::any_of(numbers, [](int64_t n) { return n < 1; })) // windows_c1
      return refuse(loc, "windows of ", show(x),
                    " take a size, a stride and a dilation, 1 or more, for each axis between the first and the last");
  SmallVector<Size> sizes = x.getSizes();
  for (int64_t i = 0; i < axes; ++i) {
    Size reach = Size(op.getDilation()[i]) * Size(op.getSize()[i] - 1) + Size(1), room = sizes[1 + i] - reach;
    if (!reach.fits() || room.constant().value_or(0) < 0) // windows_c2
      return refuse(loc, "an axis of ", sizes[1 + i].str(), " is shorter than a window of ", reach.str());
    sizes[1 + i] = room.floorDiv(Size(op.getStride()[i])) + Size(1);
    sizes.back() = sizes.back() * Size(op.getSize()[i]);
  }
  if (!sizes.back().constant()) // windows_c2
    return refuse(loc, "the channels of ", show(x), " must be a number");
  return give(loc, x.withSizes(sizes), out);
}

//===-- reductions -------------------------------------------------------------===//

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *ctx, Loc loc, Adaptor op, Types &out) {
  ModelTensorType t = typeOf(op.getOperand());
  SmallVector<int64_t> axes(op.getAxes());
  llvm::sort(axes);
  if (axes.empty() || std::adjacent_find(axes.begin(), axes.end()) != axes.end()) // reduce_c1
    return refuse(loc, "a reduction needs different axes");
  for (int64_t a : axes)
    if (failed(checkAxis(loc, a, t))) // reduce_c1
      return failure();
  bool argmax = op.getKind() == ReduceKind::argmax;
  if (argmax && (axes.size() != 1 || op.getKeep())) // reduce_c3
    return refuse(loc, "argmax takes one axis and drops it");
  if (op.getKind() == ReduceKind::mean && !t.getElementType().isF32()) // reduce_c2
    return refuse(loc, "mean takes reals, found ", t.getElementType());
  if (t.getElementType().isInteger(1)) // reduce_c2
    return refuse(loc, "reductions take numbers; cast the booleans first");
  SmallVector<Size> sizes = t.getSizes();
  for (int64_t a : llvm::reverse(axes)) {
    if (op.getKeep())
      sizes[a] = Size(1);
    else
      sizes.erase(sizes.begin() + a);
  }
  ModelTensorType result = t.withSizes(sizes);
  return give(loc, argmax ? result.withElement(IntegerType::get(ctx, 64)) : result, out);
}

LogicalResult CumsumOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor op, Types &out) {
  ModelTensorType t = typeOf(op.getOperand());
  if (failed(checkAxis(loc, op.getAxis(), t))) // cumsum_c1
    return failure();
  if (t.getElementType().isInteger(1)) // cumsum_c2
    return refuse(loc, "cumsum takes numbers; cast the booleans first");
  if (op.getInit()) {
    ModelTensorType init = typeOf(op.getInit());
    SmallVector<Size> others = t.getSizes();
    others.erase(others.begin() + op.getAxis());
    if (init.getElementType() != t.getElementType() || !stretches(init.getSizes(), others)) // cumsum_c3
      return refuse(loc, "expected a first sum that stretches to ", t.withSizes(others), ", got ", init);
  }
  return give(loc, t, out);
}

LogicalResult SoftmaxOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor op, Types &out) {
  ModelTensorType t = typeOf(op.getOperand());
  if (failed(checkAxis(loc, op.getAxis(), t))) // softmax_c1
    return failure();
  return give(loc, t, out);
}
