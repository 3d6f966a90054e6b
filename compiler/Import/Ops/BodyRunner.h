// Internal to the importer: runs the statements of a body in order. Names are bound in a scope, blocks expanded,
// defaults merged, and a repeat is written out turn by turn.
#ifndef HEDDLE_COMPILER_IMPORT_OPS_BODYRUNNER_H
#define HEDDLE_COMPILER_IMPORT_OPS_BODYRUNNER_H

#include "compiler/Import/Evaluate/Session.h"
#include "compiler/Import/Weights/ModelWeights.h"
#include <set>

namespace heddle {

/// A repeat as it was written out: a marker in front of every iteration and one after the last. Rolled when all is
/// imported, since only then all uses are known.
struct Unrolled {
  llvm::SmallVector<mlir::Operation *> markers;
  mlir::Location location;
  std::string index; ///< its name
};

/// Marks the place where an iteration of a repeat begins, or where the last ends (Roll.cpp).
mlir::Operation *markIteration(Emitter &in, At at);

/// Executes statements while the importer builds ops: the interpreter of the language. One exists for each import.
class BodyRunner {
public:
  BodyRunner(Session &session, const Description &doc, ModelWeights &weights)
      : session(session), doc(doc), weights(weights), in(session.in), evaluator(session.evaluator) {}

  /// Ends early, with an error, where the description expands to too much. `weights` is the scope of names in force.
  void run(const std::vector<Statement> &body, const Scope &scope, const std::string &weights);

  // Calls.cpp
  /// The results of an op or a block; empty or poison after an error.
  std::vector<Value> runCall(const CallSpec &call, const Scope &scope, const std::string &weights);
  /// Expands a block: its operands and parameters are all the names that its body sees. `call` gives the parameters; it
  /// is null for a block that `experts` expands, whose parameters have their defaults.
  std::vector<Value> runBlock(const BlockSpec &block, std::vector<Value> operands, const CallSpec *call,
                              const Scope &scope, const std::string &weights, At at);
  /// From now on, until popDefaults: attributes of ops and blocks whose calls do not say them.
  void pushDefaults(const JsonValue &given, const Scope &scope);
  void popDefaults() { defaults.pop_back(); }
  /// What the innermost `defaults` in force say of an attribute, or null.
  Value defaultOf(llvm::StringRef op, llvm::StringRef attribute) const;

  /// Every repeat that was run, inner ones before those around them.
  llvm::ArrayRef<Unrolled> repeats() const { return unrolled; }

  Session &session;
  const Description &doc;
  ModelWeights &weights;
  /// Ops that nothing is to be warned of (Warnings.h).
  std::set<mlir::Operation *> meant;
  /// Where shapes are made up: the width that the model, or a tower of it, last named.
  std::optional<int64_t> width;

private:
  void runStatement(const Statement &s, const Scope &scope, const std::string &weights);
  void runBinding(const Statement &s, const Scope &scope, const std::string &weights);
  void runRepeat(const Statement &s, const Scope &scope, const std::string &weights);
  bool runInside(const std::vector<Statement> &body, const Statement &s, const Scope &scope,
                 const std::string &weights);
  std::optional<std::string> into(const std::string &weights, const Statement &s, const Scope &scope);
  std::string orExpression(const Value &v, const Scope &scope) const;

  using Attributes = std::map<std::string, Value, std::less<>>;
  Emitter &in;
  Evaluator &evaluator;
  std::vector<std::map<std::string, Attributes, std::less<>>> defaults; ///< op or block -> attribute -> value
  std::vector<Unrolled> unrolled;
};

/// The name of a weight in a scope, "h.0" + "attn" = "h.0.attn".
std::string joinName(llvm::StringRef scope, llvm::StringRef name);

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_OPS_BODYRUNNER_H
