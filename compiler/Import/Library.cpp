// Library.inc is written by EmbedJson.cmake.
#include "compiler/Import/Library.h"

using namespace heddle;
using llvm::StringRef;

namespace {
struct Embedded {
  StringRef name, text;
};
} // namespace

static const Embedded embedded[] = {
#include "compiler/Import/Library.inc"
};

std::optional<StringRef> FamilyLibrary::find(StringRef name) const {
  if (auto it = own.find(name.str()); it != own.end())
    return StringRef(it->second);
  if (name != "stdlib")
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
    if (e.name != "stdlib" && !own.count(e.name.str()))
      out.push_back(e.name.str());
  return out;
}

StringRef heddle::standardLibrary() {
  for (const Embedded &e : embedded)
    if (e.name == "stdlib")
      return e.text;
  return "{}";
}
