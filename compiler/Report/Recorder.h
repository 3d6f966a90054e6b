//===- Recorder.h - what every pass did -------------------------*- C++ -*-===//
//
// Follows a module through its passes. After a pass the fingerprint of every function is taken, and only those that
// changed are printed and compared with what they were (compiler/IRText). Values keep the names that they had first.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_REPORT_RECORDER_H
#define HEDDLE_COMPILER_REPORT_RECORDER_H

#include "compiler/Driver/CompileWatcher.h"
#include "compiler/IRText/FunctionHistory.h"
#include "compiler/Report/ReportPlaces.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/MapVector.h"
#include <map>

namespace heddle::report {

/// Of a pass, or of the importer (flag `import`), which comes first.
struct PassRecord {
  PassRun run;
  std::map<std::string, std::pair<int64_t, int64_t>> kinds; ///< names of ops whose number changed: before, after
  struct Function {
    std::string name;
    int64_t dropped, added; ///< lines
  };
  std::vector<Function> functions; ///< that changed
  bool module = false;             ///< whether attributes of the module changed
  std::string reproduce;           ///< the command that runs it alone in the folder of --dump-ir; "": none does
};

/// A line of IR, and where it comes from: a number of Places; -1: nowhere.
struct Line {
  int32_t loc = -1;
  std::string text;
};

/// After `kept` lines `dropped` ones go, and `added` come in their place.
struct LineEdit {
  int64_t kept = 0, dropped = 0;
  std::vector<Line> added;
};

/// What a pass changed of a function; lines behind the last edit stay.
struct LineChange {
  int64_t pass = 0;
  std::vector<LineEdit> edits;
};

/// A function through all passes: the sum of all changes up to a pass is its text after that.
struct Chain {
  FunctionHistory history{/*places=*/true};
  std::vector<LineChange> changes;
};

class Recorder {
public:
  explicit Recorder(Places &places) : places(places) {}

  /// The module before the first pass, and after each.
  void imported(mlir::ModuleOp module);
  void afterPass(const PassRun &run, mlir::ModuleOp module) { record(module, run); }
  /// The stage of the last pass is reached.
  void ended(const Stage &stage);

  std::vector<PassRecord> passes;
  llvm::MapVector<std::string, Chain, std::map<std::string, unsigned>> functions;
  AliasNames aliases;

  /// A line as a report has it.
  Line lineOf(const TextLine &line) const;

private:
  void record(mlir::ModuleOp module, const PassRun &run);
  void note(PassRecord &pass, const std::string &function, std::vector<TextLine> lines);
  void count(PassRecord &pass);

  /// What is known of a function that is there now.
  struct Known {
    mlir::OperationFingerPrint print;
    std::map<std::string, int64_t> kinds;
  };
  Places &places;
  std::map<std::string, Known> known;
  mlir::DictionaryAttr moduleAttributes;
  std::map<std::string, int64_t> kinds; ///< ops of the module by name
};

} // namespace heddle::report

#endif
