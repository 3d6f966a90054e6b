//===- Lengths.cpp - lengths and bytes that plans count with --------------===//

#include "compiler/Plan/Lengths.h"
#include "dialects/Model/IR/ReservedDims.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::model;

SmallVector<std::string> heddle::plan::entryDims(func::FuncOp function) {
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
  bool step = function.getName() == "step" || function.getName() == "batch";
  // "B past new capacity": what a step always has, after the dims of its first input.
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
