//===- Launch.cpp - how a kernel is launched, and what it takes -------------===//
//
// An attribute of the kernel. The card has its lines from it (targets/Card), and `--report` reads what the card does
// not need: operations and bytes.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ToKernels/Launch.h"
#include "compiler/Conversion/Lowering/GPU/WarpLanes.h"
#include "compiler/Conversion/ToKernels/Passes.h"

using namespace mlir;
using namespace heddle;
using heddle::kernels::Launch, heddle::kernels::kLaunchAttr;

static DictionaryAttr attributeOf(const Launch &launch, Builder &b) {
  SmallVector<Attribute> all;
  for (const loops::Cost &cost : launch.costs)
    all.push_back(cost.attribute(b.getContext()));
  auto text = [&](StringRef key, StringRef value) { return b.getNamedAttr(key, b.getStringAttr(value)); };
  auto number = [&](StringRef key, int64_t value) { return b.getNamedAttr(key, b.getI64IntegerAttr(value)); };
  SmallVector<NamedAttribute> written{b.getNamedAttr("costs", b.getArrayAttr(all)),
                                      text("entry", launch.entry),
                                      text("items", launch.items.str()),
                                      number("lanes", launch.lanes),
                                      number("number", launch.number),
                                      text("place", launch.place),
                                      number("threads", launch.threads),
                                      number("times", launch.times)};
  if (launch.optional)
    written.push_back(b.getNamedAttr("optional", b.getUnitAttr()));
  if (!launch.numbers.empty())
    written.push_back(b.getNamedAttr("numbers", b.getDenseI64ArrayAttr(launch.numbers)));
  if (launch.shared) {
    SmallVector<StringRef> chips(launch.on.begin(), launch.on.end());
    written.append({b.getNamedAttr("on", b.getStrArrayAttr(chips)), number("shared", launch.shared)});
  }
  return b.getDictionaryAttr(written);
}

void Launch::write(Operation *kernel, ArrayRef<Launch> launches) {
  Builder b(kernel->getContext());
  SmallVector<Attribute> all;
  for (const Launch &launch : launches)
    all.push_back(attributeOf(launch, b));
  kernel->setAttr(kLaunchAttr, b.getArrayAttr(all));
}

/// One element of the array; none, with an error, where it is damaged.
static std::optional<Launch> launchOf(Attribute attribute, StringRef kernel, loops::ErrorOf error) {
  loops::Fields fields(attribute, kLaunchAttr, error);
  Launch launch;
  launch.kernel = kernel.str();
  launch.entry = fields.text("entry");
  launch.items = fields.form("items");
  launch.lanes = fields.number("lanes", 1);
  launch.number = fields.number("number", 0);
  launch.threads = fields.number("threads", loops::kWarp);
  launch.times = fields.number("times", 0);
  launch.place = fields.text("place");
  bool good = true;
  for (Attribute one : fields.elements("costs")) {
    std::optional<loops::Cost> cost = loops::Cost::of(one, error);
    good &= cost.has_value();
    launch.costs.push_back(cost.value_or(loops::Cost()));
  }
  launch.optional = fields.has("optional");
  if (fields.has("numbers"))
    launch.numbers = fields.numbers("numbers");
  if (fields.has("shared")) {
    launch.shared = fields.number("shared", 1);
    launch.on = fields.texts("on");
  }
  return good && fields.whole() ? std::optional(launch) : std::nullopt;
}

FailureOr<std::vector<Launch>> Launch::of(Operation *kernel) {
  return of(kernel, [&](const Twine &what) { kernel->emitError() << what; });
}

FailureOr<std::vector<Launch>> Launch::of(Operation *kernel, loops::ErrorOf report) {
  std::vector<Launch> launches;
  Attribute written = kernel->getAttr(kLaunchAttr);
  auto symbol = kernel->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
  if (!written || !symbol)
    return launches;
  auto error = [&](const Twine &what) { report("the kernel '" + symbol.getValue() + "': " + what); };
  auto all = dyn_cast<ArrayAttr>(written);
  if (!all) {
    error("'" + kLaunchAttr + "' is no array");
    return failure();
  }
  auto name = kernel->getAttrOfType<StringAttr>(kKernelAttr); // of a form for some chips
  for (Attribute one : all) {
    std::optional<Launch> launch = launchOf(one, (name ? name : symbol).getValue(), error);
    if (!launch)
      return failure();
    launches.push_back(std::move(*launch));
  }
  return launches;
}

int64_t Launch::sharedOn(StringRef chip) const { return on.empty() || llvm::is_contained(on, chip) ? shared : 0; }
