//===- Entry.cpp - a function becomes what the runtime calls --------------===//
//
// Lowers a function of stage `buffers` to an entry: the function with the signature of abi.def that the runtime calls
// on every thread. The frame around the ops is made here; each op is lowered by lowerOp.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Frame/Entry.h"
#include "compiler/Conversion/Lowering/Language/Abi.h"
#include "compiler/Conversion/Lowering/Language/LoopArguments.h"
#include "compiler/Plan/PlanCheck.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using model::ModelTensorType;
using model::Size;
using model::StateType;

/// Makes the function of an entry with the arguments of abi.def (context, thread, number of threads, dims, tensors,
/// arena, weights) and loads the address of each input and state from `tensors`. Lengths are computed after
/// `prologueEnd`.
Lowering::Lowering(func::FuncOp source, const Machine &machine)
    : OwnBuilder{ImplicitLocOpBuilder(source.getLoc(), source.getContext())}, LengthCode(builder, machine.lanes),
      machine(machine), module(source->getParentOfType<ModuleOp>()), source(source), rowBounds(plan::rowBounds(source)),
      dimNames(entryDims(source)) {
  b.setInsertionPointToEnd(module.getBody());
  Type ptr = Code::pointer();
  function = func::FuncOp::create(b, "heddle_entry_" + source.getName().str(), abi::entryType(b.getContext()));
  function.setPrivate();
  function->setAttr("llvm.linkage", LLVM::LinkageAttr::get(b.getContext(), LLVM::Linkage::Internal));
  Block *block = function.addEntryBlock();
  b.setInsertionPointToEnd(block);
  auto end = func::ReturnOp::create(b);
  b.setInsertionPoint(end);
  context = block->getArgument(0);
  tid = toIndex(block->getArgument(1));
  nth = toIndex(block->getArgument(2));
  dims = block->getArgument(3);
  tensors = block->getArgument(4);
  arena = block->getArgument(5);
  weights = block->getArgument(6);
  // Inputs come first, then the outputs, then the states.
  int64_t input = 0, states = source.getNumResults();
  for (Type t : source.getArgumentTypes())
    states += !isa<StateType>(t);
  for (BlockArgument arg : source.getArguments()) {
    int64_t slot = isa<StateType>(arg.getType()) ? states++ : input++;
    setPointer(arg, load(ptr, at(tensors, constant(slot), ptr)));
  }
  prologueEnd = &*std::prev(b.getInsertionPoint());
}

/// Lowers the ops in order. What an op became is found between `last` and the insertion point; its loops are marked
/// with the op's name, by which shared functions are called (ShareLoops).
LogicalResult Lowering::lowerBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    b.setLoc(op.getLoc());
    Operation *end = &*b.getInsertionPoint(), *last = end->getPrevNode();
    current = &op;
    if (failed(lowerOp(*this, &op)))
      return failure();
    current = nullptr;
    for (Operation *made = last ? last->getNextNode() : &end->getBlock()->front(); made != end;
         made = made->getNextNode())
      if (made->getNumRegions())
        model::setLoweredFrom(made, op.getName().stripDialect());
  }
  return success();
}

/// Copies results to the caller's memory, except those that the plan placed there.
LogicalResult Lowering::lowerReturn(func::ReturnOp op) {
  b.setLoc(op.getLoc());
  ArrayRef<bool> copies = model::copiesOut(op);
  for (auto [i, value] : llvm::enumerate(op.getOperands())) {
    if (!copies.empty() && !copies[i])
      continue;
    auto type = cast<ModelTensorType>(value.getType());
    Value target = place(model::PlaceAttr::output(op.getContext(), i));
    copy(pointer(value), target, type.getElementType(), size(type.getCount()));
    Value returned = value;
    noteCost([&] { return Cost{"return", 0, false, bytesWhereItLies(returned), bytesWhereItLies(returned)}; });
  }
  endPhase(function); // the last one ends with the entry
  return success();
}

LogicalResult Lowering::run() {
  if (!source.getBody().hasOneBlock())
    return source.emitError("a function to be lowered has one block");
  if (failed(lowerBlock(source.getBody().front())))
    return failure();
  return lowerReturn(cast<func::ReturnOp>(source.getBody().front().getTerminator()));
}

LogicalResult heddle::loops::lowerEntries(ModuleOp module, const Machine &machine,
                                          function_ref<void(Lowering &)> done) {
  bool whole = true;
  plan::checkBuffersPlan(module, [&](Operation *op, const Twine &what) {
    op->emitError() << what;
    whole = false;
  });
  if (!whole)
    return failure();
  SmallVector<func::FuncOp> sources(module.getOps<func::FuncOp>());
  std::vector<std::vector<Phase>> phases;
  for (func::FuncOp source : sources) {
    Lowering lowering(source, machine);
    if (failed(lowering.run()))
      return failure();
    if (!machine.kernels)
      phases.push_back(std::move(lowering.phases));
    done(lowering);
  }
  if (failed(noteEntries(module, sources, phases)))
    return failure();
  for (func::FuncOp source : sources)
    source.erase();
  placeArgumentsAtLoops(module);
  return success();
}
