//===- ReportPlaces.cpp - every location that a report names, once --------===//

#include "compiler/Report/ReportPlaces.h"
#include "dialects/Model/IR/Conditions.h"
#include "dialects/Model/IR/Names.h"
#include "dialects/Model/IR/Statements.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::report;

std::string Places::shown(StringRef file) const {
  StringRef rest = file;
  if (!strip.empty() && rest.consume_front(strip) && (rest.empty() || rest.front() == '/'))
    return rest.ltrim('/').empty() ? llvm::sys::path::filename(strip).str() : rest.ltrim('/').str();
  bool hidden = !strip.empty() && llvm::sys::path::is_absolute(file);
  return hidden ? llvm::sys::path::filename(file).str() : file.str();
}

std::string Places::original(const std::string &file) const {
  auto it = originals.find(file);
  return it == originals.end() ? file : it->second;
}

int32_t Places::find(const std::string &token, const std::string &statement, const std::string &name) const {
  for (const std::string &wanted : {name, std::string()})
    if (auto it = tokens.find({token, statement, wanted}); it != tokens.end())
      return it->second;
  return -1;
}

int32_t Places::loc(Location where) {
  auto [it, isNew] = known.try_emplace(where, 0);
  if (!isNew)
    return it->second;
  Place place;
  place.path = model::pathOf(where).str();
  if (auto file = where->findInstanceOf<FileLineColLoc>()) {
    place.file = shown(file.getFilename());
    place.line = file.getLine();
    place.column = file.getColumn();
    originals.try_emplace(place.file, file.getFilename().str());
  }
  if (model::callsOf(where).size() > 1)
    place.statement = model::statementOf(where);
  auto [number, isNewPlace] = numbers.try_emplace(place, int32_t(places.size()));
  if (isNewPlace)
    places.push_back(std::move(place));
  std::string name = model::nameOf(where).str();
  auto [mine, isNewName] = named.try_emplace({name, number->second}, int32_t(locs.size()));
  if (isNewName) {
    locs.push_back({name, number->second});
    std::string token = model::tokenOf(where), statement = places[number->second].statement;
    tokens.try_emplace({token, statement, name}, mine->second);
    tokens.try_emplace({token, statement, ""}, mine->second);
    tokens.try_emplace({token, "", ""}, mine->second);
    const Place &at = places[number->second];
    std::string position = std::to_string(at.line) + ":" + std::to_string(at.column);
    StringRef file = at.file; // as launches of a device name it
    tokens.try_emplace(
        {(file.starts_with("families/") ? file : llvm::sys::path::filename(file)).str() + ":" + position, "", ""},
        mine->second);
  }
  return it->second = mine->second;
}
