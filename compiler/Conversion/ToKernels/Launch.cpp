//===- Launch.cpp - how a kernel is launched, and what it takes -------------===//
//
// The runtime reads launches from the card; whoever looks at kernels (`--report`) reads them from an attribute, which
// has what the card does not need: operations and bytes.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ToKernels/Launch.h"
#include "compiler/Conversion/ToKernels/Passes.h"

using namespace mlir;
using namespace heddle;
using heddle::kernels::Launch;

static constexpr StringLiteral kLaunchAttr = "heddle.launch";

void Launch::writeTo(Operation *op) const {
  Builder b(op->getContext());
  SmallVector<Attribute> all;
  for (const loops::Cost &cost : costs)
    all.push_back(cost.attribute(b.getContext()));
  auto text = [&](StringRef key, StringRef value) { return b.getNamedAttr(key, b.getStringAttr(value)); };
  auto number = [&](StringRef key, int64_t value) { return b.getNamedAttr(key, b.getI64IntegerAttr(value)); };
  SmallVector<NamedAttribute> written{b.getNamedAttr("costs", b.getArrayAttr(all)),
                                      text("entry", entry),
                                      text("items", items.str()),
                                      number("lanes", lanes),
                                      text("place", place),
                                      number("threads", threads),
                                      number("times", times)};
  if (shared) {
    SmallVector<StringRef> chips(on.begin(), on.end());
    written.append({b.getNamedAttr("on", b.getStrArrayAttr(chips)), number("shared", shared)});
  }
  op->setAttr(kLaunchAttr, b.getDictionaryAttr(written));
}

std::optional<Launch> Launch::of(Operation *op) {
  auto all = op->getAttrOfType<DictionaryAttr>(kLaunchAttr);
  auto symbol = op->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
  if (!all || !symbol)
    return std::nullopt;
  auto text = [&](StringRef key) {
    auto value = all.getAs<StringAttr>(key);
    return value ? value.getValue() : StringRef();
  };
  auto number = [&](StringRef key) {
    auto value = all.getAs<IntegerAttr>(key);
    return value ? value.getInt() : 1;
  };
  Launch launch;
  auto name = op->getAttrOfType<StringAttr>(kKernelAttr); // of a form for some chips
  launch.kernel = (name ? name : symbol).getValue().str();
  launch.entry = text("entry").str();
  launch.items = model::Size::parse(text("items")).value_or(model::Size(0));
  launch.lanes = number("lanes");
  launch.threads = number("threads");
  launch.times = number("times");
  launch.place = text("place").str();
  if (all.get("shared"))
    launch.shared = number("shared");
  if (auto on = all.getAs<ArrayAttr>("on"))
    for (auto chip : on.getAsRange<StringAttr>())
      launch.on.push_back(chip.getValue().str());
  if (auto costs = all.getAs<ArrayAttr>("costs"))
    for (auto one : costs.getAsRange<DictionaryAttr>())
      launch.costs.push_back(loops::Cost::of(one));
  return launch;
}

int64_t Launch::sharedOn(StringRef chip) const { return on.empty() || llvm::is_contained(on, chip) ? shared : 0; }

std::string Launch::line() const {
  std::string memory = shared ? " shared " + std::to_string(shared) : "";
  for (const std::string &chip : on)
    memory += (&chip == &on.front() ? " on " : " ") + chip;
  return "launch " + kernel + " items " + items.str() + " of " + std::to_string(lanes) + " threads " +
         std::to_string(threads) + memory + (place.empty() ? "" : " # " + place) + "\n";
}
