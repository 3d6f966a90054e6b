// JSON in which every value and every key has its place in the file. Parsed by SAX over nlohmann's lexer: comments
// are allowed, duplicate keys refused, integers exact, depth and size limited, so that a hostile file is an error and
// never a crash.
#ifndef HEDDLE_COMPILER_IMPORT_JSON_LOCATEDJSON_H
#define HEDDLE_COMPILER_IMPORT_JSON_LOCATEDJSON_H

#include "compiler/Import/Json/SourceFile.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

class DiagnosticSink;
struct JsonMember;

/// A value with its place. One struct for all kinds, since descriptions are small and are walked by kind everywhere.
struct JsonValue {
  /// HugeInteger: an integer beyond 64 bits, kept as text; it is an error only if it is used.
  enum class Kind { Null, Bool, Integer, HugeInteger, Real, String, Array, Object };

  Kind kind = Kind::Null;
  Loc loc; // of the first byte of its first token
  bool boolean = false;
  int64_t integer = 0;
  double real = 0;
  std::string string;
  std::vector<JsonValue> items;
  std::vector<JsonMember> members;

  // Set by link(): the value that this one is in, and its index there.
  const JsonValue *parent = nullptr;
  size_t index = 0;

  bool isNull() const { return kind == Kind::Null; }
  bool isString() const { return kind == Kind::String; }
  bool isArray() const { return kind == Kind::Array; }
  bool isObject() const { return kind == Kind::Object; }
  bool isExpression() const { return isString() && !string.empty() && string[0] == '='; }

  /// The value of a key of an object, or its member with the key's place; null if there is none.
  const JsonValue *find(llvm::StringRef key) const;
  const JsonMember *findMember(llvm::StringRef key) const;

  /// Sets `parent` and `index` of every value inside; to be called when no value will move any more.
  void link();
  /// The path of keys, "$.body[4].x".
  std::string path() const;
  /// The value as JSON text on one line, for messages.
  std::string text() const;
};

/// A key of an object with its value.
struct JsonMember {
  std::string key;
  Loc keyLoc;
  JsonValue value;
};

/// "an object", "a string", ...
llvm::StringRef describe(JsonValue::Kind kind);

/// Structural equality: places do not matter, 1 equals 1.0.
bool equalJson(const JsonValue &a, const JsonValue &b);

struct JsonLimits {
  size_t bytes = size_t(64) << 20;
  unsigned depth = 64;
  size_t values = 500'000; ///< of which each takes some 200 bytes, however short it is in the file
};

/// Parses `file`; none with errors in `sink`.
std::optional<JsonValue> parseJson(const SourceFile &file, DiagnosticSink &sink, JsonLimits limits = {});

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_JSON_LOCATEDJSON_H
