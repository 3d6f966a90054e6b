//===- Target.cpp - the targets that there are -----------------------------===//

#include "targets/Target.h"
#include "targets/CPU/ProcessorTarget.h"
#include "targets/GPU/DeviceTarget.h"
#include "targets/GPU/GPUTarget.h"
#include "llvm/ADT/StringExtras.h"

using namespace heddle;
using llvm::StringRef;

using Make = std::unique_ptr<Target> (*)(StringRef machine, const TargetOptions &options, Refusal &why);

/// In the order in which a program has them.
static constexpr std::pair<StringRef, Make> kTargets[] = {{"cpu", makeProcessorTarget}, {"cuda", makeDeviceTarget}};

std::string heddle::describeMachines() { return cpu::describeProcessors() + "\n" + gpu::describeChips(); }

std::vector<std::unique_ptr<Target>> heddle::makeTargets(StringRef names, StringRef machines,
                                                         const TargetOptions &options, Refusal &why) {
  llvm::SmallVector<StringRef> wanted, words;
  names.split(wanted, ',');
  for (auto it = wanted.begin(); it != wanted.end(); ++it)
    if (llvm::is_contained(llvm::make_range(wanted.begin(), it), *it) ||
        llvm::none_of(kTargets, [&](auto &row) { return row.first == *it; })) {
      why = {"", it->str(), "target", "; there are cpu, cuda and, in one program, cpu,cuda", {}, true};
      return {};
    }
  if (options.cubin && !llvm::is_contained(wanted, "cuda")) {
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
  for (auto &[name, make] : kTargets)
    if (auto at = llvm::find(wanted, name); at != wanted.end()) {
      std::unique_ptr<Target> target = make(words[at - wanted.begin()], options, why);
      if (!target)
        return {};
      targets.push_back(std::move(target));
    }
  return targets;
}
