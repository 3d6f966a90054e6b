//===- ChatLoopCommands.cpp - What a talk can be told ---------------------===//
//
// The words after a slash. They change the conversation or the flags; what is
// computed follows at the next answer.
//
//===----------------------------------------------------------------------===//
#include "heddle/nearest.h"
#include "runtime/Chat/ChatLoop.h"

#include <algorithm>
#include <cstdio>

namespace heddle::chat {

using rt::badUsage;
using rt::note;
using rt::quote;
using rt::Status;

const std::vector<ChatLoop::Command> &ChatLoop::commands() {
  static const std::vector<Command> all = {
      {"help", "", "this list", &ChatLoop::help},
      {"system", "[TEXT]", "what the model is told first; without TEXT nothing", &ChatLoop::system},
      {"clear", "", "begins anew after the system's turn", &ChatLoop::clear},
      {"retry", "", "asks the last question again", &ChatLoop::retry},
      {"undo", "", "takes the last question and its answer back", &ChatLoop::undo},
      {"save", "FILE", "writes the conversation as JSON", &ChatLoop::save},
      {"load", "FILE", "goes on with a conversation that was saved", &ChatLoop::load},
      {"set", "[NAME VALUE]", "a flag for the next answers, as temp 0.7; without NAME says which are set",
       &ChatLoop::set},
      {"stats", "", "tokens and times so far", &ChatLoop::stats},
      {"exit", "", "leaves; so does Ctrl-D", &ChatLoop::leave},
  };
  return all;
}

Status ChatLoop::obey(const std::string &line) {
  size_t blank = std::min(line.find(' '), line.size()),
         rest = std::min(line.find_first_not_of(' ', blank), line.size());
  std::string name = line.substr(1, blank - 1), given = line.substr(rest);
  std::vector<std::string> names;
  for (const Command &command : commands()) {
    names.push_back(command.name);
    if (name != command.name)
      continue;
    std::string takes = command.takes;
    if (takes.empty() ? !given.empty() : given.empty() && takes[0] != '[')
      return badUsage("/" + name + (takes.empty() ? " takes no argument" : " takes " + takes));
    return (this->*command.run)(given);
  }
  std::string near = nearestName(name, names);
  return badUsage("there is no command " + quote("/" + name))
      .withHelp(near.empty() ? "/help lists them" : "did you mean /" + near + "?")
      .withHelp("a question that begins with a slash has a space in front of it");
}

Status ChatLoop::help(const std::string &) {
  for (const Command &command : commands())
    fprintf(stderr, "/%-20s %s\n", (std::string(command.name) + " " + command.takes).c_str(), command.does);
  fprintf(stderr, "A line that ends in \\ goes on in the next one, and so does all between two lines of \"\"\".\n"
                  "Ctrl-C stops an answer; what it has said so far stays.\n");
  return {};
}

Status ChatLoop::system(const std::string &given) {
  dialogue.setSystem(given);
  changed = true;
  return {};
}

Status ChatLoop::clear(const std::string &) {
  dialogue.clear();
  changed = true;
  return {};
}

Status ChatLoop::retry(const std::string &) {
  std::string question;
  if (!dialogue.takeBack(question))
    return badUsage("there is no question to ask again");
  changed = true;
  return ask(question);
}

Status ChatLoop::undo(const std::string &) {
  std::string question;
  if (!dialogue.takeBack(question))
    return badUsage("there is no question to take back");
  changed = true;
  note("taken back: " + quote(question));
  return {};
}

Status ChatLoop::save(const std::string &given) { return dialogue.save(given); }

Status ChatLoop::load(const std::string &given) {
  changed = true;
  return dialogue.load(given);
}

/// The flags that /set knows, and those that a new value takes the place of.
static bool excludes(const std::string &set, const std::string &old) {
  auto draws = [](const std::string &flag) {
    return flag == "--temp" || flag == "--top-k" || flag == "--top-p" || flag == "--min-p" || flag == "--seed";
  };
  return set == old || (set == "--greedy" && draws(old)) || (draws(set) && old == "--greedy");
}

Status ChatLoop::set(const std::string &given) {
  if (given.empty()) {
    std::string all;
    for (const auto &[flag, value] : flags)
      all += (all.empty() ? "" : ", ") + flag.substr(flag.find_first_not_of('-')) + (value.empty() ? "" : " ") + value;
    note(all.empty() ? "nothing is set: the model's own defaults" : "set: " + all);
    return {};
  }
  size_t blank = std::min(given.find(' '), given.size());
  std::string name = given.substr(0, blank),
              value = given.substr(std::min(given.find_first_not_of(' ', blank), given.size()));
  std::vector<std::string> known = {"n", "temp", "top-k", "top-p", "min-p", "seed", "repetition-penalty", "greedy"};
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    std::string near = nearestName(name, known), all;
    for (const std::string &one : known)
      all += (all.empty() ? "" : ", ") + one;
    return badUsage("/set knows no " + quote(name))
        .withHelp(near.empty() ? "it knows " + all : "did you mean " + near + "?");
  }
  if (value.empty() != (name == "greedy"))
    return badUsage("/set " + name + (name == "greedy" ? " takes no value" : " takes a value"));
  std::string flag = (name == "n" ? "-" : "--") + name;
  auto before = flags;
  flags.erase(std::remove_if(flags.begin(), flags.end(), [&](const auto &old) { return excludes(flag, old.first); }),
              flags.end());
  flags.emplace_back(flag, value);
  rt::GenerateOptions options;
  std::vector<std::string> stops;
  Status status = readOptions(2, options, stops);
  if (!status.ok())
    flags = before;
  return status;
}

Status ChatLoop::leave(const std::string &) {
  leaves = true;
  return {};
}

} // namespace heddle::chat
