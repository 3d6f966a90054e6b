//===- Collector.h - a report, filled while a model is compiled -*- C++ -*-===//
#ifndef HEDDLE_COMPILER_REPORT_COLLECTOR_H
#define HEDDLE_COMPILER_REPORT_COLLECTOR_H

#include "compiler/Driver/CompileWatcher.h"
#include "compiler/Report/ReportData.h"
#include "compiler/Report/Sources.h"

namespace heddle::report {

/// Takes from a compilation what only its modules know: passes, the graph, costs, memory, parameters, machine code.
class Collector final : public CompileWatcher {
public:
  Collector(Report &report, Sources &sources) : report(report), sources(sources) {}

  void imported(mlir::ModuleOp module, const Target &target) override;
  void afterPass(const PassRun &run, mlir::ModuleOp module) override { report.recorder.afterPass(run, module); }
  void ended(const Stage &stage, mlir::ModuleOp module) override;
  void generated(llvm::ArrayRef<host::CodePart> parts) override;
  bool wantsRemarks() const override { return true; }
  void remarked(llvm::ArrayRef<RemarkRecord> remarks) override;

private:
  void planned(mlir::ModuleOp module);
  void finished(mlir::ModuleOp module);
  void addBlocks();
  void addSources();

  Report &report;
  Sources &sources;
  const Target *target = nullptr;
  std::map<std::string, Memory> memory; ///< of entries, by name
};

} // namespace heddle::report

#endif
