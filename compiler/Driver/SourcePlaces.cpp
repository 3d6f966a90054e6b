//===- SourcePlaces.cpp - places of ops in the user's files ---------------===//

#include "compiler/Driver/SourcePlaces.h"
#include "heddle/input_file.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace heddle;

/// The largest file that is shown in messages.
static constexpr uint64_t mostBytes = uint64_t(1) << 30;

static FileLineColLoc fileOf(Location where) { return where->findInstanceOf<FileLineColLoc>(); }

Loc SourcePlaces::of(Location where) {
  FileLineColLoc at = fileOf(where);
  if (!at)
    return {};
  std::string name = at.getFilename().str();
  auto [known, isNew] = files.try_emplace(name);
  if (isNew && !(known->second = sink.file(name)))
    if (ReadFile text = readInputFile(name.c_str(), mostBytes); text.ok())
      known->second = &sink.addFile(name, std::move(text.bytes));
  if (!known->second)
    return {};
  return {known->second, known->second->offset(at.getLine(), at.getColumn())};
}

std::string SourcePlaces::text(Location where) {
  FileLineColLoc at = fileOf(where);
  return at ? (at.getFilename().getValue() + ":" + Twine(at.getLine()) + ":" + Twine(at.getColumn())).str() : "";
}
