//===- Lowering.cpp - what the lowering of one op may ask for -------------===//

#include "compiler/Conversion/ToLoops/Lowering.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using model::ModelTensorType;
using model::Size;

static Type storedElement(Type element) {
  return element.isInteger(1) ? IntegerType::get(element.getContext(), 8) : element;
}

//===-- lengths ----------------------------------------------------------------------===//

Value Lowering::size(const Size &form) {
  if (std::optional<int64_t> n = form.constant())
    return constant(*n);
  std::string text = form.str();
  if (auto it = sizes.find(text); it != sizes.end())
    return it->second;
  OpBuilder::InsertionGuard guard(b);
  Location loc = b.getLoc();
  b.setLoc(source.getLoc());
  b.setInsertionPointAfter(prologueEnd);
  auto dim = [&](StringRef name) -> Value {
    if (name == "threads")
      return nth;
    if (auto it = sizes.find(name.str()); it != sizes.end()) // one that the function has found out
      return it->second;
    for (auto [i, known] : llvm::enumerate(dimNames))
      if (known == name)
        return toIndex(load(b.getI64Type(), at(dims, constant(i), b.getI64Type())));
    return Value();
  };
  auto binary = [&](char op, Value x, Value y) -> Value {
    if (!x || !y)
      return Value();
    switch (op) {
    case '+':
      return add(x, y);
    case '-':
      return sub(x, y);
    case '*':
      return mul(x, y);
    case '/':
      return floorDiv(x, y);
    case 'M':
      return max(x, y);
    default:
      return min(x, y);
    }
  };
  auto number = [&](int64_t n) { return constant(n); };
  Value v = *model::visitSize<Value>(text, {number, dim, binary});
  if (!v) {
    emitError(loc, "internal error: a dim of the length '") << text << "' is not known to '" << source.getName() << "'";
    v = constant(0);
  }
  prologueEnd = &*std::prev(b.getInsertionPoint());
  b.setLoc(loc);
  sizes[text] = v;
  return v;
}

void Lowering::setSize(StringRef dim, Value value) {
  sizes[dim.str()] = value;
  prologueEnd = &*std::prev(b.getInsertionPoint());
}

Values Lowering::strides(ModelTensorType type) {
  Values out(type.getRank());
  Size stride = 1;
  for (int64_t i = type.getRank() - 1; i >= 0; --i) {
    Size n = type.getSize(i);
    out[i] = n.is(1) ? constant(0) : size(stride);
    stride = stride * n;
  }
  return out;
}

Value Lowering::linear(ModelTensorType type, ArrayRef<Value> at) {
  Value index = constant(0);
  for (auto [i, stride] : llvm::zip_equal(at, strides(type)))
    index = add(index, mul(i, stride));
  return index;
}

Values Lowering::unravel(ModelTensorType type, Value at) {
  Values out(type.getRank(), constant(0));
  int64_t first = 0; // the first axis that is not 1 needs no remainder
  while (first < type.getRank() && type.getSize(first).is(1))
    ++first;
  for (int64_t i = type.getRank() - 1; i >= first; --i) {
    if (type.getSize(i).is(1))
      continue;
    Value n = size(type.getSize(i));
    out[i] = i == first ? at : rem(at, n);
    if (i != first)
      at = div(at, n);
  }
  return out;
}

Value Lowering::count(ModelTensorType type, int64_t from, int64_t to) {
  Size n = 1;
  for (int64_t i = from; i < to; ++i)
    n = n * type.getSize(i);
  return size(n);
}

//===-- memory -----------------------------------------------------------------------===//

Value Lowering::view(Value pointer, Type element, Value count) {
  Type memory = storedElement(element);
  auto type = MemRefType::get({ShapedType::kDynamic}, memory);
  Type i64 = b.getI64Type(), array = LLVM::LLVMArrayType::get(i64, 1);
  auto descriptor = LLVM::LLVMStructType::getLiteral(b.getContext(), {Code::pointer(), Code::pointer(), i64, array, array});
  Value d = LLVM::PoisonOp::create(b, descriptor);
  auto number = [&](int64_t n) -> Value { return LLVM::ConstantOp::create(b, i64, b.getI64IntegerAttr(n)); };
  auto put = [&](Value v, ArrayRef<int64_t> at) { d = LLVM::InsertValueOp::create(b, d, v, at); };
  put(pointer, {0});
  put(pointer, {1});
  put(number(0), {2});
  put(toI64(count), {3, 0});
  put(number(1), {4, 0});
  return UnrealizedConversionCastOp::create(b, TypeRange(type), ValueRange(d)).getResult(0);
}

Value Lowering::pointer(Value tensor) {
  auto it = pointers.find(tensor);
  assert(it != pointers.end() && "operands are lowered before their users");
  return it->second;
}

Buffer Lowering::buffer(Value tensor) {
  auto type = cast<ModelTensorType>(tensor.getType());
  Value p = pointer(tensor);
  return {view(p, type.getElementType(), size(type.getCount())), type, p};
}

