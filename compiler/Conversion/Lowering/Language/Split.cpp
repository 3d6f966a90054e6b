//===- Split.cpp - long code becomes several functions --------------------===//
//
// Splits long functions. Parts of LLVM's code generator take more than linear time in the length of a function; a model
// of 20,000 statements would take hours. So the ops of a long block are moved, in order, to functions of a bounded
// length. Ops that only compute (indices, addresses) are repeated where they are needed; all other values that cross
// from one part to another are arguments and results.
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Language/Split.h"
#include "dialects/Remarks/Remark.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;

namespace {
/// Splits one function. `part` is the length, in ops, of the functions that are made.
class Splitter {
public:
  Splitter(func::FuncOp function, int64_t part) : function(function), part(part) {}
  /// Splits the contents of a block; afterwards the block is short.
  void split(Block &block);
  /// How many functions were made.
  int64_t made() const { return count; }

private:
  func::FuncOp function;
  int64_t part;
  int64_t count = 0;

  bool computed(Operation *op);
  void outline(const llvm::SetVector<Operation *> &ops);
};
} // namespace

/// The number of functions that one which is just too long becomes.
static constexpr int64_t kFunctions = 10;

/// The number of ops in an op, itself and nested ones included.
static int64_t length(Operation *op) {
  int64_t n = 0;
  op->walk([&](Operation *) { ++n; });
  return n;
}

/// Whether `op` has the same result anywhere: it only computes, or loads constant memory (a length, or the address
/// of a tensor, from the arguments of the entry).
bool Splitter::computed(Operation *op) {
  if (op->getNumRegions())
    return false;
  if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
    Value from = load.getAddr();
    if (auto gep = from.getDefiningOp<LLVM::GEPOp>())
      from = gep.getBase();
    Block &entry = function.getBody().front();
    return from == entry.getArgument(3) || from == entry.getArgument(4); // dims, tensors (abi.h)
  }
  return isPure(op);
}

/// Moves `ops`, all of one block and in its order, into a new private function, and calls it in their place. Values
/// that are used after them are results; values from in front of them are arguments, or are computed again in the
/// function if all they need is (`computed`).
void Splitter::outline(const llvm::SetVector<Operation *> &ops) {
  Block *block = ops.front()->getBlock();
  Location loc = ops.front()->getLoc();
  auto inside = [&](Operation *op) { return ops.contains(block->findAncestorOpInBlock(*op)); };

  SmallVector<Value> results;
  for (Operation *op : ops)
    for (Value v : op->getResults())
      if (!llvm::all_of(v.getUsers(), inside))
        results.push_back(v);
  // Values from outside, in the order of use.
  llvm::SetVector<Value> used;
  for (Operation *op : ops)
    op->walk([&](Operation *inner) {
      for (Value v : inner->getOperands())
        if (Operation *home = v.getDefiningOp() ? v.getDefiningOp() : v.getParentBlock()->getParentOp(); !inside(home))
          used.insert(v);
    });
  // Of these, which must be arguments; and the ops that compute the others from arguments, each before its users.
  llvm::SetVector<Value> arguments;
  llvm::SetVector<Operation *> again;
  auto need = [&](auto &self, Value v) -> void {
    Operation *op = v.getDefiningOp();
    if (!op || !computed(op)) {
      arguments.insert(v);
    } else if (!again.contains(op)) {
      for (Value operand : op->getOperands())
        self(self, operand);
      again.insert(op);
    }
  };
  for (Value v : used)
    need(need, v);

  OpBuilder b(function.getContext());
  b.setInsertionPoint(function);
  SmallVector<Type> in, out;
  for (Value v : arguments)
    in.push_back(v.getType());
  for (Value v : results)
    out.push_back(v.getType());
  auto made = func::FuncOp::create(b, loc, function.getName().str() + "_" + std::to_string(count++),
                                   b.getFunctionType(in, out));
  made.setPrivate();
  made->setAttr("llvm.linkage", LLVM::LinkageAttr::get(b.getContext(), LLVM::Linkage::Internal));
  made->setAttr("passthrough", b.getStrArrayAttr({"noinline"})); // it is called once, so LLVM would inline it
  Block *body = made.addEntryBlock();
  b.setInsertionPointToEnd(body);
  IRMapping mapping;
  for (auto [v, argument] : llvm::zip_equal(arguments, body->getArguments()))
    mapping.map(v, argument);
  for (Operation *op : again)
    b.clone(*op, mapping);
  auto end = func::ReturnOp::create(b, loc, results);

  b.setInsertionPointAfter(ops.back());
  auto call = func::CallOp::create(b, loc, made, arguments.getArrayRef());
  for (auto [v, result] : llvm::zip_equal(results, call.getResults()))
    v.replaceUsesWithIf(result, [&](OpOperand &use) { return use.getOwner() != end && !inside(use.getOwner()); });
  for (Operation *op : ops)
    op->moveBefore(end);
  for (Operation *op : ops)
    op->walk([&](Operation *inner) {
      for (OpOperand &operand : inner->getOpOperands())
        if (Value v = mapping.lookupOrNull(operand.get()))
          operand.set(v);
    });
}

/// First makes the regions inside of long ops short, then cuts the block into runs of about `part` ops, each of which
/// becomes a function.
void Splitter::split(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block))
    if (op.getNumRegions() && length(&op) > part)
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          split(inner);
  llvm::SetVector<Operation *> ops;
  int64_t now = 0;
  auto finish = [&] {
    if (!ops.empty())
      outline(ops);
    ops.clear();
    now = 0;
  };
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    // An op that only computes moves only with its operands. Stack memory must stay: it ends with its function.
    bool stays =
        isa<LLVM::AllocaOp>(op) ||
        (computed(&op) && llvm::none_of(op.getOperands(), [&](Value v) { return ops.contains(v.getDefiningOp()); }));
    if (stays)
      continue;
    ops.insert(&op);
    now += length(&op);
    if (now >= part)
      finish();
  }
  finish();
  // Ops that were repeated elsewhere may have no users left.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (op.use_empty() && !op.hasTrait<OpTrait::IsTerminator>() && computed(&op))
      op.erase();
}

void heddle::loops::splitLongFunction(func::FuncOp function, int64_t longest) {
  int64_t ops = length(function);
  if (ops <= longest)
    return;
  Splitter splitter(function, std::max<int64_t>(1, longest / kFunctions));
  splitter.split(function.getBody().front());
  remarks::passed(function, remarks::KernelSplit)
      << "its " << remarks::number("ops", ops) << " ops are cut into " << remarks::number("functions", splitter.made())
      << " functions, since code generation takes more than linear time";
}
