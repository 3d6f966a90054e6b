// Translates the name that an op asks for to the name in the file (language.md section 7): older spellings, the words
// of blocks, ties, the prefix. It remembers what was read, so that the rest can be reported at the end.
#ifndef HEDDLE_COMPILER_IMPORT_WEIGHTS_WEIGHTNAMES_H
#define HEDDLE_COMPILER_IMPORT_WEIGHTS_WEIGHTNAMES_H

#include "compiler/Import/Json/LocatedJson.h"
#include "compiler/Import/Weights/WeightTable.h"
#include <set>

namespace heddle {

/// The names of one set of weights, from how ops ask to how the file spells them.
class WeightNames {
public:
  /// `copy` is not read; `of` stands for it.
  struct Tie {
    std::string copy, of;
    const JsonValue *json;
  };
  /// The description's `weights` (language.md section 7): `names` and `tied` translate what is asked for, `renamed`
  /// what the file has, `prefix` may be before any name of the file, `ignored` are patterns of tensors that need not
  /// be read; with `own` a tied copy that differs from its original is read in its own right.
  struct Renamed {
    std::string older, newer;
    const JsonValue *json;
  };
  struct Spec {
    std::string prefix;
    std::map<std::string, std::string, std::less<>> names;
    std::vector<Tie> tied;
    std::vector<Renamed> renamed;
    std::vector<std::string> ignored;
    bool own = false;
    bool hasConfig = false; ///< a config.json says what is tied
    /// Output and pattern: where the files have no tensor that matches, the output is left out.
    std::vector<std::pair<std::string, std::string>> optional;
  };

  WeightNames(const WeightTable &table, Spec spec, llvm::StringRef file, DiagnosticSink &sink);

  struct Found {
    std::string name; // in the file
    WeightTable::Tensor tensor;
  };
  /// Finds a tensor. `asked` has a '|' where the block's part of the name begins; `reader` is the place of the op. On
  /// failure `why` is what was looked for, and `absent` its name if the files just do not have it.
  std::optional<Found> get(llvm::StringRef asked, std::string &why, Loc reader = {}, std::string *absent = nullptr);

  /// The output that goes without this weight, which the files lack together with all that the pattern means; else "".
  std::string outputWithout(llvm::StringRef name) const;

  /// Reports tied copies that differ and tensors that nobody read.
  void finish();
  /// The tensors that nobody read and that are not to be ignored.
  std::vector<std::string> unread() const;
  /// The tensor among `among` whose name is nearest to one that does not exist.
  std::optional<Found> nearestStored(llvm::StringRef name, const std::vector<std::string> &among) const;

private:
  std::string readerNear(llvm::StringRef name) const;
  std::optional<std::string> find(llvm::StringRef name, std::string *why);
  std::string translate(llvm::StringRef asked) const;
  bool standsAlone(const Tie &tie);

  const WeightTable &table;
  Spec spec;
  std::string file;
  DiagnosticSink &sink;
  std::map<std::string, std::string, std::less<>> inFile; // name here -> name in the file
  std::map<std::string, Loc, std::less<>> used;           // and its reader
  size_t longest = 0;
};

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_WEIGHTS_WEIGHTNAMES_H
