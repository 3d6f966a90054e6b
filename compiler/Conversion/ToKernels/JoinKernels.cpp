//===- JoinKernels.cpp - kernels that are equal but for numbers -----------===//
//
// The norm of every layer is the same code: what differs is where its operands are in the arena and among the weights,
// which tensors of the call it reads and where among the lengths its own are. These four are numbers of a launch here,
// and a kernel that comes more than once becomes one, launched with the numbers of each.
//
// A place in the arena is a form over lengths that change from token to token, and arguments of a launch do not: so the
// forms are noted for the card, the host computes them after the lengths of a call, and the number says which one it
// is.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Frame/Lowering.h"
#include "compiler/Conversion/Lowering/Language/StructuralText.h"
#include "compiler/Conversion/ToKernels/Launch.h"
#include "compiler/Conversion/ToKernels/Passes.h"
#include "dialects/Card/IR/Card.h"
#include "dialects/Remarks/Remark.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

namespace heddle::kernels {
#define GEN_PASS_DEF_JOINKERNELSPASS
#include "compiler/Conversion/ToKernels/Passes.h.inc"
} // namespace heddle::kernels

using namespace mlir;
using namespace heddle;
using namespace heddle::kernels;
using heddle::model::Size;

namespace {
/// A number of a kernel: itself, or a place in the arena.
struct Number {
  int64_t value = 0;
  std::optional<Size> place;
  LLVM::LoadOp loaded = {}; ///< of a place: what takes it from after the lengths
};

/// A kernel whose numbers are arguments of the function, after those that all kernels have.
class Variant {
public:
  Variant(func::FuncOp kernel, const Launch &launch);
  func::FuncOp original;
  OwningOpRef<func::FuncOp> code;
  Launch launch;
  std::vector<Number> numbers;
  std::string text; ///< equal texts: equal but for numbers

private:
  Value argument(KernelArgument number) { return code->getArgument(number); }
  Value add(Number number);
  void replaceSlots(KernelArgument table);
  void replacePlaces();
  void replaceWeights();
  void order();
  void write();
};
} // namespace

Variant::Variant(func::FuncOp kernel, const Launch &launch) : original(kernel), code(kernel.clone()), launch(launch) {
  replaceSlots(KernelDims);
  replaceSlots(KernelTensors);
  replacePlaces();
  replaceWeights();
  order();
  write();
}

Value Variant::add(Number number) {
  numbers.push_back(number);
  Block &body = code->getBody().front();
  return body.addArgument(IntegerType::get(code->getContext(), 64), code->getLoc());
}

/// The constant index of an address, if that is all it is.
static std::optional<int64_t> constantIndex(LLVM::GEPOp gep) {
  ArrayRef<int32_t> indices = gep.getRawConstantIndices();
  if (indices.size() != 1)
    return std::nullopt;
  if (indices[0] != LLVM::GEPOp::kDynamicIndex)
    return indices[0];
  APInt constant;
  return matchPattern(gep.getDynamicIndices()[0], m_ConstantInt(&constant)) ? std::optional(constant.getSExtValue())
                                                                            : std::nullopt;
}
static Value indexOf(LLVM::GEPOp gep) {
  return gep.getRawConstantIndices().size() == 1 && gep.getDynamicIndices().size() == 1 ? gep.getDynamicIndices()[0]
                                                                                        : Value();
}

/// Loads at the number-th element of a table of 8 bytes each.
void Variant::replaceSlots(KernelArgument table) {
  Value base = argument(table);
  SmallVector<LLVM::LoadOp> loads;
  code->walk([&](LLVM::LoadOp load) {
    auto gep = load.getAddr().getDefiningOp<LLVM::GEPOp>();
    bool mine = gep ? gep.getBase() == base && constantIndex(gep) : load.getAddr() == base;
    if (mine && !tile::isKept(load))
      loads.push_back(load);
  });
  llvm::MapVector<int64_t, Value> slots;
  for (LLVM::LoadOp load : loads) {
    auto gep = load.getAddr().getDefiningOp<LLVM::GEPOp>();
    int64_t slot = gep ? *constantIndex(gep) : 0;
    Value &number = slots[slot];
    if (!number)
      number = add({slot, std::nullopt});
    OpBuilder b(load);
    Value at = LLVM::GEPOp::create(b, load.getLoc(), base.getType(), load.getType(), base, LLVM::GEPArg(number));
    load.getAddrMutable().assign(at);
  }
}

