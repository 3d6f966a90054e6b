//===- Recorder.cpp - what every pass did ---------------------------------===//

#include "compiler/Report/Recorder.h"
#include "compiler/Driver/ShellWord.h"
#include "compiler/Pipelines/Contracts.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"
#include "llvm/Support/Format.h"
#include <set>

using namespace mlir;
using namespace heddle;
using namespace heddle::report;

/// The attributes of a module but for its stage, which the check of a stage writes.
static DictionaryAttr attributesOf(ModuleOp module) {
  NamedAttrList all(module->getDiscardableAttrDictionary());
  all.erase(model::kStageAttr);
  return all.getDictionary(module.getContext());
}

static std::map<std::string, int64_t> kindsIn(Operation *function) {
  llvm::DenseMap<OperationName, int64_t> counts;
  function->walk([&](Operation *op) { ++counts[op->getName()]; });
  std::map<std::string, int64_t> kinds;
  for (auto &[name, count] : counts)
    kinds[name.getStringRef().str()] = count;
  return kinds;
}

/// The file of --dump-ir with the module after a pass.
static std::string dumpFile(const PassRun &run) {
  std::string file;
  llvm::raw_string_ostream(file) << llvm::format("%02u-", run.number) << run.fileName << ".mlir";
  return file;
}

static std::string command(const PassRun &before, const std::string &pipeline) {
  return "heddle-opt " + dumpFile(before) + " --pass-pipeline=" + shellWord("builtin.module(" + pipeline + ")");
}

Line Recorder::lineOf(const TextLine &line) const {
  return {line.where ? places.loc(Location(line.where)) : -1, line.text};
}

void Recorder::imported(ModuleOp module) {
  PassRun run;
  run.stage = "model";
  run.flag = run.pipeline = run.fileName = "import";
  module->walk([&](Operation *op) { run.ops += op != module; });
  record(module, run);
}

void Recorder::ended(const Stage &stage) {
  if (passes.size() > 1)
    passes.back().reproduce =
        command(passes[passes.size() - 2].run,
                passes.back().run.pipeline + "," + kCheckStage.str() + "{stage=" + stage.name.str() + "}");
}

/// Takes the lines of a function after the pass; none where it is gone.
void Recorder::note(PassRecord &pass, const std::string &function, std::vector<TextLine> lines) {
  Chain &chain = functions[function];
  FunctionChange change = chain.history.step(std::move(lines));
  if (change.edits.empty())
    return;
  PassRecord::Function sums{function, 0, 0};
  LineChange &kept = chain.changes.emplace_back();
  kept.pass = pass.run.number;
  for (const Edit &edit : change.edits) {
    LineEdit &mine = kept.edits.emplace_back();
    mine.kept = edit.kept;
    mine.dropped = edit.dropped;
    for (const TextLine &line : edit.added)
      mine.added.push_back(lineOf(line));
    sums.dropped += edit.dropped;
    sums.added += int64_t(edit.added.size());
  }
  pass.functions.push_back(std::move(sums));
}

/// Which kinds of ops there are more or fewer of.
void Recorder::count(PassRecord &pass) {
  std::map<std::string, int64_t> now;
  for (const auto &[name, function] : known)
    for (auto &[kind, count] : function.kinds)
      now[kind] += count;
  for (auto *counts : {&kinds, &now})
    for (auto &[kind, count] : *counts) {
      auto before = kinds.find(kind), after = now.find(kind);
      std::pair<int64_t, int64_t> both(before == kinds.end() ? 0 : before->second,
                                       after == now.end() ? 0 : after->second);
      if (both.first != both.second)
        pass.kinds[kind] = both;
    }
  kinds = std::move(now);
}

void Recorder::record(ModuleOp module, const PassRun &run) {
  PassRecord pass;
  pass.run = run;
  if (!passes.empty())
    pass.reproduce = command(passes.back().run, run.pipeline);
  SmallVector<Operation *> changed;
  std::set<std::string> there;
  for (Operation &op : *module.getBody()) {
    std::string name = functionName(op);
    there.insert(name);
    OperationFingerPrint print(&op);
    auto it = known.find(name);
    if (it != known.end() && it->second.print == print)
      continue;
    known.insert_or_assign(name, Known{print, kindsIn(&op)});
    changed.push_back(&op);
  }
  if (!changed.empty())
    for (FunctionText &function : ModuleText::of(module, changed, aliases).functions)
      note(pass, function.name, std::move(function.lines));
  std::vector<std::string> gone;
  for (const auto &[name, function] : known)
    if (!there.count(name))
      gone.push_back(name);
  for (const std::string &name : gone) {
    note(pass, name, {});
    known.erase(name);
  }
  count(pass);
  DictionaryAttr attributes = attributesOf(module);
  pass.module = moduleAttributes && attributes != moduleAttributes;
  moduleAttributes = attributes;
  passes.push_back(std::move(pass));
}
