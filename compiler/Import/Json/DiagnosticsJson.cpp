// What DiagnosticSink::print says to people, for programs: nothing is cut, and places are numbers.
#include "compiler/Import/Json/DiagnosticsJson.h"

using namespace heddle;
using llvm::StringRef;

static StringRef kindOf(Error code) { return exitOf(code) == Exit::Unsupported ? "unsupported" : "refused"; }

static StringRef kindOf(const Diagnostic &d) {
  return d.isError() ? kindOf(d.code) : d.kind == Diagnostic::Kind::Warning ? "warning" : "remark";
}

/// Writes the place of a message into its object; a text that was made from a file has no lines.
static void addPlace(Loc loc, StringRef file, llvm::json::Object &o) {
  o["file"] = escaped(loc ? loc.file->name() : file);
  if (!loc || loc.file->madeFrom)
    return;
  auto [line, column] = loc.file->lineAndColumn(loc.offset);
  o["line"] = line;
  o["column"] = column;
}

static llvm::json::Object jsonOf(const Diagnostic &d) {
  llvm::json::Object o;
  addPlace(d.loc, d.file, o);
  o["kind"] = kindOf(d);
  o["path"] = escaped(d.loc ? d.loc.file->keyOf(d.path) : d.path);
  o["message"] = d.message;
  if (d.isError())
    o["code"] = codeOf(d.code);
  llvm::json::Array table;
  for (auto &row : d.table)
    table.push_back(llvm::json::Array(row));
  if (!table.empty())
    o["table"] = std::move(table);
  llvm::json::Array notes;
  for (auto &n : d.notes) {
    llvm::json::Object note;
    addPlace(n.loc, "", note);
    note["message"] = n.text;
    notes.push_back(std::move(note));
  }
  if (!notes.empty())
    o["notes"] = std::move(notes);
  return o;
}

llvm::json::Array heddle::jsonOf(const DiagnosticSink &sink) {
  llvm::json::Array out;
  for (const Diagnostic *d : sink.sorted())
    out.push_back(::jsonOf(*d));
  return out;
}

llvm::json::Object heddle::jsonOf(Error code, StringRef message) {
  return llvm::json::Object{{"kind", kindOf(code)}, {"code", codeOf(code)}, {"message", llvm::json::fixUTF8(message)}};
}
