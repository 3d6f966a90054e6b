//===- FunctionHistory.h - a function through all passes --------*- C++ -*-===//
//
// What each pass changed of one function. Two things make the differences small and true. Values keep the names that
// they had first: an op that goes renumbers all values behind it, which is no change. And lines are matched by what
// they say without numbers, and by their place in the description.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_IRTEXT_FUNCTIONHISTORY_H
#define HEDDLE_COMPILER_IRTEXT_FUNCTIONHISTORY_H

#include "compiler/IRText/LineDiff.h"
#include "compiler/IRText/ModuleText.h"
#include "llvm/ADT/ArrayRef.h"

namespace heddle {

/// Part of a change: so many lines stay, so many go, these come.
struct Edit {
  unsigned kept = 0, dropped = 0;
  std::vector<TextLine> added;
};

/// What one pass changed of a function; lines behind the last edit stay.
struct FunctionChange {
  std::vector<TextLine> before; ///< empty: the function is new
  std::vector<Edit> edits;      ///< empty: it is the same
};

class FunctionHistory {
public:
  /// `places`: a line that says the same at another place in the description has changed, too.
  explicit FunctionHistory(bool places = false) : places(places) {}

  /// The function as of now, under lasting names; empty: there is none.
  const std::vector<TextLine> &lines() const { return now; }

  /// Takes the text after one more pass; empty: the function is gone.
  FunctionChange step(std::vector<TextLine> text);

private:
  std::vector<LinePair> align(llvm::ArrayRef<TextLine> text, llvm::ArrayRef<uint64_t> said) const;
  void rename(std::vector<TextLine> &text, llvm::ArrayRef<LinePair> pairs);

  bool places;
  std::vector<TextLine> now;
  std::vector<uint64_t> said; ///< of each line: the hash of what it says without numbers
  llvm::StringSet<> used;     ///< every name that a value has had
  llvm::StringMap<unsigned> next;
};

} // namespace heddle

#endif
