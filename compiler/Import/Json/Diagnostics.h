// The errors, warnings and remarks of one run, each with its place, the path of JSON keys that leads
// there, and what was expected; errors with their code (heddle/errors.def). Nothing is printed until the end: then
// sorted, each place once, so that a user mends a description in one round.
#ifndef HEDDLE_COMPILER_IMPORT_JSON_DIAGNOSTICS_H
#define HEDDLE_COMPILER_IMPORT_JSON_DIAGNOSTICS_H

#include "compiler/Folder/ModelFolder.h"
#include "compiler/Import/Json/SourceFile.h"
#include "heddle/errors.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace heddle {

struct Diagnostic {
  /// Only errors refuse the input. A warning is of what is most likely not meant, a remark of what Heddle could not do
  /// as well as one might expect.
  enum class Kind { Error, Warning, Remark };
  struct Note {
    Loc loc;
    std::string text;
  };

  Kind kind = Kind::Error;
  Error code = Error::OurMistake; // of an error
  Loc loc;
  std::string file; // when there is no loc: the file that is meant, or nothing
  std::string path; // $.body[4].body[3] > attend
  std::string message;
  std::vector<Note> notes;
  /// What is too much for a sentence: rows of cells, the first one the heads of the columns.
  std::vector<std::vector<std::string>> table;
  unsigned more = 0; // how many further complaints met the same place

  Diagnostic &note(Loc at, const llvm::Twine &text) {
    notes.push_back({at, text.str()});
    return *this;
  }
  bool isError() const { return kind == Kind::Error; }
  /// The input may be right, but Heddle cannot.
  bool isUnsupported() const { return isError() && exitOf(code) == Exit::Unsupported; }
};

class DiagnosticSink {
public:
  /// Records an error. A second one at the same place that differs in numbers alone is only
  /// counted, since it comes from another turn of the same repeat.
  Diagnostic &error(Error code, Loc loc, const llvm::Twine &path, const llvm::Twine &message);
  /// The same for something that has no place in a text, such as a tensor's name.
  Diagnostic &errorInFile(Error code, llvm::StringRef file, const llvm::Twine &path, const llvm::Twine &message);
  /// The same for a warning or a remark.
  Diagnostic &say(Diagnostic::Kind kind, Loc loc, const llvm::Twine &path, const llvm::Twine &message);
  Diagnostic &sayInFile(Diagnostic::Kind kind, llvm::StringRef file, const llvm::Twine &message);

  /// Files live as long as the sink: messages are printed when all else is gone.
  SourceFile &addFile(std::string name, std::string text);
  /// A file of a folder, or a text that was made in its place; `text` is its contents.
  SourceFile &addFile(const ModelFolder &folder, const std::string &name, std::string text);
  /// The one of that name, or null.
  const SourceFile *file(llvm::StringRef name) const;

  bool hasErrors() const;
  size_t size() const { return all.size(); }
  /// In the order of files and places.
  std::vector<const Diagnostic *> sorted() const;
  /// That of the gravest error: 1 something is wrong, 3 nothing is wrong but unsupported; 0 without errors.
  int exitCode() const;

  void print(llvm::raw_ostream &os, unsigned limit = 50) const;

private:
  std::vector<std::unique_ptr<Diagnostic>> all;
  std::vector<std::unique_ptr<SourceFile>> files;
  std::map<std::tuple<const SourceFile *, size_t, std::string>, Diagnostic *> byPlace;
  Diagnostic echo; // takes the notes of a complaint that is not kept
};

/// "file:line:column", as messages begin, of a made text "file"; nothing without a place.
std::string placeText(Loc loc);

/// The nearest of `known`, or nothing when none is near.
std::string nearestOf(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> known);
/// "; did you mean 'x'?" for it.
std::string nearest(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> known);
std::string nearest(llvm::StringRef name, const std::vector<std::string> &known);

/// Text from a file made fit to print: control characters and broken UTF-8 escaped,
/// cut after `limit` bytes.
std::string escaped(llvm::StringRef text, size_t limit = 200);
/// A whole message of any length, which may have several lines: each as `escaped` shows it.
std::string escapedLines(llvm::StringRef text);
inline std::string quote(llvm::StringRef text) { return "'" + escaped(text) + "'"; }

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_JSON_DIAGNOSTICS_H