/// Places in the arena, but those at a form that the host cannot compute.
void Variant::replacePlaces() {
  Value arena = argument(KernelArena), dims = argument(KernelDims);
  std::optional<SmallVector<StringRef>> lengths = tile::dimsOf(original);
  SmallVector<tile::PlaceOp> places;
  code->walk([&](tile::PlaceOp op) { places.push_back(op); });
  for (tile::PlaceOp op : places) {
    Size form = *Size::parse(op.getForm());
    if (!lengths || !llvm::all_of(form.dims(), [&](const std::string &dim) { return is_contained(*lengths, dim); }))
      continue;
    OpBuilder b(op);
    Location loc = op.getLoc();
    Value number = add({0, form});
    Value from = LLVM::GEPOp::create(b, loc, dims.getType(), b.getI64Type(), dims, LLVM::GEPArg(number));
    auto load = LLVM::LoadOp::create(b, loc, b.getI64Type(), from);
    numbers.back().loaded = load;
    Value at = LLVM::GEPOp::create(b, loc, arena.getType(), b.getI8Type(), arena, LLVM::GEPArg(load.getResult()));
    op.replaceAllUsesWith(at);
    op.erase();
  }
}

/// What `v` is at the indices (i, j) of the repeats; none if it is more than arithmetic on them.
static std::optional<int64_t> valueAt(Value v, func::FuncOp f, int64_t i, int64_t j) {
  APInt constant;
  if (matchPattern(v, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  if (v == f.getArgument(FirstIndex) || v == f.getArgument(FirstIndex + 1))
    return v == f.getArgument(FirstIndex) ? i : j;
  Operation *op = v.getDefiningOp();
  if (auto cast = dyn_cast_or_null<arith::IndexCastOp>(op))
    return valueAt(cast.getIn(), f, i, j);
  if (!isa_and_nonnull<arith::AddIOp, arith::MulIOp>(op))
    return std::nullopt;
  std::optional<int64_t> x = valueAt(op->getOperand(0), f, i, j), y = valueAt(op->getOperand(1), f, i, j);
  if (!x || !y)
    return std::nullopt;
  return isa<arith::AddIOp>(op) ? *x + *y : *x * *y;
}

/// Addresses at a + i b + j c.
void Variant::replaceWeights() {
  Value weights = argument(KernelWeights);
  SmallVector<OpOperand *> uses;
  code->walk([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (operand.get() == weights)
        uses.push_back(&operand);
  });
  for (OpOperand *use : uses) {
    auto gep = dyn_cast<LLVM::GEPOp>(use->getOwner());
    bool whole = gep && use->getOperandNumber() == 0 && gep.getElemType().isInteger(8);
    int64_t begin = 0, outer = 0, inner = 0;
    if (std::optional<int64_t> constant = whole ? constantIndex(gep) : std::nullopt) {
      begin = *constant;
    } else if (Value index = whole ? indexOf(gep) : Value()) {
      auto at = [&](int64_t i, int64_t j) { return valueAt(index, *code, i, j); };
      whole = at(0, 0).has_value();
      begin = at(0, 0).value_or(0);
      outer = at(1, 0).value_or(0) - begin;
      inner = at(0, 1).value_or(0) - begin;
      whole = whole && at(2, 3) == begin + 2 * outer + 3 * inner;
    } else {
      whole = false;
    }
    if (!whole)
      begin = outer = inner = 0;
    OpBuilder b(use->getOwner());
    Location loc = use->getOwner()->getLoc();
    Value sum = add({begin, std::nullopt});
    for (auto [step, number] : {std::pair(outer, 0u), {inner, 1u}}) {
      Value factor = add({step, std::nullopt});
      Value part = arith::MulIOp::create(b, loc, factor, code->getArgument(FirstIndex + number));
      sum = arith::AddIOp::create(b, loc, sum, part);
    }
    Value at = LLVM::GEPOp::create(b, loc, weights.getType(), b.getI8Type(), weights, LLVM::GEPArg(sum));
    if (whole)
      gep.getResult().replaceAllUsesWith(at);
    else
      use->set(at);
  }
}

/// Puts what computes before its first user, in the order of operands: what a kernel makes again is in the order
/// in which its entry once needed it. Unused ops are removed.
void Variant::order() {
  Block &body = code->getBody().front();
  auto moves = [&](Operation *op) {
    if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
      Value base = load.getAddr();
      while (auto gep = base.getDefiningOp<LLVM::GEPOp>())
        base = gep.getBase();
      return base == argument(KernelDims) || base == argument(KernelTensors);
    }
    return op->getNumRegions() == 0 && !op->hasTrait<OpTrait::IsTerminator>() && isPure(op);
  };
  SmallVector<Operation *> fixed, movable;
  for (Operation &op : body)
    (moves(&op) ? movable : fixed).push_back(&op);
  llvm::SmallPtrSet<Operation *, 32> placed;
  std::function<void(Operation *, Operation *)> place = [&](Operation *op, Operation *before) {
    if (op->getBlock() != &body || !moves(op) || !placed.insert(op).second)
      return;
    for (Value v : op->getOperands())
      if (Operation *from = v.getDefiningOp())
        place(from, before);
    op->moveBefore(before);
  };
  for (Operation *op : fixed)
    op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
      for (Value v : inner->getOperands())
        if (Operation *from = v.getDefiningOp())
          place(from, op);
    });
  for (Operation *op : llvm::reverse(movable))
    if (!placed.contains(op) && op->use_empty())
      op->erase();
}

