//===- ModelOps.cpp - verifiers and builders ------------------------------===//
//
// What type inference does not already check. Labels (C1).. are those of ModelOps.td.
//
//===----------------------------------------------------------------------===//

#include "dialects/Model/IR/Inference.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace heddle::model;

#define GET_OP_CLASSES
#include "dialects/Model/IR/ModelOps.cpp.inc"

LogicalResult ParamOp::verify() { // param_c1: every index is used and every {k} has one
  for (unsigned k = 0, n = getIndices().size(); k < n; ++k)
    if (!getName().contains(("{" + Twine(k) + "}").str()))
      return emitOpError("index ") << k << " does not occur in the name " << getNameAttr();
  if (getName().contains(("{" + Twine(getIndices().size()) + "}").str()))
    return emitOpError("name ") << getNameAttr() << " has more places than indices";
  if (std::optional<LayoutAttr> attr = getLayout()) { // param_c2
    WeightLayout layout = attr->getLayout();
    SmallVector<int64_t> shape;
    for (const Size &n : getType().getSizes())
      if (std::optional<int64_t> length = n.constant())
        shape.push_back(*length);
      else
        return emitOpError("expected constant lengths with a layout, got ") << getType();
    if (std::string why = layout.misfit(shape); !why.empty())
      return emitOpError("does not fit its layout: ") << why;
    Type element = getType().getElementType();
    if (element.isF32() ? !isReal(layout.type) : element != attr->getElement())
      return emitOpError("of ") << element << " cannot lie as " << attr->getElement();
  }
  if (std::optional<CodedAttr> coded = getCoded()) { // param_c4
    ModelTensorType type = getType();
    std::optional<int64_t> n, k;
    if (type.getRank() == 2) {
      n = type.getSize(coded->getInOut()).constant();
      k = type.getSize(!coded->getInOut()).constant();
    }
    if (!n || !k || !type.getElementType().isF32())
      return emitOpError("expected an f32 matrix of constant lengths for codes, got ") << type;
    if (std::string why = coded->getCoding().misfit(*k); !why.empty())
      return emitOpError("has codes that do not fit: ") << why;
  }
  Coding lies = getLayout() ? getLayout()->getCoding() : Coding();
  if (lies && (!getCoded() || !(lies == getCoded()->getCoding()) || getLayout()->getInOut() != getCoded()->getInOut()))
    return emitOpError("expected the layout in the blob to have the codes of #model.coded");
  if (getOffset() || getStrides()) { // param_c3
    if (!getOffset() || int64_t(*getOffset()) < 0 || !getStrides() || getStrides()->size() != getIndices().size())
      return emitOpError("expected an offset of 0 or more in the blob and ") << getIndices().size() << " strides";
    for (int64_t stride : getStridesAttr().asArrayRef())
      if (stride < 0)
        return emitOpError("has a stride of ") << stride;
  }
  return success();
}

void ConstantOp::build(OpBuilder &b, OperationState &state, double value) {
  build(b, state, ModelTensorType::get(b.getContext(), ArrayRef<Size>{}, b.getF32Type()),
        DenseElementsAttr::get(RankedTensorType::get({}, b.getF64Type()), value));
}
void ConstantOp::build(OpBuilder &b, OperationState &state, int64_t value) {
  build(b, state, ModelTensorType::get(b.getContext(), ArrayRef<Size>{}, b.getI64Type()),
        DenseElementsAttr::get(RankedTensorType::get({}, b.getI64Type()), value));
}
void ConstantOp::build(OpBuilder &b, OperationState &state, bool value) {
  build(b, state, ModelTensorType::get(b.getContext(), ArrayRef<Size>{}, b.getI1Type()),
        DenseElementsAttr::get(RankedTensorType::get({}, b.getI1Type()), value));
}

LogicalResult ConstantOp::verify() { // constant_c1
  auto type = cast<ShapedType>(getValue().getType());
  ModelTensorType result = getType();
  if (type.getRank() != result.getRank())
    return emitOpError("value has rank ") << type.getRank() << ", the result " << result.getRank();
  for (int64_t i = 0; i < result.getRank(); ++i)
    if (!result.getSize(i).is(type.getDimSize(i)))
      return emitOpError("axis ") << i << " of the value has length " << type.getDimSize(i) << ", the result "
                                  << result.getSize(i).str();
  Type from = type.getElementType(), to = result.getElementType();
  if (to.isF32() ? !isa<FloatType>(from) : from != to)
    return emitOpError("cannot hold ") << from << " as " << to;
  return success();
}

