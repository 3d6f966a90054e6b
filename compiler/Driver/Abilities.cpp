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

/// The same of an output.
static bool hasOutput(ModuleOp module, StringRef name) {
  for (card::EntryAttr entry : card::entriesOf(module))
    if (ArrayAttr outputs = entry.getOutputs())
      for (auto output : outputs.getAsRange<card::TensorAttr>())
        if (output.getName() == name)
          return true;
  for (auto f : module.getOps<FunctionOpInterface>())
    for (unsigned i = 0; i < f.getNumResults(); ++i)
      if (auto named = f.getResultAttrOfType<StringAttr>(i, "model.name"); named && named == name)
        return true;
  return false;
}

Abilities heddle::abilitiesOf(ModuleOp module) {
  auto has = [&](StringRef name) { return hasOutput(module, name); };
  bool answers = has("logits") || has("prediction_logits") || has("start_logits");
  bool vectors = has("last_hidden_state") || has("text_embeds") || has("pooler_output");
  return {module->hasAttr("model.generate"), hasInput(module, "input_ids"),      module->hasAttr("model.picture"),
          module->hasAttr("model.sound"),    module->hasAttr("model.tokenizer"), vectors && !answers};
}
