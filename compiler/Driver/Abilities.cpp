//===- Abilities.cpp - what a program of a model can do -------------------===//

#include "compiler/Driver/Abilities.h"
#include "dialects/Card/IR/Card.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace heddle;

/// Whether an input of a function, or of an entry that functions became, has that name.
static bool hasInput(ModuleOp module, StringRef name) {
  for (card::EntryAttr entry : card::entriesOf(module))
    if (ArrayAttr inputs = entry.getInputs())
      for (auto input : inputs.getAsRange<card::TensorAttr>())
        if (input.getName() == name)
          return true;
  for (auto f : module.getOps<FunctionOpInterface>())
    for (unsigned i = 0; i < f.getNumArguments(); ++i)
      if (auto named = f.getArgAttrOfType<StringAttr>(i, "model.name"); named && named == name)
        return true;
  return false;
}

Abilities heddle::abilitiesOf(ModuleOp module) {
  return {module->hasAttr("model.generate"), hasInput(module, "input_ids"), module->hasAttr("model.picture"),
          module->hasAttr("model.sound"), module->hasAttr("model.tokenizer")};
}
