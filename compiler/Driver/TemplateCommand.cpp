//===- TemplateCommand.cpp - `heddle template` ----------------------------===//

#include "compiler/Driver/TemplateCommand.h"
#include "compiler/Driver/Exit.h"
#include "compiler/Driver/Load.h"
#include "compiler/Driver/Output.h"
#include "compiler/Gguf/GgufFolder.h"
#include "compiler/SideFiles/ChatTemplate.h"
#include "compiler/Template/TemplateTraits.h"
#include "heddle/template.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"

using namespace heddle;
using namespace mlir;
namespace fs = llvm::sys::fs;

static bool readLine(std::string &line) {
  line.clear();
  int c;
  while ((c = getc_unlocked(stdin)) != EOF && c != '\n')
    line += char(c);
  return c != EOF || !line.empty();
}

static void printInfo(const std::vector<std::string> &names, const TemplateTraits &traits, llvm::raw_ostream &os) {
  os << "templates:";
  for (const std::string &one : names)
    os << " " << one;
  os << "\nsystem: " << (traits.system ? "yes" : "no") << "\nparts: " << (traits.parts ? "yes" : "no")
     << "\narguments: " << traits.arguments << "\ntool_turn: " << (traits.toolTurn ? "yes" : "no")
     << "\nturn_end: " << (traits.turnEnd.empty() ? "none" : traits.turnEnd) << "\n";
}

static void printInfoJson(const std::vector<std::string> &names, const TemplateTraits &traits, llvm::raw_ostream &os) {
  llvm::json::Array templates;
  for (const std::string &one : names)
    templates.push_back(llvm::json::fixUTF8(one));
  llvm::json::Value end = nullptr;
  if (!traits.turnEnd.empty())
    end = llvm::json::fixUTF8(traits.turnEnd);
  os << llvm::json::Value(llvm::json::Object{{"templates", std::move(templates)},
                                             {"system", traits.system},
                                             {"parts", traits.parts},
                                             {"arguments", traits.arguments},
                                             {"tool_turn", traits.toolTurn},
                                             {"turn_end", std::move(end)}})
     << "\n";
}

int heddle::runTemplate(const Console &console, const std::string &name, const std::string &chosen, bool json,
                        bool info) {
  if (int missing = canRead(console, name))
    return missing;
  DiagnosticSink sink;
  ChatTemplates templates;
  bool isFolder = fs::is_directory(name) || isGgufFile(name);
  std::optional<ModelFolder> folder;
  if (isFolder) {
    std::vector<std::string> warnings;
    absl::StatusOr<ModelFolder> opened = openTexts(name, warnings);
    if (!opened.ok())
      return complain(console, opened.status());
    for (const std::string &warning : warnings)
      sink.sayInFile(heddle::Diagnostic::Kind::Warning, name, warning);
    folder = *std::move(opened);
  }
  readChatTemplates(folder, isFolder ? StringRef(chosen) : StringRef(name), sink, templates);
  if (sink.hasErrors()) {
    sink.print(console.err);
    return failedWith(sink);
  }
  sink.print(console.err);
  if (templates.blob.empty())
    return console.complain(Error::BadTemplate, name + ": there is no chat template");
  std::string error;
  std::unique_ptr<rt::TemplateRunner> runner = rt::TemplateRunner::open(templates.blob, error);
  if (!runner)
    return console.complain(Error::OurMistake, error);
  if (info) {
    TemplateTraits traits =
        probeTemplate(*runner, [&](const std::string &text) { return templates.firstSpecial(text); });
    json ? printInfoJson(runner->names(), traits, console.out) : printInfo(runner->names(), traits, console.out);
    return Ok;
  }
  int code = Ok;
  for (std::string line; readLine(line);) {
    if (json) {
      console.out << runner->answer(line) << "\n";
    } else {
      rt::TemplateRunner::Result result = runner->render(line);
      if (result.good)
        console.out << result.text << "\n";
      else
        code = console.complain(Error::BadTemplate, result.text);
    }
    console.out.flush();
  }
  return code;
}
