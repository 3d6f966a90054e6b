// Creates ops with locations and names, and makes tensors in the IR of numbers, lengths and constants where an op wants
// a tensor.
#include "compiler/Import/Evaluate/EmitTemplates.h"
#include "dialects/Model/IR/Names.h"
#include "llvm/ADT/MapVector.h"

using namespace heddle;
using namespace heddle::model;
using mlir::NamedAttribute;

bool Emitter::spend(At at) {
  if (budget == 0) {
    if (!isExhausted)
      error(Error::TooLarge, at, "the description expands to more than " + llvm::Twine(mostSteps) + " statements");
    isExhausted = true;
    return false;
  }
  --budget;
  return true;
}

/// Creates an op whose types are known already, and counts it against the limit of one import.
mlir::Operation *Emitter::create(At at, llvm::StringRef name, llvm::ArrayRef<mlir::Value> operands,
                                 llvm::ArrayRef<mlir::Type> types, const Attrs &attrs, unsigned regions) {
  spend(at);
  mlir::OperationState state(location(at), name, operands, types, attrs);
  for (unsigned i = 0; i < regions; ++i)
    state.addRegion();
  return builder.create(state);
}

/// "ln_1.weight" of "transformer.h.0.ln_1.weight": the last two words, and more where that begins with a number.
static llvm::StringRef shortWeightName(llvm::StringRef name) {
  size_t from = name.size();
  for (int words = 0; from != llvm::StringRef::npos && (words < 2 || !llvm::isAlpha(name[from + 1])); ++words)
    from = name.rfind('.', from);
  return from == llvm::StringRef::npos ? name : name.substr(from + 1);
}

/// A `model.param`: the weight of this name in the file. Its location carries the name under which the IR prints it.
mlir::Value Emitter::param(At at, llvm::StringRef name, mlir::Type type) {
  mlir::Operation *op = create(at, ParamOp::getOperationName(), {}, {type}, {textAttr("name", name)});
  op->setLoc(withName(shortWeightName(name), op->getLoc()));
  return op->getResult(0);
}

void Emitter::name(llvm::ArrayRef<std::string> names, llvm::ArrayRef<Value> values) {
  llvm::MapVector<mlir::Operation *, llvm::SmallVector<llvm::StringRef>> ofOp;
  for (auto [name, value] : llvm::zip(names, values)) {
    bool isIr = value.is(Value::Kind::Tensor) || value.is(Value::Kind::Mask) || value.is(Value::Kind::Bias);
    auto result = isIr ? llvm::dyn_cast_if_present<mlir::OpResult>(value.asIr()) : mlir::OpResult();
    if (!result)
      continue;
    auto &all = ofOp[result.getOwner()];
    all.resize(result.getOwner()->getNumResults());
    if (all[result.getResultNumber()].empty())
      all[result.getResultNumber()] = name;
  }
  for (auto &[op, all] : ofOp) {
    auto [known, isNew] = depthOfName.try_emplace(op, places.depth());
    if (!isNew && known->second <= places.depth())
      continue;
    known->second = places.depth();
    op->setLoc(withNames(all, op->getLoc()));
  }
}

NamedAttribute Emitter::attr(llvm::StringRef name, mlir::Attribute value) {
  return NamedAttribute(mlir::StringAttr::get(&context, name), value);
}
NamedAttribute Emitter::intAttr(llvm::StringRef name, int64_t value) {
  return attr(name, builder.getI64IntegerAttr(value));
}
NamedAttribute Emitter::realAttr(llvm::StringRef name, double value) {
  return attr(name, builder.getF64FloatAttr(value));
}
NamedAttribute Emitter::textAttr(llvm::StringRef name, llvm::StringRef value) {
  return attr(name, builder.getStringAttr(value));
}
NamedAttribute Emitter::unitAttr(llvm::StringRef name) { return attr(name, builder.getUnitAttr()); }
NamedAttribute Emitter::intsAttr(llvm::StringRef name, llvm::ArrayRef<int64_t> values) {
  return attr(name, builder.getDenseI64ArrayAttr(values));
}
NamedAttribute Emitter::segments(llvm::ArrayRef<int32_t> sizes) {
  return attr("operandSegmentSizes", builder.getDenseI32ArrayAttr(sizes));
}

//===--- element types --------------------------------------------------------===//

static mlir::Type elementType(mlir::OpBuilder &b, Emitter::Element e) {
  switch (e) {
  case Emitter::Element::Real: return b.getF32Type();
  case Emitter::Element::Integer: return b.getI64Type();
  case Emitter::Element::Bool: return b.getI1Type();
  }
  return {};
}

