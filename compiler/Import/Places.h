// Where the import is: the tokens of the description, and the calls of blocks that led to them.
// Messages and the locations of ops come from here.
#ifndef HEDDLE_COMPILER_IMPORT_PLACES_H
#define HEDDLE_COMPILER_IMPORT_PLACES_H

#include "compiler/Import/Diagnostics.h"
#include "compiler/Import/Expression.h"
#include "mlir/IR/Location.h"

namespace heddle {
struct Description;

/// A place for messages and for the locations of ops: a token, and the JSON value that
/// names the path.
struct At {
  Loc loc;
  const JsonValue *json = nullptr;
};

class Places {
public:
  Places(mlir::MLIRContext &context, DiagnosticSink &sink, Expressions &expressions)
      : context(context), sink(sink), expressions(expressions) {}

  /// What is imported; `config`: its config.json, whose values messages quote, or null.
  void setModel(const Description &model, const JsonValue *json) {
    doc = &model;
    config = json;
  }

  /// A message at the user's token that led to `at`.
  Diagnostic &error(At at, const llvm::Twine &message);
  /// What an op made at `at` carries: the path in the JSON, and the user's token.
  mlir::Location location(At at);
  std::string pathOf(At at) const;
  /// The place that the user sees: in their own file before a family's, and that before the library's.
  At shown(At at) const;
  /// Of a value: an expression's own place is that of its outermost token.
  At of(const JsonValue &v);

  /// The calls of blocks that the import is inside of, and the innermost block.
  size_t depth() const { return frames.size(); }
  std::string block() const { return frames.empty() ? "" : frames.back().block; }

  /// As long as it lives, the import is inside of a call of a block.
  class Inside {
  public:
    Inside(Places &places, At call, std::string block) : places(places) { places.frames.push_back({call, std::move(block)}); }
    ~Inside() { places.frames.pop_back(); }
    Inside(const Inside &) = delete;

  private:
    Places &places;
  };

private:
  struct Frame {
    At call;
    std::string block;
  };

  mlir::MLIRContext &context;
  DiagnosticSink &sink;
  Expressions &expressions;
  const Description *doc = nullptr;
  const JsonValue *config = nullptr;
  std::vector<Frame> frames;
};

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_PLACES_H
