// Internal to the importer: its steps, in order. All of them work with one Session; opening gives a Source, its weights
// are ModelWeights, declaring the inputs gives a Signature, and running the body (BodyRunner) the repeats that are
// rolled at the end.
#ifndef HEDDLE_COMPILER_IMPORT_IMPORTER_H
#define HEDDLE_COMPILER_IMPORT_IMPORTER_H

#include "compiler/Import/Ops/BodyRunner.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heddle {

/// @run with its inputs.
struct Signature {
  mlir::func::FuncOp run;
  std::vector<std::string> inputs;
};

/// Reads the description, or the config.json and its family; none after an error (Files.cpp).
std::optional<Source> openSource(Session &session);

/// Declares @run and binds its inputs in `env`; the body is built after them (Signature.cpp).
Signature declareInputs(Session &session, const Description &doc, BodyRunner &body, Environment &env);
/// Returns the outputs from @run, and their names; none where one is unknown, because of an error or for lack of
/// weights.
std::optional<std::vector<std::string>> writeOutputs(Session &session, const Description &doc, mlir::func::FuncOp run,
                                                     const Environment &env, const ModelWeights &weights);
/// Names, bounds, files, and the roles of inputs and outputs in generation (ModuleAttributes.cpp).
void writeModuleAttributes(Session &session, const Source &source, const ModelWeights &weights, mlir::ModuleOp module,
                           const std::vector<std::string> &inputs, const std::vector<std::string> &outputs);

/// Inner repeats are before those around them (Roll.cpp).
void rollRepeats(mlir::OpBuilder &builder, llvm::ArrayRef<Unrolled> repeats);

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_IMPORTER_H
