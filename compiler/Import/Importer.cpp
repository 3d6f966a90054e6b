// The order of an import.
#include "compiler/Import/ConfigReader.h"
#include "compiler/Import/EmitTemplates.h"
#include "compiler/Import/Importer.h"
#include "compiler/Import/Lint.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Verifier.h"

#include "llvm/ADT/STLExtras.h"

using namespace heddle;
using llvm::StringRef;
using llvm::Twine;

//===--- the order of things --------------------------------------------------===//

Importer::Importer(mlir::MLIRContext &context, const ImportOptions &options, DiagnosticSink &sink)
    : options(options), sink(sink), families(options.families), expressions(sink),
      places(context, sink, expressions), in(context, places), evaluator(in, expressions) {
  context.loadDialect<mlir::func::FuncDialect, model::ModelDialect, mask::MaskDialect,
                      attn::AttnDialect>();
}

Importer::~Importer() = default;

mlir::OwningOpRef<mlir::ModuleOp> Importer::run() {
  if (!open())
    return {};
  if (!Lint(*doc, expressions, sink).run())
    return {};
  places.setModel(*doc, isFamily ? &config.json : nullptr);
  evaluator.configFile = isFamily ? &config : nullptr;
  ConfigReader(*doc, isFamily ? &config : nullptr, evaluator, sink).run(options.sets);
  openWeights();

  mlir::Location top = in.location({doc->root.loc, &doc->root});
  module = mlir::ModuleOp::create(top);
  in.builder.setInsertionPointToEnd(module->getBody());
  Environment env;
  Scope scope{&env, Scope::Kind::Body};
  readInputs(env);
  if (function) {
    runBody(doc->body, scope, "");
    if (!in.exhausted())
      writeOutputs(env);
  }
  // Beside other errors nobody knows what would have been read.
  if (!missing.empty())
    reportMissing();
  else if (weightNames && !sink.hasErrors() && !incomplete)
    weightNames->finish();
  if (sink.hasErrors() || incomplete)
    return {};
  writeModuleAttributes();
  dropDeadValues();
  rollRepeats();
  dropDeadValues();

  // What the checks above let through and an op's own verifier does not.
  mlir::ScopedDiagnosticHandler handler(&in.context, [&](mlir::Diagnostic &d) {
    std::string where;
    llvm::raw_string_ostream(where) << d.getLocation();
    sink.errorInFile(doc->source->name(), "", escaped(d.str(), 1000) + " at " + escaped(where, 300));
    return mlir::success();
  });
  if (mlir::failed(mlir::verify(*module)) && !sink.hasErrors())
    sink.errorInFile(doc->source->name(), "", "the imported module does not verify");
  if (sink.hasErrors())
    return {};
  return std::move(module);
}

/// An op without effects that nobody reads computes nothing. Users stand behind what they
/// use, or inside what stands behind: one walk from the end finds all.
void Importer::dropDeadValues() {
  module->walk<mlir::WalkOrder::PostOrder, mlir::ReverseIterator>([&](mlir::Operation *op) {
    bool dead = op->getNumResults() && op->use_empty();
    if (dead && (mlir::isPure(op) || llvm::isa<model::RepeatOp>(op)))
      op->erase();
  });
}

mlir::OwningOpRef<mlir::ModuleOp> heddle::importModel(mlir::MLIRContext &context,
                                                      const ImportOptions &options,
                                                      DiagnosticSink &sink) {
  auto importer = std::make_unique<Importer>(context, options, sink);
  mlir::OwningOpRef<mlir::ModuleOp> module = importer->run();
  return sink.hasErrors() ? mlir::OwningOpRef<mlir::ModuleOp>() : std::move(module);
}
