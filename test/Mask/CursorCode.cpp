//===- CursorCode.cpp - one answer of a mask as a function ----------------===//

#include "test/Mask/CursorCode.h"
#include "compiler/Conversion/Lowering/CPU/RegisterLanes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include <cassert>

using namespace mlir;
using namespace heddle;
using namespace heddle::test;
using model::ModelTensorType;
using model::Size;

static const loops::RegisterLanes kLanes(16);

CursorCode::CursorCode(OpBuilder &builder, Location loc, const AskedMask &mask, const CursorCase &test,
                       const std::string &name)
    : OwnBuilder{ImplicitLocOpBuilder(loc, builder)}, Code(this->builder, kLanes), mask(mask), test(test) {
  Type ptr = LLVM::LLVMPointerType::get(b.getContext()), i64 = b.getI64Type();
  auto f = func::FuncOp::create(b, name, b.getFunctionType({ptr, ptr, ptr}, {}));
  Block *entry = f.addEntryBlock();
  b.setInsertionPointToStart(entry);
  auto end = func::ReturnOp::create(b);
  b.setInsertionPoint(end);
  size_t n = 0;
  for (Value tensor : mask.tensors())
    tensors[tensor] = load(ptr, at(entry->getArgument(0), constant(int64_t(n++)), ptr));
  for (int64_t i = 0; i < kDims; ++i)
    dims[i] = toIndex(load(i64, at(entry->getArgument(1), constant(i), i64)));
  out = entry->getArgument(2);
  prologueEnd = &*std::prev(b.getInsertionPoint());
}

//===-- the answers ------------------------------------------------------------------===//

void CursorCode::walk() {
  int64_t width = 24; // i64: begin, end, need
  Type i64 = b.getI64Type();
  Value counter = at(out, constant(0), i64);
  store(toI64(constant(0)), counter);
  mask::Emitter e = emitter();
  mask::emitWalk(b, e, mask.value, dims[kAnchor], test.tile, [&](OpBuilder &, Value lo, Value hi, Value need) {
    Value n = toIndex(load(i64, counter)), to = at(out, add(mul(n, width), 8), b.getI8Type());
    store(toI64(lo), at(to, constant(0), i64));
    store(toI64(hi), at(to, constant(1), i64));
    store(bit(need), at(to, constant(2), i64));
    store(toI64(add(n, 1)), counter);
  });
}

void CursorCode::segments() {
  loop(constant(0), dims[kKeys], 1, [&](Value key) {
    mask::Emitter e = emitter();
    e.tile = e.step = b;
    mask::Segment s = mask::emitSegment(e, mask.value, key);
    b.restoreInsertionPoint(e.step.saveInsertionPoint());
    Value to = at(out, mul(key, 3), b.getI64Type());
    store(bit(s.any), at(to, constant(0), b.getI64Type()));
    store(bit(s.all), at(to, constant(1), b.getI64Type()));
    store(toI64(s.end), at(to, constant(2), b.getI64Type()));
  });
}

void CursorCode::hull() {
  mask::Emitter e = emitter();
  e.tile = e.step = b;
  mask::Hull h = mask::emitHull(e, mask.value);
  b.restoreInsertionPoint(e.tile.saveInsertionPoint());
  store(toI64(h.begin ? h.begin : constant(-mask::kUnbounded)), at(out, constant(0), b.getI64Type()));
  store(toI64(h.end ? h.end : constant(mask::kUnbounded)), at(out, constant(1), b.getI64Type()));
}

void CursorCode::elements() {
  pairs(3, [&](mask::Emitter &e, Value position, Value key, Put put) {
    bool vector = isa<VectorType>(key.getType());
    put(vector, mask::emitContains(e, mask.value, position, key));
    if (vector)
      put(2, mask::emitCount(e, mask.value, position, key));
  });
}

static TypedAttr numbers(Type type, uint32_t v) {
  auto shaped = dyn_cast<VectorType>(type);
  return shaped ? TypedAttr(DenseElementsAttr::get(shaped, APInt(32, v)))
                : TypedAttr(IntegerAttr::get(type, APInt(32, v)));
}

void CursorCode::operands() {
  mask::Residuals root = mask::residuals(mask.value);
  pairs(2, [&](mask::Emitter &e, Value position, Value key, Put put) {
    bool vector = isa<VectorType>(key.getType());
    Value bits;
    for (auto [n, operand] : llvm::enumerate(root.operands)) {
      Value one;
      if (operand.isBound() && !vector) {
        Value bound = mask::emitBound(e, operand, position);
        bool lower = operand.side == mask::Sides::Lower;
        one = arith::CmpIOp::create(e.step, e.loc, lower ? arith::CmpIPredicate::sge : arith::CmpIPredicate::slt, key,
                                    bound);
      } else {
        one = mask::emitContains(e, operand, position, key);
      }
      Type word = vector ? Type(vec(b.getI32Type())) : b.getI32Type();
      Value yes = arith::ConstantOp::create(e.step, e.loc, numbers(word, 1u << n)),
            no = arith::ConstantOp::create(e.step, e.loc, numbers(word, 0));
      Value bit = arith::SelectOp::create(e.step, e.loc, one, yes, no);
      bits = bits ? Value(arith::OrIOp::create(e.step, e.loc, bits, bit)) : bit;
    }
    if (bits)
      put(vector, bits);
  });
}

