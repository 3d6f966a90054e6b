// Makes ops: the builder, and what every op needs. Types are inferred first and what inference refuses is
// told at the JSON token (EmitTemplates.h); constants, numbers and lengths become ops where a tensor is wanted.
#ifndef HEDDLE_COMPILER_IMPORT_EVALUATE_EMITTER_H
#define HEDDLE_COMPILER_IMPORT_EVALUATE_EMITTER_H

#include "compiler/Import/Description/Places.h"
#include "compiler/Import/Evaluate/Value.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace heddle {

/// The builder of one import, and what every op needs: its location, its result types, its name in the printed IR.
class Emitter {
public:
  using Attrs = llvm::SmallVector<mlir::NamedAttribute, 8>;
  /// Element types of the language: f32, i64, i1.
  enum class Element { Real, Integer, Bool };

  Emitter(mlir::MLIRContext &context, Places &places) : context(context), places(places), builder(&context) {}

  mlir::MLIRContext &context;
  Places &places;
  mlir::OpBuilder builder;
  /// Weights that the op that is being imported has read, for messages about shapes.
  std::string weightsRead;

  Diagnostic &error(Error code, At at, const llvm::Twine &message) { return places.error(code, at, message); }
  mlir::Location location(At at) { return places.location(at); }

  /// Counts a statement or an op against the most that one import may have; false, and an error once, past it.
  bool spend(At at);
  bool exhausted() const { return isExhausted; }

  /// Makes an op whose result types are inferred; what inference refuses is an error at
  /// `at`, and the results are null.
  template <class Op>
  std::vector<mlir::Value> emitAll(At at, llvm::ArrayRef<mlir::Value> operands, Attrs attrs, unsigned regions = 0);
  template <class Op> Value emit(At at, llvm::ArrayRef<mlir::Value> operands, Attrs attrs = {});
  /// The same for ops of masks and biases, which have one known result type.
  template <class Op> Value emitMask(At at, llvm::ArrayRef<mlir::Value> operands, Attrs attrs = {});
  template <class Op> Value emitBias(At at, llvm::ArrayRef<mlir::Value> operands, Attrs attrs = {});
  /// A tensor of the weights file, under the last words of its name.
  mlir::Value param(At at, llvm::StringRef name, mlir::Type type);
  /// Gives `values`, which a statement binds, the statement's names. Of the statements of nested blocks that bind one
  /// value the outermost names it, of those side by side the first.
  void name(llvm::ArrayRef<std::string> names, llvm::ArrayRef<Value> values);
  /// Creates an op whose result types are given.
  mlir::Operation *create(At at, llvm::StringRef name, llvm::ArrayRef<mlir::Value> operands,
                          llvm::ArrayRef<mlir::Type> types, const Attrs &attrs, unsigned regions = 0);

  // Attributes of ops by kind. `segments` is MLIR's operandSegmentSizes, for ops with optional operands.
  mlir::NamedAttribute attr(llvm::StringRef name, mlir::Attribute value);
  mlir::NamedAttribute intAttr(llvm::StringRef name, int64_t value);
  mlir::NamedAttribute realAttr(llvm::StringRef name, double value);
  mlir::NamedAttribute textAttr(llvm::StringRef name, llvm::StringRef value);
  mlir::NamedAttribute unitAttr(llvm::StringRef name);
  mlir::NamedAttribute intsAttr(llvm::StringRef name, llvm::ArrayRef<int64_t> values);
  mlir::NamedAttribute segments(llvm::ArrayRef<int32_t> sizes);

  /// The element type that a value has as a tensor.
  static Element elementOf(const Value &v);
  /// A tensor in the IR: constants, lengths and numbers become ops. Null when it cannot be.
  mlir::Value materialize(const Value &v, At at);
  mlir::Value materialize(const Value &v, Element element, At at);
  /// `v` with elements of another type, or itself.
  mlir::Value cast(mlir::Value v, Element element, At at);
  mlir::Value constantOp(const ConstantTensor &t, Element element, At at);

private:
  // Sixty layers of 256 experts take about 300000.
  static constexpr uint64_t mostSteps = 500'000;
  uint64_t budget = mostSteps; ///< statements and ops that are left
  bool isExhausted = false;
  llvm::DenseMap<mlir::Operation *, size_t> depthOfName; ///< how many blocks the statement that named it was inside of
};

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_EVALUATE_EMITTER_H
