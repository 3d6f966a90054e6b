//===- PassFault.h - what is wrong with a pass ------------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_REDUCE_PASSFAULT_H
#define HEDDLE_COMPILER_REDUCE_PASSFAULT_H

#include "compiler/Reduce/InventedValues.h"

namespace heddle {

/// What happens when a pass runs on a module.
struct PassFault {
  enum class Kind {
    None,
    Fails,   ///< the pass, or the verifier after it
    Broken,  ///< @run can no longer be interpreted
    Differs, ///< a result of @run is another one
  };
  Kind kind = Kind::None;
  std::string what; ///< in words

  /// The same fault of smaller IR: as far as names and numbers in the message do not matter.
  bool isLike(const PassFault &other) const;
};

/// Runs `pipeline` (`cse`, `builtin.module(cse)`) on a copy of `module`, and interprets both if `values` are there for
/// them. Says nothing. None if `pipeline` is no pipeline.
std::optional<PassFault> faultOf(llvm::StringRef pipeline, mlir::ModuleOp module, const GivenValues &values,
                                 double tolerance);

} // namespace heddle

#endif
