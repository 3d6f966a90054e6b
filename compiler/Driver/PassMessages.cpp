//===- PassMessages.cpp - places of ops become places of files ------------===//

#include "compiler/Driver/PassMessages.h"
#include "heddle/input_file.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

using namespace mlir;
using namespace heddle;

PassMessages::PassMessages(MLIRContext &context, DiagnosticSink &sink)
    : sink(sink), handler(&context, [this](mlir::Diagnostic &said) {
        if (said.getSeverity() != DiagnosticSeverity::Error)
          return failure();
        take(said);
        return success();
      }) {}

static FileLineColLoc fileOf(Location where) {
  return where->findInstanceOf<FileLineColLoc>();
}

/// Of a file that is shown in messages.
static constexpr uint64_t mostBytes = uint64_t(1) << 30;

Loc PassMessages::placeOf(Location where) {
  FileLineColLoc at = fileOf(where);
  if (!at)
    return {};
  std::string name = at.getFilename().str();
  auto [known, isNew] = files.try_emplace(name);
  if (isNew)
    if (ReadFile text = readInputFile(name.c_str(), mostBytes); text.ok())
      known->second = &sink.addFile(name, std::move(text.bytes));
  if (!known->second)
    return {};
  return {known->second, known->second->offset(at.getLine(), at.getColumn())};
}

void PassMessages::take(mlir::Diagnostic &said) {
  std::string text = said.str();
  StringRef message = text;
  internal |= message.contains("internal error");
  bool unsupported = message.consume_front("unsupported: ");
  // An op's name is its path in the description.
  auto named = said.getLocation()->findInstanceOf<NameLoc>();
  std::string path = named ? named.getName().str() : "", where;
  Loc loc = placeOf(said.getLocation());
  if (FileLineColLoc at = loc ? nullptr : fileOf(said.getLocation()))
    where = (at.getFilename().getValue() + ":" + Twine(at.getLine()) + ":" + Twine(at.getColumn())).str();
  heddle::Diagnostic &complaint = loc ? sink.error(loc, path, message) : sink.errorInFile(where, path, message);
  if (unsupported)
    complaint.unsupported();
  // The op itself says nothing to who did nothing wrong.
  for (mlir::Diagnostic &note : said.getNotes())
    if (!unsupported || !StringRef(note.str()).starts_with("see current operation"))
      complaint.note(placeOf(note.getLocation()), note.str());
}
