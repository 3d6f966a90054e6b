//===- ReportCommand.h - heddle report --------------------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_REPORT_REPORTCOMMAND_H
#define HEDDLE_COMPILER_REPORT_REPORTCOMMAND_H

#include "compiler/Driver/Console.h"
#include "compiler/Driver/Inspect.h"
#include "compiler/Driver/Options.h"

namespace heddle {

/// What the command line asks of a report, beside what `compile` is asked.
struct ReportRequest {
  std::string page = "report.html"; ///< -o
  std::string json;                 ///< --json: report.json; empty: none, "-": standard output
  /// --bench: nothing: not measured; "": measure here; else the file that another machine measured.
  std::optional<std::string> bench;
  std::string detail = "kernels"; ///< entries, kernels or all
  bool paths = false;             ///< --paths: files by the paths of the command line, not by their names
  std::string version;            ///< of heddle
  std::vector<std::string> words; ///< of the command line, with its first one
};

/// `heddle report`: compiles the model, watches every pass, and writes the page. Returns the exit code.
int writeReport(const Console &console, const CompileOptions &options, const InspectOptions &look,
                const ReportRequest &request);

/// `heddle schema report`: the schema of report.json.
void printReportSchema(llvm::raw_ostream &os);

} // namespace heddle

#endif
