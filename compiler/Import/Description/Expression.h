// The expressions of the description language (language.md section 3) as trees. Every node knows the byte of its
// token in the JSON string.
#ifndef HEDDLE_COMPILER_IMPORT_DESCRIPTION_EXPRESSION_H
#define HEDDLE_COMPILER_IMPORT_DESCRIPTION_EXPRESSION_H

#include "compiler/Import/Json/LocatedJson.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <deque>

namespace heddle {

/// A node of a tree. Which fields hold what depends on the kind.
struct Expr {
  enum class Kind {
    Null,
    Bool,
    Integer,
    Real,
    String, // atoms
    Name,   // text
    List,   // args
    Negate,
    Not,         // args[0]
    Binary,      // text is the operator; args[0], args[1]
    Coalesce,    // args[0] ?? args[1]
    Conditional, // args[0] ? args[1] : args[2]
    Call,        // text is the function; args
    Member,      // args[0] . text
    Index,       // args[0] [ subscripts ]
  };
  /// x[i] or x[a:b]; a null bound is open.
  struct Subscript {
    bool slice = false;
    const Expr *first = nullptr, *last = nullptr;
  };

  Kind kind;
  Loc loc;
  std::string text;
  int64_t integer = 0; // also of Bool
  double real = 0;
  llvm::SmallVector<const Expr *, 3> args;
  llvm::SmallVector<Subscript, 2> subscripts;
  unsigned depth = 1;
};

/// Parses expressions, owns their trees and remembers texts that were parsed already. A text with an error is
/// reported once and gives null.
class Expressions {
public:
  explicit Expressions(DiagnosticSink &sink) : sink(sink) {}

  /// `value` is a string that begins with '='.
  const Expr *ofValue(const JsonValue &value);
  /// Parses bytes [begin, end) of `whole`, a JSON string whose quote is at `start`. `context` names the path in
  /// messages.
  const Expr *ofPart(const std::string &whole, Loc start, size_t begin, size_t end, const JsonValue *context = nullptr);
  /// Parses a text that is not part of a JSON string, such as an axis of a type; all its tokens are placed at `at`.
  const Expr *ofText(llvm::StringRef text, Loc at, const JsonValue *context = nullptr);

  /// The texts that had errors.
  const std::vector<std::string> &broken() const { return refused; }

private:
  const Expr *parse(llvm::StringRef text, llvm::function_ref<Loc(size_t)> place, const JsonValue *context);

  DiagnosticSink &sink;
  std::deque<Expr> nodes;
  std::vector<std::string> refused;
  llvm::DenseMap<std::pair<const void *, size_t>, const Expr *> known;
  friend class ExprParser;
};

/// The parts of a name that are in braces, as [begin, end) without the braces.
llvm::SmallVector<std::pair<size_t, size_t>, 2> bracesIn(llvm::StringRef text);

/// Calls back for every free name; a chain of members is one name ("rope_scaling.factor").
void namesIn(const Expr *e, llvm::function_ref<void(llvm::StringRef, Loc)> found);
/// Calls back for every string constant inside.
void stringsIn(const Expr *e, llvm::function_ref<void(llvm::StringRef)> found);

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_DESCRIPTION_EXPRESSION_H
