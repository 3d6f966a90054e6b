// The order of an import, and places: which token a message points at, which location an
// op carries.
#include "compiler/Import/EmitTemplates.h"
#include "compiler/Import/Lint.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Verifier.h"

#include "llvm/ADT/STLExtras.h"

using namespace heddle;
using llvm::StringRef;
using llvm::Twine;

//===--- places ---------------------------------------------------------------===//

/// The user's own file before a family's, a family's before the library's.
static int rankOf(Loc loc) {
  if (!loc.file)
    return 3;
  return !loc.file->isLibrary ? 0 : loc.file->name() == "stdlib.json" ? 2 : 1;
}

At Importer::placeShown(At at) const {
  At best = at;
  for (const Frame &f : llvm::reverse(frames))
    if (rankOf(f.call.loc) < rankOf(best.loc))
      best = f.call;
  return best;
}

At Importer::placeOf(const JsonValue &v) {
  const Expr *e = v.isExpression() ? expressions.ofValue(v) : nullptr;
  return {e ? e->loc : v.loc, &v};
}

std::string Importer::pathOf(At at) const {
  std::string out;
  for (const Frame &f : frames)
    out += (out.empty() ? (f.call.json ? f.call.json->path() : "$") : "") + " > " + f.block;
  if (out.empty())
    return at.json ? at.json->path() : "";
  return out;
}

/// Values that came from config.json: where they stand, for a message that involves them.
static void configNotes(Diagnostic &d, const JsonValue *json, const Description &doc,
                        const JsonValue &configJson, Expressions &expressions) {
  if (!json || !doc.config || !doc.family || configJson.members.empty())
    return;
  std::set<std::string> shown;
  unsigned depth = 0;
  std::function<void(const Expr *)> fromExpression;
  auto fromName = [&](StringRef name) {
    if (shown.size() > 6 || depth > 4 || !shown.insert(name.str()).second)
      return;
    if (const JsonMember *constant = doc.config->findMember(name);
        constant && constant->value.isExpression()) {
      ++depth;
      fromExpression(expressions.ofValue(constant->value));
      --depth;
    }
    if (const JsonMember *m = configJson.findMember(name.split('.').first))
      d.note(m->value.loc, quote(m->key) + " is " + m->value.text().substr(0, 60) + " here");
  };
  fromExpression = [&](const Expr *e) { namesIn(e, [&](StringRef n, Loc) { fromName(n); }); };
  std::function<void(const JsonValue &)> walk = [&](const JsonValue &v) {
    if (v.isExpression())
      fromExpression(expressions.ofValue(v));
    for (const JsonValue &x : v.items)
      walk(x);
    for (const JsonMember &m : v.members)
      if (!m.value.isArray() || m.value.items.size() < 10)
        walk(m.value);
  };
  walk(*json);
}

Diagnostic &Importer::error(At at, const Twine &message) {
  At shown = placeShown(at);
  Diagnostic &d = sink.error(shown.loc, pathOf(at), message);
  if (!(shown.loc == at.loc) && at.loc)
    d.note(at.loc, "in the block " + quote(frames.empty() ? "" : frames.back().block));
  for (const Frame &f : llvm::reverse(frames))
    if (!(f.call.loc == shown.loc) && f.call.loc && rankOf(f.call.loc) < 2)
      d.note(f.call.loc, "called from here");
  if (isFamily && doc)
    configNotes(d, at.json, *doc, configJson, expressions);
  return d;
}

mlir::Location Importer::location(At at) {
  At shown = placeShown(at);
  if (!shown.loc)
    return mlir::NameLoc::get(mlir::StringAttr::get(&context, doc ? doc->source->name() : "import"));
  auto [line, column] = shown.loc.file->lineAndColumn(shown.loc.offset);
  mlir::Location file =
      mlir::FileLineColLoc::get(&context, shown.loc.file->name(), line, column);
  std::string path = pathOf(at);
  return path.empty() ? file : mlir::NameLoc::get(mlir::StringAttr::get(&context, path), file);
}

// Sixty layers of 256 experts take about 300000.
static constexpr uint64_t mostSteps = 500'000;

bool Importer::spend(At at) {
  if (budget == 0) {
    if (!exhausted)
      error(at, "the description expands to more than " + Twine(mostSteps) + " statements");
    exhausted = true;
    return false;
  }
  --budget;
  return true;
}

//===--- the order of things --------------------------------------------------===//

Importer::Importer(mlir::MLIRContext &context, const ImportOptions &options, DiagnosticSink &sink)
    : context(context), options(options), sink(sink), builder(&context),
      families(options.families), expressions(sink) {
  budget = mostSteps;
  context.loadDialect<mlir::func::FuncDialect, model::ModelDialect, mask::MaskDialect,
                      attn::AttnDialect>();
}

Importer::~Importer() = default;

mlir::OwningOpRef<mlir::ModuleOp> Importer::run() {
  if (!open())
    return {};
  if (!Lint(*doc, expressions, sink).run())
    return {};
  readConfig();
  openWeights();

  mlir::Location top = location({doc->root.loc, &doc->root});
  module = mlir::ModuleOp::create(top);
  builder.setInsertionPointToEnd(module->getBody());
  Environment env;
  Scope scope{&env, Scope::Kind::Body};
  readInputs(env);
  if (function) {
    runBody(doc->body, scope, "");
    if (!exhausted)
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
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &d) {
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
