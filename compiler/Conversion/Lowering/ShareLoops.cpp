//===- ShareLoops.cpp - loops that are equal are one function ---------------===//
//
// The pass that makes one function of loops that are equal. An entry is a sequence of loops with barriers between. A
// loop that comes more than once, for another tensor, in another layer or entry, becomes calls of one function, whose
// arguments are the lengths and addresses that the loop reads; LLVM generates code for it once. Constants stay in the
// code, which may be specialised for them: loops that differ in a constant are different functions.
//
// Afterwards the phases of entries are noted with what they call (NotePhases.h), and an entry that is still too long is
// split (Split.h).
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Frame/Lowering.h"
#include "compiler/Conversion/Lowering/Language/Split.h"
#include "compiler/Conversion/Lowering/Language/StructuralText.h"
#include "compiler/Conversion/Lowering/NotePhases.h"
#include "compiler/Conversion/Lowering/Passes.h"
#include "dialects/Card/IR/Card.h"
#include "dialects/Remarks/Remark.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/xxhash.h"

namespace heddle::loops {
#define GEN_PASS_DEF_SHARELOOPSPASS
#include "compiler/Conversion/Lowering/Passes.h.inc"
} // namespace heddle::loops

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;

/// Loops of fewer ops stay where they are: a call, and the module of LLVM that the function would be in, cost as much.
static constexpr int64_t kShortest = 40;

/// Whether `op` is a barrier. Loops that contain one are not outlined.
static bool isBarrier(Operation *op) {
  auto call = dyn_cast<func::CallOp>(op);
  return call && call.getCallee() == "heddle_barrier";
}

namespace {
/// A loop of an entry.
struct Loop {
  Operation *op;
  std::string kind; ///< the op of a model that it has been made for
  StructuralText code;
  explicit Loop(Operation *op, StringRef kind) : op(op), kind(kind), code(op) {}
};
} // namespace

/// The loops of a block, which is part of what an op of `kind` has become: those that are there, or in what has
/// barriers inside, a repeat of layers or a condition. Returns how many of these are too short for a function.
static int64_t collect(Block &block, StringRef kind, SmallVectorImpl<std::unique_ptr<Loop>> &loops) {
  int64_t tooShort = 0;
  for (Operation &op : block) {
    if (op.getNumRegions() == 0)
      continue;
    StringRef own = model::takeLoweredFrom(&op), of = own.empty() ? kind : own;
    int64_t length = 0;
    bool barrier = false;
    op.walk([&](Operation *inner) {
      ++length;
      barrier |= isBarrier(inner);
    });
    if (barrier) {
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          tooShort += collect(inner, of, loops);
    } else if (length < kShortest) {
      ++tooShort;
    } else if (op.getNumResults() == 0) {
      auto loop = std::make_unique<Loop>(&op, of);
      // What is on the stack of its function stays there.
      if (llvm::none_of(loop->code.outside(), [](Value v) { return v.getDefiningOp<LLVM::AllocaOp>(); }))
        loops.push_back(std::move(loop));
    }
  }
  return tooShort;
}

/// Makes a function of a loop: constants are repeated in it, all else that the loop reads from outside is an argument,
/// and the loop moves there. The name has the hash of the text, so it is the same in every run.
static func::FuncOp functionOf(const Loop &loop) {
  Location loc = loop.op->getLoc();
  ImplicitLocOpBuilder b(loc, loop.op->getContext());
  b.setInsertionPointToEnd(loop.op->getParentOfType<ModuleOp>().getBody());
  SmallVector<Type> types;
  for (Value v : loop.code.outside())
    types.push_back(v.getType());
  std::string name = "heddle_" + loop.kind + "_" + llvm::utohexstr(llvm::xxh3_64bits(loop.code.str()), true);
  auto function = func::FuncOp::create(b, name, b.getFunctionType(types, {}));
  function.setPrivate();
  function->setAttr("llvm.linkage", LLVM::LinkageAttr::get(b.getContext(), LLVM::Linkage::Internal));
  Block *body = function.addEntryBlock();
  b.setInsertionPointToEnd(body);
  IRMapping inside;
  for (auto [v, argument] : llvm::zip_equal(loop.code.outside(), body->getArguments()))
    inside.map(v, argument);
  for (Operation *constant : loop.code.constants())
    b.clone(*constant, inside);
  auto end = func::ReturnOp::create(b);
  loop.op->moveBefore(end);
  loop.op->walk([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (Value v = inside.lookupOrNull(operand.get()))
        operand.set(v);
  });
  return function;
}

/// Replaces every loop whose text comes more than once by a call. The location of the function is that of all its
/// users, since its name is a hash.
static void share(ArrayRef<std::unique_ptr<Loop>> loops) {
  llvm::StringMap<int64_t> counts;
  for (const std::unique_ptr<Loop> &loop : loops)
    ++counts[loop->code.str()];
  llvm::MapVector<func::FuncOp, SmallVector<Location>> users;
  llvm::StringMap<func::FuncOp> functions;
  llvm::MapVector<Operation *, SmallVector<Location>> callers; // of a function
  for (const std::unique_ptr<Loop> &loop : loops) {
    if (counts[loop->code.str()] == 1)
      continue;
    OpBuilder b(loop->op->getContext());
    b.setInsertionPointAfter(loop->op);
    Location loc = loop->op->getLoc();
    func::FuncOp &function = functions[loop->code.str()];
    if (function)
      loop->op->erase();
    else
      function = functionOf(*loop);
    users[function].push_back(loc);
    func::CallOp::create(b, loc, function, loop->code.outside());
    if (remarks::wanted(function))
      callers[function].push_back(loc);
  }
  for (auto &[function, places] : callers) {
    remarks::InFlight remark = remarks::passed(function, remarks::KernelShared);
    remark << cast<func::FuncOp>(function).getName() << " serves " << remarks::number("calls", places.size())
           << " loops";
    llvm::SetVector<Location> others(places.begin(), places.end());
    for (Location other : others)
      if (other != function->getLoc())
        remark.note(other, "this calls it, too");
  }
  for (auto &[function, locations] : users)
    function->setLoc(FusedLoc::get(function.getContext(), locations));
}

namespace {
struct ShareLoops final : heddle::loops::impl::ShareLoopsPassBase<ShareLoops> {
  using ShareLoopsPassBase::ShareLoopsPassBase;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> entries;
    for (card::EntryAttr noted : card::entriesOf(module))
      if (auto entry = module.lookupSymbol<func::FuncOp>(noted.getSymbol()))
        entries.push_back(entry);
    SmallVector<std::unique_ptr<Loop>> loops;
    for (func::FuncOp entry : entries)
      if (int64_t tooShort = collect(entry.getBody().front(), "loop", loops))
        remarks::analysis(entry, remarks::KernelShort)
            << remarks::number("loops", tooShort) << " loops of fewer than " << remarks::number("shortest", kShortest)
            << " ops stay in the entry";
    share(loops);
    notePhases(module);
    for (func::FuncOp entry : entries)
      splitLongFunction(entry, longestFunction);
  }
};
} // namespace
