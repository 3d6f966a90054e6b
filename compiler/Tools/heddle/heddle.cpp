//===- heddle.cpp - a command line becomes one call of the driver ---------===//

#include "compiler/Driver/Compile.h"
#include "compiler/Driver/Defaults.h"
#include "compiler/Driver/Exit.h"
#include "compiler/Driver/Load.h"
#include "compiler/Driver/Output.h"
#include "compiler/Driver/ProgressLine.h"
#include "compiler/Driver/TemplateCommand.h"
#include "compiler/Driver/TerminalStream.h"
#include "compiler/Gguf/GgufFolder.h"
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
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
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
  bool binary = c.emit == "exe" || c.emit == "obj", unsaid = binary && c.output.empty() && !c.report;
  if (binary && c.output == "-")
    return console.complain(Error::BadUsage, "-o -: a binary goes into a file; -o FILE names it");
  if (c.report && !binary)
    return console.complain(Error::BadUsage, "--report is of a whole program; it does not go with --emit=" + c.emit);
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
  if (llvm::is_contained({"compile", "interpret", "verify"}, command) && llvm::errs().is_displayed() && !c.quiet)
    progress.emplace();
  if (command == "compile")
    return compileTo(console, c);
  if (command == "info")
    return showInfo(console, c, look.json, line->info);
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
    console.out << describeStages();
    return Ok;
  }
  if (command == "reference") {
    line->part.empty()       ? printReference(console.out)
    : line->part == "blocks" ? printBlocks(console.out)
                             : printErrors(console.out);
    return Ok;
  }
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