Value Lowering::place(StringRef place) {
  auto [kind, rest] = place.split(' ');
  if (kind == "output") {
    int64_t index = 0;
    rest.getAsInteger(10, index);
    for (Type t : source.getArgumentTypes()) // inputs, then outputs, then states
      index += !isa<model::StateType>(t);
    return load(Code::pointer(), at(tensors, constant(index), Code::pointer()));
  }
  assert(kind == "arena" && "a place is in an output or in the arena");
  return at(arena, size(rest), b.getI8Type());
}

Value Lowering::allocatePointer(OpResult result) {
  if (auto it = pointers.find(result); it != pointers.end())
    return it->second;
  auto places = result.getOwner()->getAttrOfType<ArrayAttr>("place");
  assert(places && "model-plan-memory runs before");
  Value p = place(cast<StringAttr>(places[result.getResultNumber()]).getValue());
  pointers[result] = p;
  return p;
}

Buffer Lowering::allocate(OpResult result) {
  (void)allocatePointer(result);
  return buffer(result);
}

Value Lowering::scratchPointer(Operation *op) {
  return at(arena, size(op->getAttrOfType<StringAttr>("scratch").getValue()), b.getI8Type());
}

Value Lowering::scratch(Operation *op, Type element) {
  Size bytes = scratchBytes(op).floorDiv(Size(bytesOf(element)));
  return view(scratchPointer(op), element, size(bytes));
}

Value Lowering::constantArray(DenseElementsAttr value) {
  // Equal constants share one global; an empty one has an element that nobody reads.
  Type element = value.getElementType();
  int64_t count = std::max<int64_t>(1, value.getNumElements());
  auto type = RankedTensorType::get({count}, element);
  DenseElementsAttr flat = value.getNumElements() ? value.reshape(type)
                                                  : DenseElementsAttr::get(type, b.getZeroAttr(element));
  std::string name;
  int64_t made = 0;
  for (LLVM::GlobalOp g : module.getOps<LLVM::GlobalOp>()) {
    made += g.getSymName().starts_with("heddle_constant_");
    if (g.getValueAttr() == flat)
      name = g.getSymName().str();
  }
  if (name.empty()) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    name = "heddle_constant_" + std::to_string(made);
    LLVM::GlobalOp::create(b, LLVM::LLVMArrayType::get(element, count), /*isConstant=*/true, LLVM::Linkage::Internal,
                           name, flat, /*alignment=*/64);
  }
  return LLVM::AddressOfOp::create(b, Code::pointer(), name);
}

//===-- threads ------------------------------------------------------------------------===//

func::FuncOp Lowering::external(StringRef name, FunctionType type) {
  if (auto f = module.lookupSymbol<func::FuncOp>(name))
    return f;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(module.getBody());
  auto f = func::FuncOp::create(b, name, type);
  f.setPrivate();
  return f;
}

void Lowering::barrier(Location loc) {
  b.setLoc(loc);
  call(external("heddle_barrier", b.getFunctionType({Code::pointer()}, {})), context);
}

void Lowering::fail(int64_t code, Value x, Value y) {
  Type i64 = b.getI64Type();
  auto f = external("heddle_fail", b.getFunctionType({Code::pointer(), i64, i64, i64}, {}));
  call(f, {context, Value(arith::ConstantOp::create(b, b.getI64IntegerAttr(code))), x, y});
}

std::pair<Value, Value> Lowering::share(Value n) {
  return {div(mul(n, tid), nth), div(mul(n, add(tid, 1)), nth)};
}

void Lowering::parallelFor(Location loc, Value n, llvm::function_ref<void(Value)> body) {
  b.setLoc(loc);
  auto [from, to] = share(n);
  Code::loop(from, to, 1, body);
}

void Lowering::loop(Location loc, Value from, Value to, int64_t step, llvm::function_ref<void(Value)> body) {
  b.setLoc(loc);
  Code::loop(from, to, step, body);
}

func::FuncOp Lowering::kernel(Location loc, StringRef name, FunctionType type,
                              llvm::function_ref<void(OpBuilder &, Block *)> build) {
  if (auto f = module.lookupSymbol<func::FuncOp>(name))
    return f;
  OpBuilder builder(b.getContext());
  builder.setInsertionPointToEnd(module.getBody());
  auto f = func::FuncOp::create(builder, loc, name, type);
  f.setPrivate();
  f->setAttr("llvm.linkage", LLVM::LinkageAttr::get(b.getContext(), LLVM::Linkage::Internal));
  Block *block = f.addEntryBlock();
  builder.setInsertionPointToEnd(block);
  auto end = func::ReturnOp::create(builder, loc);
  builder.setInsertionPoint(end);
  build(builder, block);
  return f;
}

void Lowering::call(func::FuncOp callee, ValueRange operands) { func::CallOp::create(b, callee, operands); }

void Lowering::copy(Value from, Value to, Type element, Value n) {
  // Blocks of 4096 elements are dealt out, so that short copies stay on one thread.
  Value blocks = div(add(n, 4095), constant(4096));
  parallelFor(b.getLoc(), blocks, [&](Value i) {
    Value begin = mul(i, 4096);
    vectors(min(sub(n, begin), constant(4096)), [&](Value j, Value mask) {
      Value k = add(begin, j);
      store(load(vec(element), at(from, k, element), mask), at(to, k, element), mask);
    });
  });
}
