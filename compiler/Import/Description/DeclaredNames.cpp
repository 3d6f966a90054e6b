//===- DeclaredNames.cpp - what a name may be -----------------------------===//

#include "compiler/Import/Description/DeclaredNames.h"
#include "compiler/Import/Json/Diagnostics.h"
#include "heddle/printable.h"

using namespace heddle;
using llvm::StringRef;

/// Where the first character is that a name cannot have; the end of `text` if there is none.
static size_t firstBad(StringRef text) {
  size_t at = 0;
  while (at < text.size()) {
    size_t n = shownCharacter(text.drop_front(at));
    if (n == 0)
      break;
    at += n;
  }
  return at;
}

std::string heddle::whyNoName(StringRef text) {
  if (text.empty())
    return "it is empty";
  if (text.size() > kMostNameBytes)
    return "it has " + std::to_string(text.size()) + " bytes; at most " + std::to_string(kMostNameBytes) +
           " are expected";
  size_t at = firstBad(text);
  if (at == text.size())
    return "";
  uint32_t code = 0;
  size_t n = decodeUtf8(text.drop_front(at), code);
  return "byte " + std::to_string(at) + ", " + quote(text.substr(at, n ? n : 1)) +
         (n ? ", is a control character" : ", is not UTF-8") + "; letters and marks that can be printed are expected";
}

std::string heddle::asName(StringRef text) {
  std::string name = escaped(text, kMostNameBytes);
  while (name.size() > kMostNameBytes || firstBad(name) != name.size())
    name.pop_back();
  return name.empty() ? "model" : name;
}
