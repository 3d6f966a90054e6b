//===- Thin.cpp - a report that is not too long ---------------------------===//

#include "compiler/Report/ReportData.h"
#include "llvm/ADT/STLExtras.h"
#include <functional>

using namespace heddle;
using namespace heddle::report;
using llvm::StringRef;

/// The most that the IR of all passes may take, in bytes of text: a seventh or less of it when deflated.
static constexpr size_t kMostText = size_t(18) << 20;
/// The most machine code, in bytes of text: a fifth when deflated.
static constexpr size_t kMostAssembly = size_t(5) << 20;

/// Whether a function is an entry at some stage, or may become one.
static bool isEntry(StringRef name, const Report &report) {
  name.consume_front("heddle_entry_");
  return name == "run" || llvm::any_of(report.entries, [&](const Entry &entry) { return entry.name == name; });
}

static size_t lengthOf(const Chain &chain) {
  size_t length = 0;
  for (const LineChange &change : chain.changes)
    for (const LineEdit &edit : change.edits)
      for (const Line &line : edit.added)
        length += line.text.size() + 10;
  return length;
}

static std::vector<Line> after(const std::vector<Line> &lines, const LineChange &change) {
  std::vector<Line> text;
  size_t at = 0;
  for (const LineEdit &edit : change.edits) {
    text.insert(text.end(), lines.begin() + at, lines.begin() + at + edit.kept);
    text.insert(text.end(), edit.added.begin(), edit.added.end());
    at += edit.kept + edit.dropped;
  }
  text.insert(text.end(), lines.begin() + at, lines.end());
  return text;
}

/// Forgets all but the last form of a function.
static void keepLast(Chain &chain) {
  if (chain.changes.empty())
    return;
  std::vector<Line> lines;
  for (const LineChange &change : chain.changes)
    lines = after(lines, change);
  LineChange last;
  last.pass = chain.changes.back().pass;
  last.edits.push_back({0, 0, std::move(lines)});
  chain.changes.clear();
  if (!last.edits.front().added.empty())
    chain.changes.push_back(std::move(last));
}

void report::thin(Report &report, Detail detail) {
  if (detail == Detail::All)
    return;
  std::vector<std::pair<size_t, std::string>> kernels;
  size_t left = 0;
  for (auto &[name, chain] : report.recorder.functions) {
    size_t length = lengthOf(chain);
    left += length;
    if (!isEntry(name, report))
      kernels.push_back({length, name});
  }
  llvm::sort(kernels, std::greater<>());
  for (auto &[length, name] : kernels) {
    if (detail == Detail::Kernels && left <= kMostText)
      break;
    Chain &chain = report.recorder.functions[name];
    if (detail == Detail::Entries)
      chain.changes.clear();
    else
      keepLast(chain);
    left = left - length + lengthOf(chain);
    report.thinned.push_back(name);
  }

  std::vector<std::pair<size_t, std::string>> code;
  size_t assembly = 0;
  for (auto &[name, kernel] : report.kernels) {
    size_t length = 0;
    for (const std::string &line : kernel.text)
      length += line.size() + 1;
    code.push_back({length, name});
    assembly += length;
  }
  llvm::sort(code, std::greater<>());
  for (auto &[length, name] : code) {
    if (detail == Detail::Kernels && assembly <= kMostAssembly)
      break;
    Kernel &kernel = report.kernels[name];
    kernel.text.clear();
    kernel.innerLines = {};
    assembly -= length;
  }
}
