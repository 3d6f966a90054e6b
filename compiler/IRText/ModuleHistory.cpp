//===- ModuleHistory.cpp - changes, function by function ------------------===//

#include "compiler/IRText/ModuleHistory.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace heddle;

unsigned NamedChange::dropped() const {
  unsigned lines = 0;
  for (const Edit &edit : change.edits)
    lines += edit.dropped;
  return lines;
}

unsigned NamedChange::added() const {
  unsigned lines = 0;
  for (const Edit &edit : change.edits)
    lines += unsigned(edit.added.size());
  return lines;
}

/// The attributes of a module but for its stage, which the contract of a stage writes and no pass.
static DictionaryAttr attributesOf(ModuleOp module) {
  NamedAttrList all(module->getDiscardableAttrDictionary());
  all.erase(model::kStageAttr);
  return all.getDictionary(module.getContext());
}

std::vector<NamedChange> ModuleHistory::step(ModuleOp module) {
  std::vector<NamedChange> changes;
  auto add = [&](StringRef function, bool isCode, FunctionChange change) {
    if (!change.edits.empty())
      changes.push_back({function.str(), isCode, std::move(change)});
  };

  SmallVector<Operation *> changed;
  std::vector<std::string> there;
  llvm::StringSet<> names;
  for (Operation &op : *module.getBody()) {
    std::string name = functionName(op);
    OperationFingerPrint print(&op);
    auto [known, isNew] = functions.try_emplace(name, Known{print, FunctionHistory(places)});
    if (isNew || known->second.print != print)
      changed.push_back(&op);
    known->second.print = print;
    names.insert(name);
    there.push_back(std::move(name));
  }
  for (const std::string &name : order)
    if (!names.contains(name)) {
      auto gone = functions.find(name);
      add(name, true, gone->second.history.step({}));
      functions.erase(gone);
    }
  order = std::move(there);
  DictionaryAttr last = std::exchange(attributes, attributesOf(module));
  if (changed.empty() && last == attributes)
    return changes;

  ModuleText text = ModuleText::of(module, changed, aliases);
  for (FunctionText &function : text.functions)
    add(function.name, true, functions.find(function.name)->second.history.step(std::move(function.lines)));
  add("attributes", false, attributeText.step(attributeLines(text.head)));
  if (size_t known = std::exchange(knownAliases, aliases.all().size()); known < knownAliases) {
    Edit fresh;
    for (const auto &[name, definition] : llvm::drop_begin(aliases.all(), known))
      fresh.added.push_back({name + " = " + definition, {}});
    add("aliases", false, {{}, {std::move(fresh)}});
  }
  return changes;
}
