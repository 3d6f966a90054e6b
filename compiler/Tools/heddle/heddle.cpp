//===- heddle.cpp - a command line becomes one call of the driver ---------===//

#include "compiler/Diff/Diff.h"
#include "compiler/Driver/CommandRecord.h"
#include "compiler/Driver/Compile.h"
#include "compiler/Driver/Defaults.h"
#include "compiler/Driver/Exit.h"
#include "compiler/Driver/Limits.h"
#include "compiler/Driver/Load.h"
#include "compiler/Driver/Output.h"
#include "compiler/Driver/ProgressLine.h"
#include "compiler/Driver/TemplateCommand.h"
#include "compiler/Driver/TerminalStream.h"
#include "compiler/Explain/Explain.h"
#include "compiler/Gguf/GgufFolder.h"
#include "compiler/Import/Description/ErrorPage.h"
#include "compiler/Import/Description/Reference.h"
#include "compiler/Import/Json/LocatedJson.h"
#include "compiler/ModelInfo/ModelInfo.h"
#include "compiler/Tokenizer/Tokenize.h"
#include "compiler/Tools/heddle/CommandLine.h"
#include "heddle/input_file.h"
#include "heddle/tensor_names.h"
#include "targets/Registration.h"
#include "targets/Threads.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/StringSaver.h"
#include <chrono>
#include <csignal>
#include <cstring>
#include <sys/resource.h>

using namespace heddle;

/// Adds every .json file of `folder` to the families; they come before those that are compiled in.
static int readFamilies(const Console &console, const std::string &folder, FamilyLibrary &library,
                        std::vector<std::string> &read) {
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    llvm::StringRef path = it->path();
    if (llvm::sys::path::extension(path) != ".json")
      continue;
    ReadFile file = readInputFile(path.str().c_str(), JsonLimits().bytes);
    if (!file.ok())
      return console.complain(file.systemError ? Error::CannotRead : Error::NotItsFormat, path + ": " + file.why);
    read.push_back(path.str());
    library.own[llvm::sys::path::stem(path).str()] = std::move(file.bytes);
  }
  return error ? console.complain(Error::CannotRead, "cannot read the folder " + folder + ": " + error.message()) : Ok;
}

/// `heddle compile`: chooses the name of the output, then calls the driver.
static int compileTo(const Console &console, CompileOptions &c) {
  if (console.record && c.emit != "exe" && c.emit != "obj" && (c.output.empty() || c.output == "-"))
    return console.complain(Error::BadUsage, "--json and the text of --emit=" + c.emit +
                                                 " would both go to standard output; -o FILE names another place");
  if (console.record && c.report && c.report->empty())
    return console.complain(Error::BadUsage,
                            "--json and --report would both go to standard output; --report=FILE names another place");
  bool binary = c.emit == "exe" || c.emit == "obj", unsaid = binary && c.output.empty() && !c.report;
  if (binary && c.output == "-")
    return console.complain(Error::BadUsage, "-o -: a binary goes into a file; -o FILE names it");
  if (c.report && !binary)
    return console.complain(Error::BadUsage, "--report is of a whole program; it does not go with --emit=" + c.emit);
  if (c.time == "json" &&
      (c.json || (c.report && c.report->empty()) || (!binary && (c.output.empty() || c.output == "-"))))
    return console.complain(Error::BadUsage, "--time=json writes to standard output, and so does something else here; "
                                             "-o FILE of a text, --report=FILE and --time keep them apart");
  if (unsaid)
    if (int code = chooseOutput(console, c))
      return code;
  takeBase(console, c.import); // the output has the adapter's name
  if (!c.depfile.empty() && (c.output.empty() || c.output == "-"))
    return console.complain(Error::BadUsage, "--depfile says what a file is made of; it needs -o FILE");
  int code = compile(console, c);
  if (unsaid && code == Ok && !c.quiet)
    console.err << "heddle: wrote " << escaped(c.output, c.output.size()) << "\n";
  return code;
}