void CastOp::build(OpBuilder &b, OperationState &state, Value operand, Type element) {
  build(b, state, cast<ModelTensorType>(operand.getType()).withElement(element), operand);
}
LogicalResult CastOp::verify() {
  if (getOperand().getType().getAxes() != getType().getAxes()) // cast_c1
    return emitOpError("changes the element type only, but the lengths differ");
  return success();
}

LogicalResult BroadcastOp::verify() {
  ModelTensorType from = getOperand().getType(), to = getType();
  if (from.getElementType() != to.getElementType()) // broadcast_c1
    return emitOpError("changes lengths only, but the element types differ");
  std::string why;
  std::optional<SmallVector<Size>> sizes = broadcast({from, to}, &why);
  if (!sizes) // broadcast_c2
    return emitOpError(why);
  if (*sizes != to.getSizes()) // broadcast_c2
    return emitOpError("cannot stretch ") << from << " to " << to;
  return success();
}

LogicalResult DefaultOp::verify() {
  auto input = dyn_cast<BlockArgument>(getInput());
  if (!input || !isa<FunctionOpInterface>(input.getOwner()->getParentOp())) // default_c1
    return emitOpError("stands for an argument of the function");
  if (getType() != getInput().getType())
    return emitOpError("keeps the type of its input, ") << getInput().getType() << ", but gives " << getType();
  Operation *yield = getBody().front().getTerminator();
  auto value =
      yield->getNumOperands() == 1 ? dyn_cast<ModelTensorType>(yield->getOperand(0).getType()) : ModelTensorType();
  if (!value || value.getElementType() != getType().getElementType()) // default_c2
    return emitOpError("yields one tensor of ") << getType().getElementType();
  // A default of so many elements fixes a length that nothing else gives.
  SmallVector<Size> from = value.getSizes(), to = getType().getSizes();
  bool fits = from.size() <= to.size();
  for (size_t i = 0; fits && i < from.size(); ++i) {
    const Size &here = from[i], &there = to[to.size() - from.size() + i];
    fits = here == there || here.is(1) || (here.constant() && !there.constant());
  }
  if (!fits) // default_c2
    return emitOpError("cannot stretch ") << value << " to " << getType();
  return success();
}

LogicalResult LinearOp::verify() {
  if (!getEpilogue().empty() && getNumResults() != 1) // linear_c4
    return emitOpError("an epilogue is only possible where there is one result");
  if (getPart() && getNumResults() != 1) // linear_c6
    return emitOpError("of one part has one result");
  if (getEpilogue().empty() && !getExtras().empty()) // linear_c4
    return emitOpError("extras are read by an epilogue, and there is none");
  return success();
}

LogicalResult AppendOp::verify() {
  int64_t axis = getAxis(), all = getRows().getType().getRank();
  if (axis < 0 || axis >= all) // append_c2
    return emitOpError("axis ") << axis << " does not exist in rows of rank " << all;
  auto state = dyn_cast<StateType>(getState().getType());
  if (!state || state.getRank() != all + int64_t(getIndices().size())) // append_c3
    return emitOpError("writes rows of rank ")
           << all << " with " << getIndices().size() << " indices into " << getState().getType();
  if (getResult().getType().getRank() != all) // append_c2
    return emitOpError("gives rows of rank ") << getResult().getType().getRank() << " for rows of rank " << all;
  // append_c1
  if (!getSlots() && !getStarts())
    return success();
  if (!getSlots() || !getStarts())
    return emitOpError("expected slots and starts, or neither, got one of them");
  ModelTensorType rows = getRows().getType();
  for (Value v : {getSlots(), getStarts()})
    if (auto type = cast<ModelTensorType>(v.getType());
        rows.getRank() < 2 || int64_t(getAxis()) == 0 || type.getRank() != 1 || type.getSize(0) != rows.getSize(0))
      return emitOpError("expected slots and starts of one number for each row of the batch, got ")
             << type << " for " << rows;
  return success();
}

