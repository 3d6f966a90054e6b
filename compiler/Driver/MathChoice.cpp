//===- MathChoice.cpp - what --math says ----------------------------------===//

#include "compiler/Driver/MathChoice.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace heddle;
using llvm::StringRef;

std::optional<MathChoice> MathChoice::parse(StringRef text, std::string &error) {
  MathChoice choice;
  llvm::SmallVector<StringRef> parts;
  text.split(parts, ',');
  for (StringRef part : parts) {
    bool named = part.contains('=');
    auto [kind, word] = named ? part.split('=') : std::pair(StringRef(), part);
    if (!llvm::is_contained({"auto", "dots", "wide"}, word) || (!named && parts.size() > 1)) {
      error =
          "expected auto, dots, wide or KIND=WORD for some of linear, attention and codes, got '" + text.str() + "'";
      return std::nullopt;
    }
    if (!named) {
      choice.linear = choice.attention = choice.codes = word.str();
      continue;
    }
    std::string *of = kind == "linear"      ? &choice.linear
                      : kind == "attention" ? &choice.attention
                      : kind == "codes"     ? &choice.codes
                                            : nullptr;
    if (!of) {
      error = "expected linear, attention or codes before '=', got '" + kind.str() + "'";
      return std::nullopt;
    }
    *of = word.str();
  }
  return choice;
}
