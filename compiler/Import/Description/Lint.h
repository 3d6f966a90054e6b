// Checks of a description that need neither config.json nor weights: nothing in it may be without effect (language.md
// sections 1, 2, 7 and 12).
#ifndef HEDDLE_COMPILER_IMPORT_DESCRIPTION_LINT_H
#define HEDDLE_COMPILER_IMPORT_DESCRIPTION_LINT_H

#include "compiler/Import/Description/Description.h"
#include <set>

namespace heddle {

class DiagnosticSink;

/// The checks of one description. They look at names as written and evaluate nothing.
class Lint {
public:
  Lint(const Description &doc, Expressions &expressions, DiagnosticSink &sink)
      : doc(doc), expressions(expressions), sink(sink) {}

  /// Runs all checks; false if blocks call themselves, so that nothing may be expanded.
  bool run();

private:
  /// A call that a body can reach, also through blocks. `call` is null for the block that `experts` names.
  struct Reached {
    llvm::StringRef name;
    const CallSpec *call;
  };
  using Names = std::set<std::string, std::less<>>;

  // LintReach.cpp. The calls that a body can reach (`reach`), whether it reads weights (`readsWeights`), the names that
  // a value depends on (`refers`), and the statements whose values reach no output (`unread`).
  bool checkRecursion();
  void reachCall(const CallSpec &call, Names &expanded, std::vector<Reached> &out);
  void reach(const std::vector<Statement> &body, Names &expanded, std::vector<Reached> &out);
  bool readsWeights(const std::vector<Statement> &body);
  bool readsWeights(const BlockSpec *block);
  void refers(const JsonValue *v, Names &out, bool operand = false);
  void refersIn(const std::string &text, Loc loc, Names &out);
  void refersOf(const CallSpec &call, Names &out);
  Names unread(const std::vector<Statement> &body, Names roots);

  // Lint.cpp
  /// Whether a statement in `body` was refused.
  static bool isTorn(const std::vector<Statement> &body);
  void checkBody(const std::vector<Statement> &body);
  void checkCall(const CallSpec &call);
  void checkDefaults(const JsonValue *defaults, const std::vector<Reached> &calls);
  void checkOutputsAndInputs(const std::vector<Reached> &calls);
  void suspectMisspelt(const std::vector<std::string> &bound);
  void checkRoles();
  void checkConstants();

  // LintNames.cpp
  /// Remarks on names of the file that are built-in ones, too.
  void checkShadows();

  // LintWeights.cpp
  void checkWeights(const std::vector<Reached> &calls);

  const Description &doc;
  Expressions &expressions;
  DiagnosticSink &sink;
  std::map<std::string, bool, std::less<>> weightReaders;
  Names torn; ///< words inside of what was refused (Description::torn)
  bool outputsKnown = true;
};

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_DESCRIPTION_LINT_H