/// The same; with --json the object that says what was made ends the output, also after an error.
static int compileAndTell(const Console &given, CompileOptions &c) {
  CommandRecord record;
  Console console = given;
  console.quiet = c.quiet;
  console.record = c.json ? &record : nullptr;
  auto start = std::chrono::steady_clock::now();
  int code = compileTo(console, c);
  if (!c.json)
    return code;
  llvm::json::Object &made = record.made;
  uint64_t bytes = 0;
  bool written = code == Ok && !c.output.empty() && !llvm::sys::fs::file_size(c.output, bytes);
  made["status"] = code;
  made["stage"] = c.emit;
  made["output"] = written ? llvm::json::Value(llvm::json::fixUTF8(c.output)) : nullptr;
  made["bytes"] = int64_t(bytes);
  made["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  made["messages"] = std::move(record.messages);
  given.out << llvm::json::Value(std::move(made)) << "\n";
  return code;
}

/// The page of the language, or another text that is compiled in.
static int showReference(const Console &console, const CommandLine &line, bool json) {
  const FamilyLibrary &families = line.compile.import.families;
  if (json && line.part.empty())
    return console.complain(Error::BadUsage, "the page of the language is text; `heddle schema` is the same as JSON");
  if (line.part == "family") {
    if (line.described.empty())
      return console.complain(Error::BadUsage,
                              "reference family NAME: the name is missing; `heddle reference families` lists all");
    std::optional<llvm::StringRef> text = families.find(line.described);
    if (!text)
      return console.complain(Error::UnknownName, "there is no family " + quote(line.described) +
                                                      nearest(line.described, families.names()));
    console.out << *text; // which is JSON
    return Ok;
  }
  if (!line.described.empty())
    return console.complain(Error::BadUsage,
                            "reference " + line.part + " takes no name, found " + quote(line.described));
  if (line.part.empty())
    printReference(console.out);
  else if (line.part == "blocks") // which is JSON
    printBlocks(console.out);
  else if (line.part == "families" && json)
    console.out << llvm::json::Value(llvm::json::Array(families.names())) << "\n";
  else if (line.part == "families")
    for (const std::string &name : families.names())
      console.out << name << "\n";
  else if (json)
    console.out << llvm::json::Value(listErrors()) << "\n";
  else
    printErrors(console.out);
  return Ok;
}

/// `heddle report`: writes the page and says so.
static int report(const Console &console, CommandLine &line) {
  takeBase(console, line.compile.import);
  if (line.report.page == "-" && line.report.json == "-")
    return console.complain(Error::BadUsage, "-o - and --json - both write to standard output");
  int code = writeReport(console, line.compile, line.look, line.report);
  if (code == Ok && !line.compile.quiet && line.report.page != "-")
    console.err << "heddle: wrote " << escaped(line.report.page, line.report.page.size()) << "\n";
  return code;
}

/// Reads the line `heddle compile PATH OPTIONS`, for the commands that compile a model on their way.
static int readCompileLine(const Console &console, const std::string &path, const std::string &options,
                           CompileOptions &compile) {
  llvm::BumpPtrAllocator memory;
  llvm::StringSaver words(memory);
  llvm::SmallVector<const char *> line = {"heddle", "compile", path.c_str()};
  llvm::cl::TokenizeGNUCommandLine(options, words, line);
  int code = Ok;
  std::optional<CommandLine> read = readCommandLine(console, int(line.size()), const_cast<char **>(line.data()), code);
  if (!read)
    return code == Ok ? int(exitOf(Error::BadUsage)) : code; // help has been printed
  compile = std::move(read->compile);
  return read->families.empty() ? int(Ok)
                                : readFamilies(console, read->families, compile.import.families, compile.alsoRead);
}

static int run(const Console &console, int argc, char **argv) {
  registerPasses();
  int code = Ok;
  std::optional<CommandLine> line = readCommandLine(console, argc, argv, code);
  if (!line)
    return code;
  const std::string &command = line->command;
  CompileOptions &c = line->compile;
  const InspectOptions &look = line->look;
  if ((code = readStream(console, c.import)))
    return code;
  if (!line->families.empty())
    if ((code = readFamilies(console, line->families, c.import.families, c.alsoRead)))
      return code;
  // What may take long; other commands read, or write as they go.
  std::optional<ProgressLine> progress;
  if (llvm::is_contained({"compile", "check", "report", "mask", "interpret", "verify", "reduce"}, command) &&
      llvm::errs().is_displayed() && !c.quiet) {
    nowDoing(command == "mask" ? "counting what masks hide" : "reading the model");
    progress.emplace();
  }
  if (command == "compile")
    return compileAndTell(console, c);
  if (command == "reduce")
    return reduceFile(console, line->reduce);
  if (command == "report")
    return report(console, *line);
  if (command == "info") {
    takeBase(console, c.import);
    return showInfo(console, c, look.json, line->info);
  }
  if (command == "schema" && line->described == "report") {
    printReportSchema(console.out);
    return Ok;
  }
  if (command == "schema")
    return showSchema(console, line->described, c.import.families);
  for (const std::string *file : {&line->tokenizer, &line->chatTemplate})
    if ((code = canFetch(console, *file)))
      return code;
  if (command == "tokenize") {
    std::vector<std::string> warnings;
    absl::StatusOr<ModelFolder> from = openTexts(line->tokenizer, warnings);
    if (!from.ok())
      return complain(console, from.status());
    for (const std::string &warning : warnings)
      console.err << "heddle: warning: " << escapedLines(line->tokenizer + ": " + warning) << "\n";
    std::optional<TokenizeFailure> failure = tokenize(*from, look.json);
    return failure ? console.complain(failure->error, failure->why) : Ok;
  }
  if (command == "template")
    return runTemplate(console, line->chatTemplate, c.chatTemplate, look.json, line->info);
  if (command == "stages") {
    if (look.json)
      console.out << llvm::json::Value(listStages()) << "\n";
    else
      console.out << describeStages();
    return Ok;
  }
  if (command == "diff")
    return diffCompilations(console, line->diff, look.json,
                            [&](const std::string &path, const std::string &options, CompileOptions &model) {
                              return readCompileLine(console, path, options, model);
                            });
  if (command == "explain")
    return explain(console, line->explained, look.json);
  if (command == "reference")
    return showReference(console, *line, look.json);
  takeBase(console, c.import);
  bool interpreted = command == "interpret";
  if (llvm::is_contained(look.outputs, "-"))
    return console.complain(Error::BadUsage, "-o -: tensors go into a file; -o FILE names it");
  for (const std::string &output : look.outputs)
    if (std::string ending = otherFormatOf(output); !ending.empty())
      return console.complain(
          Error::BadUsage, "-o " + output + ": safetensors, .npz and .npy are written, and the name ends in " + ending);
  if (interpreted && look.inputs.size() != look.outputs.size())
    return console.complain(Error::BadUsage, "there must be as many -o as -i");
  if (look.output == "-" && look.json)
    return console.complain(Error::BadUsage, "--json and --svg - both write to standard output");
  return interpreted            ? interpretModel(console, c, look)
         : command == "check"   ? checkInput(console, c, look)
         : command == "mask"    ? showMasks(console, c, look)
         : command == "weights" ? listWeights(console, c, look)
         : look.bisect          ? bisectModel(console, c, look)
                                : verifyModel(console, c, look);
}

namespace {
struct Call {
  const Console &console;
  int argc;
  char **argv;
  int code;
};
} // namespace

static void *runCall(void *argument) {
  Call &call = *static_cast<Call *>(argument);
  call.code = finish(call.console, llvm::outs(), run(call.console, call.argc, call.argv));
  return nullptr;
}

/// Calls it here where the stack is as large as a thread's, else (`ulimit -s`) on a thread.
static int onEnoughStack(Call &call) {
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kThreadStack) {
    runCall(&call);
    return call.code;
  }
  rlimit raised = limit; // for the linker, as far as it may be
  raised.rlim_cur = std::min<rlim_t>(kThreadStack, limit.rlim_max);
  setrlimit(RLIMIT_STACK, &raised);
  pthread_t thread;
  if (int error = startThread(thread, runCall, &call))
    return call.console.complain(Error::NoResources, "the stack may have " + std::to_string(limit.rlim_cur >> 10) +
                                                         " KiB, heddle needs " + std::to_string(kThreadStack >> 10) +
                                                         ", and there is no thread with a separate stack: " +
                                                         std::strerror(error) + "; allow more with ulimit -s 8192");
  // Signals are the working thread's.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  pthread_join(thread, nullptr);
  return call.code;
}

int main(int argc, char **argv) {
  guardExits();
  TerminalStream terminal(llvm::outs());
  MessageStream messages(llvm::errs());
  const Console console{llvm::outs().is_displayed() ? terminal : static_cast<llvm::raw_ostream &>(llvm::outs()),
                        llvm::errs().is_displayed() ? messages : static_cast<llvm::raw_ostream &>(llvm::errs())};
  Call call{console, argc, argv, Ok};
  int code = onEnoughStack(call);
  dropUnheard(llvm::errs());
  return code;
}
