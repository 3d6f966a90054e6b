//===- ReportPage.h - one HTML file that asks for nothing -------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_REPORT_REPORTPAGE_H
#define HEDDLE_COMPILER_REPORT_REPORTPAGE_H

#include "compiler/Report/ReportData.h"

namespace heddle::report {

/// The page of a report. Its policy allows the scripts and styles in it by their digests, and nothing else: no request,
/// no eval, no markup out of texts. Data are deflated JSON, the IR unpacked when it is asked for.
std::string pageOf(const Report &report);

/// report.schema.json.
llvm::StringRef schemaText();

} // namespace heddle::report

#endif
