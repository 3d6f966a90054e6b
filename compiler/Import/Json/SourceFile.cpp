// Lines and columns of byte offsets: the beginnings of lines are found once. And places inside of JSON strings, found
// by walking over the escapes.
#include "compiler/Import/Json/SourceFile.h"
#include "heddle/utf8.h"

#include <algorithm>

using namespace heddle;

SourceFile::SourceFile(std::string name, std::string text) : fileName(std::move(name)), content(std::move(text)) {
  lineStarts.push_back(0);
  for (size_t i = 0, e = content.size(); i != e; ++i)
    if (content[i] == '\n')
      lineStarts.push_back(i + 1);
}

std::pair<unsigned, unsigned> SourceFile::lineAndColumn(size_t offset) const {
  offset = std::min(offset, content.size());
  auto it = std::upper_bound(lineStarts.begin(), lineStarts.end(), offset);
  size_t line = it - lineStarts.begin();
  return {static_cast<unsigned>(line), static_cast<unsigned>(offset - lineStarts[line - 1] + 1)};
}

size_t SourceFile::offset(unsigned line, unsigned column) const {
  if (line == 0 || line > lineStarts.size())
    return content.size();
  return std::min(lineStarts[line - 1] + std::max(column, 1u) - 1, content.size());
}

std::string SourceFile::keyOf(llvm::StringRef path) const {
  if (!madeFrom)
    return path.str();
  // NAME.json.KEY, maybe with members and elements behind
  llvm::StringRef key = path.contains(".json.") ? path.split(".json.").second : path;
  auto found = madeFrom->find(key.take_until([](char c) { return c == '.' || c == '['; }).str());
  return found == madeFrom->end() ? key.str() : found->second;
}

llvm::StringRef SourceFile::lineText(unsigned line) const {
  if (line == 0 || line > lineStarts.size())
    return {};
  size_t begin = lineStarts[line - 1];
  size_t end = line < lineStarts.size() ? lineStarts[line] - 1 : content.size();
  return llvm::StringRef(content).slice(begin, end).rtrim("\r\n");
}

/// The number of a \uXXXX escape; 0 if it is broken.
static uint32_t readHex4(llvm::StringRef text, size_t at) {
  uint32_t value = 0;
  llvm::StringRef digits = text.substr(at, 4);
  return digits.getAsInteger(16, value) ? 0 : value;
}

/// Walks the source text and the decoded one side by side: an escape reads 2, 6 or 12 bytes and makes 1 to 4.
Loc heddle::insideString(Loc string, size_t index) {
  if (!string.file)
    return string;
  llvm::StringRef text = string.file->text();
  // Not in a JSON string: a value from the command line.
  if (string.offset >= text.size() || text[string.offset] != '"')
    return string.plus(index);
  size_t at = string.offset + 1;
  while (index > 0 && at < text.size() && text[at] != '"') {
    size_t read = 1, made = 1;
    if (text[at] == '\\') {
      read = 2;
      if (at + 1 < text.size() && text[at + 1] == 'u') {
        uint32_t point = readHex4(text, at + 2);
        read = 6;
        if (point >= 0xD800 && point < 0xDC00) { // a surrogate pair is one code point
          read = 12;
          point = 0x10000;
        }
        made = utf8Length(point);
      }
    }
    if (made > index)
      break;
    at += read;
    index -= made;
  }
  return {string.file, std::min(at, text.size())};
}
