//===- Lowering.cpp - what the lowering of one op may ask for -------------===//

#include "compiler/Conversion/Lowering/Frame/Lowering.h"
#include "compiler/Conversion/Lowering/Language/Abi.h"
#include "dialects/Model/IR/ReservedDims.h"
#include "dialects/Tile/IR/LaunchAttrs.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using model::ModelTensorType;
using model::Size;

//===-- lengths ----------------------------------------------------------------------===//

/// Each form is computed once, in the prologue of the entry, and remembered by its text. Its dims are loaded from the
/// entry's argument, except those that the function found out itself (setSize) and the number of threads.
Length Lowering::size(const Size &form) {
  if (std::optional<int64_t> n = form.constant())
    return number(*n);
  std::string text = form.str();
  if (auto it = sizes.find(text); it != sizes.end())
    return {it->second, form};
  OpBuilder::InsertionGuard guard(b);
  Location loc = b.getLoc();
  b.setLoc(source.getLoc());
  b.setInsertionPointAfter(prologueEnd);
  auto dim = [&](StringRef name) -> Value {
    if (name == model::kThreadsDim)
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
    case '+': return add(x, y);
    case '-': return sub(x, y);
    case '*': return mul(x, y);
    case '/': return floorDiv(x, y);
    case 'M': return max(x, y);
    default: return min(x, y);
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
  return {v, form};
}

void Lowering::setSize(StringRef dim, Value load) {
  if (machine.kernels)
    tile::setKept(load.getDefiningOp(), rowBounds.at(dim.str()));
  sizes[dim.str()] = toIndex(load);
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

Length Lowering::count(ModelTensorType type, int64_t from, int64_t to) {
  Size n = 1;
  for (int64_t i = from; i < to; ++i)
    n = n * type.getSize(i);
  return size(n);
}

//===-- memory -----------------------------------------------------------------------===//

Value Lowering::pointer(Value tensor) {
  auto it = pointers.find(tensor);
  assert(it != pointers.end() && "operands are lowered before their users");
  return it->second;
}

Value Lowering::index(Value index) {
  APInt constant;
  return matchPattern(index, m_ConstantInt(&constant)) ? this->constant(constant.getSExtValue()) : pointer(index);
}

/// A place in the arena.
static Value placeAt(Lowering &l, const Size &offset) {
  Value index = l.size(offset);
  if (!l.machine.kernels)
    return l.at(l.arena, index, l.b.getI8Type());
  Value bytes = l.toI64(index);
  return tile::PlaceOp::create(l.b, l.arena.getType(), l.arena, bytes, offset.str());
}

Value Lowering::place(model::PlaceAttr place) {
  if (place.inArena())
    return placeAt(*this, place.getOffset());
  int64_t index = place.getOutput();
  for (Type t : source.getArgumentTypes()) // inputs, then outputs, then states
    index += !isa<model::StateType>(t);
  return load(Code::pointer(), at(tensors, constant(index), Code::pointer()));
}

Value Lowering::allocatePointer(OpResult result) {
  if (auto it = pointers.find(result); it != pointers.end())
    return it->second;
  Value p = place(model::placeOf(result));
  pointers[result] = p;
  return p;
}

Value Lowering::scratchPointer(Operation *op) { return placeAt(*this, model::scratchOf(op).getOffset()); }

Value Lowering::constantArray(DenseElementsAttr value) {
  // Equal constants share one global; an empty one has an element that is never read.
  Type element = value.getElementType();
  int64_t count = std::max<int64_t>(1, value.getNumElements());
  auto type = RankedTensorType::get({count}, element);
  DenseElementsAttr flat =
      value.getNumElements() ? value.reshape(type) : DenseElementsAttr::get(type, b.getZeroAttr(element));
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

func::FuncOp Lowering::external(StringRef symbol) {
  if (auto f = module.lookupSymbol<func::FuncOp>(symbol))
    return f;
  std::optional<FunctionType> type = abi::functionType(symbol, b.getContext());
  assert(type && "abi.def lists what may be called");
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(module.getBody());
  auto f = func::FuncOp::create(b, symbol, *type);
  f.setPrivate();
  return f;
}

void Lowering::barrier(Location loc) {
  b.setLoc(loc);
  Value phase = arith::ConstantOp::create(b, b.getI64IntegerAttr(int64_t(phases.size())));
  auto end = func::CallOp::create(b, external("heddle_barrier"), ValueRange{context, phase});
  endPhase(end);
}

void Lowering::endPhase(Operation *end) {
  if (machine.kernels && !spent.empty()) {
    SmallVector<tile::CostAttr> costs;
    for (const Cost &cost : spent)
      costs.push_back(cost.attribute(b.getContext()));
    tile::setCosts(end, costs);
  }
  dealt = false;
  std::string weight;
  for (Value v : current ? current->getOperands() : ValueRange())
    if (auto param = v.getDefiningOp<model::ParamOp>(); param && weight.empty())
      weight = param.getName().str();
  phases.push_back({std::move(spent), weight, repeats});
  spent.clear();
}

void Lowering::noteCost(llvm::function_ref<Cost()> of) {
  Cost cost = of();
  for (Size *form : {&cost.operations, &cost.read, &cost.written})
    *form = form->substitute(rowBounds);
  spent.push_back(std::move(cost));
}

void Lowering::fail(abi::Failure code, Value x, Value y) {
  Value number = arith::ConstantOp::create(b, b.getI64IntegerAttr(int64_t(code)));
  call(external("heddle_fail"), {context, number, x, y});
}

/// Whether a form never grows when one of these lengths shrinks.
static bool growsWith(const Size &form, const std::map<std::string, Size> &lengths) {
  struct Part {
    bool found, grows;
  };
  auto number = [](int64_t) { return Part{false, true}; };
  auto dim = [&](StringRef name) { return Part{lengths.count(name.str()) != 0, true}; };
  auto binary = [](char op, Part x, Part y) {
    bool against = (op == '-' || op == '/') && y.found;
    return Part{x.found || y.found, x.grows && y.grows && !against};
  };
  return model::visitSize<Part>(form.str(), {number, dim, binary})->grows;
}

void heddle::loops::noteItems(Lowering &l, Operation *op, const Length &n, int64_t threads) {
  if (!l.machine.kernels)
    return;
  StringAttr count = l.b.getStringAttr(n.form.substitute(l.rowBounds).str());
  tile::setItems(op, tile::ItemsAttr::get(l.b.getContext(), count, threads, !growsWith(n.form, l.rowBounds)));
}

void Lowering::parallelFor(Location loc, const Length &n, llvm::function_ref<void(Value)> body) {
  b.setLoc(loc);
  noteItems(*this, vectorLanes.items(*this, n, tid, nth, Worker::Team, body), n, lanes);
}

void Lowering::forEach(Location loc, const Length &n, llvm::function_ref<void(Value)> body) {
  b.setLoc(loc);
  noteItems(*this, vectorLanes.items(*this, n, tid, nth, Worker::Lane, body), n, 1);
}

std::pair<Value, Value> Lowering::share(const Length &n) {
  Value items = n, from = div(mul(items, tid), nth), to = div(mul(items, add(tid, 1)), nth);
  if (auto begin = from.getDefiningOp<arith::DivUIOp>())
    noteItems(*this, begin, n, lanes);
  return {from, to};
}

void Lowering::forStretches(Location loc, const Length &n, Value parts, llvm::function_ref<void(Value, Value)> body) {
  b.setLoc(loc);
  if (!machine.worksFromCounter || dealt) {
    auto [from, to] = share(n);
    return body(from, to);
  }
  dealt = true;
  Value all = select(equal(nth, constant(1)), constant(1), parts);
  func::FuncOp take = external("heddle_take");
  Value me = toI64(tid), count = toI64(all);
  auto next = [&]() -> Value { return func::CallOp::create(b, take, ValueRange{context, me, count}).getResult(0); };
  auto loop = scf::WhileOp::create(b, TypeRange{b.getI64Type()}, ValueRange{next()});
  OpBuilder::InsertionGuard guard(b);
  Block *test = b.createBlock(&loop.getBefore(), {}, {b.getI64Type()}, {loc});
  Value none = arith::ConstantOp::create(b, b.getI64IntegerAttr(0));
  Value some = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, test->getArgument(0), none);
  scf::ConditionOp::create(b, some, test->getArguments());
  Block *work = b.createBlock(&loop.getAfter(), {}, {b.getI64Type()}, {loc});
  Value part = toIndex(work->getArgument(0));
  Value from = div(mul(n, part), all);
  Value to = div(mul(n, add(part, 1)), all);
  body(from, to);
  Value after = next();
  scf::YieldOp::create(b, after);
}

void Lowering::loop(Location loc, Value from, Value to, int64_t step, llvm::function_ref<void(Value)> body) {
  b.setLoc(loc);
  Code::loop(from, to, step, body);
}

func::FuncOp Lowering::kernel(Location loc, StringRef name, FunctionType type,
                              llvm::function_ref<void(Code &, Block *)> build) {
  if (auto f = module.lookupSymbol<func::FuncOp>(name))
    return f;
  ImplicitLocOpBuilder inside(loc, b.getContext());
  inside.setInsertionPointToEnd(module.getBody());
  auto f = func::FuncOp::create(inside, name, type);
  f.setPrivate();
  f->setAttr("llvm.linkage", LLVM::LinkageAttr::get(b.getContext(), LLVM::Linkage::Internal));
  Block *block = f.addEntryBlock();
  inside.setInsertionPointToEnd(block);
  auto end = func::ReturnOp::create(inside);
  inside.setInsertionPoint(end);
  Code code(inside, vectorLanes);
  build(code, block);
  return f;
}

void Lowering::call(func::FuncOp callee, ValueRange operands) { func::CallOp::create(b, callee, operands); }

void Lowering::copy(Value from, Value to, Type element, const Length &n) {
  // Blocks of 4096 elements are dealt out, so that short copies stay on one thread.
  Length blocks = this->parts(n, 4096);
  parallelFor(b.getLoc(), blocks, [&](Value i) {
    Value begin = mul(i, 4096);
    vectors(min(sub(n, begin), constant(4096)), [&](Value j, Value mask) {
      Value k = add(begin, j);
      storeLanes({loadLanes(element, at(from, k, element), mask), at(to, k, element)}, mask);
    });
  });
}
