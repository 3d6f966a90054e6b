//===- KeyExpressions.h - Expressions over the keys of a file ---*- C++ -*-===//
//
// The table of architectures says a member of config.json by an expression of the description language over the keys
// of the file: "=block_count - (nextn_predict_layers ?? 0)". A name is a key of the architecture.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_GGUF_KEYEXPRESSIONS_H
#define HEDDLE_COMPILER_GGUF_KEYEXPRESSIONS_H

#include "compiler/Import/Description/Expression.h"
#include "compiler/Import/Json/Diagnostics.h"
#include "compiler/Weights/Gguf/GgufArchitectures.h"
#include <nlohmann/json.hpp>

namespace heddle {

/// A value of config.json, in the order in which members were added.
using ConfigValue = nlohmann::ordered_json;

class KeyExpressions {
public:
  KeyExpressions(const GgufFile &file, llvm::StringRef architecture)
      : file(file), architecture(architecture), parsed(unheard) {}

  /// The value of a member of the table: a text that begins with `=` is an expression, everything else stands for
  /// itself. Null means that there is no such member. Fails where a key is missing that has no default, or is of
  /// another kind.
  absl::StatusOr<ConfigValue> value(const ConfigValue &text);

  /// The value of a key of the architecture, null where it is absent; floats as the shortest decimals.
  absl::StatusOr<ConfigValue> key(llvm::StringRef name);
  /// `llama.block_count`.
  std::string whole(llvm::StringRef name) const { return (architecture + "." + name).str(); }
  /// The first key that the last value asked for and found, whole; "" if none.
  const std::string &lastKey() const { return asked; }

private:
  /// None: a key is absent, `missing`.
  using Result = absl::StatusOr<std::optional<ConfigValue>>;
  Result evaluate(const Expr *e);
  Result call(const Expr *e);
  Result binary(const Expr *e);

  const GgufFile &file;
  std::string architecture, missing, asked;
  DiagnosticSink unheard; ///< the table is ours: its expressions parse
  Expressions parsed;
};

/// rope_scaling of config.json; null: none. Tensors of factors decide, whatever `rope.scaling.type` says.
absl::StatusOr<ConfigValue> ropeScaling(const GgufFile &file, llvm::StringRef architecture, KeyExpressions &keys);

} // namespace heddle

#endif // HEDDLE_COMPILER_GGUF_KEYEXPRESSIONS_H
