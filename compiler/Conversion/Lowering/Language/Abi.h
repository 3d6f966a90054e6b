//===- Abi.h - runtime/include/heddle/abi.def as the compiler sees it -------===//
//
// runtime/include/heddle/abi.def as the compiler uses it: the type of entries, the functions that generated code may
// call, and the codes of its failures. The runtime reads the same rows.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_LANGUAGE_ABI_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_LANGUAGE_ABI_H

#include "mlir/IR/BuiltinTypes.h"
#include <optional>

namespace heddle::abi {

/// Codes of heddle_fail.
enum class Failure : int64_t {
#define HEDDLE_FAILURE(code, name, text) name = code,
#include "runtime/include/heddle/abi.def"
};

/// The type of every entry; every pointer is an !llvm.ptr.
mlir::FunctionType entryType(mlir::MLIRContext *context);

/// The type of a function of the runtime or of libm; none if generated code may not call it.
std::optional<mlir::FunctionType> functionType(llvm::StringRef symbol, mlir::MLIRContext *context);

} // namespace heddle::abi

#endif
