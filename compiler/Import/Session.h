// Internal to the importer: what its parts hand to each other. All of them work with one Session; opening gives a
// Source, its weights are ModelWeights, declaring the inputs gives a Signature, and running the body (BodyRunner.h) the
// repeats that are rolled at the end.
#ifndef HEDDLE_COMPILER_IMPORT_SESSION_H
#define HEDDLE_COMPILER_IMPORT_SESSION_H

#include "compiler/Import/Description/Description.h"
#include "compiler/Import/Evaluate/Evaluator.h"
#include "compiler/Import/Import.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heddle {
class BodyRunner;
class ModelWeights;

/// What every part works with, from the beginning of an import to its end.
struct Session {
  Session(mlir::MLIRContext &context, const ImportOptions &options, DiagnosticSink &sink)
      : options(options), sink(sink), expressions(sink), places(context, sink, expressions), in(context, places),
        evaluator(in, expressions) {}

  const ImportOptions &options;
  DiagnosticSink &sink;
  Expressions expressions;
  Places places;
  Emitter in;
  Evaluator evaluator;
};

/// The description that was opened, and the config.json that led to it.
struct Source {
  std::unique_ptr<Description> doc;
  std::unique_ptr<ConfigFile> config; ///< where the description is a family's; null: it is the user's own
  std::string directory;              ///< of the description or of the model
};

/// @run with its inputs.
struct Signature {
  mlir::func::FuncOp run;
  std::vector<std::string> inputs;
};

/// A repeat as it was written out: a marker in front of every iteration and one behind the last. Rolled when all is
/// imported, since only then all uses are known.
struct Unrolled {
  llvm::SmallVector<mlir::Operation *> markers;
  mlir::Location location;
  std::string index; ///< its name
};

/// Reads the description, or the config.json and its family; none after an error (Files.cpp).
std::optional<Source> openSource(Session &session);

/// Declares @run and binds its inputs in `env`; the body is built behind them (Signature.cpp).
Signature declareInputs(Session &session, const Description &doc, BodyRunner &body, Environment &env);
/// Returns the outputs from @run, and their names; none where one is unknown, because of an error or for lack of
/// weights.
std::optional<std::vector<std::string>> writeOutputs(Session &session, const Description &doc, mlir::func::FuncOp run,
                                                     const Environment &env, const ModelWeights &weights);
/// Names, bounds, files, and the roles of inputs and outputs in generation (ModuleAttributes.cpp).
void writeModuleAttributes(Session &session, const Source &source, const ModelWeights &weights, mlir::ModuleOp module,
                           const std::vector<std::string> &inputs, const std::vector<std::string> &outputs);

mlir::Operation *markIteration(Emitter &in, At at);
/// Inner repeats stand before those around them (Roll.cpp).
void rollRepeats(mlir::OpBuilder &builder, llvm::ArrayRef<Unrolled> repeats);

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_SESSION_H
