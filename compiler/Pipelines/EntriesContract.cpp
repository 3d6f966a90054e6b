//===- EntriesContract.cpp - owners, writers and readers of a state --------===//
//
// The contract of states. A state is identified by its name: all functions that have it agree on its type, one op of
// one function writes it, and every other op that uses it reads.
//
//===----------------------------------------------------------------------===//

#include "compiler/Pipelines/Contracts.h"
#include "dialects/Model/IR/Model.h"
#include "dialects/Model/IR/ReservedDims.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace heddle;
using model::Size;

namespace {
struct State {
  model::StateType type;
  func::FuncOp owner; ///< the first function that has it
  unsigned writers = 0;
};

/// The name of a state, which is on the function's argument; "" for what is no argument of `f`.
std::string nameOf(func::FuncOp f, Value state) {
  auto arg = dyn_cast<BlockArgument>(state);
  auto name = arg && arg.getOwner() == &f.getBody().front()
                  ? f.getArgAttrOfType<StringAttr>(arg.getArgNumber(), "model.state")
                  : StringAttr();
  return name ? name.str() : "";
}
} // namespace

/// A model that generates must have @step, or a report why every token recomputes the text.
static void checkStep(ModuleOp module, ContractReport report) {
  auto why = module->getAttrOfType<ArrayAttr>("model.step_report");
  if (module->hasAttr("model.generate") && !module.lookupSymbol("step") && (!why || why.empty()))
    report(module, "it generates, has no @step and does not say why (model.step_report)");
}

/// What holds after the stage `entries`: there is @run, a cached @step or the reason why not, and every state has a
/// name, one type in all functions, an owner and exactly one writer.
void heddle::checkEntriesStage(ModuleOp module, ContractReport report) {
  auto run = module.lookupSymbol<func::FuncOp>("run");
  if (!run || run.isExternal())
    report(module, "it has no function @run");
  checkStep(module, report);
  std::map<std::string, State> states;
  for (auto f : module.getOps<func::FuncOp>())
    for (BlockArgument a : f.getArguments()) {
      auto type = dyn_cast<model::StateType>(a.getType());
      if (!type)
        continue;
      std::string name = nameOf(f, a);
      if (name.empty()) {
        report(f, "a state of @" + f.getName() + " has no name (model.state)");
        continue;
      }
      auto [it, fresh] = states.try_emplace(name, State{type, f});
      if (!fresh && it->second.type != type)
        report(f, "state '" + name + "' has two types");
    }
  for (auto f : module.getOps<func::FuncOp>())
    f.walk([&](Operation *op) {
      Value target;
      if (auto append = dyn_cast<model::AppendOp>(op)) {
        target = append.getState();
        auto type = cast<model::StateType>(target.getType());
        int64_t axis = int64_t(append.getAxis()) + int64_t(append.getIndices().size());
        if (axis >= type.getRank() || !type.getSize(axis).uses(model::kCapacityDim))
          report(op, "rows are appended along an axis without capacity");
      } else if (auto store = dyn_cast<model::StoreOp>(op)) {
        target = store.getState();
      } else if (auto load = dyn_cast<model::LoadOp>(op)) {
        if (nameOf(f, load.getState()).empty())
          report(op, "loads from a state that no entry owns");
        return;
      } else {
        return;
      }
      std::string name = nameOf(f, target);
      if (name.empty())
        report(op, "writes to a state that no entry owns");
      else if (++states.find(name)->second.writers > 1)
        report(op, "state '" + name + "' has two writers");
    });
  for (auto &[name, state] : states)
    if (state.writers == 0)
      report(state.owner, "state '" + name + "' is never written");
}
