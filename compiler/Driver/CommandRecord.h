//===- CommandRecord.h - what a command said and made, for programs -------===//
//
// With --json a command prints one JSON object at its end, whatever happened: what it made, and in `messages` all that
// it said. People still read the messages on standard error as they come.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_DRIVER_COMMANDRECORD_H
#define HEDDLE_COMPILER_DRIVER_COMMANDRECORD_H

#include "compiler/Import/Json/DiagnosticsJson.h"

namespace heddle {

class CommandRecord {
public:
  void note(llvm::StringRef text) {
    messages.push_back(llvm::json::Object{{"kind", "note"}, {"message", llvm::json::fixUTF8(text)}});
  }
  void error(Error code, llvm::StringRef text) { messages.push_back(jsonOf(code, text)); }
  void add(const DiagnosticSink &sink) {
    for (llvm::json::Value &message : jsonOf(sink))
      messages.push_back(std::move(message));
  }

  llvm::json::Object made;    ///< members of the object that say what was made
  llvm::json::Array messages; ///< as `heddle check --json` has them, and {kind: note, message}
};

} // namespace heddle

#endif // HEDDLE_COMPILER_DRIVER_COMMANDRECORD_H
