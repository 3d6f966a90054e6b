//===- ItemForms.cpp - how many threads a kernel has work for -------------===//
//
// Loops over dealt items bear `heddle.items`, and a stretch of items begins at n * team / teams; n is index arithmetic
// over the dims of the entry, which is read back as a form. A tile is the work of a whole block.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ToKernels/ItemForms.h"
#include "compiler/Conversion/ToLoops/Gpu/WarpLanes.h"
#include "compiler/Conversion/ToLoops/Lowering.h"
#include "dialects/Tile/IR/Tile.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle;
using heddle::model::Size;

static constexpr int64_t kUnknown = int64_t(1) << 30;

namespace {
class FormReader {
public:
  explicit FormReader(func::FuncOp entry) : entry(entry), dims(entry->getAttrOfType<ArrayAttr>("heddle.dims")) {}
  /// The form that an index is, none if it is none over the dims.
  std::optional<Size> read(Value v);

private:
  func::FuncOp entry;
  ArrayAttr dims;

  std::optional<Size> loaded(LLVM::LoadOp load);
  template <typename Join> std::optional<Size> both(Operation *op, Join join) {
    std::optional<Size> x = read(op->getOperand(0)), y = read(op->getOperand(1));
    return x && y ? std::optional(join(*x, *y)) : std::nullopt;
  }
};
} // namespace

std::optional<Size> FormReader::loaded(LLVM::LoadOp load) {
  if (auto bound = load->getAttrOfType<StringAttr>(loops::kKeptAttr))
    return Size::parse(bound.getValue());
  Value address = load.getAddr();
  int64_t at = 0;
  if (auto gep = address.getDefiningOp<LLVM::GEPOp>()) {
    ArrayRef<int32_t> indices = gep.getRawConstantIndices();
    if (indices.size() != 1 || indices[0] == LLVM::GEPOp::kDynamicIndex)
      return std::nullopt;
    at = indices[0];
    address = gep.getBase();
  }
  if (address != entry.getArgument(3) || at >= int64_t(dims.size()))
    return std::nullopt;
  return Size::dim(cast<StringAttr>(dims[at]).getValue());
}

std::optional<Size> FormReader::read(Value v) {
  APInt constant;
  if (matchPattern(v, m_ConstantInt(&constant)))
    return Size(constant.getSExtValue());
  Operation *op = v.getDefiningOp();
  if (!op)
    return std::nullopt;
  using Form = std::optional<Size>;
  return llvm::TypeSwitch<Operation *, Form>(op)
      .Case([&](arith::IndexCastOp o) { return read(o.getIn()); })
      .Case([&](LLVM::LoadOp o) { return loaded(o); })
      .Case([&](arith::AddIOp o) { return both(o, [](const Size &x, const Size &y) { return x + y; }); })
      .Case([&](arith::SubIOp o) { return both(o, [](const Size &x, const Size &y) { return x - y; }); })
      .Case([&](arith::MulIOp o) { return both(o, [](const Size &x, const Size &y) { return x * y; }); })
      .Case([&](arith::DivUIOp o) -> Form {
        Form x = read(o.getLhs()), y = read(o.getRhs());
        return x && y && !y->is(0) ? Form(x->floorDiv(*y)) : std::nullopt;
      })
      .Case([&](arith::MaxSIOp o) { return both(o, [](const Size &x, const Size &y) { return Size::max(x, y); }); })
      .Case([&](arith::MinSIOp o) { return both(o, [](const Size &x, const Size &y) { return Size::min(x, y); }); })
      .Default([](Operation *) -> Form { return std::nullopt; });
}

/// The value of an entry's i64 argument as an index.
static bool isArgument(Value v, func::FuncOp entry, unsigned number) {
  auto cast = v.getDefiningOp<arith::IndexCastOp>();
  return cast && cast.getIn() == entry.getArgument(number);
}

/// n of n * team / teams, where a stretch of dealt items begins; null for other ops.
static Value stretchOf(Operation *op, func::FuncOp entry) {
  auto divided = dyn_cast<arith::DivUIOp>(op);
  if (!divided || !isArgument(divided.getRhs(), entry, 2))
    return {};
  auto product = divided.getLhs().getDefiningOp<arith::MulIOp>();
  return product && isArgument(product.getRhs(), entry, 1) ? product.getLhs() : Value();
}

kernels::Items kernels::itemsOf(func::FuncOp entry, const llvm::SetVector<Operation *> &ops) {
  FormReader reader(entry);
  std::optional<Size> teams, lanes;
  auto note = [&](std::optional<Size> &most, Value n, int64_t each = 1) {
    Size form = reader.read(n).value_or(Size(kUnknown)) * Size(each);
    most = most ? Size::max(*most, form) : form;
  };
  for (Operation *root : ops)
    root->walk([&](Operation *op) {
      if (Value n = stretchOf(op, entry))
        note(teams, n);
      if (auto launch = dyn_cast<tile::LaunchOp>(op))
        note(teams, launch.getCount(), launch.getThreads() / loops::kWarp);
      if (auto loop = dyn_cast<scf::ForOp>(op))
        if (auto worker = op->getAttrOfType<StringAttr>(loops::kItemsAttr))
          note(worker.getValue() == "lane" ? lanes : teams, loop.getUpperBound());
    });
  if (!lanes)
    return {teams.value_or(Size(1)), loops::kWarp};
  return {teams ? Size::max(*lanes, *teams * Size(loops::kWarp)) : *lanes, 1};
}
