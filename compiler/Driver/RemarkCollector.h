//===- RemarkCollector.h - remarks of a compilation as data -----*- C++ -*-===//
//
// While a collector lives, the passes of its context make remarks (dialects/Remarks/Remark.h). `--remarks` prints them
// (RemarkOutput.h), and a report has them as data.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_DRIVER_REMARKCOLLECTOR_H
#define HEDDLE_COMPILER_DRIVER_REMARKCOLLECTOR_H

#include "dialects/Remarks/Remark.h"
#include "mlir/Pass/PassManager.h"
#include <map>
#include <string>
#include <vector>

namespace heddle {

/// A remark.
struct RemarkRecord {
  struct Note {
    mlir::Location loc;
    std::string text;
  };

  remarks::Kind kind;
  std::string name;                                      ///< of the table
  std::string pass;                                      ///< the flag of the pass that made it; empty: code generation
  mlir::Location loc;                                    ///< of the op
  std::string entry;                                     ///< the function that the op is in; empty: the module
  std::string message;                                   ///< one sentence; of a missed remark the reason
  std::vector<std::pair<std::string, std::string>> args; ///< numbers, or forms over dims, by name
  std::vector<Note> notes;                               ///< other places that have to do with it

  /// "passed", "missed" or "analysis".
  llvm::StringRef kindName() const;
};

class RemarkCollector {
public:
  /// `pattern` is searched for in "fuse.map missed", the name and the kind; "" is found in all.
  explicit RemarkCollector(mlir::MLIRContext &context, llvm::StringRef pattern = "");
  ~RemarkCollector();
  RemarkCollector(const RemarkCollector &) = delete;
  RemarkCollector &operator=(const RemarkCollector &) = delete;

  /// Why `pattern` cannot be searched for, or that no remark has it; "" if it can.
  static std::string wrong(llvm::StringRef pattern);

  /// Names the passes of `pm` in the remarks that they make.
  void watch(mlir::PassManager &pm);
  /// Remarks so far, in the order in which they were made, each once: a module is compiled by one thread.
  const std::vector<RemarkRecord> &all() const { return records; }

private:
  class Streamer;
  class PassNames;
  void take(const mlir::remark::detail::Remark &remark);

  mlir::MLIRContext &context;
  std::string pass;
  std::vector<RemarkRecord> records;
  std::map<uint64_t, llvm::SmallVector<unsigned, 1>> known; ///< digest of a remark -> those among `records`
};

} // namespace heddle

#endif