/// Numbers are told by their first use, so that equal kernels have them in one order.
void Variant::write() {
  Block &body = code->getBody().front();
  unsigned first = body.getNumArguments() - unsigned(numbers.size());
  llvm::SetVector<Value> used;
  body.walk([&](Operation *op) {
    for (Value v : op->getOperands())
      if (auto argument = dyn_cast<BlockArgument>(v);
          argument && argument.getOwner() == &body && argument.getArgNumber() >= first)
        used.insert(v);
  });
  // Fresh arguments in that order; the old ones go.
  std::vector<Number> ordered;
  SmallVector<Value> old(used.begin(), used.end());
  for (Value v : old) {
    ordered.push_back(numbers[cast<BlockArgument>(v).getArgNumber() - first]);
    v.replaceAllUsesWith(body.addArgument(v.getType(), v.getLoc()));
  }
  body.eraseArguments(first, unsigned(numbers.size()));
  numbers = std::move(ordered);
  code->setType(FunctionType::get(code->getContext(), body.getArgumentTypes(), {}));
  code->setSymName("k");
  tile::forgetLaunches(*code);
  tile::forgetDims(*code);
  llvm::raw_string_ostream os(text);
  os << launch.lanes << ' ' << launch.threads << ' ' << launch.shared;
  for (const std::string &chip : launch.on)
    os << ' ' << chip;
  os << loops::StructuralText(*code).str();
}

/// What each launch of a kernel does, as forms over the dims of its entry, and which kernels serve several.
static void remarkOnKernels(ModuleOp module) {
  for (func::FuncOp f : module.getOps<func::FuncOp>()) {
    std::vector<Launch> launches = Launch::of(f);
    if (launches.size() > 1)
      remarks::passed(f, remarks::KernelShared)
          << "kernel " << f.getName() << " serves " << remarks::number("calls", launches.size()) << " launches";
    for (const Launch &launch : launches) {
      remarks::Where where(f.getLoc(), StringAttr::get(module.getContext(), launch.entry));
      remarks::InFlight remark = remarks::analysis(where, remarks::KernelDevice);
      Size operations = 0, read = 0, written = 0;
      SmallVector<StringRef> ops;
      for (const loops::Cost &cost : launch.costs) {
        operations = operations + cost.operations;
        read = read + cost.read;
        written = written + cost.written;
        ops.push_back(cost.op);
      }
      remark << "kernel " << f.getName() << " does " << (ops.empty() ? "moves" : llvm::join(ops, ", "))
             << " in blocks of " << remarks::number("threads", launch.threads) << " threads, "
             << remarks::number("items", launch.items.str()) << " items";
      remark.add("times", launch.times)
          .add("operations", operations.str())
          .add("read", read.str())
          .add("written", written.str());
    }
  }
}

