//===- DumpIndexPage.cpp - the index of a dump as a page ------------------===//

#include "compiler/Driver/DumpIndex.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace heddle;

static constexpr StringRef kHead = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
:root { color-scheme: light dark; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 1.5rem auto; max-width: 76rem; padding: 0 1rem; }
h1 { font-size: 1.3rem; }
div { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid #8886; padding: .25rem .6rem; text-align: left; vertical-align: top; }
td:nth-child(3) { min-width: 13rem; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tbody tr:hover { background: #8882; }
tr.same { opacity: .65; }
tr.same td { padding-block: 0; }
code { font: .92em ui-monospace, monospace; overflow-wrap: anywhere; }
summary { cursor: pointer; white-space: nowrap; }
li { white-space: nowrap; }
ul { margin: 0; padding-left: 1.1rem; }
</style>
)";

static void printEscaped(llvm::raw_ostream &os, StringRef text) { llvm::printHTMLEscaped(text, os); }

/// A name in the folder as a link; nothing where there is none.
static void printLink(llvm::raw_ostream &os, StringRef file, StringRef word) {
  if (file.empty())
    return;
  os << "<a href=\"";
  for (char c : file) // what a pass's options put into the name of its file
    if (llvm::isAlnum(c) || StringRef("-_.").contains(c))
      os << c;
    else
      os << "%" << llvm::hexdigit(uint8_t(c) >> 4) << llvm::hexdigit(c & 15);
  os << "\">" << word << "</a> ";
}

static void printFunctions(llvm::raw_ostream &os, const DumpRow &row) {
  size_t count = row.functions.size();
  if (row.attributes)
    os << "attributes" << (count ? ", " : "");
  if (!count)
    return;
  os << "<details><summary>" << count << (count == 1 ? " function" : " functions") << "</summary><ul>";
  for (const DumpRow::Function &function : row.functions) {
    os << "<li><code>@";
    printEscaped(os, function.name);
    os << "</code> &minus;" << function.dropped << " +" << function.added << "</li>";
  }
  os << "</ul></details>";
}

static void printRow(llvm::raw_ostream &os, const DumpRow &row) {
  const PassRun &run = row.run;
  bool isImport = run.number == 0;
  os << "<tr" << (row.changed() || isImport ? "" : " class=\"same\"") << "><td class=\"n\">" << run.number
     << "</td><td>";
  printEscaped(os, run.stage);
  os << "</td><td><code";
  if (!row.command.empty()) {
    os << " title=\"";
    printEscaped(os, row.command);
    os << "\"";
  }
  os << ">";
  printEscaped(os, isImport ? run.flag : run.pipeline);
  os << "</code></td><td class=\"n\">";
  if (!isImport)
    os << llvm::formatv("{0:f1}", run.ms);
  os << "</td><td class=\"n\">";
  if (run.opsBefore == run.ops || isImport)
    os << run.ops;
  else
    os << run.opsBefore << " &rarr; " << run.ops;
  os << "</td><td>";
  if (isImport || row.changed())
    printFunctions(os, row);
  else
    os << "nothing";
  os << "</td><td>";
  printLink(os, row.file, "IR");
  printLink(os, row.diff, "difference");
  os << "</td></tr>\n";
}

void heddle::printIndexPage(llvm::raw_ostream &os, ModuleOp module, ArrayRef<DumpRow> rows) {
  auto name = module->getAttrOfType<StringAttr>("model.name");
  std::string title;
  llvm::raw_string_ostream titleOs(title);
  printEscaped(titleOs, name ? name.getValue() : "a model");
  size_t passes = 0, changing = 0;
  double ms = 0;
  for (const DumpRow &row : rows)
    if (row.run.number) {
      ++passes;
      changing += row.changed();
      ms += row.run.ms;
    }
  os << kHead << "<title>" << title << ": passes</title>\n</head>\n<body>\n<h1>" << title << ", pass by pass</h1>\n<p>"
     << passes << " passes, " << changing << " changed something; " << llvm::formatv("{0:f1}", ms)
     << " ms. IR is the module after the pass; <code>heddle compile</code> and <code>heddle-opt</code> read it. The "
        "name of a pass shows the command that runs it alone.</p>\n<div>\n<table>\n<thead><tr><th class=\"n\">#</th>"
        "<th>stage</th><th>pass</th><th class=\"n\">ms</th><th class=\"n\">ops</th><th>changed</th><th>files</th></tr>"
        "</thead>\n<tbody>\n";
  for (const DumpRow &row : rows)
    printRow(os, row);
  os << "</tbody>\n</table>\n</div>\n</body>\n</html>\n";
}
