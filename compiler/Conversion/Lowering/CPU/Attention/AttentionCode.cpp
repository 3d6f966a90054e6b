//===- AttentionCode.cpp - what all of an attention kernel knows ----------===//

#include "compiler/Conversion/Lowering/CPU/Attention/AttentionCode.h"
#include "compiler/Conversion/Lowering/Language/Halves.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;

FunctionType AttentionArguments::typeOf(const KernelShape &plan, MLIRContext *ctx) {
  Type ptr = LLVM::LLVMPointerType::get(ctx), index = IndexType::get(ctx);
  SmallVector<Type> types(5 + plan.tensors().size() + plan.lookups.size() + (plan.slotted ? 2 : 0), ptr);
  types.append(3 + plan.lengths.size(), index);
  return FunctionType::get(ctx, types, {});
}

AttentionArguments::AttentionArguments(const KernelShape &plan, Block *entry) : entry(entry) {
  ArrayRef<BlockArgument> left = entry->getArguments();
  auto next = [&]() -> Value {
    Value first = left.front();
    left = left.drop_front();
    return first;
  };
  auto nextOnes = [&](size_t n) {
    Values first(left.begin(), left.begin() + n);
    left = left.drop_front(n);
    return first;
  };
  query = next();
  key = next();
  value = next();
  result = next();
  scratch = next();
  tensors = nextOnes(plan.tensors().size());
  lookups = nextOnes(plan.lookups.size());
  if (plan.slotted) {
    slots = next();
    starts = next();
  }
  thread = next();
  from = next();
  to = next();
  lengths = nextOnes(plan.lengths.size());
}

Value AttentionCode::numberAtTop(int64_t n) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(args.entry);
  return constant(n);
}

Value AttentionCode::length(Role role) {
  std::optional<int64_t> n = plan.numberOf(role);
  return n ? numberAtTop(*n) : args.lengths[plan.indexOf(role)];
}

Value AttentionCode::length(Value operand, int64_t axis) {
  if (std::optional<int64_t> n = cast<model::ModelTensorType>(operand.getType()).getSize(axis).constant())
    return numberAtTop(*n);
  return args.lengths[plan.indexOf(operand, axis)];
}

Value AttentionCode::tensor(Value operand) { return args.tensors[cast<BlockArgument>(operand).getArgNumber()]; }

Value AttentionCode::splatWord(Value index) { return splat(arith::IndexCastOp::create(b, b.getI32Type(), index)); }

Value AttentionCode::iota(Value first) {
  SmallVector<int32_t> steps;
  for (int32_t i = 0; i < lanes; ++i)
    steps.push_back(i);
  Value up = arith::ConstantOp::create(b, DenseIntElementsAttr::get(words(), steps));
  return arith::AddIOp::create(b, splatWord(first), up);
}

Value AttentionCode::loadValue(Value base, Value index, Value mask) {
  Value x = load(vec(valueType()), at(base, index, valueType()), mask);
  return plan.arithmetic.halves() ? widened(*this, plan.arithmetic.stored, x) : x;
}
