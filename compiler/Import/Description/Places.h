// The place of the import: the token of the description that is being imported, and the calls of blocks that led to it.
// Messages and the locations of ops are made from it.
#ifndef HEDDLE_COMPILER_IMPORT_DESCRIPTION_PLACES_H
#define HEDDLE_COMPILER_IMPORT_DESCRIPTION_PLACES_H

#include "compiler/Import/Description/Expression.h"
#include "compiler/Import/Json/Diagnostics.h"
#include "mlir/IR/Location.h"
#include <optional>

namespace heddle {
struct Description;

/// A place: a token, and the JSON value that names its path.
struct At {
  Loc loc;
  const JsonValue *json = nullptr;
};

/// Keeps the stack of blocks that are being expanded and makes messages and locations from it.
class Places {
public:
  Places(mlir::MLIRContext &context, DiagnosticSink &sink, Expressions &expressions)
      : context(context), sink(sink), expressions(expressions) {}

  /// The description, and its config.json, whose values messages quote, or null.
  void setModel(const Description &model, const JsonValue *json) {
    doc = &model;
    config = json;
  }

  /// Reports an error at the user's token that led to `at`.
  Diagnostic &error(Error code, At at, const llvm::Twine &message);
  /// The location of an op made at `at`: the path in the JSON and the user's token; inside a block also the block's
  /// statement and the calls around it (dialects/Model/IR/Statements.h).
  mlir::Location location(At at);
  std::string pathOf(At at) const;
  /// The place to show for `at`: in the user's own file rather than a family's, in a family's rather than the
  /// library's.
  At shown(At at) const;
  /// The user's token that an op was made at.
  Loc of(mlir::Location where) const;
  /// The place of a value; that of an expression is its outermost token.
  At of(const JsonValue &v);

  /// How many calls of blocks the import is inside of, and the name of the innermost block.
  size_t depth() const { return frames.size(); }
  std::string block() const { return frames.empty() ? "" : frames.back().block; }

  /// While it exists, the import is inside of a call of a block.
  class Inside {
  public:
    Inside(Places &places, At call, std::string block) : places(places) {
      places.frames.push_back({call, std::move(block)});
    }
    ~Inside() { places.frames.pop_back(); }
    Inside(const Inside &) = delete;

  private:
    Places &places;
  };

private:
  struct Frame {
    At call;
    std::string block;
    std::optional<mlir::Location> calls = {}; ///< this call and those around it, once an op has needed them
  };

  mlir::MLIRContext &context;
  DiagnosticSink &sink;
  Expressions &expressions;
  const Description *doc = nullptr;
  const JsonValue *config = nullptr;
  std::vector<Frame> frames;

  mlir::Location inFile(At at);
  mlir::Location calls(size_t depth);
};

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_DESCRIPTION_PLACES_H
