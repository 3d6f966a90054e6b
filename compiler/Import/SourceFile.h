// A text that was read and places inside it. Every JSON token, every token of an
// expression inside a JSON string, every weight name can be pointed at as a Loc:
// file and byte offset; line and column are worked out only when someone asks.
#ifndef HEDDLE_COMPILER_IMPORT_SOURCEFILE_H
#define HEDDLE_COMPILER_IMPORT_SOURCEFILE_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace heddle {

class SourceFile {
public:
  SourceFile(std::string name, std::string text);

  llvm::StringRef name() const { return fileName; }
  llvm::StringRef text() const { return content; }

  /// 1-based line and byte column.
  std::pair<unsigned, unsigned> lineAndColumn(size_t offset) const;
  /// The reverse; a place outside of the text is moved to its end.
  size_t offset(unsigned line, unsigned column) const;
  llvm::StringRef lineText(unsigned line) const;

  /// Library files are compiled into heddle: a message points at them only when
  /// no file of the user's stands above.
  bool isLibrary = false;

private:
  std::string fileName, content;
  std::vector<size_t> lineStarts;
};

/// A place in a file; no file means that there is none to show.
struct Loc {
  const SourceFile *file = nullptr;
  size_t offset = 0;

  explicit operator bool() const { return file != nullptr; }
  friend bool operator==(Loc a, Loc b) {
    return a.file == b.file && a.offset == b.offset;
  }
  Loc plus(size_t bytes) const { return {file, offset + bytes}; }
};

/// Where byte `index` of a decoded JSON string stands in the file; `string` is the
/// place of its opening quote. Escapes make the two run apart.
Loc insideString(Loc string, size_t index);

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_SOURCEFILE_H
