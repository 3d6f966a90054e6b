//===- Reduce.h - smaller IR that still has a fault -------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_REDUCE_REDUCE_H
#define HEDDLE_COMPILER_REDUCE_REDUCE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <functional>
#include <string>

namespace heddle {

/// Whether a module, which is valid, still has the fault.
using HasFault = llvm::function_ref<bool(mlir::ModuleOp)>;

/// Told before a value of a function becomes its new input `name`; of a function that is not interpreted it need not do
/// anything. Null: nobody asks.
using ValueBecomesInput = std::function<void(mlir::Value value, llvm::StringRef name)>;

struct Reduction {
  int64_t before = 0, after = 0; ///< ops below the module
  int64_t tried = 0;             ///< modules of which `hasFault` was asked
};

/// Makes `module` smaller, as long as `hasFault` holds: functions, results, statements, attributes and inputs go,
/// values become inputs, repeats get shorter and are written out, widths are halved. The module must have the fault.
Reduction reduceModule(mlir::OwningOpRef<mlir::ModuleOp> &module, HasFault hasFault,
                       const ValueBecomesInput &becomesInput = {});

/// Ops below a module.
int64_t opsOf(mlir::ModuleOp module);

} // namespace heddle

#endif
