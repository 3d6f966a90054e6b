//===- PassMessages.cpp - places of ops become places of files ------------===//

#include "compiler/Driver/PassMessages.h"
#include "dialects/Model/IR/Names.h"

using namespace mlir;
using namespace heddle;

PassMessages::PassMessages(MLIRContext &context, DiagnosticSink &sink, Error code)
    : sink(sink), code(code), places(sink), handler(&context, [this](mlir::Diagnostic &said) { take(said); }) {}

/// `'attn.alibi' op is made for 2 heads` in the words of a description: `alibi: is made for 2 heads`.
static std::string inWordsOfDescription(StringRef message) {
  StringRef rest = message;
  if (!rest.consume_front("'"))
    return message.str();
  auto [op, said] = rest.split("' op ");
  return said.empty() ? message.str() : (op.split('.').second + ": " + said).str();
}

static heddle::Diagnostic::Kind severityOf(const mlir::Diagnostic &said) {
  using Kind = heddle::Diagnostic::Kind;
  return said.getSeverity() == DiagnosticSeverity::Warning ? Kind::Warning : Kind::Remark;
}

void PassMessages::take(mlir::Diagnostic &said) {
  std::string text = said.str();
  bool isError = said.getSeverity() == DiagnosticSeverity::Error,
       ours = isError && StringRef(text).contains("internal error");
  std::string path = model::pathOf(said.getLocation()).str(), where;
  if (!path.empty() && !ours)
    text = inWordsOfDescription(text);
  StringRef message = text;
  bool unsupported = message.consume_front("unsupported: ");
  Loc loc = places.of(said.getLocation());
  if (!loc)
    where = SourcePlaces::text(said.getLocation());
  Error kind = ours ? Error::OurMistake : unsupported ? Error::NotSupported : code;
  heddle::Diagnostic &complaint =
      isError ? sink.error(kind, loc, path, message) : sink.say(severityOf(said), loc, path, message);
  complaint.file = where;
  for (mlir::Diagnostic &note : said.getNotes())
    if (ours || !StringRef(note.str()).starts_with("see current operation"))
      complaint.note(places.of(note.getLocation()), note.str());
}
