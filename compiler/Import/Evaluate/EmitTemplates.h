// Bodies of Emitter's templates: how the importer makes an op of a type known at compile time. Result types are
// inferred before the op exists, and what inference refuses becomes an error at the user's JSON token. (Op::create
// aborts the process where inference fails.)
#ifndef HEDDLE_COMPILER_IMPORT_EVALUATE_EMITTEMPLATES_H
#define HEDDLE_COMPILER_IMPORT_EVALUATE_EMITTEMPLATES_H

#include "compiler/Import/Evaluate/Emitter.h"
#include "dialects/Attn/IR/Attn.h"
#include "dialects/Model/IR/Model.h"
#include "mlir/IR/Diagnostics.h"

namespace heddle {

/// Infers the result types with a diagnostic handler in place, then creates the op. What inference says is completed
/// with the shapes of the operands, where it names none, and with the weights that were read for this op.
template <class Op>
std::vector<mlir::Value> Emitter::emitAll(At at, llvm::ArrayRef<mlir::Value> operands, Attrs attrs, unsigned regions) {
  for (mlir::Value v : operands)
    if (!v)
      return {};
  mlir::DictionaryAttr dictionary = mlir::DictionaryAttr::get(&context, attrs);
  llvm::SmallVector<mlir::Type, 2> types;
  std::string said;
  bool ok;
  {
    mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &d) {
      said += (said.empty() ? "" : "; ") + d.str();
      return mlir::success();
    });
    mlir::OperationName name(Op::getOperationName(), &context);
    mlir::Location where = mlir::FileLineColLoc::get(&context, "", 0, 0);
    auto complain = [&] { return mlir::emitError(where); };
    if constexpr (std::is_same_v<typename Op::Properties, mlir::EmptyProperties>) {
      ok = succeeded(Op::inferReturnTypes(&context, where, mlir::ValueRange(operands), dictionary,
                                          mlir::OpaqueProperties(nullptr), {}, types));
    } else {
      typename Op::Properties properties;
      Op::populateDefaultProperties(name, properties);
      ok = succeeded(Op::setPropertiesFromAttr(properties, dictionary, complain)) &&
           succeeded(Op::inferReturnTypes(&context, where, mlir::ValueRange(operands), dictionary,
                                          mlir::OpaqueProperties(&properties), {}, types));
    }
  }
  // Shapes are in brackets: a message that has one names the operands already, if there are not many.
  if (!ok) {
    if (said.empty())
      said = "operands do not fit";
    bool first = true;
    if (said.find('[') == std::string::npos || operands.size() > 2)
      for (mlir::Value v : operands)
        if (llvm::isa<model::ModelTensorType>(v.getType()))
          said += (first ? "; operands: " : ", ") + Value::ofIr(Value::Kind::Tensor, v).show(), first = false;
    if (!weightsRead.empty())
      said += " (" + weightsRead + ")";
    error(Error::Misfit, at, escaped(said, 1000));
    return {};
  }
  mlir::Operation *op = create(at, Op::getOperationName(), operands, types, attrs, regions);
  return std::vector<mlir::Value>(op->result_begin(), op->result_end());
}

template <class Op> Value Emitter::emit(At at, llvm::ArrayRef<mlir::Value> operands, Attrs attrs) {
  std::vector<mlir::Value> results = emitAll<Op>(at, operands, std::move(attrs));
  return results.empty() ? Value::poison() : Value::ofIr(Value::Kind::Tensor, results[0]);
}

/// Masks and biases have one type each, so nothing is inferred. A null operand is an error that was reported.
template <class Op> Value Emitter::emitMask(At at, llvm::ArrayRef<mlir::Value> operands, Attrs attrs) {
  for (mlir::Value v : operands)
    if (!v)
      return Value::poison();
  mlir::Operation *op = create(at, Op::getOperationName(), operands, {mask::MaskType::get(&context)}, attrs);
  return Value::ofIr(Value::Kind::Mask, op->getResult(0));
}

template <class Op> Value Emitter::emitBias(At at, llvm::ArrayRef<mlir::Value> operands, Attrs attrs) {
  for (mlir::Value v : operands)
    if (!v)
      return Value::poison();
  mlir::Operation *op = create(at, Op::getOperationName(), operands, {attn::BiasType::get(&context)}, attrs);
  return Value::ofIr(Value::Kind::Bias, op->getResult(0));
}

/// The type of a value that is known to be a tensor.
inline model::ModelTensorType tensorType(mlir::Value v) { return llvm::cast<model::ModelTensorType>(v.getType()); }

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_EVALUATE_EMITTEMPLATES_H
