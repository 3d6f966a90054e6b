//===- ReduceCommand.h - heddle reduce, heddle verify --bisect --*- C++ -*-===//
#ifndef HEDDLE_COMPILER_REDUCE_REDUCECOMMAND_H
#define HEDDLE_COMPILER_REDUCE_REDUCECOMMAND_H

#include "compiler/Driver/Inspect.h"

namespace heddle {

struct ReduceOptions {
  std::string file;   ///< the text of a stage, or of what is between two
  std::string output; ///< empty or "-": standard output
  std::string pass;   ///< --pass: as --pass-pipeline takes it
  std::string check;  ///< --check: a command of the shell that ends with 0 where the fault is still there
};

/// `heddle reduce`: makes IR small on which a pass fails or changes a result, or for which a command says that a fault
/// is there. Without inputs: numbers are made up (InventedValues.h).
int reduceFile(const Console &console, const ReduceOptions &options);

/// `heddle verify --bisect`: what is left of the model in which a pass changes a result, on the model's own weights and
/// inputs. Names the statements, and writes the IR to standard output.
int bisectModel(const Console &console, const CompileOptions &options, const InspectOptions &look);
/// The same of other passes than those of the stages.
int bisectModel(const Console &console, const CompileOptions &options, const InspectOptions &look,
                llvm::function_ref<void(mlir::PassManager &)> addPasses);

} // namespace heddle

#endif
