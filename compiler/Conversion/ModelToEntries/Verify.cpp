//===- Verify.cpp - the contract of the stage `entries` ---------------------===//

#include "compiler/Conversion/ModelToEntries/Passes.h"
#include "dialects/Model/IR/Model.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace heddle;
using model::Size;

namespace {
struct State {
  model::StateType type;
  Location where;
  unsigned writers = 0;
};

/// The argument of the function that `state` is, seen from inside a body.
std::string nameOf(func::FuncOp f, Value state) {
  auto arg = dyn_cast<BlockArgument>(state);
  auto name = arg && arg.getOwner() == &f.getBody().front()
                  ? f.getArgAttrOfType<StringAttr>(arg.getArgNumber(), "model.state")
                  : StringAttr();
  return name ? name.str() : "";
}
} // namespace

LogicalResult heddle::verifyEntries(ModuleOp module) {
  std::map<std::string, State> states;
  LogicalResult ok = success();
  auto fail = [&](Location where, const Twine &what) {
    emitError(where) << what;
    ok = failure();
  };
  for (auto f : module.getOps<func::FuncOp>())
    for (BlockArgument a : f.getArguments()) {
      auto type = dyn_cast<model::StateType>(a.getType());
      if (!type)
        continue;
      std::string name = nameOf(f, a);
      if (name.empty()) {
        fail(a.getLoc(), "a state of @" + f.getName() + " has no name (model.state)");
        continue;
      }
      auto [it, fresh] = states.try_emplace(name, State{type, a.getLoc()});
      if (!fresh && it->second.type != type)
        fail(a.getLoc(), "state '" + name + "' has two types");
    }
  for (auto f : module.getOps<func::FuncOp>())
    f.walk([&](Operation *op) {
      Value target;
      if (auto append = dyn_cast<model::AppendOp>(op)) {
        target = append.getState();
        auto type = cast<model::StateType>(target.getType());
        int64_t axis = int64_t(append.getAxis()) + int64_t(append.getIndices().size());
        if (axis >= type.getRank() || !type.getSize(axis).uses("capacity"))
          fail(op->getLoc(), "rows are appended along an axis without capacity");
      } else if (auto store = dyn_cast<model::StoreOp>(op)) {
        target = store.getState();
      } else if (auto load = dyn_cast<model::LoadOp>(op)) {
        if (nameOf(f, load.getState()).empty())
          fail(op->getLoc(), "loads from a state that no entry owns");
        return;
      } else {
        return;
      }
      std::string name = nameOf(f, target);
      if (name.empty())
        fail(op->getLoc(), "writes to a state that no entry owns");
      else if (++states.find(name)->second.writers > 1)
        fail(op->getLoc(), "state '" + name + "' has two writers");
    });
  for (auto &[name, state] : states)
    if (state.writers == 0)
      fail(state.where, "state '" + name + "' is never written");
  return ok;
}
