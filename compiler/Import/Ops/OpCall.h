// Internal: one call of an op while it is imported. Attributes are evaluated on demand: the
// call's own, else what `defaults` say, else what the op says; null is not given.
#ifndef HEDDLE_COMPILER_IMPORT_OPS_OPCALL_H
#define HEDDLE_COMPILER_IMPORT_OPS_OPCALL_H

#include "compiler/Import/Evaluate/EmitTemplates.h"
#include "compiler/Import/Ops/BodyRunner.h"

namespace heddle {

/// A call of an op. Handlers (OpHandlers.h) ask it for attributes, operands and weights, then make ops, unless `bad`.
class OpCall {
public:
  OpCall(BodyRunner &body, const CallSpec &spec, const Scope &scope, std::string weights, std::vector<Value> operands)
      : in(body.session.in), body(body), evaluator(body.session.evaluator), spec(spec), scope(scope),
        weights(std::move(weights)), operands(std::move(operands)), at{spec.loc, spec.json} {}

  Emitter &in;
  BodyRunner &body;
  Evaluator &evaluator;
  const CallSpec &spec;
  const Scope &scope;
  std::string weights; // the scope of names in force
  std::vector<Value> operands;
  At at;
  /// Something was wrong, and reported: the op yields poison.
  bool bad = false;

  /// Null when not given anywhere.
  Value attr(llvm::StringRef name);
  /// A value that is not what was expected, as a message shows it; a string that lacks its `=` is named so.
  std::string shown(const Value &v) const;
  /// Where the attribute is, or the call.
  At place(llvm::StringRef name) const;
  void fail(Error code, const llvm::Twine &message) { fail(code, at, message); }
  Diagnostic &fail(Error code, At where, const llvm::Twine &message);

  // With a fallback the attribute may be left out; without one it is required.
  int64_t integer(llvm::StringRef name, std::optional<int64_t> fallback = std::nullopt, int64_t least = INT64_MIN);
  std::optional<int64_t> optionalInteger(llvm::StringRef name);
  double real(llvm::StringRef name, double fallback);
  /// The attribute `eps`, above 0: a norm of equal numbers would divide by it.
  double epsilon(double fallback);
  bool flag(llvm::StringRef name, bool fallback);
  bool isOther(llvm::StringRef name); // a choice of two: not the first
  model::Size size(llvm::StringRef name, std::optional<int64_t> fallback = std::nullopt);
  /// A list of integers, or one for all `n`.
  std::vector<int64_t> integers(llvm::StringRef name, size_t n, int64_t fallback);

  /// Operand i as a tensor; null after an error.
  mlir::Value tensor(size_t i);
  mlir::Value tensor(size_t i, Emitter::Element e);
  /// An axis counted from the front.
  int64_t axis(const Value &v, int64_t rank);

  /// `weight`, `bias` or another part; null when it is off, unknown, or wrong (then `bad`).
  mlir::Value weight(llvm::StringRef kind);
  /// Its shape where no file is there to say it; none where nobody could.
  std::optional<std::vector<int64_t>> inventedShape(llvm::StringRef kind);
  /// The same where it must be real and of rank `rank` (-1: any).
  mlir::Value realWeight(llvm::StringRef kind);
  bool isOff(llvm::StringRef kind);
  /// Of the part `weight`, once it was asked for: what a bias must fit.
  std::vector<int64_t> weightShape;
  bool rowsAreOutputs = false; ///< of the weight: it is [out, in] whatever the layout

  // WeightShapes.cpp
  /// Axis by axis what the op expects of a part; none: cannot be known without the weight.
  std::vector<std::optional<int64_t>> expectedShape(llvm::StringRef kind);
  /// Notes that the files do not have it. Where its shape is known, or that of a tensor that may be meant, the import
  /// goes on as if it were there.
  mlir::Value missing(llvm::StringRef kind, const std::string &name, const std::string &why);
  mlir::Value listed(llvm::StringRef kind, const std::string &name, std::vector<std::optional<int64_t>> shape,
                     bool optional);
  mlir::Value standIn(llvm::StringRef kind, const std::string &name, llvm::ArrayRef<std::optional<int64_t>> shape);
};

/// Whether a number of rows was made up, because only the file says it.
bool isManyRows(int64_t n);

/// Runs the handler of the call's op; one value for each result, poison after an error.
std::vector<Value> importOp(OpCall &call);

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_OPS_OPCALL_H
