//===- Model.h - the model dialect ------------------------------*- C++ -*-===//
//
// Types, enums and ops of the `model` dialect, and the shape rules they share.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_MODEL_IR_MODEL_H
#define HEDDLE_DIALECTS_MODEL_IR_MODEL_H

#include "dialects/Model/IR/Size.h"
#include "dialects/Model/IR/StepInterface.h"
#include "dialects/Model/IR/WeightLayout.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Model/IR/ModelDialect.h.inc"
#include "dialects/Model/IR/ModelEnums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Model/IR/ModelTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Model/IR/ModelAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialects/Model/IR/ModelOps.h.inc"

namespace heddle::model {

/// numpy broadcasting of lengths: aligned from the right, equal forms or the constant
/// 1. On failure says why through `whyNot` and returns nothing.
std::optional<llvm::SmallVector<Size>> broadcast(llvm::ArrayRef<ModelTensorType> types, std::string *whyNot = nullptr);

/// The most axes that a tensor has: as many as the runtime takes.
inline constexpr int64_t kMostAxes = 16;
/// The most bytes of a tensor where every dim is 1: what is larger fits no machine, and sums of it leave 64 bits.
inline constexpr int64_t kMostBytes = int64_t(1) << 42;
/// Why there is no tensor of these lengths, as the end of a sentence that begins with it; empty where there may be one.
std::string unfitShape(llvm::ArrayRef<Size> sizes, mlir::Type element);

/// Prints and parses `[B, 12, "H//6+1"]`.
void printAxes(mlir::AsmPrinter &p, llvm::ArrayRef<mlir::StringAttr> axes);
mlir::ParseResult parseAxes(mlir::AsmParser &p, llvm::SmallVectorImpl<mlir::StringAttr> &axes);

/// One axis of an einops pattern: names, or "1", that are merged into it.
using PatternGroup = std::vector<std::string>;
struct AxesPattern {
  std::vector<PatternGroup> left, right;
};
/// Reads "b t (h d) -> b h t d"; none when it is not a pattern.
std::optional<AxesPattern> parsePattern(llvm::StringRef text);
/// The length of every name of a rearrange. None with `whyNot` where it does not fit.
std::optional<std::map<std::string, Size>> patternSizes(const AxesPattern &pattern, ModelTensorType operand,
                                                        mlir::DictionaryAttr sizes, std::string &whyNot);

} // namespace heddle::model

#endif
