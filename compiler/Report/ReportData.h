//===- ReportData.h - everything that a report says -------------*- C++ -*-===//
//
// What `heddle report` collects of one compilation. report.json is written of it (ReportJson.cpp), and the page is made
// of report.json alone (Page.h).
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_REPORT_REPORTDATA_H
#define HEDDLE_COMPILER_REPORT_REPORTDATA_H

#include "compiler/Report/Costs.h"
#include "compiler/Report/Kernels.h"
#include "compiler/Report/Recorder.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"

namespace heddle::report {

/// The schema of report.json; a change that readers notice changes the number.
constexpr llvm::StringLiteral kSchema = "heddle-report/1";

/// How much of a compilation a report has of functions that are no entries.
enum class Detail {
  Entries, ///< nothing: neither their IR nor machine code
  Kernels, ///< everything, but of the largest ones the last form alone where the page would be too long
  All,
};

/// A pattern of parameters: one name, the same shape for all of its indices.
struct Parameter {
  std::string name;
  std::vector<int64_t> shape, counts;
  std::string layout;
  uint64_t offset = 0, bytes = 0; ///< in the blob; bytes of all tensors, with the padding behind each
  int64_t numbers = 0;
  int64_t codedBits = 0, codedGroup = 0; ///< 0: numbers, not codes
};

struct StageRecord {
  std::string name, says;
  bool held = false; ///< whether its contract was checked
};

struct Report {
  explicit Report(Places &places) : places(places), recorder(places) {}

  std::string version, command, modelName, modelPath;
  int64_t parameterCount = 0;
  uint64_t blobBytes = 0;
  std::string targetName, targetChip;
  int64_t lanes = 0, registers = 0;
  std::map<std::string, int64_t> bounds, given; ///< the largest lengths; those of --dims

  Places &places;
  Recorder recorder;
  std::vector<StageRecord> stages;
  Graph graph;
  std::vector<Entry> entries;
  std::map<std::string, Kernel> kernels;
  std::vector<Parameter> parameters;
  std::map<std::string, std::string> sources, blocks; ///< texts by names of files, and of blocks of the library
  std::map<std::string, int64_t> blockLines;          ///< where these begin in stdlib.json
  std::optional<llvm::json::Object> device;           ///< product, chip, processors, peaks
  llvm::json::Value masks = nullptr, measured = nullptr, complaints = llvm::json::Array();
  llvm::json::Array remarks, phases; ///< remarks; of the compiler: name, ms, cpu_ms, peak_mb
  std::vector<std::string> thinned;  ///< functions of which only the last form is kept
};

/// The parameters of a module that has a blob, in its order.
std::vector<Parameter> parametersOf(mlir::ModuleOp module);

/// The parts of report.json, each a whole JSON text. The page has them apart, since the first is small.
std::string firstJson(const Report &report);     ///< all but the two below
std::string functionsJson(const Report &report); ///< {"functions": {name: [[pass, edits]]}}
std::string assemblyJson(const Report &report);  ///< {symbol: text}

/// The whole of report.json.
void writeJson(const Report &report, llvm::raw_ostream &os);

/// Leaves out what `detail` does not want.
void thin(Report &report, Detail detail);

} // namespace heddle::report

#endif
