// Internal to the importer: what all of its parts work with, and the source that was opened.
#ifndef HEDDLE_COMPILER_IMPORT_EVALUATE_SESSION_H
#define HEDDLE_COMPILER_IMPORT_EVALUATE_SESSION_H

#include "compiler/Import/Description/Description.h"
#include "compiler/Import/Description/ImportOptions.h"
#include "compiler/Import/Evaluate/Evaluator.h"

namespace heddle {

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

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_EVALUATE_SESSION_H
