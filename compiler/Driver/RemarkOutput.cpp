//===- RemarkOutput.cpp - remarks as lines, YAML and JSON -----------------===//

#include "compiler/Driver/RemarkOutput.h"
#include "compiler/Driver/CompileWatcher.h"
#include "compiler/Driver/Output.h"
#include "compiler/Driver/SourcePlaces.h"
#include "dialects/Model/IR/Names.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Remarks/RemarkSerializer.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <set>

using namespace mlir;
using namespace heddle;

//===-- lines ------------------------------------------------------------------------===//

void heddle::sayRemarks(ArrayRef<RemarkRecord> remarks, DiagnosticSink &sink) {
  SourcePlaces places(sink);
  // The sink compares what is said at one place, but not at one that cannot be shown.
  std::set<std::pair<std::string, std::string>> known;
  for (const RemarkRecord &remark : remarks) {
    std::string text = remark.message + " [" + remark.name + ", " + remark.kindName().str() + "]";
    Loc loc = places.of(remark.loc);
    std::string where = loc ? "" : SourcePlaces::text(remark.loc);
    if (!loc && !known.insert({where, text}).second)
      continue;
    heddle::Diagnostic &said = sink.say(heddle::Diagnostic::Kind::Remark, loc, model::pathOf(remark.loc), text);
    said.file = where;
    for (const RemarkRecord::Note &note : remark.notes)
      said.note(places.of(note.loc), note.text);
  }
}

//===-- JSON -------------------------------------------------------------------------===//

/// Adds file, line and column of a location that has them.
static void addPlace(Location where, llvm::json::Object &to) {
  if (auto at = where->findInstanceOf<FileLineColLoc>()) {
    to["file"] = escaped(at.getFilename().getValue(), 4096);
    to["line"] = int64_t(at.getLine());
    to["column"] = int64_t(at.getColumn());
  }
}

llvm::json::Object heddle::remarkJson(const RemarkRecord &remark) {
  llvm::json::Object args;
  for (const auto &[name, text] : remark.args) {
    int64_t whole;
    double real;
    if (!StringRef(text).getAsInteger(10, whole))
      args[name] = whole;
    else if (!StringRef(text).getAsDouble(real))
      args[name] = real;
    else
      args[name] = escaped(text, text.size());
  }
  llvm::json::Array notes;
  for (const RemarkRecord::Note &note : remark.notes) {
    llvm::json::Object one;
    one["message"] = escaped(note.text, note.text.size());
    addPlace(note.loc, one);
    notes.push_back(std::move(one));
  }
  llvm::json::Object all{{"kind", remark.kindName()},
                         {"name", remark.name},
                         {"pass", remark.pass},
                         {"entry", escaped(remark.entry, 4096)},
                         {"path", escaped(model::pathOf(remark.loc), 4096)},
                         {"message", escaped(remark.message, remark.message.size())},
                         {"args", std::move(args)},
                         {"notes", std::move(notes)}};
  addPlace(remark.loc, all);
  return all;
}

//===-- YAML -------------------------------------------------------------------------===//

static std::optional<llvm::remarks::RemarkLocation> placeOf(Location where) {
  auto at = where->findInstanceOf<FileLineColLoc>();
  if (!at)
    return std::nullopt;
  return llvm::remarks::RemarkLocation{at.getFilename().getValue(), at.getLine(), at.getColumn()};
}

static llvm::remarks::Type typeOf(remarks::Kind kind) {
  switch (kind) {
  case remarks::Passed: return llvm::remarks::Type::Passed;
  case remarks::Missed: return llvm::remarks::Type::Missed;
  case remarks::Analysis: return llvm::remarks::Type::Analysis;
  }
  llvm_unreachable("there are three kinds");
}

/// As LLVM's own remarks, which other tools read.
static bool writeYaml(ArrayRef<RemarkRecord> remarks, llvm::raw_ostream &os) {
  auto serializer = llvm::remarks::createRemarkSerializer(llvm::remarks::Format::YAML, os);
  if (!serializer) {
    llvm::consumeError(serializer.takeError());
    return false;
  }
  for (const RemarkRecord &remark : remarks) {
    llvm::remarks::Remark one;
    one.RemarkType = typeOf(remark.kind);
    one.PassName = remark.pass.empty() ? StringRef("code-generation") : StringRef(remark.pass);
    one.RemarkName = remark.name;
    one.FunctionName = remark.entry;
    one.Loc = placeOf(remark.loc);
    one.Args.emplace_back(remark.kind == remarks::Missed ? heddle::remarks::kReason : heddle::remarks::kSentence,
                          remark.message);
    for (const auto &[name, text] : remark.args)
      one.Args.emplace_back(name, text);
    for (const RemarkRecord::Note &note : remark.notes) {
      one.Args.emplace_back(heddle::remarks::kNote, note.text);
      one.Args.back().Loc = placeOf(note.loc);
    }
    (*serializer)->emit(one);
  }
  return true;
}

//===-- machine code -----------------------------------------------------------------===//

void heddle::remarkOnCode(ModuleOp module, ArrayRef<host::CodePart> functions) {
  for (const host::CodePart &part : functions) {
    Operation *function = part.name.empty() ? nullptr : module.lookupSymbol(part.name);
    remarks::InFlight remark =
        remarks::analysis(function ? function : module.getOperation(), heddle::remarks::CodegenFunction);
    remark << (part.name.empty() ? StringRef("constants and tables") : StringRef(part.name)) << ": "
           << heddle::remarks::number("bytes", part.bytes.size()) << " bytes of objects";
    if (part.instructions)
      remark << ", " << heddle::remarks::number("instructions", part.instructions) << " instructions, "
             << heddle::remarks::number("spills", part.spills) << " spills";
    remark.add("cpu_ms", llvm::formatv("{0:F1}", part.seconds * 1e3).str());
  }
}

//===-- the command line -------------------------------------------------------------===//

static bool isYaml(StringRef file) {
  StringRef ending = llvm::sys::path::extension(file);
  return ending == ".yaml" || ending == ".yml";
}

std::string heddle::wrongRemarksFile(StringRef file) {
  if (isYaml(file) || llvm::sys::path::extension(file) == ".json")
    return "";
  return quote(file) + ": remarks are written as YAML or JSON, and the name ends in .yaml or .json";
}

RemarkOutput::RemarkOutput(MLIRContext &context, CompileOptions &options)
    : lines(options.remarks.has_value()), file(options.remarksFile) {
  for (CompileWatcher *watcher : options.watchers)
    if (watcher->wantsRemarks())
      watchers.push_back(watcher);
  if (!lines && file.empty() && watchers.empty())
    return;
  collector.emplace(context, options.remarks.value_or(""));
  options.collector = &*collector;
}

int RemarkOutput::finish(const Console &console, int code, DiagnosticSink *sink) const {
  if (!collector)
    return code;
  for (CompileWatcher *watcher : watchers)
    watcher->remarked(collector->all());
  if (lines && sink) {
    sayRemarks(collector->all(), *sink);
  } else if (lines) {
    DiagnosticSink own;
    sayRemarks(collector->all(), own);
    console.print(own, /*limit=*/unsigned(own.size()) + 1);
  }
  if (file.empty())
    return code;
  int written = writeAtomically(console, file, [&](llvm::raw_pwrite_stream &os) {
    if (isYaml(file))
      return writeYaml(collector->all(), os);
    llvm::json::Array all;
    for (const RemarkRecord &remark : collector->all())
      all.push_back(remarkJson(remark));
    os << llvm::json::Value(std::move(all)) << "\n";
    return true;
  });
  return code == Ok ? written : code;
}
