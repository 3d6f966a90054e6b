// From what an op asks for to the name in the file (language.md section 7): older
// spellings, the words of blocks, ties, the prefix. Remembers what was read, so that what
// was not can be told at the end.
#ifndef HEDDLE_COMPILER_IMPORT_WEIGHTNAMES_H
#define HEDDLE_COMPILER_IMPORT_WEIGHTNAMES_H

#include "compiler/Import/LocatedJson.h"
#include "compiler/Import/WeightTable.h"
#include <set>

namespace heddle {

class WeightNames {
public:
  struct Tie {
    std::string copy, of;
    const JsonValue *json;
  };
  struct Spec {
    std::string prefix;
    std::map<std::string, std::string, std::less<>> names;
    std::vector<Tie> tied;
    std::vector<std::pair<std::string, std::string>> renamed;
    const JsonValue *renamedJson = nullptr;
    std::vector<std::string> ignored;
  };

  /// Tables in messages are cut after this many rows.
  static constexpr size_t mostRows = 20;

  WeightNames(const WeightTable &table, Spec spec, llvm::StringRef file, DiagnosticSink &sink);

  struct Found {
    std::string name; // in the file
    WeightTable::Tensor tensor;
  };
  /// `asked` has a '|' where a block's own part begins; `reader` is the place of who asks. On failure `why` says
  /// what was looked for, and `absent` its name where the files just do not have it.
  std::optional<Found> get(llvm::StringRef asked, std::string &why, Loc reader = {}, std::string *absent = nullptr);

  /// Tied copies that differ, tensors that nobody read.
  void finish();
  /// Names of the tensors that nobody read, though none is to be ignored.
  std::vector<std::string> unread() const;
  /// The nearest of `among` to a name that is not there.
  std::optional<Found> nearestStored(llvm::StringRef name, const std::vector<std::string> &among) const;

private:
  std::string readerNear(llvm::StringRef name) const;
  std::optional<std::string> find(llvm::StringRef name, std::string *why);
  std::string translate(llvm::StringRef asked) const;

  const WeightTable &table;
  Spec spec;
  std::string file;
  DiagnosticSink &sink;
  std::map<std::string, std::string, std::less<>> inFile; // name here -> name in the file
  std::map<std::string, Loc, std::less<>> used; // and who read it
  size_t longest = 0;
};

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_WEIGHTNAMES_H
