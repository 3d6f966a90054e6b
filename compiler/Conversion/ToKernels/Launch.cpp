//===- Launch.cpp - how a kernel is launched, and what it takes -------------===//
//
// An attribute of the kernel. The card has its lines from it (targets/Card), and `--report` reads what the card does
// not need: operations and bytes.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ToKernels/Launch.h"

using namespace mlir;
using namespace heddle;
using heddle::kernels::Launch;

static tile::LaunchAttr attributeOf(const Launch &launch, Builder b) {
  auto text = [&](StringRef value) { return value.empty() ? StringAttr() : b.getStringAttr(value); };
  SmallVector<Attribute> costs;
  for (const loops::Cost &cost : launch.costs)
    costs.push_back(cost.attribute(b.getContext()));
  SmallVector<StringRef> chips(launch.on.begin(), launch.on.end());
  return tile::LaunchAttr::get(b.getContext(), text(launch.entry), text(launch.items.str()), launch.lanes,
                               launch.threads, launch.times, launch.optional, text(launch.place),
                               costs.empty() ? ArrayAttr() : b.getArrayAttr(costs), launch.shared,
                               chips.empty() ? ArrayAttr() : b.getStrArrayAttr(chips), launch.number,
                               launch.numbers.empty() ? DenseI64ArrayAttr() : b.getDenseI64ArrayAttr(launch.numbers));
}

static Launch launchOf(tile::LaunchAttr attribute, StringRef kernel) {
  Launch launch{kernel.str(),
                attribute.getEntry().str(),
                *model::Size::parse(attribute.getItems()),
                attribute.getEach(),
                attribute.getThreads(),
                attribute.getTimes(),
                attribute.getPlace() ? attribute.getPlace().str() : ""};
  if (attribute.getCosts())
    for (auto cost : attribute.getCosts().getAsRange<tile::CostAttr>())
      launch.costs.push_back(loops::Cost::of(cost));
  launch.optional = attribute.getOptional();
  launch.number = attribute.getNumber();
  launch.shared = attribute.getShared();
  if (attribute.getOn())
    for (auto chip : attribute.getOn().getAsRange<StringAttr>())
      launch.on.push_back(chip.str());
  if (attribute.getNumbers())
    launch.numbers = attribute.getNumbers().asArrayRef().vec();
  return launch;
}

void Launch::write(Operation *kernel, ArrayRef<Launch> launches) {
  SmallVector<tile::LaunchAttr> all;
  for (const Launch &launch : launches)
    all.push_back(attributeOf(launch, Builder(kernel->getContext())));
  tile::setLaunches(kernel, all);
}

std::vector<Launch> Launch::of(Operation *kernel) {
  std::vector<Launch> launches;
  for (tile::LaunchAttr launch : tile::launchesOf(kernel))
    launches.push_back(launchOf(launch, tile::kernelName(kernel)));
  return launches;
}

int64_t Launch::sharedOn(StringRef chip) const { return on.empty() || llvm::is_contained(on, chip) ? shared : 0; }
