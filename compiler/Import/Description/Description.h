// A description after parsing: the merged JSON, read once into statements, calls and blocks whose form has been
// checked. Nothing is evaluated here.
#ifndef HEDDLE_COMPILER_IMPORT_DESCRIPTION_DESCRIPTION_H
#define HEDDLE_COMPILER_IMPORT_DESCRIPTION_DESCRIPTION_H

#include "compiler/Import/Description/Expression.h"
#include "compiler/Import/Description/Library.h"
#include "compiler/Import/Description/OpTable.h"
#include <deque>
#include <map>
#include <set>

namespace heddle {

struct BlockSpec;
class DiagnosticSink;

/// A name that a statement binds or asks for; it may contain {expressions}.
struct NameSpec {
  std::string text;
  Loc loc;                            // of its first byte
  const std::string *whole = nullptr; // the JSON string it is a part of
  size_t begin = 0;                   // where in it
  Loc wholeLoc;
};

/// One attribute of a call, as written.
struct AttrSpec {
  llvm::StringRef name;
  Loc loc;
  const JsonValue *value;
};

/// A call of an op or a block, as written.
struct CallSpec {
  const JsonValue *json = nullptr;
  llvm::StringRef name;
  Loc loc;                    // of the op's name
  const OpInfo *op = nullptr; // exactly one of the two
  const BlockSpec *block = nullptr;
  std::vector<const JsonValue *> operands;
  std::vector<AttrSpec> attributes;

  const AttrSpec *attribute(llvm::StringRef name) const;
};

/// A statement: a binding of names, a repeat, or a group (`if`, `defaults`, `weights` around a body).
struct Statement {
  /// Bind: names = a call or an expression. Repeat: `body`, `count` times. Group: `body` or `otherwise`, by
  /// `condition`.
  enum class Kind { Bind, Repeat, Group };
  Kind kind = Kind::Bind;
  const JsonValue *json = nullptr;
  const JsonValue *condition = nullptr;
  // Bind
  std::vector<NameSpec> names;
  const JsonValue *expression = nullptr; // or
  std::unique_ptr<CallSpec> call;
  // Repeat and Group
  const JsonValue *count = nullptr, *weights = nullptr, *defaults = nullptr;
  std::string index = "i";
  std::vector<Statement> body, otherwise;
};

/// A parameter of a block, and what it may be.
struct BlockParameter {
  llvm::StringRef name;
  const JsonValue *fallback; // null: required
  bool required = false;
  std::vector<const JsonValue *> oneOf;
};

/// A block: a body with operands and parameters that is expanded where it is called.
struct BlockSpec {
  std::string name;
  Loc loc;
  const JsonValue *json = nullptr;
  bool isLibrary = false;
  std::vector<std::string> operands, results;
  std::vector<BlockParameter> parameters;
  std::vector<Statement> body;

  const BlockParameter *parameter(llvm::StringRef name) const;
};

/// An input of the model: its type, and its default as an expression or a call.
struct InputSpec {
  std::string name;
  Loc loc;
  const JsonValue *json = nullptr;
  const JsonValue *type = nullptr, *fallback = nullptr, *repeat = nullptr, *condition = nullptr;
  std::unique_ptr<CallSpec> fallbackCall;
};

/// A description after `like` is merged. Pointers go into the JSON values that it owns; the texts that locations
/// refer to are owned by the sink.
struct Description {
  JsonValue root, library;
  const SourceFile *source = nullptr;

  const JsonValue *family = nullptr, *config = nullptr, *dims = nullptr, *weights = nullptr, *defaults = nullptr,
                  *outputs = nullptr, *generate = nullptr;
  std::string name;
  std::vector<InputSpec> inputs;
  /// Words inside of what was refused: nothing may be reported as missing that could be there (Lint).
  std::set<std::string, std::less<>> torn;
  std::map<std::string, BlockSpec, std::less<>> blocks; // own ones and the library's
  std::vector<Statement> body;

  const BlockSpec *block(llvm::StringRef name) const;
  /// Names of ops and blocks, for suggestions.
  std::vector<std::string> callable() const;
};

/// Parses `text`, called `name` in messages; `like` is looked up in `families`. Errors of form and spelling go to
/// the sink; null if nothing can be made of the file.
std::unique_ptr<Description> readDescription(std::string name, std::string text, const FamilyLibrary &families,
                                             Expressions &expressions, DiagnosticSink &sink);

/// Calls back for every run of letters, digits and _ in `text`.
void wordsIn(llvm::StringRef text, llvm::function_ref<void(llvm::StringRef)> found);

/// Calls back for every statement, outermost first.
void forEachStatement(const std::vector<Statement> &body, llvm::function_ref<void(const Statement &)> visit);

/// Splits "a, b.{i}" at commas outside of braces and trims the parts.
std::vector<NameSpec> splitNames(const std::string &text, Loc loc);

/// The text with every {expression} replaced by '*'.
std::string starred(llvm::StringRef name);
/// Whether the two match, where '*' in either stands for any characters.
bool matches(llvm::StringRef text, llvm::StringRef pattern);
/// Whether `text` matches `pattern`, in which '*' stands for any characters.
bool globMatch(llvm::StringRef text, llvm::StringRef pattern);

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_DESCRIPTION_DESCRIPTION_H
