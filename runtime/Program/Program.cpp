//===- Program.cpp - From argv to a command -------------------------------===//
//
// From argv to a command and an exit code. A first word that is not a command
// is a text or a file for textCommand.
//
//===----------------------------------------------------------------------===//
#include "heddle/nearest.h"
#include "heddle/standard_files.h"
#include "heddle/terminal_output.h"
#include "runtime/Core/Args.h"
#include "runtime/Core/Asking.h"
#include "runtime/Core/EntryInputs.h"
#include "runtime/Core/Stack.h"
#include "runtime/Core/Status.h"
#include "runtime/Core/TerminalProgress.h"
#include "runtime/Program/Commands.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <new>
#include <unistd.h>

namespace heddle::rt {

/// Called for memory that there is none of, until there is. Others may give some back in a moment, so that a server
/// does not end at once; but waiting for longer is in vain.
static void outOfMemory() {
  static constexpr unsigned kTries = 50;
  static thread_local unsigned tries = 0;
  static thread_local time_t second = 0;
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  tries = now.tv_sec - second > 1 ? 0 : tries;
  second = now.tv_sec;
  timespec moment = {0, 1000000};
  if (++tries <= kTries) {
    nanosleep(&moment, nullptr);
    return;
  }
  for (const char *text : {"error[", codeOf(Error::NoResources), "]: out of memory\n"}) {
    ssize_t ignored = write(2, text, strlen(text));
    (void)ignored;
  }
  _exit(int(exitOf(Error::NoResources)));
}

static Status generatesNot(Model &, const Arguments &) {
  return unsupported("this model does not generate: use `run`");
}

namespace {
struct NamedCommand {
  const char *name;
  Command run;
};
} // namespace

/// The commands of this program.
static std::vector<NamedCommand> commands() {
  std::vector<NamedCommand> all = {{"run", runCommand},
                                   {"generate", &heddle_generate_command ? heddle_generate_command : generatesNot}};
  if (&heddle_chat_command)
    all.push_back({"chat", heddle_chat_command});
  if (&heddle_serve_command)
    all.push_back({"serve", heddle_serve_command});
  all.push_back({"info", infoCommand});
  if (&heddle_bench_command)
    all.push_back({"bench", heddle_bench_command});
  all.insert(all.end(), {{"licences", licencesCommand}, {"--verify", verifyCommand}});
  return all;
}

std::vector<std::string> commandNames() {
  std::vector<std::string> names;
  for (const NamedCommand &command : commands())
    names.push_back(command.name);
  return names;
}

Status askAboutCommand(const Model &model, const Args &args) {
  if (args.beforeDashes() == 0)
    return {};
  const std::string &word = args.positional()[0];
  bool bare = word.size() > 1;
  for (char c : word)
    bare &= (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  bool isFile = takesMedia(model.card()) && access(word.c_str(), F_OK) == 0;
  if (!bare || isFile)
    return {};
  auto asked = [&](const std::string &why, const std::string &help) {
    Status status = badUsage(why).withHelp(help);
    bool texts = model.image().tokenizerSize != 0;
    return texts ? std::move(status).withHelp("as a text it comes after --: " + model.name + " -- " + word) : status;
  };
  std::vector<std::string> names = commandNames();
  names.push_back("help");
  std::string all;
  for (const std::string &name : names)
    all += (all.empty() ? "" : ", ") + name;
  for (const std::string &name : names) {
    if (word == name)
      return asked("the command " + quote(name) + " comes before the options", model.name + " " + name + " ...");
    if (editDistance(comparedName(word), name, 1) <= 1)
      return asked("there is no command " + quote(word), "did you mean " + name + "?");
  }
  // Commands that similar programs have.
  for (const char *other : {"server", "version", "compile", "check", "tokenize", "verify"})
    if (word == other)
      return asked("this program has no command " + quote(word), "its commands: " + all);
  return {};
}

Status readStart(const Args &args, StartOptions &options) {
  int64_t threads = 0;
  HEDDLE_TRY(args.integer("--threads", 1, kMaxThreads, threads));
  options.threads = unsigned(threads);
  options.device = args.get("--device");
  return args.has("--device") && options.device.empty() ? badUsage("--device takes the number of a GPU or cpu")
                                                        : Status();
}

static void printVersion(const Model &model) {
  const Card &card = model.card();
  printf("%s: %s, compiled by heddle " HEDDLE_VERSION "%s\n", model.name.c_str(), card.name.c_str(),
         card.target.empty() ? "" : (" for " + card.target).c_str());
}

/// The error of a command that other programs have; `word` is no file here.
static Status missingCommand(const Model &model, const std::string &word) {
  std::string all;
  for (const std::string &name : commandNames())
    all += name + ", ";
  bool texts = model.image().tokenizerSize != 0, makes = model.card().roles.present;
  std::string why = word == "serve" ? "this program has no server" : "this program has no command `" + word + "`";
  Status status = badUsage(why).withHelp("its commands: " + all + "help");
  if (word == "bench" || (word == "serve" && texts && !takesMedia(model.card())))
    status = std::move(status).withHelp("heddle compile links one where --without=" + word + " does not leave it out");
  else if (word == "serve")
    status = std::move(status).withHelp(std::string("one is for models that ") + (makes ? "make" : "read") +
                                        " texts, with a tokenizer, and take no pictures or sound");
  return texts ? std::move(status).withHelp("as a text it comes after --: " + model.name + " -- " + word) : status;
}

/// The words without --raw, which says of any command that a terminal gets the bytes (runProgram); a text of a model
/// that answers questions keeps it, since there it also leaves the template out.
static Arguments withoutRaw(const Card &card, Arguments words) {
  bool isCommand = false;
  for (const std::string &name : commandNames())
    isCommand |= words[0] == name;
  auto dashes = std::find(words.begin(), words.end(), "--");
  auto raw = std::find(words.begin(), dashes, "--raw");
  if (raw != dashes && (isCommand || (!asksInTurns(card) && card.chat.empty())))
    words.erase(raw);
  return words;
}

/// Refuses an option of a command that the command line does not name.
static Status checkForgottenCommand(const Card &card, const Arguments &words) {
  for (const std::string &word : words) {
    if (word == "--")
      return {};
    std::string option = word.substr(0, word.find('='));
    bool ids = option == "--ids" || option == "--text";
    bool output = option == "--output" && !&heddle_vector_command;
    if ((ids && card.roles.present) || option == "--input" || output)
      return badUsage("option " + option + " belongs to the command " +
                      (ids                  ? "generate"
                       : card.roles.present ? "run or generate"
                                            : "run"))
          .withHelp(std::string("did you mean ") + (ids ? "generate " : "run ") + option + "?");
  }
  return {};
}

/// What a model is asked without a command; one that takes tensors alone has no answer.
static Status textCommand(Model &model, const Arguments &words) {
  const Card &card = model.card();
  HEDDLE_TRY(checkForgottenCommand(card, words));
  HEDDLE_TRY(checkTurnFlags(card, words));
  bool texts = model.image().tokenizerSize != 0 || takesMedia(card);
  if (card.roles.present && &heddle_continue_command)
    return heddle_continue_command(model, words);
  if (&heddle_vector_command)
    return heddle_vector_command(model, words);
  if (!card.roles.present && texts && &heddle_classify_command)
    return heddle_classify_command(model, words);
  Args args;
  HEDDLE_TRY(Args::parse(words, {"--threads", "--device"}, {}, 1, args));
  HEDDLE_TRY(askAboutCommand(model, args));
  const Entry *run = card.entry("run");
  if (run && run->input("input_ids"))
    return noTokenizer(model);
  std::string why =
      args.positional().empty() ? "a command is missing" : "unknown command " + quote(args.positional()[0]);
  return badUsage(why + "; this model takes tensors, not texts").withHelp("run --input FILE --output FILE; see --help");
}

/// Whether the words give tensors, NAME=@FILE, which the command run takes.
static bool givesTensors(const Card &card, const Arguments &words) {
  const Entry *run = card.entry("run");
  std::string name, path;
  for (const std::string &word : words) {
    if (word == "--")
      break;
    if (run && splitGiven(word, name, path) && run->input(name))
      return true;
  }
  return false;
}

/// Whether a command says at a terminal that it works: not what waits for somebody, or prints bytes as they are on the
/// same terminal.
static bool showsProgress(const std::string &command, const Arguments &words) {
  for (const char *other : {"chat", "serve", "info", "licences"})
    if (command == other)
      return false;
  bool typed = false, raw = false, isText = false;
  for (const std::string &word : words) {
    isText |= word == "--";
    typed |= word == "-" || (!isText && word.rfind("--lines", 0) == 0);
    raw |= !isText && word == "--raw";
  }
  return !(typed && isatty(0)) && !(raw && isatty(1));
}

static Status dispatch(Model &model, const Arguments &given, const std::string &program) {
  Arguments words = given.empty() ? given : withoutRaw(model.card(), given);
  if (words.empty() || words[0] == "--help" || words[0] == "-h")
    return helpCommand(model, program, "");
  if (words[0] == "help")
    return helpCommand(model, program, words.size() > 1 ? words[1] : "");
  if (words[0] == "--version") {
    printVersion(model);
    return {};
  }
  std::optional<NamedCommand> found;
  for (const NamedCommand &command : commands())
    if (words[0] == command.name)
      found = command;
  for (const std::string &word : words) {
    if (word == "--")
      break;
    if (word == "--help" || word == "-h")
      return helpCommand(model, program, found ? found->name : "");
  }
  bool isFile = takesMedia(model.card()) && access(words[0].c_str(), F_OK) == 0;
  if (!found && !isFile && (words[0] == "serve" || words[0] == "chat" || words[0] == "bench")) // whatever flags follow
    return missingCommand(model, words[0]);
  std::optional<TerminalProgress> progress;
  if (showsProgress(found ? found->name : "", given))
    progress.emplace();
  if (!found && givesTensors(model.card(), words))
    return runCommand(model, words);
  return found ? found->run(model, Arguments(words.begin() + 1, words.end())) : textCommand(model, words);
}

namespace {
struct Call {
  const Image &image;
  const Arguments &words;
  std::string program;
  Status status;
};
} // namespace

static void *runOne(void *argument) {
  Call &call = *static_cast<Call *>(argument);
  Model model;
  model.name = call.program.substr(call.program.rfind('/') + 1);
  call.status = model.open(call.image);
  if (call.status.ok())
    call.status = dispatch(model, call.words, call.program);
  return nullptr;
}

int runProgram(const Image &image, int argc, char **argv) {
  holdStandardFiles();
  std::set_new_handler(outOfMemory);
  // A file-size limit (ulimit -f) then is an error of write() instead of a
  // signal.
  signal(SIGXFSZ, SIG_IGN);
  Arguments words;
  bool json = false, isText = false;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    isText |= word == "--";
    if (word == "--error-format=json")
      json = true;
    else if (!isText && (word == "-q" || word == "--quiet"))
      beQuiet();
    else if (word != "--error-format=human")
      words.push_back(word);
  }
  auto dashes = std::find(words.begin(), words.end(), "--");
  if (std::find(words.begin(), dashes, "--raw") == dashes)
    escapeOnTerminal();
  Call call = {image, words, argc > 0 ? argv[0] : "model", {}};
  Status status = onEnoughStack(runOne, &call);
  if (status.ok())
    status = std::move(call.status);
  if (status.ok())
    status = flushOutput();
  if (!status.ok())
    report(status, json);
  return int(status.exit());
}

} // namespace heddle::rt
