//===- Entry.cpp - a function becomes what the runtime calls --------------===//

#include "compiler/Conversion/ToLoops/Abi.h"
#include "compiler/Conversion/ToLoops/Lowering.h"
#include "dialects/Model/IR/ReservedDims.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using model::ModelTensorType;
using model::Size;
using model::StateType;

SmallVector<std::string> heddle::loops::entryDims(func::FuncOp function) {
  SmallVector<std::string> names;
  auto note = [&](StringRef name) {
    if (name != model::kThreadsDim && !llvm::is_contained(names, name))
      names.push_back(name.str());
  };
  auto noteAll = [&](ArrayRef<StringAttr> axes) {
    for (StringAttr axis : axes) {
      // Names in the order in which they are written.
      auto number = [](int64_t) { return 0; };
      auto dim = [&](StringRef name) {
        note(name);
        return 0;
      };
      auto binary = [](char, int, int) { return 0; };
      model::visitSize<int>(axis.getValue(), {number, dim, binary});
    }
  };
  bool step = function.getName() == "step";
  // "B past new capacity": what a step always has, behind the dims of its first input.
  for (Type t : function.getArgumentTypes())
    if (auto tensor = dyn_cast<ModelTensorType>(t); tensor && !step)
      noteAll(tensor.getAxes());
  for (Type t : function.getArgumentTypes()) {
    if (auto tensor = dyn_cast<ModelTensorType>(t))
      noteAll(tensor.getAxes());
    if (auto state = dyn_cast<StateType>(t))
      noteAll(state.getAxes());
  }
  if (step)
    for (StringRef name : model::kStepDims)
      note(name);
  for (Type t : function.getResultTypes())
    if (auto tensor = dyn_cast<ModelTensorType>(t))
      noteAll(tensor.getAxes());
  return names;
}

Lowering::Lowering(func::FuncOp source, const Machine &machine)
    : Code(ImplicitLocOpBuilder(source.getLoc(), source.getContext()), machine.vectorWidth), machine(machine),
      module(source->getParentOfType<ModuleOp>()), source(source), dimNames(entryDims(source)) {
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

LogicalResult Lowering::lowerBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    b.setLoc(op.getLoc());
    if (failed(lowerOp(*this, &op)))
      return failure();
  }
  return success();
}

LogicalResult Lowering::lowerReturn(func::ReturnOp op) {
  b.setLoc(op.getLoc());
  ArrayRef<bool> copies = model::copiesOut(op);
  for (auto [i, value] : llvm::enumerate(op.getOperands())) {
    if (!copies.empty() && !copies[i])
      continue;
    auto type = cast<ModelTensorType>(value.getType());
    copy(pointer(value), place(model::PlaceAttr::output(op.getContext(), i)), type.getElementType(), size(type.getCount()));
  }
  return success();
}

LogicalResult Lowering::run() {
  if (!source.getBody().hasOneBlock())
    return source.emitError("a function to be lowered has one block");
  if (failed(lowerBlock(source.getBody().front())))
    return failure();
  return lowerReturn(cast<func::ReturnOp>(source.getBody().front().getTerminator()));
}
