//===- Texts.h - the pages that are compiled in -----------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_EXPLAIN_TEXTS_H
#define HEDDLE_COMPILER_EXPLAIN_TEXTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <vector>

namespace heddle {

/// A page of Markdown by the name of its file, without the ending.
struct Page {
  llvm::StringRef name, text;
};
/// codes/CODE.md, stages.md, passes.md, and what mlir-tblgen makes of dialects and of each Passes.td ("passes-...").
llvm::ArrayRef<Page> explainedPages();
/// The one of that name; "" if there is none.
llvm::StringRef pageOf(llvm::StringRef name);

/// A heading of a page, and what follows it up to the next one of its level or above.
struct Section {
  llvm::StringRef title, body;
};
/// The sections of one level: 2 for "## ".
std::vector<Section> sectionsOf(llvm::StringRef page, unsigned level);

} // namespace heddle

#endif // HEDDLE_COMPILER_EXPLAIN_TEXTS_H