namespace {
/// The places of an entry that the host computes, after its lengths.
struct Places {
  int64_t lengths = 0;
  std::vector<Size> forms;
  int64_t number(const Size &form) {
    auto at = llvm::find(forms, form);
    if (at == forms.end())
      at = forms.insert(at, form);
    return lengths + (at - forms.begin());
  }
};

struct JoinKernels final : kernels::impl::JoinKernelsPassBase<JoinKernels> {
  using JoinKernelsPassBase::JoinKernelsPassBase;
  void runOnOperation() override {
    llvm::MapVector<StringRef, SmallVector<Variant *>> groups;
    std::vector<std::unique_ptr<Variant>> variants;
    for (func::FuncOp f : getOperation().getOps<func::FuncOp>()) {
      std::vector<Launch> launches = Launch::of(f);
      if (launches.size() != 1)
        continue;
      variants.push_back(std::make_unique<Variant>(f, launches.front()));
      places[launches.front().entry].lengths = tile::dimsOf(f) ? int64_t(tile::dimsOf(f)->size()) : 0;
      groups[variants.back()->text].push_back(variants.back().get());
    }
    for (auto &[text, group] : groups)
      if (group.size() > 1)
        join(group);
    for (card::EntryAttr entry : card::entriesOf(getOperation()))
      if (const std::vector<Size> &forms = places[entry.getName().str()].forms; !forms.empty())
        card::replaceEntry(getOperation(), entry.withLengths(forms));
    if (remarks::wanted(getOperation()))
      remarkOnKernels(getOperation());
  }

  std::map<std::string, Places> places;

  /// The numbers at `at` of all kernels of a group. Places that are numbers for all of them need no host.
  std::vector<int64_t> column(ArrayRef<Variant *> group, size_t at) {
    std::vector<int64_t> values;
    bool constant = llvm::all_of(
        group, [&](Variant *one) { return one->numbers[at].place && one->numbers[at].place->constant().has_value(); });
    for (Variant *one : group) {
      const Number &number = one->numbers[at];
      values.push_back(!number.place ? number.value
                       : constant    ? *number.place->constant()
                                     : places[one->launch.entry].number(*number.place));
    }
    if (LLVM::LoadOp load = group.front()->numbers[at].loaded; load && constant) {
      auto gep = load.getAddr().getDefiningOp<LLVM::GEPOp>();
      load.replaceAllUsesWith(gep.getDynamicIndices()[0]);
      load.erase();
      gep.erase();
    }
    return values;
  }

  void join(ArrayRef<Variant *> group) {
    func::FuncOp code = group.front()->code.release(), first = group.front()->original;
    Block &body = code.getBody().front();
    OpBuilder b(&body, body.begin());
    std::vector<Launch> launches;
    for (Variant *one : group) {
      launches.push_back(one->launch);
      launches.back().kernel = first.getName().str();
    }
    Location loc = code.getLoc();
    Value table = body.getArgument(Numbers);
    std::map<std::vector<int64_t>, Value> known;
    constexpr unsigned kFirst = Numbers + 1;
    for (size_t i = 0; i < group.front()->numbers.size(); ++i) {
      std::vector<int64_t> values = column(group, i);
      Value &value = known[values];
      if (!value && llvm::all_equal(values)) {
        value = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(values.front()));
      } else if (!value) {
        auto at = LLVM::GEPArg(int32_t(launches.front().numbers.size()));
        Value address = LLVM::GEPOp::create(b, loc, table.getType(), b.getI64Type(), table, at);
        value = LLVM::LoadOp::create(b, loc, b.getI64Type(), address);
        for (auto [launch, number] : llvm::zip_equal(launches, values))
          launch.numbers.push_back(number);
      }
      body.getArgument(kFirst + unsigned(i)).replaceAllUsesWith(value);
    }
    body.eraseArguments(kFirst, body.getNumArguments() - kFirst);
    code.setType(first.getFunctionType());
    if (size_t count = launches.front().numbers.size())
      code.setArgAttr(Numbers, LLVM::LLVMDialect::getByValAttrName(),
                      TypeAttr::get(LLVM::LLVMArrayType::get(b.getI64Type(), count)));
    code.setSymName(first.getName());
    Launch::write(code, launches);
    OpBuilder(first).insert(code);
    for (Variant *one : group)
      one->original.erase();
  }
};
} // namespace
