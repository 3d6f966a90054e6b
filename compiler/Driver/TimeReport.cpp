//===- TimeReport.cpp - the lines of --time, and its JSON -----------------===//

#include "compiler/Driver/TimeReport.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <chrono>
#include <sys/resource.h>

using namespace heddle;
using llvm::StringRef;

TimeReport::Usage TimeReport::Usage::now() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  double wall = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  return {wall,
          double(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
              double(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6,
          double(used.ru_maxrss) * 1024};
}

TimeReport::TimeReport(llvm::raw_ostream *lines) : lines(lines) {}

void TimeReport::phase(StringRef kind, StringRef name, const Usage &since) {
  Usage now = Usage::now();
  Usage used{now.wall - since.wall, now.cpu - since.cpu, now.peak};
  phases.push_back({kind.str(), name.str(), kind.empty() || !target ? "" : target->name().str(), used});
  if (!lines)
    return;
  *lines << llvm::format("%8.0f ms %8.0f ms CPU %6.0f MB  ", used.wall * 1e3, used.cpu * 1e3, used.peak / 1e6) << name
         << "\n";
  if (kind == "stage" && target && name == target->stages().back().name)
    printPasses();
}

void TimeReport::imported(mlir::ModuleOp, const Target &of) { target = &of; }

void TimeReport::afterPass(const PassRun &run, mlir::ModuleOp) {
  passes.push_back({target ? target->name().str() : "", run});
}

void TimeReport::printPasses() {
  llvm::SmallVector<const PassRun *> sorted;
  double all = 0;
  for (const Pass &pass : llvm::drop_begin(passes, shown)) {
    sorted.push_back(&pass.run);
    all += pass.run.ms;
  }
  shown = passes.size();
  llvm::stable_sort(sorted, [](auto *a, auto *b) { return a->ms > b->ms; });
  for (const PassRun *run : sorted)
    if (run->ms * 100 > all)
      *lines << llvm::format("            %8.1f ms %7lld -> %-7lld ops   ", run->ms, (long long)run->opsBefore,
                             (long long)run->ops)
             << run->flag << "\n";
}

void TimeReport::generated(llvm::ArrayRef<host::CodePart> parts) {
  llvm::SmallVector<const host::CodePart *> sorted;
  for (const host::CodePart &part : parts) {
    sorted.push_back(&part);
    functions.push_back({part.name, part.seconds, part.bytes.size()});
  }
  if (!lines)
    return;
  llvm::stable_sort(sorted, [](auto *a, auto *b) { return a->seconds > b->seconds; });
  for (const host::CodePart *part : sorted)
    *lines << llvm::format("            %8.0f ms CPU %6.0f kB    ", part->seconds * 1e3,
                           double(part->bytes.size()) / 1e3)
           << (part->name.empty() ? StringRef("constants and tables") : StringRef(part->name)) << "\n";
}

/// Milliseconds with three digits behind the point.
static void milliseconds(llvm::json::OStream &json, StringRef name, double ms) {
  json.attributeBegin(name);
  json.rawValue(llvm::formatv("{0:f3}", ms).str());
  json.attributeEnd();
}

static void printUsage(llvm::json::OStream &json, double wall, double cpu, double peak) {
  milliseconds(json, "ms", wall * 1e3);
  milliseconds(json, "cpu_ms", cpu * 1e3);
  json.attribute("peak_mb", int64_t(peak / 1e6));
}

void TimeReport::printJson(llvm::raw_ostream &os) const {
  llvm::json::OStream json(os, 2);
  Usage now = Usage::now();
  json.object([&] {
    printUsage(json, now.wall - start.wall, now.cpu - start.cpu, now.peak);
    json.attributeArray("phases", [&] {
      for (const Phase &phase : phases)
        json.object([&] {
          json.attribute("name", phase.name);
          if (!phase.kind.empty()) {
            json.attribute("kind", phase.kind);
            json.attribute("target", phase.target);
          }
          printUsage(json, phase.used.wall, phase.used.cpu, phase.used.peak);
        });
    });
    json.attributeArray("passes", [&] {
      for (const Pass &pass : passes)
        json.object([&] {
          json.attribute("target", pass.target);
          json.attribute("stage", pass.run.stage);
          json.attribute("pass", pass.run.flag);
          json.attribute("pipeline", pass.run.pipeline);
          milliseconds(json, "ms", pass.run.ms);
          json.attributeArray("ops", [&] {
            json.value(pass.run.opsBefore);
            json.value(pass.run.ops);
          });
        });
    });
    json.attributeArray("functions", [&] {
      for (const Function &function : functions)
        json.object([&] {
          json.attribute("name", function.name);
          milliseconds(json, "cpu_ms", function.seconds * 1e3);
          json.attribute("bytes", int64_t(function.bytes));
        });
    });
  });
  os << "\n";
}

void TimeReport::finish(llvm::raw_ostream &out) {
  if (lines)
    printPasses();
  else
    printJson(out);
}
