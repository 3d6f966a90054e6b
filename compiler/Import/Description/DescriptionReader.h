// Internal to Description*.cpp: the state of reading a description.
#ifndef HEDDLE_COMPILER_IMPORT_DESCRIPTION_DESCRIPTIONREADER_H
#define HEDDLE_COMPILER_IMPORT_DESCRIPTION_DESCRIPTIONREADER_H

#include "compiler/Import/Description/Description.h"
#include "compiler/Import/Json/Diagnostics.h"

namespace heddle {

/// Fills a Description from JSON and reports what is wrong with its form. It goes on after an error: what was refused
/// is left out and its words are remembered (Description::torn), so that later checks do not blame what depends on it.
class DescriptionReader {
public:
  DescriptionReader(Description &doc, const FamilyLibrary &families, Expressions &expressions, DiagnosticSink &sink)
      : doc(doc), families(families), expressions(expressions), sink(sink) {}

  // DescriptionFile.cpp
  /// Opens the file and what it is `like`; then readTop reads it. False: there is nothing to read.
  bool load(std::string name, std::string text);
  void readTop();

private:
  // DescriptionFile.cpp
  std::optional<JsonValue> open(std::string name, std::string text, bool isLibrary, std::vector<std::string> &heirs);
  JsonValue merge(JsonValue base, JsonValue patch, const std::string &at);
  void readInputs(const JsonValue &inputs);
  void readFamily(const JsonValue &family);
  void readWeights(const JsonValue &weights);
  void readGenerate(const JsonValue &generate);
  void readOutputs(const JsonValue &outputs);

  // DescriptionBody.cpp
  void declareBlocks(const JsonValue &blocks, bool isLibrary);
  void readBlock(BlockSpec &block);
  std::vector<Statement> readBody(const JsonValue &list);
  Statement readStatement(const JsonValue &s);
  void readGroup(const JsonValue &s, Statement &out);
  void readBinding(const JsonValue &s, Statement &out);
  /// The key of a block of the library that one of the file hides.
  static std::string hidden(llvm::StringRef name) { return ("/" + name).str(); }
  std::pair<const OpInfo *, const BlockSpec *> called(llvm::StringRef name) const;
  std::unique_ptr<CallSpec> readCall(const JsonValue &what);
  void checkAttribute(const CallSpec &call, const AttrSpec &attr);
  void checkNames(const std::vector<NameSpec> &names, const JsonValue &context);
  void checkDefaults(const JsonValue &defaults);
  /// Parses every expression in a value, and those in braces of names; errors go to the sink.
  void checkExpressions(const JsonValue &value);
  void checkBraces(const std::string &text, Loc loc, const JsonValue &context);

  // Small checks.
  /// Whether a value is of a kind; an error with `what` was expected if not.
  bool expect(const JsonValue &value, JsonValue::Kind kind, llvm::StringRef what);
  /// An error for every key that is none of these.
  void knownKeys(const JsonValue &object, llvm::ArrayRef<llvm::StringRef> known);
  void error(Error code, const JsonValue &at, const llvm::Twine &message);
  void errorAtKey(Error code, const JsonValue &object, const JsonMember &member, const llvm::Twine &message);
  /// Notes the words of a value that was refused, since their meaning is unknown (Description::torn).
  void tear(const JsonValue &value);

  const BlockSpec *inside = nullptr; ///< the block whose body is being read
  Description &doc;
  const FamilyLibrary &families;
  Expressions &expressions;
  DiagnosticSink &sink;
};

/// Letters, digits and _, not beginning with a digit; at most kMostNameBytes (DeclaredNames.h).
bool isIdentifier(llvm::StringRef text);
/// What messages say of it.
constexpr llvm::StringLiteral kIdentifierExpected = "letters, digits and _ expected, at most 255";

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_DESCRIPTION_DESCRIPTIONREADER_H
