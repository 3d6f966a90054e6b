//===- Launch.cpp - how a kernel is launched, and what it takes -------------===//
//
// The runtime reads launches from the card; whoever looks at kernels (`--report`) reads them from an attribute, which
// has what the card does not need: operations and bytes.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ToKernels/Launch.h"

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
  op->setAttr(kLaunchAttr,
              b.getDictionaryAttr({b.getNamedAttr("costs", b.getArrayAttr(all)), text("entry", entry),
                                   text("items", items.str()), number("lanes", lanes), text("place", place),
                                   number("threads", threads), number("times", times)}));
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
  launch.kernel = symbol.getValue().str();
  launch.entry = text("entry").str();
  launch.items = model::Size::parse(text("items")).value_or(model::Size(0));
  launch.lanes = number("lanes");
  launch.threads = number("threads");
  launch.times = number("times");
  launch.place = text("place").str();
  if (auto costs = all.getAs<ArrayAttr>("costs"))
    for (auto one : costs.getAsRange<DictionaryAttr>())
      launch.costs.push_back(loops::Cost::of(one));
  return launch;
}

std::string Launch::line() const {
  return "launch " + kernel + " items " + items.str() + " of " + std::to_string(lanes) + " threads " +
         std::to_string(threads) + (place.empty() ? "" : " # " + place) + "\n";
}
