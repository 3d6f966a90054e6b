//===- DumpIndex.h - what the files of a dump are ---------------*- C++ -*-===//
//
// Beside the files of --dump-ir: NN.diff, what a pass changed, function by function; index.json and index.html, a row a
// pass. A pass that changed nothing is a row and has no difference.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_DRIVER_DUMPINDEX_H
#define HEDDLE_COMPILER_DRIVER_DUMPINDEX_H

#include "compiler/Driver/CompileWatcher.h"
#include "compiler/IRText/ModuleHistory.h"
#include "compiler/IRText/TextFilter.h"
#include "llvm/ADT/StringRef.h"

namespace heddle {

/// A row of the index.
struct DumpRow {
  PassRun run; ///< number 0: the import
  struct Function {
    std::string name;
    unsigned dropped, added; ///< lines
  };
  std::vector<Function> functions; ///< that changed
  bool attributes = false;         ///< whether attributes of the module did
  std::string diff, file;          ///< names in the folder; empty: there is none
  std::string command;             ///< that makes `file` of a file before it; empty: there is none

  bool changed() const { return attributes || !functions.empty(); }
};

class DumpIndex final : public CompileWatcher {
public:
  /// `filter` is asked and told what it has seen; it outlives this.
  DumpIndex(std::string folder, TextFilter &filter) : folder(std::move(folder)), filter(filter) {}

  /// The module as the stages get it.
  void begin(mlir::ModuleOp module);
  /// Writes the difference of the pass.
  void afterPass(const PassRun &run, mlir::ModuleOp module) override;

  /// Whether the pass changed something that the filter keeps.
  bool isChanged(unsigned number) const { return rows[number].changed(); }
  /// The rows so far; whoever writes files of IR fills in `file` and `command`.
  std::vector<DumpRow> &all() { return rows; }

  /// Writes index.json and index.html. The first error of all files; `file`: which.
  std::error_code write(mlir::ModuleOp module, std::string &file);

private:
  void writeFile(llvm::StringRef name, llvm::function_ref<void(llvm::raw_ostream &)> print);

  std::string folder;
  TextFilter &filter;
  ModuleHistory history;
  std::vector<DumpRow> rows;
  std::error_code error;
  std::string failed; ///< the file that could not be written
};

/// index.json: {"schema", "model", "target", "passes"} (commands.md).
void printIndexJson(llvm::raw_ostream &os, mlir::ModuleOp module, llvm::ArrayRef<DumpRow> rows);
/// index.html: the same as a page without scripts.
void printIndexPage(llvm::raw_ostream &os, mlir::ModuleOp module, llvm::ArrayRef<DumpRow> rows);

} // namespace heddle

#endif