//===-- what they are made of --------------------------------------------------------===//

void CursorCode::pairs(int64_t lines, llvm::function_ref<void(mask::Emitter &, Value, Value, Put)> ask) {
  Type word = b.getI32Type();
  Value stride = add(dims[kKeys], lanes);
  loop(dims[kFirst], add(dims[kLast], 1), mask.stride, [&](Value row) {
    Value line = div(sub(row, dims[kFirst]), constant(mask.stride));
    Value base = at(out, mul(mul(line, stride), lines), word), position = add(dims[kP], row);
    auto at1 = [&](Value firstKey, Value key) {
      mask::Emitter e = emitter();
      e.first = e.last = position;
      e.tile = b; // before the loop over keys, as the contract says
      e.tile.setInsertionPoint(b.getInsertionBlock()->getParentOp());
      e.step = b;
      ask(e, position, key, [&](int64_t n, Value v) {
        b.restoreInsertionPoint(e.step.saveInsertionPoint());
        if (getElementTypeOrSelf(v.getType()).isInteger(1))
          v = arith::ExtUIOp::create(b, with(v.getType(), word), v);
        store(v, at(base, add(mul(stride, n), firstKey), word));
        e.step = b;
      });
    };
    loop(constant(0), dims[kKeys], 1, [&](Value key) { at1(key, key); });
    loop(constant(0), dims[kKeys], lanes, [&](Value key) {
      at1(key, arith::AddIOp::create(b, splat(arith::IndexCastOp::create(b, word, key)), iota()));
    });
  });
}

Value CursorCode::bit(Value v) { return arith::ExtUIOp::create(b, b.getI64Type(), v); }

Value CursorCode::iota() {
  SmallVector<int32_t> steps;
  for (int32_t i = 0; i < lanes; ++i)
    steps.push_back(i);
  return arith::ConstantOp::create(b, DenseIntElementsAttr::get(cast<VectorType>(vec(b.getI32Type())), steps));
}

/// Computed at the start of the function.
Value CursorCode::lengthOf(const Size &form) {
  std::string text = form.str();
  if (auto it = lengths.find(text); it != lengths.end())
    return it->second;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(prologueEnd);
  auto number = [&](int64_t n) { return constant(n); };
  auto dim = [&](StringRef name) -> Value {
    const char *names[] = {"B", "T", "S", "P", "K"};
    for (int64_t i = kB; i <= kK; ++i)
      if (name == names[i])
        return dims[i];
    llvm::report_fatal_error("a tensor of a mask has an axis that the test does not know");
  };
  auto binary = [&](char op, Value x, Value y) {
    return op == '+'   ? add(x, y)
           : op == '-' ? sub(x, y)
           : op == '*' ? mul(x, y)
           : op == '/' ? floorDiv(x, y)
           : op == 'M' ? max(x, y)
                       : min(x, y);
  };
  Value v = *model::visitSize<Value>(text, {number, dim, binary});
  prologueEnd = &*std::prev(b.getInsertionPoint());
  return lengths[text] = v;
}

Value CursorCode::element(OpBuilder &builder, Value tensor, ArrayRef<Value> index) {
  OpBuilder::InsertionGuard guard(b);
  b.restoreInsertionPoint(builder.saveInsertionPoint());
  auto type = cast<ModelTensorType>(tensor.getType());
  Value linear = constant(0), keys;
  for (auto [axis, i] : llvm::enumerate(index)) {
    Size n = type.getSize(axis);
    linear = mul(linear, lengthOf(n));
    if (isa<VectorType>(i.getType()))
      keys = i;
    if (!n.is(1))
      linear = add(linear, i == keys ? toIndex(vector::ExtractOp::create(b, i, ArrayRef<int64_t>{0})) : i);
  }
  Type e = type.getElementType();
  assert(tensors.count(tensor) && "a mask reads arguments and tables only");
  Value address = at(tensors.lookup(tensor), linear, e);
  if (!keys)
    return load(e, address);
  Type lanesOf = with(keys.getType(), e);
  if (type.getSize(type.getRank() - 1).is(1))
    return vector::BroadcastOp::create(b, lanesOf, load(e, address));
  Value limit = arith::IndexCastOp::create(b, b.getI32Type(), dims[kS]);
  limit = vector::BroadcastOp::create(b, keys.getType(), limit);
  Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, keys, limit);
  return mask.stride > 1 ? gather(e, address, mask.stride, inside) : load(lanesOf, address, inside);
}

mask::Emitter CursorCode::emitter() {
  mask::Emitter e{b,
                  b,
                  b.getLoc(),
                  add(dims[kP], dims[kFirst]),
                  add(dims[kP], dims[kLast]),
                  dims[kBatch],
                  dims[kHead],
                  dims[kP],
                  dims[kT],
                  dims[kKeys],
                  dims[kK],
                  nullptr,
                  nullptr};
  e.load = loadStore;
  e.lengthOf = lengthStore;
  e.lanes = test.lanes;
  e.stride = mask.stride;
  e.offset = dims[kOffset];
  return e;
}
