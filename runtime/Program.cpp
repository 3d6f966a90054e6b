//===- Program.cpp - From argv to a command -------------------------------===//
//
// A first word that is no command is a prompt.
//
//===----------------------------------------------------------------------===//
#include "runtime/Commands.h"

#include <cstdio>
#include <new>
#include <unistd.h>

namespace heddle::rt {

static void outOfMemory() {
  static const char text[] = "error[H0601]: out of memory\n";
  ssize_t ignored = write(2, text, sizeof text - 1);
  (void)ignored;
  _exit(int(Exit::Resources));
}

static Status dispatch(Model &model, Words words, const std::string &program) {
  static const struct {
    const char *name;
    Status (*run)(Model &, const Words &);
  } commands[] = {{"run", runCommand},
                  {"generate", generateCommand},
                  {"info", infoCommand},
                  {"bench", benchCommand},
                  {"licences", licencesCommand}};
  if (words.empty() || words[0] == "--help" || words[0] == "-h" ||
      words[0] == "help")
    return helpCommand(model, program);
  for (const std::string &word : words) {
    if (word == "--")
      break;
    if (word == "--help" || word == "-h")
      return helpCommand(model, program);
  }
  for (const auto &command : commands)
    if (words[0] == command.name)
      return command.run(model, Words(words.begin() + 1, words.end()));
  return textCommand(model, words);
}

int runProgram(const Image &image, int argc, char **argv) {
  std::set_new_handler(outOfMemory);
  Words words;
  bool json = false;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (word == "--error-format=json")
      json = true;
    else if (word != "--error-format=human")
      words.push_back(word);
  }
  Status status;
  {
    Model model;
    status = model.open(image);
    if (status.ok())
      status = dispatch(model, words, argc > 0 ? argv[0] : "model");
  }
  if (status.ok() && fflush(stdout) != 0)
    status = Status(Exit::InputOutput, "H0702", "cannot write to stdout");
  if (!status.ok())
    report(status, json);
  return int(status.exit());
}

} // namespace heddle::rt
