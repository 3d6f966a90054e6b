//===- TimeTrace.cpp - a compilation for viewers of traces ----------------===//

#include "compiler/Driver/TimeTrace.h"
#include "compiler/Driver/Output.h"
#include "targets/Threads.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/TimeProfiler.h"

using namespace heddle;
using llvm::StringRef;

/// What stands in an event of a pass until it is written, before the number of the pass: the profiler asks for its
/// details when a pass begins, and its ops are known when it has ended.
static constexpr StringRef kPass = "heddle pass ";

TimeTrace::TimeTrace() { llvm::timeTraceProfilerInitialize(kTraceGranularity, "heddle"); }

TimeTrace::~TimeTrace() { llvm::timeTraceProfilerCleanup(); }

void TimeTrace::beforePass(const PassRun &run, mlir::ModuleOp) {
  llvm::timeTraceProfilerBegin(run.flag, StringRef((kPass + llvm::Twine(passes.size())).str()));
}

void TimeTrace::afterPass(const PassRun &run, mlir::ModuleOp) {
  llvm::timeTraceProfilerEnd();
  passes.push_back(run);
}

/// Puts what is known of passes into their events.
static void describe(llvm::json::Array &events, llvm::ArrayRef<PassRun> passes) {
  for (llvm::json::Value &event : events) {
    llvm::json::Object *args = event.getAsObject()->getObject("args");
    std::optional<StringRef> detail = args ? args->getString("detail") : std::nullopt;
    size_t number = 0;
    if (!detail || !detail->consume_front(kPass) || detail->getAsInteger(10, number) || number >= passes.size())
      continue;
    const PassRun &run = passes[number];
    *args = llvm::json::Object{
        {"stage", run.stage}, {"pipeline", run.pipeline}, {"ops_before", run.opsBefore}, {"ops", run.ops}};
  }
}

int TimeTrace::write(const Console &console, StringRef path) const {
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream os(text);
  llvm::timeTraceProfilerWrite(os);
  llvm::Expected<llvm::json::Value> trace = llvm::json::parse(text);
  llvm::json::Array *events = trace ? trace->getAsObject()->getArray("traceEvents") : nullptr;
  if (!events)
    return console.complain(Error::OurMistake, "LLVM's time trace is no JSON with events: " +
                                                   (trace ? "" : llvm::toString(trace.takeError())));
  describe(*events, passes);
  return writeAtomically(console, path, [&](llvm::raw_pwrite_stream &out) {
    out << *trace << "\n";
    return true;
  });
}
