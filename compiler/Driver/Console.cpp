//===- Console.cpp - the streams and the status of a command --------------===//

#include "compiler/Driver/Console.h"
#include "compiler/Driver/CommandRecord.h"
#include "compiler/Driver/Scratch.h"

using namespace heddle;

// Paths and what other programs said may be in a message.

int Console::complain(Error error, const llvm::Twine &text) const {
  Scratch::waitIfLeaving();
  std::string message = text.str();
  err << "heddle: error[" << codeOf(error) << "]: " << escapedLines(message) << "\n";
  if (record)
    record->error(error, message);
  return int(exitOf(error));
}

void Console::note(const llvm::Twine &text) const {
  std::string message = text.str();
  if (!quiet)
    err << "heddle: note: " << escapedLines(message) << "\n";
  if (record)
    record->note(message);
}

void Console::print(const DiagnosticSink &sink, unsigned limit) const {
  sink.print(err, limit);
  if (record)
    record->add(sink);
}
