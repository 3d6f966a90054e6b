//===- ModelInfo.cpp - heddle info ----------------------------------------===//

#include "compiler/ModelInfo/ModelInfo.h"
#include "compiler/Driver/Exit.h"
#include "compiler/Driver/Load.h"
#include "compiler/Import/Json/Diagnostics.h"
#include "compiler/ModelInfo/ModelFacts.h"
#include "heddle/input_file.h"
#include "llvm/Support/FileSystem.h"

using namespace heddle;

int heddle::showInfo(const Console &console, const CompileOptions &options, bool json, bool everyTensor) {
  DiagnosticSink sink;
  if (!canRead(options.import, sink)) {
    sink.print(console.err);
    return failedWith(sink);
  }
  const std::string &path = options.import.path;
  if (!options.import.text && !llvm::sys::fs::is_directory(path)) {
    ReadFile file = readInputFile(path.c_str(), 0); // keeps the first bytes alone
    if (llvm::StringRef(file.bytes)
            .starts_with("\x7f"
                         "ELF"))
      return console.complain(Error::OtherKind, path + ": this is a program; a compiled model says it by itself: " +
                                                    (path.find('/') == path.npos ? "./" : "") + path + " info");
  }
  ModelFacts facts = gatherFacts(options);
  if (facts.kind.empty()) { // neither a model nor tensors
    int code = Ok;
    for (const ProblemFact &problem : facts.problems)
      if (problem.isError && code == Ok)
        code = console.complain(problem.code, problem.message);
    return code == Ok ? console.complain(Error::NoModel, path + ": there is no model") : code;
  }
  if (!facts.wrongDims.empty())
    return console.complain(Error::NothingNamed, "--dims: " + facts.wrongDims);
  json ? printFactsJson(facts, console.out) : printFacts(facts, everyTensor, console.out);
  return Ok;
}
