//===- Licence.cpp - the licence that a model's files state ---------------===//
// Front matter is YAML. Of YAML this knows what model cards have: `key: value`, and lists of one line or of several.

#include "compiler/SideFiles/Licence.h"
#include "compiler/Import/Json/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include <map>
#include <vector>

using namespace heddle;
using llvm::StringRef;

/// The largest model card. What counts are its first lines.
static constexpr uint64_t kMostBytes = 4 << 20;
/// The longest licence that is shown; a text of its own is no name.
static constexpr size_t kLongest = 200;

/// A scalar without quotes and comment.
static std::string scalar(StringRef text) {
  text = text.trim();
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front())
    return escaped(text.drop_front().drop_back(), kLongest);
  return escaped(text.split(" #").first.rtrim(), kLongest);
}

/// The lines between the first `---` and the next.
static StringRef frontMatter(StringRef text) {
  text.consume_front("\xEF\xBB\xBF");
  if (!text.consume_front("---"))
    return "";
  text = text.ltrim(" \t\r");
  if (!text.consume_front("\n"))
    return "";
  size_t end = text.starts_with("---") ? 0 : text.find("\n---");
  return end == StringRef::npos ? "" : text.take_front(end);
}

std::string heddle::licenceOfCard(StringRef text) {
  std::map<std::string, std::vector<std::string>> values;
  std::vector<std::string> *list = nullptr;
  llvm::SmallVector<StringRef> lines;
  frontMatter(text).split(lines, '\n');
  for (StringRef line : lines) {
    StringRef item = line.trim();
    if (item.consume_front("- ")) {
      if (list)
        list->push_back(scalar(item));
      continue;
    }
    if (line.empty() || line.front() == ' ' || line.front() == '#') // inside of another key, or nothing
      continue;
    auto [key, value] = line.split(':');
    list = key == "license" || key == "license_name" || key == "license_link" ? &values[key.str()] : nullptr;
    value = value.trim();
    if (!list || value.empty())
      continue;
    llvm::SmallVector<StringRef> parts = {value};
    if (value.consume_front("[") && value.consume_back("]")) {
      parts.clear();
      value.split(parts, ',', -1, false);
    }
    for (StringRef part : parts)
      list->push_back(scalar(part));
  }
  std::string licence = llvm::join(values["license"], ", "), more = llvm::join(values["license_name"], ", ");
  if (std::string link = llvm::join(values["license_link"], ", "); !link.empty())
    more += (more.empty() ? "" : ", ") + link;
  return licence.empty() ? more : more.empty() ? licence : licence + " (" + more + ")";
}

std::string heddle::statedLicence(const ModelFolder &folder) {
  ReadFile read = folder.has("README.md") ? folder.read("README.md", kMostBytes) : ReadFile();
  return read.ok() ? licenceOfCard(read.bytes) : "";
}