/// What load_c1 and store_c1 ask: the state has the axes of the value after those of the indices.
static LogicalResult holds(Operation *op, Type type, ModelTensorType value, size_t indices) {
  auto state = dyn_cast<StateType>(type);
  if (state && state.getRank() == value.getRank() + int64_t(indices))
    return success();
  return op->emitOpError("expected a state of rank ") << value.getRank() + int64_t(indices) << ", got " << type;
}
LogicalResult LoadOp::verify() { // load_c1
  return holds(*this, getState().getType(), getType(), getIndices().size());
}
LogicalResult StoreOp::verify() { // store_c1
  return holds(*this, getState().getType(), getValue().getType(), getIndices().size());
}

LogicalResult MapOp::verify() {
  SmallVector<Type> scalars;
  for (Value v : getOperands()) {
    auto type = cast<ModelTensorType>(v.getType());
    if (!inference::stretches(type.getSizes(), getType().getSizes())) // map_c1
      return emitOpError("expected operands that stretch to ") << getType() << ", got " << type;
    scalars.push_back(type.getElementType());
  }
  auto end = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!llvm::equal(getBody().getArgumentTypes(), scalars) || !end ||
      !llvm::equal(end.getOperandTypes(), ArrayRef<Type>(getType().getElementType()))) // map_c2
    return emitOpError("expected a body that takes a scalar of each operand and yields one of ")
           << getType().getElementType();
  return success();
}

LogicalResult LiveRowsOp::verify() {
  for (const Size &n : getMask().getType().getSizes())
    if (n.uses(getDim())) // live_rows_c2
      return emitOpError("dim '") << getDim() << "' is already a dim of the mask";
  if ((*this)->getParentOfType<RepeatOp>()) // live_rows_c3
    return emitOpError("cannot be in a repeat: its dim has one value a call");
  return success();
}

LogicalResult UnpackRowsOp::verify() { // unpack_rows_c1
  ModelTensorType x = getOperand().getType(), y = getType(), rows = getRows().getType();
  bool fits = x.getRank() >= 2 && rows.getRank() == 1 && x.getSize(0).is(1) && x.getSize(1) == rows.getSize(0) &&
              y.getRank() == x.getRank() && y.getElementType() == x.getElementType();
  for (int64_t i = 2; fits && i < x.getRank(); ++i)
    fits = x.getSize(i) == y.getSize(i);
  return fits ? success() : emitOpError("cannot put ") << x << " at the rows " << rows << " of " << y;
}

YieldOp RepeatOp::getYield() { return cast<YieldOp>(getBody().front().getTerminator()); }

LogicalResult RepeatOp::verify() {
  Block &body = getBody().front();
  unsigned n = getNumCarried();
  if (body.getNumArguments() != n + 1 || !body.getArgument(0).getType().isIndex()) // repeat_c2
    return emitOpError("expected a body that takes the index and ") << n << " carried values";
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield || yield.getNumOperands() != getNumResults() || getNumResults() < n) // repeat_c2
    return emitOpError("expected ") << getNumResults() << " values from model.yield";
  for (unsigned i = 0; i < n; ++i) { // repeat_c1
    Type t = getCarried()[i].getType();
    if (body.getArgument(i + 1).getType() != t || yield.getOperand(i).getType() != t || getResult(i).getType() != t)
      return emitOpError("carried value ")
             << i << " must keep its type " << t << ", but yields " << yield.getOperand(i).getType();
  }
  for (unsigned i = n; i < getNumResults(); ++i) {
    auto one = dyn_cast<ModelTensorType>(yield.getOperand(i).getType());
    auto all = dyn_cast<ModelTensorType>(getResult(i).getType());
    if (!one || !all) // repeat_c3
      return emitOpError("expected tensors as collected values");
    SmallVector<Size> sizes = one.getSizes();
    sizes.insert(sizes.begin(), Size(int64_t(getCount())));
    if (std::string why = unfitShape(sizes, one.getElementType()); !why.empty())
      return emitOpError("collected value ") << i << " " << why;
    if (all != one.withSizes(sizes)) // repeat_c3
      return emitOpError("collected value ") << i << " should be " << one.withSizes(sizes);
  }
  return success();
}
