//===- ReportPlaces.h - every location that a report names, once -*- C++ -*-===//
#ifndef HEDDLE_COMPILER_REPORT_REPORTPLACES_H
#define HEDDLE_COMPILER_REPORT_REPORTPLACES_H

#include "mlir/IR/Location.h"
#include "llvm/ADT/DenseMap.h"
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace heddle::report {

/// A statement of the description, by its path, and a token of a file. Ops of different passes belong together if
/// their places are the same.
struct Place {
  std::string path, file;
  unsigned line = 0, column = 0;
  std::string statement; ///< of the block that made it, "stdlib.json:40:7"; empty: no block did
  auto key() const { return std::tie(path, file, line, column, statement); }
  bool operator<(const Place &other) const { return key() < other.key(); }
};

/// The name of a value, and its place.
struct NamedPlace {
  std::string name;
  int32_t place = 0;
};

/// Numbers locations: all else in a report refers to them by number.
class Places {
public:
  /// `strip`: a folder whose files are called by their names in it; "": files are called as locations call them.
  explicit Places(std::string strip) : strip(std::move(strip)) {}

  int32_t loc(mlir::Location where);
  /// The place of a location; -1 for -1.
  int32_t placeOf(int32_t loc) const { return loc < 0 ? -1 : locs[loc].place; }
  const Place &at(int32_t loc) const { return places[locs[loc].place]; }
  /// By a token in words (model::tokenOf), the statement of a block and the name of a value; without a name any at the
  /// token. -1: there is none.
  int32_t find(const std::string &token, const std::string &statement, const std::string &name) const;
  /// How the report calls a file.
  std::string shown(llvm::StringRef file) const;
  /// How a location calls a file of the report.
  std::string original(const std::string &file) const;

  std::vector<NamedPlace> locs;
  std::vector<Place> places;

private:
  std::string strip;
  llvm::DenseMap<mlir::Location, int32_t> known;
  std::map<std::pair<std::string, int32_t>, int32_t> named;
  std::map<Place, int32_t> numbers;
  std::map<std::vector<std::string>, int32_t> tokens;
  std::map<std::string, std::string> originals;
};

} // namespace heddle::report

#endif
