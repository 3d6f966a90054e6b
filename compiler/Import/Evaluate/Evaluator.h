// Expressions and the strings that hold them become values: names are looked up, trees are walked. What operators
// and functions do with values is Arithmetic.
#ifndef HEDDLE_COMPILER_IMPORT_EVALUATE_EVALUATOR_H
#define HEDDLE_COMPILER_IMPORT_EVALUATE_EVALUATOR_H

#include "compiler/Import/Evaluate/Arithmetic.h"
#include "compiler/Import/Evaluate/ConfigFile.h"
#include <map>

namespace heddle {

/// Names and their values; remembers in which order names were first bound.
class Environment {
public:
  const Value *find(llvm::StringRef name) const {
    auto it = values.find(std::string_view(name));
    return it == values.end() ? nullptr : &it->second;
  }
  void bind(llvm::StringRef name, Value v) {
    auto [it, isNew] = values.insert_or_assign(name.str(), std::move(v));
    if (isNew)
      order.push_back(it->first);
  }
  const std::vector<std::string> &names() const { return order; }

private:
  std::map<std::string, Value, std::less<>> values;
  std::vector<std::string> order;
};

/// Where an expression looks names up.
struct Scope {
  enum class Kind { Config, Body, Block };
  Environment *env = nullptr;
  Kind kind = Kind::Body;
};

/// Turns expressions and JSON values into Values. It owns the constants and the dims of the import.
class Evaluator {
public:
  Evaluator(Emitter &in, Expressions &expressions) : in(in), arithmetic(in), expressions(expressions) {}

  Emitter &in;
  Arithmetic arithmetic;
  Expressions &expressions;
  Environment constants;
  std::map<std::string, Value, std::less<>> dims; ///< every dim that an input declares
  /// Where the constants of a family take their values from; null for a description.
  const ConfigFile *configFile = nullptr;
  Scope configScope{&constants, Scope::Kind::Config}; ///< of the constants themselves
  Scope fileScope{&constants, Scope::Kind::Body};     ///< constants, where no body is

  /// The value of a tree, poison if it is null (it did not parse). `context`: the JSON value that it is in.
  Value evaluate(const Expr *e, const Scope &scope, const JsonValue *context);
  /// A JSON value as an attribute: strings that begin with '=' are expressions, in lists
  /// and objects too. Absent keys are an error here.
  Value value(const JsonValue &v, const Scope &scope);
  /// JSON data as it is (config.json, --set).
  Value literal(const JsonValue &v);
  /// An operand of a call: a plain string names a value.
  Value operand(const JsonValue &v, const Scope &scope);
  /// Replaces {expressions} in text, which is at [begin, ...) of the JSON string `whole`.
  std::optional<std::string> fill(const std::string &whole, Loc loc, size_t begin, size_t end, const Scope &scope,
                                  const JsonValue *context);
  std::optional<std::string> fill(const JsonValue &text, const Scope &scope);
  /// "; did you mean '=text'?" for a plain string that would be an expression over names that are known; else nothing.
  std::string meantExpression(llvm::StringRef text, const Scope &scope) const;
  /// An Absent that nothing caught becomes an error.
  Value caught(Value v, At at);

private:
  std::set<std::string> nullKeys; ///< whose meaning is being evaluated
  Value lookup(llvm::StringRef name, At at, const Scope &scope);
  /// What a key of config.json is that is there and null.
  Value ofNull(llvm::StringRef key);
  /// a ?? b ?? c. `nullKey`: the first key of the chain that was null, for what is its default.
  Value coalesce(const Expr *e, const Scope &scope, const JsonValue *context, std::string nullKey = "");
  Value conditional(const Expr *e, const Scope &scope, const JsonValue *context);
  Value call(const Expr *e, const Scope &scope, const JsonValue *context);
  Value index(const Expr *e, const Scope &scope, const JsonValue *context);
};

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_EVALUATE_EVALUATOR_H
