//===- CostFacts.cpp - operations and bytes of a call ---------------------===//
//
// What a program for this machine would take: the stages up to the plan run on shapes alone, and the forms that the
// card has (Lowering/Frame/Cost.h) are evaluated.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Frame/Cost.h"
#include "compiler/Driver/Compile.h"
#include "compiler/Import/Json/Diagnostics.h"
#include "compiler/ModelInfo/ModelFacts.h"
#include "compiler/Plan/Lengths.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"
#include "targets/Target.h"

using namespace mlir;
using namespace heddle;

/// The length of a dim that neither the model nor the command line bounds.
static constexpr int64_t kUnbounded = 512;

namespace {
class Costs {
public:
  Costs(ModuleOp module, const CompileOptions &options, ModelFacts &facts)
      : module(module), given(options.dims), bounds(module->getAttrOfType<DictionaryAttr>("model.dims")), facts(facts) {
  }

  /// Runs the stages that lead to the plan; false where they refuse the model.
  bool plan(const CompileOptions &options);
  void gather();

private:
  std::map<std::string, int64_t> lengthsOf(func::FuncOp function);
  int64_t longestText();
  void add(func::FuncOp function, std::string what, std::map<std::string, int64_t> dims);

  ModuleOp module;
  std::map<std::string, int64_t> given;
  DictionaryAttr bounds;
  ModelFacts &facts;
};
} // namespace

bool Costs::plan(const CompileOptions &options) {
  std::string error;
  std::unique_ptr<Target> host = makeHostTarget(error);
  // What is wrong with the model has been said.
  llvm::raw_null_ostream nowhere;
  Console quiet{nowhere, nowhere};
  if (!host || !findStage(stageOf(module), sharedStages()) ||
      setArithmetic(quiet, module, options, host->formats()) != Ok)
    return false;
  model::setTarget(module, host->describe(module.getContext()));
  CompileOptions knobs = options;
  knobs.pipeline.slots = "none";
  DiagnosticSink sink;
  return runStages(quiet, module, host->stages(), "tiled", knobs, sink) == Ok && !sink.hasErrors();
}

/// The lengths of an entry's dims: those of --dims, else the declared bounds, and one text.
std::map<std::string, int64_t> Costs::lengthsOf(func::FuncOp function) {
  std::map<std::string, int64_t> lengths;
  for (const std::string &dim : plan::entryDims(function)) {
    auto bound = bounds ? bounds.getAs<IntegerAttr>(dim) : IntegerAttr();
    auto chosen = given.find(dim);
    lengths[dim] = chosen != given.end() ? chosen->second : dim == "B" ? 1 : bound ? bound.getInt() : kUnbounded;
    if (chosen != given.end() && bound && chosen->second > bound.getInt())
      facts.wrongDims =
          dim + "=" + std::to_string(chosen->second) + " is past its bound " + std::to_string(bound.getInt());
  }
  return lengths;
}

/// The length of the text that a model continues: of the tokens that @run takes.
int64_t Costs::longestText() {
  auto run = module.lookupSymbol<func::FuncOp>("run");
  auto roles = module->getAttrOfType<DictionaryAttr>("model.generate");
  auto tokens = roles ? roles.getAs<StringAttr>("tokens") : StringAttr();
  for (unsigned i = 0; run && tokens && i < run.getNumArguments(); ++i) {
    auto type = dyn_cast<model::ModelTensorType>(run.getArgumentTypes()[i]);
    if (run.getArgAttr(i, "model.name") != tokens || !type || type.getRank() != 2)
      continue;
    std::map<std::string, int64_t> lengths = lengthsOf(run);
    if (std::optional<int64_t> length = type.getSize(1).evaluate(lengths))
      return *length;
  }
  return facts.context.value_or(kUnbounded);
}

void Costs::add(func::FuncOp function, std::string what, std::map<std::string, int64_t> dims) {
  CostFact cost;
  model::Size operations = loops::operations(function), bytes = loops::bytesRead(function);
  cost.operationsForm = operations.str();
  cost.bytesForm = bytes.str();
  std::optional<int64_t> evaluated = operations.evaluate(dims), read = bytes.evaluate(dims);
  if (!evaluated || !read)
    return;
  cost.entry = function.getName().str();
  cost.what = std::move(what);
  cost.operations = *evaluated;
  cost.bytes = *read;
  cost.dims = std::move(dims);
  facts.costs.push_back(std::move(cost));
}

void Costs::gather() {
  auto run = module.lookupSymbol<func::FuncOp>("run"), once = module.lookupSymbol<func::FuncOp>("once"),
       step = module.lookupSymbol<func::FuncOp>("step");
  std::vector<std::string> known;
  for (func::FuncOp function : {run, once, step})
    if (function)
      llvm::append_range(known, plan::entryDims(function));
  for (const auto &[dim, length] : given)
    if (!llvm::is_contained(known, dim))
      facts.wrongDims = "no dim " + quote(dim) + nearest(dim, known);
  if (once)
    add(once, "a source", lengthsOf(once));
  if (!step) {
    if (run)
      add(run, "a call", lengthsOf(run));
    return;
  }
  std::map<std::string, int64_t> dims = lengthsOf(step);
  int64_t length = longestText();
  dims["capacity"] = length;
  dims["new"] = length;
  dims["past"] = 0;
  add(step, "a prompt of " + std::to_string(length) + (length == 1 ? " token" : " tokens"), dims);
  dims["new"] = 1;
  dims["past"] = length - 1;
  add(step, "then a new token", dims);
}

void heddle::addCosts(const CompileOptions &options, ModuleOp module, ModelFacts &facts) {
  Costs costs(module, options, facts);
  if (costs.plan(options))
    costs.gather();
}
