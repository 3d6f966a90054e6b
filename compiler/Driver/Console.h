//===- Console.h - the streams and the status of a command ------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_DRIVER_CONSOLE_H
#define HEDDLE_COMPILER_DRIVER_CONSOLE_H

#include "heddle/errors.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

namespace heddle {

class CommandRecord;
class DiagnosticSink;

/// What a command returns: Ok, or the status of its error (heddle/errors.h).
constexpr int Ok = int(Exit::Ok);

/// The streams of a command: results go to `out`, everything else to `err`.
struct Console {
  llvm::raw_ostream &out;
  llvm::raw_ostream &err;
  /// Of --json: what is said is written there, too. Null: nobody asks.
  CommandRecord *record = nullptr;
  /// -q: notes are not printed.
  bool quiet = false;

  /// Prints `error[H0120]: text` and returns the status of `error`.
  int complain(Error error, const llvm::Twine &text) const;
  /// Prints `heddle: note: text`.
  void note(const llvm::Twine &text) const;
  /// Prints the messages of `sink`, at most `limit`.
  void print(const DiagnosticSink &sink, unsigned limit = 50) const;
};

} // namespace heddle

#endif // HEDDLE_COMPILER_DRIVER_CONSOLE_H
