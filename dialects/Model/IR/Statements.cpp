//===- Statements.cpp - the statement of a block that made an op ----------===//

#include "dialects/Model/IR/Statements.h"
#include "dialects/Model/IR/Names.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace heddle;

Location model::withCalls(StringRef path, Location shown, Location statement, Location calls) {
  MLIRContext *context = shown.getContext();
  return FusedLoc::get({shown, CallSiteLoc::get(statement, calls)}, StringAttr::get(context, path), context);
}

SmallVector<Location> model::callsOf(Location where) {
  SmallVector<Location> places;
  auto note = [&](Location place) {
    if (place->findInstanceOf<FileLineColLoc>())
      places.push_back(place);
  };
  auto calls = where->findInstanceOf<CallSiteLoc>();
  while (calls) {
    note(calls.getCallee());
    auto outer = dyn_cast<CallSiteLoc>(calls.getCaller());
    if (!outer)
      note(calls.getCaller());
    calls = outer;
  }
  if (places.empty())
    note(withName("", where));
  return places;
}

std::string model::statementOf(Location where) {
  SmallVector<Location> places = callsOf(where);
  auto file = places.empty() ? FileLineColLoc() : places.front()->findInstanceOf<FileLineColLoc>();
  if (!file)
    return "";
  StringRef name = file.getFilename().getValue();
  if (!name.starts_with("families/")) // the compiler's own
    name = llvm::sys::path::filename(name);
  return (name + ":" + Twine(file.getLine()) + ":" + Twine(file.getColumn())).str();
}
