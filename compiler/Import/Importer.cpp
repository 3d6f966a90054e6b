// Runs an import: description, constants, weights, inputs, body, outputs, checks, repeats, module attributes.
#include "compiler/Import/Importer.h"
#include "compiler/Import/Description/Lint.h"
#include "compiler/Import/Evaluate/ConfigReader.h"
#include "compiler/Import/Evaluate/EmitTemplates.h"
#include "compiler/Import/Import.h"
#include "compiler/Import/Warnings.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Verifier.h"

using namespace heddle;
using llvm::Twine;

/// Removes ops without effects whose results are unused. Users come after the ops they use, so one walk from the end
/// finds all.
static void dropDeadValues(mlir::ModuleOp module) {
  module->walk<mlir::WalkOrder::PostOrder, mlir::ReverseIterator>([&](mlir::Operation *op) {
    bool dead = op->getNumResults() && op->use_empty();
    if (dead && (mlir::isPure(op) || llvm::isa<model::RepeatOp>(op)))
      op->erase();
  });
}

/// Reports what the checks of the import let through and an op's own verifier does not.
static void verify(mlir::ModuleOp module, llvm::StringRef file, DiagnosticSink &sink) {
  mlir::ScopedDiagnosticHandler handler(module.getContext(), [&](mlir::Diagnostic &d) {
    std::string where;
    llvm::raw_string_ostream(where) << d.getLocation();
    sink.errorInFile(Error::Misfit, file, "", escaped(d.str(), 1000) + " at " + escaped(where, 300));
    return mlir::success();
  });
  if (mlir::failed(mlir::verify(module)) && !sink.hasErrors())
    sink.errorInFile(Error::OurMistake, file, "", "the imported module does not verify");
}

/// Imports what the options name: null after an error, and without one where an output is unknown for lack of weights.
/// The whole import in order. Later steps run after errors of earlier ones, to report all mistakes at once; the module
/// is thrown away then.
static mlir::OwningOpRef<mlir::ModuleOp> import(Session &session) {
  DiagnosticSink &sink = session.sink;
  std::optional<Source> source = openSource(session);
  if (!source || !Lint(*source->doc, session.expressions, sink).run())
    return {};
  const Description &doc = *source->doc;
  session.places.setModel(doc, source->config ? &source->config->json : nullptr);
  session.evaluator.configFile = source->config.get();
  ConfigReader(doc, source->config.get(), session.evaluator, sink, session.options.force, session.options.bodyAlone)
      .run(session.options.sets);
  ModelWeights weights(session, *source);

  Emitter &in = session.in;
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(in.location({doc.root.loc, &doc.root}));
  in.builder.setInsertionPointToEnd(module->getBody());
  Environment env;
  BodyRunner body(session, doc, weights);
  Signature signature = declareInputs(session, doc, body, env);
  body.run(doc.body, {&env, Scope::Kind::Body}, "");
  std::optional<std::vector<std::string>> outputs;
  if (!in.exhausted())
    outputs = writeOutputs(session, doc, signature.run, env, weights);
  weights.finish(sink, outputs.has_value());
  if (sink.hasErrors() || !outputs)
    return {};
  writeModuleAttributes(session, *source, weights, *module, signature.inputs, *outputs);
  warn(*module, body.meant, session.places, sink);
  dropDeadValues(*module);
  rollRepeats(in.builder, body.repeats());
  dropDeadValues(*module);
  verify(*module, doc.source->name(), sink);
  return module;
}

mlir::OwningOpRef<mlir::ModuleOp> heddle::importModel(mlir::MLIRContext &context, const ImportOptions &options,
                                                      DiagnosticSink &sink) {
  context.loadDialect<mlir::func::FuncDialect, model::ModelDialect, mask::MaskDialect, attn::AttnDialect>();
  Session session(context, options, sink);
  mlir::OwningOpRef<mlir::ModuleOp> module = import(session);
  return sink.hasErrors() ? mlir::OwningOpRef<mlir::ModuleOp>() : std::move(module);
}
