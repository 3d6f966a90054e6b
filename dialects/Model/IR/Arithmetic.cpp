//===- Arithmetic.cpp - how reals are stored and multiplied ---------------===//

#include "dialects/Model/IR/Arithmetic.h"

using namespace mlir;
using namespace heddle::model;

static StringRef wordOf(ModuleOp module, StringRef attribute, StringRef otherwise) {
  auto word = module->getAttrOfType<StringAttr>(attribute);
  return word ? word.getValue() : otherwise;
}

Arithmetic heddle::model::arithmeticOf(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  if (!module || wordOf(module, "model.dtype", "f32") != "bf16")
    return {};
  return {true, wordOf(module, "model.math", "wide") == "dots"};
}

LogicalResult heddle::model::verifyArithmetic(ModuleOp module) {
  StringRef dtype = wordOf(module, "model.dtype", "f32"), math = wordOf(module, "model.math", "wide");
  if (dtype != "f32" && dtype != "bf16")
    return module.emitError("'model.dtype' is \"f32\" or \"bf16\", but is \"") << dtype << "\"";
  if (math != "wide" && math != "dots")
    return module.emitError("'model.math' is \"wide\" or \"dots\", but is \"") << math << "\"";
  if (math == "dots" && dtype != "bf16")
    return module.emitError("'model.math' is \"dots\", which needs 'model.dtype' = \"bf16\"");
  return success();
}
