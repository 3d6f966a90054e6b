//===- Markdown.h - a page as a terminal shows it ---------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_EXPLAIN_MARKDOWN_H
#define HEDDLE_COMPILER_EXPLAIN_MARKDOWN_H

#include "llvm/Support/raw_ostream.h"

namespace heddle {

/// Prints Markdown for people at a terminal: fenced blocks are indented, commands get a `$`, and a file that an example
/// needs has its name as a title. Comments are left out.
void printMarkdown(llvm::StringRef text, llvm::raw_ostream &os);

} // namespace heddle

#endif // HEDDLE_COMPILER_EXPLAIN_MARKDOWN_H
