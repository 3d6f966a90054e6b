//===- Phases.cpp - which phases may be one kernel ------------------------===//

#include "compiler/Conversion/ToKernels/Phases.h"
#include "dialects/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::kernels;

Accesses::Accesses(func::FuncOp entry, const Phase &phase) : entry(entry) {
  for (Operation *root : phase.ops)
    root->walk([&](Operation *op) {
      if (op->getNumRegions() == 0)
        visit(op);
    });
}

void Accesses::visit(Operation *op) {
  if (auto load = dyn_cast<LLVM::LoadOp>(op))
    return touch(load.getAddr(), false);
  if (auto load = dyn_cast<LLVM::MaskedLoadOp>(op))
    return touch(load.getData(), false);
  if (auto store = dyn_cast<LLVM::StoreOp>(op))
    return touch(store.getAddr(), true);
  if (auto copy = dyn_cast<tile::CopyOp>(op))
    return touch(copy.getFrom(), false);
  if (auto call = dyn_cast<func::CallOp>(op); call && call.getCallee() == "heddle_barrier")
    return;
  if (isMemoryEffectFree(op))
    return;
  // A call and whatever else there is may write wherever it is led to.
  bool led = false;
  for (Value operand : op->getOperands())
    if (isa<LLVM::LLVMPointerType>(operand.getType())) {
      touch(operand, true);
      led = true;
    }
  // What tiles and warps share is no memory of others.
  bool own = isa<tile::TileDialect, NVVM::NVVMDialect>(op->getDialect()) || isa<LLVM::AllocaOp>(op);
  unknown |= !led && !own;
}

/// The number of a slot in a table of pointers, if it is a constant.
static std::optional<int64_t> slotOf(Value address, Value table) {
  if (address == table)
    return 0;
  auto gep = address.getDefiningOp<LLVM::GEPOp>();
  if (!gep || gep.getBase() != table || gep.getRawConstantIndices().size() != 1)
    return std::nullopt;
  if (int32_t index = gep.getRawConstantIndices()[0]; index != LLVM::GEPOp::kDynamicIndex)
    return index;
  Value index = gep.getDynamicIndices()[0];
  while (auto cast = index.getDefiningOp<arith::IndexCastOp>())
    index = cast.getIn();
  APInt constant;
  return matchPattern(index, m_ConstantInt(&constant)) ? std::optional(constant.getSExtValue()) : std::nullopt;
}

void Accesses::touch(Value pointer, bool writes) {
  if (pointer == entry.getArgument(Context))
    return add(pointer.getAsOpaquePointer(), 0, true);
  if (!writes && (pointer == entry.getArgument(Dims) || pointer == entry.getArgument(Tensors) ||
                  pointer == entry.getArgument(Weights)))
    return;
  Operation *op = pointer.getDefiningOp();
  if (auto place = dyn_cast_or_null<tile::PlaceOp>(op))
    return add(place.getFormAttr().getAsOpaquePointer(), 0, writes);
  if (auto gep = dyn_cast_or_null<LLVM::GEPOp>(op))
    return touch(gep.getBase(), writes);
  if (auto load = dyn_cast_or_null<LLVM::LoadOp>(op)) {
    Value tensors = entry.getArgument(Tensors);
    if (std::optional<int64_t> slot = slotOf(load.getAddr(), tensors))
      return add(tensors.getAsOpaquePointer(), *slot, writes);
  } else if (isa_and_nonnull<LLVM::AllocaOp>(op) || (!writes && isa_and_nonnull<LLVM::AddressOfOp>(op))) {
    return;
  } else if (isa_and_nonnull<LLVM::AddrSpaceCastOp>(op)) {
    return touch(op->getOperand(0), writes);
  } else if (isa_and_nonnull<arith::SelectOp, LLVM::SelectOp>(op)) {
    touch(op->getOperand(1), writes);
    return touch(op->getOperand(2), writes);
  } else if (isa_and_nonnull<LLVM::ZeroOp>(op)) {
    return;
  }
  unknown = true;
}

bool Accesses::conflictsWith(const Accesses &other) const {
  if (unknown || other.unknown)
    return true;
  return llvm::any_of(parts, [&](const auto &mine) {
    auto it = other.parts.find(mine.first);
    return it != other.parts.end() && (mine.second || it->second);
  });
}

std::optional<int64_t> kernels::threadsOf(const Phase &phase) {
  std::optional<int64_t> threads;
  for (Operation *root : phase.ops)
    root->walk([&](tile::LaunchOp op) {
      assert((!threads || *threads == int64_t(op.getThreads())) && "tiles of one phase have one size of blocks");
      threads = op.getThreads();
    });
  return threads;
}

std::vector<std::vector<Phase>> kernels::groupsOf(func::FuncOp entry, std::vector<Phase> phases) {
  std::vector<Accesses> accesses;
  std::vector<size_t> levels;
  size_t depth = 0;
  for (const Phase &phase : phases) {
    accesses.emplace_back(entry, phase);
    size_t level = 0;
    for (size_t i = 0; i < levels.size(); ++i)
      if (levels[i] >= level && accesses[i].conflictsWith(accesses.back()))
        level = levels[i] + 1;
    levels.push_back(level);
    depth = std::max(depth, level + 1);
  }
  std::vector<std::vector<Phase>> groups;
  for (size_t level = 0; level < depth; ++level) {
    llvm::MapVector<int64_t, std::vector<Phase>, std::map<int64_t, unsigned>> bySize;
    for (size_t i = 0; i < levels.size(); ++i)
      if (levels[i] == level)
        bySize[threadsOf(phases[i]).value_or(0)].push_back(std::move(phases[i]));
    for (auto &[threads, group] : bySize)
      groups.push_back(std::move(group));
  }
  return groups;
}
