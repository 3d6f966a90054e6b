//===- LaunchAttrs.cpp - what is on the ops of kernels ----------------===//

#include "dialects/Tile/IR/LaunchAttrs.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::tile;

static constexpr llvm::StringLiteral kItems = "tile.items", kCosts = "tile.costs", kKept = "tile.kept",
                                     kDims = "tile.dims", kKernel = "tile.kernel", kChips = "tile.chips",
                                     kLaunches = "tile.launches", kGroups = "tile.groups",
                                     kRegrouped = "tile.regrouped";

//===-- what each may be -------------------------------------------------------===//

template <typename T> static bool isArrayOf(Attribute value) {
  auto array = dyn_cast<ArrayAttr>(value);
  return array && llvm::all_of(array, llvm::IsaPred<T>);
}

LogicalResult TileDialect::verifyOperationAttribute(Operation *op, NamedAttribute attr) {
  StringRef name = attr.getName();
  Attribute value = attr.getValue();
  auto expect = [&](bool holds, const Twine &expected) -> LogicalResult {
    if (holds)
      return success();
    return op->emitError() << "expected '" << name << "' to be " << expected << ", got " << value;
  };
  bool function = isa<FunctionOpInterface>(op);
  auto text = dyn_cast<StringAttr>(value);
  if (name == kItems)
    return expect(isa<ItemsAttr>(value), "a #tile.items");
  if (name == kCosts)
    return expect(isArrayOf<CostAttr>(value), "an array of #tile.cost");
  if (name == kKept)
    return expect(text && model::Size::parse(text), "the size form of a bound");
  if (name == kDims)
    return expect(function && isArrayOf<StringAttr>(value), "the names of a function's lengths");
  if (name == kKernel)
    return expect(function && (isa<UnitAttr>(value) || (text && !text.empty())), "a flag or a name, on a function");
  if (name == kChips)
    return expect(function && isArrayOf<StringAttr>(value) && !cast<ArrayAttr>(value).empty(),
                  "the names of a kernel's chips");
  if (name == kLaunches)
    return expect(function && isArrayOf<LaunchAttr>(value), "an array of #tile.launch on a function");
  if (name == kGroups)
    return expect(isa<UnitAttr>(value), "a flag");
  if (name == kRegrouped)
    return expect(isa<ModuleOp>(op) && isArrayOf<RegroupAttr>(value), "an array of #tile.regroup on a module");
  return op->emitError() << "expected an attribute of the dialect, got '" << name << "'";
}

//===-- reading and writing ----------------------------------------------------===//

template <typename T> static SmallVector<T> elementsOf(Operation *op, StringRef name) {
  auto array = op->getAttrOfType<ArrayAttr>(name);
  return array ? llvm::to_vector(array.getAsRange<T>()) : SmallVector<T>();
}
template <typename T> static void setElements(Operation *op, StringRef name, ArrayRef<T> elements) {
  op->setAttr(name, ArrayAttr::get(op->getContext(), SmallVector<Attribute>(elements.begin(), elements.end())));
}
static void setTexts(Operation *op, StringRef name, ArrayRef<StringRef> texts) {
  op->setAttr(name, Builder(op->getContext()).getStrArrayAttr(texts));
}

ItemsAttr tile::itemsOf(Operation *op) { return op->getAttrOfType<ItemsAttr>(kItems); }
void tile::setItems(Operation *op, ItemsAttr items) { op->setAttr(kItems, items); }
void tile::forgetItems(Operation *root) {
  root->walk([](Operation *op) { op->removeAttr(kItems); });
}

SmallVector<CostAttr> tile::costsOf(Operation *end) { return elementsOf<CostAttr>(end, kCosts); }
void tile::setCosts(Operation *end, ArrayRef<CostAttr> costs) { setElements(end, kCosts, costs); }

bool tile::isKept(Operation *load) { return load->hasAttr(kKept); }
void tile::setKept(Operation *load, const model::Size &bound) {
  load->setAttr(kKept, StringAttr::get(load->getContext(), bound.str()));
}

std::optional<SmallVector<StringRef>> tile::dimsOf(Operation *function) {
  auto names = function->getAttrOfType<ArrayAttr>(kDims);
  if (!names)
    return std::nullopt;
  auto texts = llvm::map_range(names.getAsRange<StringAttr>(), [](StringAttr one) { return one.getValue(); });
  return llvm::to_vector(texts);
}
void tile::setDims(Operation *function, ArrayRef<StringRef> names) { setTexts(function, kDims, names); }
void tile::forgetDims(Operation *function) { function->removeAttr(kDims); }

bool tile::isKernel(Operation *function) { return function->hasAttr(kKernel); }
StringRef tile::kernelName(Operation *function) {
  auto name = function->getAttrOfType<StringAttr>(kKernel);
  return (name ? name : SymbolTable::getSymbolName(function)).getValue();
}
void tile::setKernel(Operation *function, StringRef name) {
  Builder b(function->getContext());
  function->setAttr(kKernel, name.empty() ? Attribute(b.getUnitAttr()) : b.getStringAttr(name));
}

bool tile::isFor(Operation *kernel, StringRef chip) {
  auto chips = kernel->getAttrOfType<ArrayAttr>(kChips);
  return !chips || llvm::is_contained(chips, StringAttr::get(kernel->getContext(), chip));
}
void tile::setChips(Operation *kernel, ArrayRef<StringRef> chips) { setTexts(kernel, kChips, chips); }

SmallVector<LaunchAttr> tile::launchesOf(Operation *kernel) { return elementsOf<LaunchAttr>(kernel, kLaunches); }
void tile::setLaunches(Operation *kernel, ArrayRef<LaunchAttr> launches) { setElements(kernel, kLaunches, launches); }
void tile::forgetLaunches(Operation *kernel) { kernel->removeAttr(kLaunches); }

bool tile::isGrouped(Operation *param) { return param->hasAttr(kGroups); }
void tile::setGrouped(Operation *param) { param->setAttr(kGroups, UnitAttr::get(param->getContext())); }

SmallVector<RegroupAttr> tile::regroupedOf(Operation *module) { return elementsOf<RegroupAttr>(module, kRegrouped); }
void tile::setRegrouped(Operation *module, ArrayRef<RegroupAttr> tensors) { setElements(module, kRegrouped, tensors); }
