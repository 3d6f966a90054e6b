//===- Target.cpp - the targets that a context knows ----------------------===//

#include "compiler/Plan/Target.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::plan;

Targets &Targets::of(model::ModelDialect *dialect) {
  auto *targets = dialect->getRegisteredInterface<Targets>();
  return targets ? *targets : dialect->addInterface<Targets>();
}

const Target *Targets::find(StringRef name) const {
  for (const std::unique_ptr<Target> &target : all)
    if (target->name() == name)
      return target.get();
  return nullptr;
}

std::string Targets::names() const {
  std::string names;
  for (const std::unique_ptr<Target> &target : all)
    names += (names.empty() ? "" : ", ") + target->name().str();
  return names;
}

const Target *heddle::plan::targetOf(Operation *op) {
  auto *dialect = op->getContext()->getLoadedDialect<model::ModelDialect>();
  auto *targets = dialect ? dialect->getRegisteredInterface<Targets>() : nullptr;
  model::TargetAttr attr = model::targetOf(op);
  const Target *target = !targets ? nullptr : attr ? targets->find(attr.getName()) : targets->first();
  if (!target && attr)
    op->emitError("there is no target '") << attr.getName() << "'; there are " << (targets ? targets->names() : "none");
  else if (!target)
    op->emitError("internal error: no target is registered");
  return target;
}
