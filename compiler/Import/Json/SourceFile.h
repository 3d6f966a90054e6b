// A text that was read, and places in it. Every JSON token, every token of an expression inside a JSON string and every
// weight name has a Loc: file and byte offset. Line and column are computed only for messages.
#ifndef HEDDLE_COMPILER_IMPORT_JSON_SOURCEFILE_H
#define HEDDLE_COMPILER_IMPORT_JSON_SOURCEFILE_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace heddle {

/// A text with its name and its lines. Owned by the DiagnosticSink, which outlives all places in it.
class SourceFile {
public:
  SourceFile(std::string name, std::string text);

  llvm::StringRef name() const { return fileName; }
  llvm::StringRef text() const { return content; }

  /// 1-based line and byte column.
  std::pair<unsigned, unsigned> lineAndColumn(size_t offset) const;
  /// The byte offset of a line and column; beyond the text it is the end.
  size_t offset(unsigned line, unsigned column) const;
  llvm::StringRef lineText(unsigned line) const;

  /// Not null: the text was made from a file, whose name this has. Messages name a key of the file, if `keyOf` knows
  /// it, and show neither line nor excerpt.
  std::shared_ptr<const std::map<std::string, std::string>> madeFrom;
  /// The key of the file for a path in a made text: "config.json.head_dim", "llama.attention.key_length".
  std::string keyOf(llvm::StringRef path) const;

  /// Compiled into heddle: messages point into such a file only if no file of the user led there.
  bool isLibrary = false;

private:
  std::string fileName, content;
  std::vector<size_t> lineStarts;
};

/// A place in a file; without a file there is nothing to show.
struct Loc {
  const SourceFile *file = nullptr;
  size_t offset = 0;

  explicit operator bool() const { return file != nullptr; }
  friend bool operator==(Loc a, Loc b) { return a.file == b.file && a.offset == b.offset; }
  Loc plus(size_t bytes) const { return {file, offset + bytes}; }
};

/// The place in the file of byte `index` of a decoded JSON string whose opening quote is at `string`; escapes make
/// the two differ.
Loc insideString(Loc string, size_t index);

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_JSON_SOURCEFILE_H
