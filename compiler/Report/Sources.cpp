//===- Sources.cpp - the files that places name ---------------------------===//

#include "compiler/Report/Sources.h"
#include "heddle/input_file.h"
#include "llvm/Support/Path.h"

using namespace heddle;
using namespace heddle::report;
using llvm::StringRef;

/// The longest text that a report shows.
static constexpr size_t kMostBytes = size_t(4) << 20;

/// The text that locations call `file`; none: there is none, or it is too long.
static std::optional<std::string> textOf(const std::string &file, const FamilyLibrary &families) {
  if (file == "stdlib.json")
    return standardLibrary().str();
  if (StringRef name = file; name.consume_front("families/") && name.consume_back(".json"))
    if (std::optional<StringRef> text = families.find(name))
      return text->str();
  StringRef ending = llvm::sys::path::extension(file);
  if (ending != ".json" && ending != ".mlir")
    return std::nullopt;
  ReadFile read = readInputFile(file.c_str(), kMostBytes);
  return read.ok() ? std::optional(std::move(read.bytes)) : std::nullopt;
}

const Source *Sources::find(const std::string &file) {
  auto [it, isNew] = sources.try_emplace(file);
  if (isNew)
    if (std::optional<std::string> text = file.empty() ? std::nullopt : textOf(file, families)) {
      it->second = std::make_unique<Source>();
      it->second->text = *text;
      if (StringRef(file).ends_with(".json"))
        it->second->json = parseJson(sink.addFile(file, *std::move(text)), sink);
    }
  return it->second.get();
}

const JsonValue *Sources::valueAt(const JsonValue &root, StringRef path) {
  const JsonValue *at = &root;
  path.consume_front("$");
  while (!path.empty()) {
    const JsonValue *next = nullptr;
    if (path.consume_front("[")) {
      size_t index;
      bool good = !path.consumeInteger(10, index) && path.consume_front("]");
      next = good && at->isArray() && index < at->items.size() ? &at->items[index] : nullptr;
    } else {
      path.consume_front(".");
      StringRef key = path.take_until([](char c) { return c == '.' || c == '['; });
      next = key.empty() ? nullptr : at->find(key);
      path = path.drop_front(key.size());
    }
    if (!next)
      break;
    at = next;
  }
  return at;
}

/// The offset behind the JSON value that begins at `at`.
static size_t endOfValue(StringRef text, size_t at) {
  int depth = 0;
  bool quoted = false;
  for (; at < text.size(); ++at) {
    char c = text[at];
    if (quoted && c == '\\')
      ++at;
    else if (c == '"')
      quoted = !quoted;
    else if (!quoted && (c == '{' || c == '['))
      ++depth;
    else if (!quoted && (c == '}' || c == ']') && --depth == 0)
      return at + 1;
    if (!quoted && depth == 0)
      return at + 1;
  }
  return at;
}

Span Sources::spanOf(const std::string &name, const Source &source, const JsonValue &value) {
  unsigned first = value.loc.file->lineAndColumn(value.loc.offset).first;
  StringRef text = source.text;
  StringRef within = text.slice(value.loc.offset, endOfValue(text, value.loc.offset));
  return {name, first, first + unsigned(within.count('\n'))};
}
