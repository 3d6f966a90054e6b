//===- Target.cpp - the targets that there are -----------------------------===//

#include "targets/Target.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"
#include "targets/CPU/ProcessorStages.h"
#include "targets/CPU/ProcessorTarget.h"
#include "targets/GPU/DeviceStages.h"
#include "targets/GPU/DeviceTarget.h"
#include "targets/GPU/GPUTarget.h"
#include "llvm/ADT/StringExtras.h"

using namespace heddle;
using llvm::StringRef;

static constexpr TargetKind kTargets[] = {
    {kProcessor, processorStages, processorOutputs, registerProcessorTiles, makeProcessorTarget},
    {kDevice, deviceStages, deviceOutputs, registerDeviceTiles, makeDeviceTarget},
};

llvm::ArrayRef<TargetKind> heddle::targetKinds() { return kTargets; }

/// The names of all, with `between` them.
static std::string knownNames(StringRef between) {
  return llvm::join(llvm::map_range(kTargets, [](const TargetKind &kind) { return kind.name; }), between);
}

/// Null: there is none of that name.
static const TargetKind *findKind(mlir::ModuleOp module) {
  model::TargetAttr target = model::targetOf(module);
  const auto *kind =
      llvm::find_if(kTargets, [&](const TargetKind &k) { return !target || k.name == target.getName(); });
  return kind == std::end(kTargets) ? nullptr : kind;
}

const TargetKind *heddle::targetKindOf(mlir::ModuleOp module) {
  const TargetKind *kind = findKind(module);
  if (!kind)
    mlir::emitError(module.getLoc()) << "there is no target '" << model::targetOf(module).getName() << "'; there are "
                                     << knownNames(", ");
  return kind;
}

const Stage *heddle::stageInfoOf(mlir::ModuleOp module) {
  const TargetKind *kind = findKind(module);
  return findStage(stageOf(module), kind ? kind->stages() : sharedStages());
}

std::unique_ptr<Target> heddle::makeHostTarget(std::string &error) {
  Refusal why;
  std::unique_ptr<Target> target = makeProcessorTarget("native", {}, why);
  error = why.text;
  return target;
}

std::string heddle::describeMachines() { return host::describeProcessors() + "\n" + gpu::describeChips(); }

std::vector<std::unique_ptr<Target>> heddle::makeTargets(StringRef names, StringRef machines,
                                                         const TargetOptions &options, Refusal &why) {
  llvm::SmallVector<StringRef> wanted, words;
  names.split(wanted, ',');
  for (auto it = wanted.begin(); it != wanted.end(); ++it)
    if (llvm::is_contained(llvm::make_range(wanted.begin(), it), *it) ||
        llvm::none_of(kTargets, [&](auto &row) { return row.name == *it; })) {
      why = {"", it->str(), "target", "; there are " + knownNames(", ") + " and, in one program, " + knownNames(","),
             {}, true};
      return {};
    }
  if (options.cubin && !llvm::is_contained(wanted, kDevice)) {
    why.text = "--cubin is of --target=cuda";
    why.misuse = true;
    return {};
  }
  machines.split(words, ',');
  if (machines == "native")
    words.assign(wanted.size(), machines);
  if (words.size() != wanted.size()) {
    why.text = "--target=" + names.str() + " takes " + std::to_string(wanted.size()) + " of --mcpu, found '" +
               machines.str() + "'";
    why.misuse = true;
    return {};
  }
  std::vector<std::unique_ptr<Target>> targets;
  for (const TargetKind &kind : kTargets)
    if (auto at = llvm::find(wanted, kind.name); at != wanted.end()) {
      std::unique_ptr<Target> target = kind.make(words[at - wanted.begin()], options, why);
      if (!target)
        return {};
      targets.push_back(std::move(target));
    }
  return targets;
}
