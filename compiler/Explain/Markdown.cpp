//===- Markdown.cpp - a page as a terminal shows it -----------------------===//

#include "compiler/Explain/Markdown.h"

using namespace heddle;
using llvm::StringRef;

void heddle::printMarkdown(StringRef text, llvm::raw_ostream &os) {
  StringRef language; // of the block that is open
  bool fenced = false, continued = false, blank = false;
  for (StringRef rest = text.trim('\n'); !rest.empty();) {
    auto [line, next] = rest.split('\n');
    rest = next;
    if (StringRef info = line; info.consume_front("```")) {
      // What a command prints comes directly after it.
      if (!fenced && info != "text" && !blank)
        os << "\n";
      fenced = !fenced;
      language = info;
      continued = blank = false;
      continue;
    }
    if (fenced) {
      bool command = language == "sh" && !continued && !line.starts_with(" ");
      os << "    " << (command ? "$ " : language == "sh" ? "  " : "") << line << "\n";
      continued = line.ends_with("\\");
      continue;
    }
    if (StringRef file = line; file.consume_front("<!-- file: ") && file.consume_back(" -->"))
      os << file << ":\n";
    else if (line.starts_with("#"))
      os << line.ltrim('#').ltrim(' ') << ":\n";
    else if (!line.starts_with("<!-- "))
      os << line << "\n";
    blank = line.empty() || line.starts_with("<!-- ");
  }
}
