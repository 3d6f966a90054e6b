//===- Options.h - what `heddle compile` is asked for -----------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_DRIVER_OPTIONS_H
#define HEDDLE_COMPILER_DRIVER_OPTIONS_H

#include "compiler/Driver/WatchOptions.h"
#include "compiler/Import/Description/ImportOptions.h"
#include "compiler/Pipelines/Stages.h"
#include "targets/Target.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// What --slots says where nobody says anything: a program with a server that makes texts has slots where it can, any
/// other has none.
inline constexpr llvm::StringLiteral kSlotsOfServer = "served";

class CompileWatcher;
class FileStamps;
class RemarkCollector;
class TimeReport;

struct CompileOptions {
  ImportOptions import;
  const FileStamps *stamps = nullptr;     ///< where there are any, asked before the output is put in its place
  std::vector<CompileWatcher *> watchers; ///< look on (CompileWatcher.h)
  WatchOptions watch;                     ///< who looks on because the command line says so (Watchers.h)
  TimeReport *times = nullptr;            ///< where phases are told; null: nobody asks
  std::string output;                     ///< -o; empty or "-": standard output (text stages only)
  std::string emit = "exe";               ///< a stage of the table
  std::string target = targetKinds().front().name.str(); ///< one, or several joined by commas
  std::string mcpu = "native"; ///< a processor, or a device's chips joined by '+'; a word a target
  std::string dtype;           ///< f32, bf16, f16; empty: what an .mlir file says, or f32
  std::string math = "auto";   ///< how bf16 and codes are multiplied: a MathChoice
  int64_t rows = 0;            ///< --rows: features of a row that share a scale, 32 or 128; 0: what is there, or 128
  std::string depfile;         ///< --depfile: the files it was made of, as a rule of make
  std::vector<std::string> alsoRead; ///< for the depfile: what the tool itself has read
  /// --report: "" for tables on standard output, else the file of JSON; then nothing is written but what `output`
  /// names.
  std::optional<std::string> report;
  std::map<std::string, int64_t> dims;  ///< the lengths of the report
  std::string dumpDir;                  ///< --dump-ir: numbered files, one a pass
  std::optional<std::string> remarks;   ///< --remarks: what to search for in names and kinds
  std::string remarksFile;              ///< --remarks-file
  RemarkCollector *collector = nullptr; ///< takes what passes remark; null: nobody asked (RemarkCollector.h)
  bool locations = true;                ///< of the text of a stage; false: --no-locations
  PipelineOptions pipeline;
  bool json = false;        ///< --json: what rounding weights changed, as JSON
  std::string chatTemplate; ///< --template: a file, or "none"; empty: the model's own
  bool serve = true;        ///< whether the program can serve; false: --without=serve
  bool chat = true;         ///< whether it talks on the command line, if it has a template; false: --without=chat
  bool bench = true;        ///< whether it measures itself; false: --without=bench
  bool debugInfo = false;   ///< --debug-info: places of the description in the object, and its symbols
  bool embed = true;        ///< false: weights in a second file next to the binary
  TargetOptions forTarget;
  bool quiet = false;     ///< -q: no notes, no progress
  std::string time;       ///< --time: where time and memory went: "", "lines" on standard error, "json" on the other
  double timeout = 0;     ///< seconds; 0: none
  uint64_t maxMemory = 0; ///< bytes; 0: what the system has
};

} // namespace heddle

#endif // HEDDLE_COMPILER_DRIVER_OPTIONS_H
