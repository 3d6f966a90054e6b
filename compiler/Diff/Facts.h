//===- Facts.h - what two compilations are compared by ----------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_DIFF_FACTS_H
#define HEDDLE_COMPILER_DIFF_FACTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace heddle::diff {

/// One thing that a compilation has, under a name that the other one would have for it: a statement, a pass, a kernel.
struct Fact {
  std::string section;                                    ///< "statements"
  std::string name;                                       ///< "@step $.body[3].x (model.json:12) linear"
  std::vector<std::pair<std::string, std::string>> words; ///< "bytes", "4*B*T"
};

/// The facts of a compilation, in the order in which they are shown. Names are unique in their section: the second of
/// one name becomes "NAME (2)".
class Facts {
public:
  void add(Fact fact);
  llvm::ArrayRef<Fact> all() const { return facts; }
  const Fact *find(const Fact &like) const;

private:
  std::vector<Fact> facts;
  std::map<std::pair<std::string, std::string>, size_t> places;
};

/// The name of a kernel without the digest of its code: "heddle_linear_48_48".
std::string withoutDigest(llvm::StringRef kernel);

/// The facts of report.json; false with `why` if it is none.
bool addReportFacts(const llvm::json::Value &report, Facts &facts, std::string &why);
/// The facts of a program's card; false with `why`.
bool addCardFacts(const std::string &path, Facts &facts, std::string &why);

/// A fact that differs, or that one side alone has (the other is null).
struct Difference {
  const Fact *a = nullptr, *b = nullptr;
  const Fact &any() const { return a ? *a : *b; }
};
/// In the order of sections, those of `a` first.
std::vector<Difference> compare(const Facts &a, const Facts &b);

} // namespace heddle::diff

#endif // HEDDLE_COMPILER_DIFF_FACTS_H
