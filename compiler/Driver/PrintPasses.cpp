//===- PrintPasses.cpp - IR on standard error, pass by pass ---------------===//

#include "compiler/Driver/PrintPasses.h"
#include "compiler/IRText/UnifiedDiff.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace heddle;

void heddle::printView(ModuleOp module, llvm::raw_ostream &os, const PrintOptions &how, TextFilter &filter) {
  if (filter.isAll()) {
    printIR(module, os, how);
    return;
  }
  std::string kept;
  llvm::raw_string_ostream text(kept);
  bool any = filter.print(text, ModuleText::of(module));
  auto name = module->getAttrOfType<StringAttr>("model.name");
  os << "// " << (name ? name.getValue() : "a model") << ", " << how.after << ": " << (any ? "" : "nothing of ")
     << filter.words() << (any ? " alone, which does not compile on" : "") << "\n"
     << kept;
}

void PrintPasses::imported(ModuleOp module, const Target &) {
  filter.resolve(module);
  if (options.change.empty())
    return;
  history = ModuleHistory();
  history.step(module);
}

void PrintPasses::beforePass(const PassRun &run, ModuleOp module) {
  if (llvm::is_contained(options.before, run.flag))
    printView(module, os, {locations, "before the pass " + run.pipeline}, filter);
}

void PrintPasses::afterPass(const PassRun &run, ModuleOp module) {
  std::string where = "after the pass " + run.pipeline;
  bool isAsked = llvm::is_contained(options.after, run.flag);
  if (options.change.empty()) {
    if (isAsked)
      printView(module, os, {locations, where}, filter);
    return;
  }
  std::vector<NamedChange> changes = history.step(module);
  filter.keep(changes);
  if (isAsked || (options.change == "all" && !changes.empty()))
    printView(module, os, {locations, where}, filter);
  if (options.change == "diff" && !changes.empty()) {
    os << "// pass " << run.number << ", " << run.pipeline << ", of the stage " << run.stage << "\n";
    filter.print(os, changes);
  }
}
