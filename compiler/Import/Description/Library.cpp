// The embedded texts: a table of name and text in Library.inc, which EmbedText.cmake writes at build time.
#include "compiler/Import/Description/Library.h"

using namespace heddle;
using llvm::StringRef;

namespace {
struct Embedded {
  StringRef name, text;
};
} // namespace

static const Embedded embedded[] = {
#include "compiler/Import/Description/Library.inc"
};

/// Whether an embedded text is none of the families.
static bool isShared(StringRef name) { return name == "stdlib" || name == "config_keys" || name == "language"; }

/// The text of this name; an empty object if there is none.
static StringRef embeddedText(StringRef name) {
  for (const Embedded &e : embedded)
    if (e.name == name)
      return e.text;
  return "{}";
}

std::optional<StringRef> FamilyLibrary::find(StringRef name) const {
  if (auto it = own.find(name.str()); it != own.end())
    return StringRef(it->second);
  if (!isShared(name))
    for (const Embedded &e : embedded)
      if (e.name == name)
        return e.text;
  return std::nullopt;
}

std::vector<std::string> FamilyLibrary::names() const {
  std::vector<std::string> out;
  for (auto &e : own)
    out.push_back(e.first);
  for (const Embedded &e : embedded)
    if (!isShared(e.name) && !own.count(e.name.str()))
      out.push_back(e.name.str());
  return out;
}

StringRef heddle::standardLibrary() { return embeddedText("stdlib"); }
StringRef heddle::configKeyTable() { return embeddedText("config_keys"); }
StringRef heddle::languagePage() { return embeddedText("language"); }
