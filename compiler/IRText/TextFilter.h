//===- TextFilter.h - the lines of a module that are asked for --*- C++ -*-===//
#ifndef HEDDLE_COMPILER_IRTEXT_TEXTFILTER_H
#define HEDDLE_COMPILER_IRTEXT_TEXTFILTER_H

#include "compiler/IRText/ModuleHistory.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>
#include <set>

namespace heddle {

/// --function=NAME and --at=PATH|FILE:LINE: which functions, and the ops of which statement.
class TextFilter {
public:
  TextFilter() = default;
  /// `at`: a path that begins with $, FILE:LINE, or "" for everything; none with `error` if it is none of them.
  static std::optional<TextFilter> parse(std::vector<std::string> functions, llvm::StringRef at, std::string &error);

  /// Whether it keeps everything.
  bool isAll() const { return functions.empty() && at.empty(); }

  /// What the importer made: a line inside a statement means the line where the statement begins.
  void resolve(mlir::ModuleOp module);

  /// Prints the lines that are kept, each function with its first and last line; those between are "...". False: none.
  bool print(llvm::raw_ostream &os, const ModuleText &text);
  /// Leaves the changes of which some line is kept.
  void keep(std::vector<NamedChange> &changes);
  /// Prints those hunks of `changes`, in unified format.
  void print(llvm::raw_ostream &os, llvm::ArrayRef<NamedChange> changes);

  /// What it keeps: "@run, $.body[3]".
  std::string words() const;
  /// What was asked for and never seen, as it was asked for; "" if all was. `known`: the functions that there were.
  std::string missed(std::vector<std::string> &known) const;

private:
  bool keeps(llvm::StringRef function);
  bool keeps(mlir::LocationAttr where);

  std::vector<std::string> functions;
  std::string at, path, file;
  unsigned line = 0;
  std::set<std::string, std::less<>> seen; ///< functions
  bool seenPlace = false;
};

} // namespace heddle

#endif
