//===- IndexForms.cpp - index arithmetic read back as forms ---------------===//

#include "compiler/Conversion/ToKernels/IndexForms.h"
#include "compiler/Conversion/Lowering/Frame/Lowering.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle;
using heddle::kernels::IndexForms;
using heddle::model::Size;
using Form = std::optional<Size>;

/// Which length a load takes, none if it takes another value.
static std::optional<int64_t> slotOf(LLVM::LoadOp load, Value dims) {
  Value address = load.getAddr();
  int64_t at = 0;
  if (auto gep = address.getDefiningOp<LLVM::GEPOp>()) {
    ArrayRef<int32_t> indices = gep.getRawConstantIndices();
    if (indices.size() != 1 || indices[0] == LLVM::GEPOp::kDynamicIndex || !gep.getElemType().isInteger(64))
      return std::nullopt;
    at = indices[0];
    address = gep.getBase();
  }
  return address == dims ? std::optional(at) : std::nullopt;
}

/// x of the rounding down that IndexCode::floorDiv writes: q = x / d, r = x - q d, q - 1 where r and d differ in sign,
/// else q.
static arith::DivSIOp dividedBy(arith::SelectOp select) {
  auto divided = select.getFalseValue().getDefiningOp<arith::DivSIOp>();
  auto below = select.getTrueValue().getDefiningOp<arith::SubIOp>();
  return divided && below && below.getLhs() == divided.getResult() && matchPattern(below.getRhs(), m_One())
             ? divided
             : arith::DivSIOp();
}

Form IndexForms::read(Value v) {
  APInt constant;
  if (matchPattern(v, m_ConstantInt(&constant)))
    return Size(constant.getSExtValue());
  Operation *op = v.getDefiningOp();
  if (!op)
    return std::nullopt;
  auto both = [&](Value a, Value c, auto join, bool lessens = false) -> Form {
    Form x = read(a);
    unsigned before = found;
    Form y = read(c);
    lessened |= lessens && found != before;
    return x && y ? Form(join(*x, *y)) : std::nullopt;
  };
  auto operands = [&](auto join, bool lessens = false) {
    return both(op->getOperand(0), op->getOperand(1), join, lessens);
  };
  auto divided = [&](Value a, Value c) -> Form {
    Form x = read(a);
    unsigned before = found;
    Form y = read(c);
    lessened |= found != before;
    return x && y && !y->is(0) ? Form(x->floorDiv(*y)) : std::nullopt;
  };
  return llvm::TypeSwitch<Operation *, Form>(op)
      .Case([&](arith::IndexCastOp o) { return read(o.getIn()); })
      .Case([&](LLVM::LoadOp o) -> Form {
        found += o->hasAttr(loops::kKeptAttr);
        if (auto bound = o->getAttrOfType<StringAttr>(loops::kKeptAttr))
          return bounds ? Size::parse(bound.getValue()) : std::nullopt;
        std::optional<int64_t> slot = slotOf(o, dims);
        bool known = slot && names && *slot < int64_t(names.size());
        return known ? Form(Size::dim(cast<StringAttr>(names[size_t(*slot)]).getValue())) : std::nullopt;
      })
      .Case([&](arith::AddIOp) { return operands([](const Size &x, const Size &y) { return x + y; }); })
      .Case([&](arith::SubIOp) { return operands([](const Size &x, const Size &y) { return x - y; }, true); })
      .Case([&](arith::MulIOp) { return operands([](const Size &x, const Size &y) { return x * y; }); })
      .Case([&](arith::DivUIOp o) { return divided(o.getLhs(), o.getRhs()); })
      .Case([&](arith::SelectOp o) -> Form {
        auto zero = o.getCondition().getDefiningOp<arith::CmpIOp>();
        if (zero && zero.getPredicate() == arith::CmpIPredicate::eq && zero.getLhs() == o.getFalseValue())
          return read(o.getFalseValue()); // a divisor, 1 in the place of 0
        arith::DivSIOp by = dividedBy(o);
        return by ? divided(by.getLhs(), by.getRhs()) : std::nullopt;
      })
      .Case([&](arith::MaxSIOp) { return operands([](const Size &x, const Size &y) { return Size::max(x, y); }); })
      .Case([&](arith::MinSIOp) { return operands([](const Size &x, const Size &y) { return Size::min(x, y); }); })
      .Default([](Operation *) -> Form { return std::nullopt; });
}
