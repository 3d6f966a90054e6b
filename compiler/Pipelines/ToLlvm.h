//===- ToLlvm.h - six dialects to LLVM's in one walk ------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_PIPELINES_TOLLVM_H
#define HEDDLE_COMPILER_PIPELINES_TOLLVM_H

#include <memory>

namespace mlir {
class Pass;
} // namespace mlir

namespace heddle {

/// Of what `llvm` makes from loops: arith, math, index, func, cf and ub become the LLVM dialect.
std::unique_ptr<mlir::Pass> createToLlvmPass();

} // namespace heddle

#endif
