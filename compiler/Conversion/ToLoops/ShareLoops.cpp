//===- ShareLoops.cpp - loops that are equal are one function ---------------===//
//
// An entry is a row of loops with barriers between. Each of them becomes a function whose arguments are the lengths and
// addresses that it reads: a loop that comes again, for another tensor, in another layer or entry, is a call of the
// same function, and code is generated for it once. Numbers stay in the code: loops that differ in one are two.
//
// Afterwards an entry that is still too long is split (Split.h).
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ToLoops/Lowering.h"
#include "compiler/Conversion/ToLoops/Passes.h"
#include "compiler/Conversion/ToLoops/Split.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

namespace heddle::loops {
#define GEN_PASS_DEF_SHARELOOPSPASS
#include "compiler/Conversion/ToLoops/Passes.h.inc"
} // namespace heddle::loops

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;

/// Shorter loops stay where they are, in ops.
static constexpr int64_t kShortest = 40;
/// Functions of an entry: each is a module of its own for LLVM, so many thousands would cost more than they save.
static constexpr size_t kMost = 256;

static bool isBarrier(Operation *op) {
  auto call = dyn_cast<func::CallOp>(op);
  return call && call.getCallee() == "heddle_barrier";
}

namespace {
/// A loop as text: equal texts, equal code. Values have the numbers of their first mention, what comes from outside
/// too.
class LoopText {
public:
  explicit LoopText(Operation *loop) : loop(loop), os(text) { write(loop); }
  /// What comes from outside, in the order of its first mention; numbers and constants are no part of it.
  llvm::SetVector<Value> outside;
  /// Numbers and constants that are made outside.
  llvm::SetVector<Operation *> constants;
  /// Whether a function can have the loop: memory of the stack ends with the function that has it.
  bool movable = true;

  StringRef str() const { return text; }

private:
  Operation *loop;
  std::string text;
  llvm::raw_string_ostream os;
  llvm::DenseMap<Value, int64_t> numbers;

  void write(Operation *op);
  void mention(Value v);
};
} // namespace

void LoopText::mention(Value v) {
  auto [at, fresh] = numbers.try_emplace(v, numbers.size());
  os << ' ' << at->second;
  if (!fresh || loop->isAncestor(v.getParentBlock()->getParentOp()))
    return;
  Operation *made = v.getDefiningOp();
  movable &= !isa_and_nonnull<LLVM::AllocaOp>(made);
  if (made && made->getNumOperands() == 0 && made->getNumRegions() == 0 && isPure(made)) {
    constants.insert(made);
    os << '=' << made->getName() << made->getAttrDictionary();
  } else {
    outside.insert(v);
  }
  os << ':' << v.getType();
}

void LoopText::write(Operation *op) {
  os << op->getName() << op->getDiscardableAttrDictionary() << op->getPropertiesAsAttribute();
  for (Value v : op->getOperands())
    mention(v);
  os << "->";
  for (Value v : op->getResults()) {
    numbers.try_emplace(v, numbers.size());
    os << v.getType();
  }
  for (Region &region : op->getRegions()) {
    os << '{';
    for (Block &block : region) {
      for (BlockArgument v : block.getArguments()) {
        numbers.try_emplace(v, numbers.size());
        os << v.getType();
      }
      os << ':';
      for (Operation &inner : block)
        write(&inner);
    }
    os << '}';
  }
  os << '\n';
}

namespace {
class Sharer {
public:
  explicit Sharer(ModuleOp module) : module(module) {}
  /// The loops of a block, which is part of what an op of `kind` has become.
  void visit(Block &block, StringRef kind = "loop");

private:
  ModuleOp module;
  llvm::StringMap<func::FuncOp> functions; ///< by text

  void share(Operation *loop, StringRef kind);
  func::FuncOp functionOf(Operation *loop, const LoopText &text, StringRef kind);
};
} // namespace

/// The function that is made of the loop, which moves there.
func::FuncOp Sharer::functionOf(Operation *loop, const LoopText &text, StringRef kind) {
  OpBuilder b(module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  SmallVector<Type> types;
  for (Value v : text.outside)
    types.push_back(v.getType());
  std::string name = "heddle_" + kind.str() + "_" + llvm::utohexstr(llvm::xxh3_64bits(text.str()), true);
  auto function = func::FuncOp::create(b, loop->getLoc(), name, b.getFunctionType(types, {}));
  function.setPrivate();
  function->setAttr("llvm.linkage", LLVM::LinkageAttr::get(b.getContext(), LLVM::Linkage::Internal));
  Block *body = function.addEntryBlock();
  b.setInsertionPointToEnd(body);
  IRMapping inside;
  for (auto [v, argument] : llvm::zip_equal(text.outside, body->getArguments()))
    inside.map(v, argument);
  for (Operation *constant : text.constants)
    b.clone(*constant, inside);
  auto end = func::ReturnOp::create(b, loop->getLoc());
  loop->moveBefore(end);
  loop->walk([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (Value v = inside.lookupOrNull(operand.get()))
        operand.set(v);
  });
  return function;
}

void Sharer::share(Operation *loop, StringRef kind) {
  LoopText text(loop);
  auto known = functions.find(text.str());
  if (!text.movable || (known == functions.end() && functions.size() == kMost))
    return;
  OpBuilder b(loop->getContext());
  b.setInsertionPointAfter(loop);
  Location loc = loop->getLoc();
  if (known == functions.end())
    known = functions.try_emplace(text.str(), functionOf(loop, text, kind)).first;
  else
    loop->erase();
  func::CallOp::create(b, loc, known->second, text.outside.getArrayRef());
}

/// Loops stand in the entry itself, or in what has barriers inside: a repeat of layers, a condition.
void Sharer::visit(Block &block, StringRef kind) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (op.getNumRegions() == 0)
      continue;
    auto own = cast_or_null<StringAttr>(op.removeAttr(kOfAttr));
    StringRef of = own ? own.getValue() : kind;
    int64_t length = 0;
    bool barrier = false;
    op.walk([&](Operation *inner) {
      ++length;
      barrier |= isBarrier(inner);
    });
    if (barrier) {
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          visit(inner, of);
    } else if (length >= kShortest && op.getNumResults() == 0) {
      share(&op, of);
    }
  }
}

namespace {
struct ShareLoops final : heddle::loops::impl::ShareLoopsPassBase<ShareLoops> {
  using ShareLoopsPassBase::ShareLoopsPassBase;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> entries;
    if (auto names = module->getAttrOfType<ArrayAttr>("heddle.entries"))
      for (auto name : names.getAsRange<StringAttr>())
        if (auto entry = module.lookupSymbol<func::FuncOp>(name.getValue()))
          entries.push_back(entry);
    Sharer sharer(module);
    for (func::FuncOp entry : entries) {
      sharer.visit(entry.getBody().front());
      splitLongFunction(entry, longestFunction);
    }
  }
};
} // namespace
