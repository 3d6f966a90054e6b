//===- Phase.cpp - the lines of --time ------------------------------------===//

#include "compiler/Driver/Phase.h"
#include "compiler/Driver/Limits.h"
#include "compiler/Driver/ProgressLine.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include <sys/resource.h>

using namespace heddle;
using llvm::StringRef;

static rusage usage() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return used;
}

static double cpuSeconds() {
  rusage used = usage();
  return double(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         double(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
}

Phase::Phase(StringRef kind, StringRef name, llvm::raw_ostream *say)
    : name(name), say(say), start(std::chrono::steady_clock::now()), cpuAtStart(say ? cpuSeconds() : 0) {
  ProgressLine::bytes(0, 0);
  nowDoing(("the " + kind + (kind.empty() ? "" : " ") + name).str());
}

Phase::~Phase() {
  if (!say)
    return;
  double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  *say << llvm::format("%8.0f ms %8.0f ms CPU %6.0f MB  ", wall * 1e3, (cpuSeconds() - cpuAtStart) * 1e3,
                       double(usage().ru_maxrss) / 1e3)
       << name << "\n";
}

void heddle::printFunctions(llvm::raw_ostream &os, llvm::ArrayRef<host::CodePart> parts) {
  llvm::SmallVector<const host::CodePart *> sorted;
  for (const host::CodePart &part : parts)
    sorted.push_back(&part);
  llvm::stable_sort(sorted, [](auto *a, auto *b) { return a->seconds > b->seconds; });
  for (const host::CodePart *part : sorted)
    os << llvm::format("            %8.0f ms CPU %6.0f kB    ", part->seconds * 1e3, double(part->bytes.size()) / 1e3)
       << (part->name.empty() ? StringRef("constants and tables") : StringRef(part->name)) << "\n";
}
