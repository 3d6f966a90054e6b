//===- Names.cpp - names and paths in locations ---------------------------===//

#include "dialects/Model/IR/Names.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace heddle;

Location model::withPath(StringRef path, Location file) {
  if (path.empty())
    return file;
  assert(path.starts_with("$") && "paths begin at the root");
  return FusedLoc::get(file, StringAttr::get(file.getContext(), path), file.getContext());
}

StringRef model::pathOf(Location where) {
  StringRef path;
  where->walk([&](Location l) {
    auto fused = dyn_cast<FusedLoc>(l);
    auto text = fused ? dyn_cast_if_present<StringAttr>(fused.getMetadata()) : StringAttr();
    if (!text || !text.getValue().starts_with("$"))
      return WalkResult::advance();
    path = text.getValue();
    return WalkResult::interrupt();
  });
  return path;
}

Location model::withName(StringRef name, Location where) {
  if (auto named = dyn_cast<NameLoc>(where))
    where = named.getChildLoc();
  return name.empty() ? where : NameLoc::get(StringAttr::get(where.getContext(), name), where);
}

StringRef model::nameOf(Location where) {
  auto named = dyn_cast<NameLoc>(where);
  return named ? named.getName().getValue() : StringRef();
}

Location model::withNames(ArrayRef<StringRef> names, Location where) {
  if (llvm::all_of(names, [](StringRef name) { return name.empty(); }))
    return withName("", where);
  auto written = [](StringRef name) { return name.empty() ? StringRef("_") : name; };
  return withName(llvm::join(llvm::map_range(names, written), "-"), where);
}

StringRef model::nameOf(Location where, unsigned index) {
  StringRef left = nameOf(where);
  for (; index; --index)
    left = left.split('-').second;
  StringRef name = left.split('-').first;
  return name == "_" ? "" : name;
}

Location model::locationOf(Value v) {
  auto result = dyn_cast<OpResult>(v);
  bool one = !result || result.getOwner()->getNumResults() == 1;
  return one ? v.getLoc() : withName(nameOf(v.getLoc(), result.getResultNumber()), v.getLoc());
}
