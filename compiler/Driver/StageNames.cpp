//===- StageNames.cpp - names in the text of a stage ----------------------===//
//
// A description's names are checked where they are declared; what writes the text of a stage passes that by.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/StageNames.h"
#include "compiler/Import/Description/DeclaredNames.h"
#include "compiler/Import/Json/Diagnostics.h"
#include "dialects/Model/IR/Model.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace heddle;

namespace {
struct Names {
  LogicalResult good = success();

  void check(Operation *op, StringRef of, StringRef name) {
    if (std::string why = whyNoName(name); !why.empty())
      good = op->emitError() << quote(name) << " cannot be the name of " << of << ": " << why;
  }
  /// Where the attribute is there, it is the text of a name.
  void check(Operation *op, StringRef of, Attribute attribute) {
    if (auto text = dyn_cast_or_null<StringAttr>(attribute))
      check(op, of, text.getValue());
    else if (attribute)
      good = op->emitError() << "expected the name of " << of << " as a string, got " << attribute;
  }
  void checkDims(func::FuncOp f, Type type) {
    if (auto tensor = dyn_cast<model::ModelTensorType>(type))
      for (const model::Size &size : tensor.getSizes())
        for (const std::string &dim : size.dims())
          check(f, "a dim", dim);
  }
  void check(func::FuncOp f) {
    check(f, "a function", f.getName());
    for (unsigned i = 0; i < f.getNumArguments(); ++i) {
      check(f, "an input", f.getArgAttr(i, "model.name"));
      check(f, "a state", f.getArgAttr(i, "model.state"));
      checkDims(f, f.getArgumentTypes()[i]);
    }
    for (unsigned i = 0; i < f.getNumResults(); ++i) {
      check(f, "an output", f.getResultAttr(i, "model.name"));
      checkDims(f, f.getResultTypes()[i]);
    }
  }
};
} // namespace

LogicalResult heddle::checkNames(ModuleOp module) {
  Names names;
  names.check(module, "the model", module->getAttr("model.name"));
  for (StringRef settings : {"model.dims", "model.generate", "model.picture", "model.sound", "model.chat"})
    if (auto keys = module->getAttrOfType<DictionaryAttr>(settings))
      for (NamedAttribute one : keys)
        names.check(module, settings, one.getName());
  for (auto f : module.getOps<func::FuncOp>())
    names.check(f);
  return names.good;
}