Emitter::Element Emitter::elementOf(const Value &v) {
  switch (v.kind()) {
  case Value::Kind::Bool: return Element::Bool;
  case Value::Kind::Integer:
  case Value::Kind::Size: return Element::Integer;
  case Value::Kind::Constant:
    switch (v.asConstant().element) {
    case ConstantTensor::Element::Real: return Element::Real;
    case ConstantTensor::Element::Integer: return Element::Integer;
    case ConstantTensor::Element::Bool: return Element::Bool;
    }
    return Element::Real;
  case Value::Kind::Tensor: {
    mlir::Type e = tensorType(v.asIr()).getElementType();
    return e.isF32() ? Element::Real : e.isInteger(1) ? Element::Bool : Element::Integer;
  }
  default: return Element::Real;
  }
}

mlir::Value Emitter::cast(mlir::Value v, Element element, At at) {
  if (!v)
    return {};
  mlir::Type want = elementType(builder, element);
  ModelTensorType have = tensorType(v);
  if (have.getElementType() == want)
    return v;
  return create(at, CastOp::getOperationName(), {v}, {have.withElement(want)}, {})->getResult(0);
}

/// A `model.constant` with elements of the given kind. Reals are kept as f64 in the attribute and rounded once the type
/// of computation is known.
mlir::Value Emitter::constantOp(const ConstantTensor &t, Element element, At at) {
  llvm::SmallVector<Size> sizes(t.shape.begin(), t.shape.end());
  mlir::DenseElementsAttr data;
  size_t n = t.count();
  if (element == Element::Real) {
    llvm::SmallVector<double> values;
    for (size_t i = 0; i < n; ++i)
      values.push_back(t.real(i));
    data = mlir::DenseElementsAttr::get(mlir::RankedTensorType::get(t.shape, builder.getF64Type()),
                                        llvm::ArrayRef<double>(values));
  } else if (element == Element::Integer) {
    llvm::SmallVector<int64_t> values;
    for (size_t i = 0; i < n; ++i)
      values.push_back(t.element == ConstantTensor::Element::Real ? static_cast<int64_t>(t.reals[i]) : t.integers[i]);
    data = mlir::DenseElementsAttr::get(mlir::RankedTensorType::get(t.shape, builder.getI64Type()),
                                        llvm::ArrayRef<int64_t>(values));
  } else {
    llvm::SmallVector<bool> values;
    for (size_t i = 0; i < n; ++i)
      values.push_back(t.real(i) != 0);
    data = mlir::DenseElementsAttr::get(mlir::RankedTensorType::get(t.shape, builder.getI1Type()),
                                        llvm::ArrayRef<bool>(values));
  }
  mlir::Type type = ModelTensorType::get(&context, sizes, elementType(builder, element));
  mlir::Operation *op = create(at, ConstantOp::getOperationName(), {}, {type}, {attr("value", data)});
  op->setLoc(withName(t.name, op->getLoc()));
  return op->getResult(0);
}

/// A number as a tensor without axes.
static std::optional<ConstantTensor> scalarOf(const Value &v) {
  ConstantTensor t;
  switch (v.kind()) {
  case Value::Kind::Bool:
    t.element = ConstantTensor::Element::Bool;
    t.integers = {v.asBool()};
    return t;
  case Value::Kind::Integer:
    t.element = ConstantTensor::Element::Integer;
    t.integers = {v.asInteger()};
    return t;
  case Value::Kind::Real: t.reals = {v.asReal()}; return t;
  case Value::Kind::Constant: return v.asConstant();
  default: return std::nullopt;
  }
}

mlir::Value Emitter::materialize(const Value &v, At at) {
  if (v.isBad())
    return {};
  return materialize(v, elementOf(v), at);
}

mlir::Value Emitter::materialize(const Value &v, Element element, At at) {
  if (v.isBad())
    return {};
  if (v.is(Value::Kind::Tensor))
    return cast(v.asIr(), element, at);
  if (v.is(Value::Kind::Size)) {
    Value size = emit<SizeOp>(at, {}, {textAttr("size", v.asSize().str())});
    return size.isBad() ? mlir::Value() : cast(size.asIr(), element, at);
  }
  std::optional<ConstantTensor> t = scalarOf(v);
  if (!t) {
    error(Error::WrongValue, at, "a tensor or a number expected, found " + llvm::Twine(v.show()));
    return {};
  }
  return constantOp(*t, element, at);
}
