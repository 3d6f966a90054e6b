//===- ShellWord.h - a text as one word of a shell --------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_DRIVER_SHELLWORD_H
#define HEDDLE_COMPILER_DRIVER_SHELLWORD_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace heddle {

/// `it's` is 'it'\''s'.
inline std::string shellWord(llvm::StringRef text) {
  std::string quoted = "'";
  for (char c : text)
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

} // namespace heddle

#endif
