//===- ChatLoop.h - Talking to a model, line by line ------------*- C++ -*-===//
//
// `BINARY chat`: reads questions and commands, answers, keeps the conversation.
// Answers go to standard output and all else to standard error. Where nobody
// sits at a terminal the first error ends it.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CHAT_CHATLOOP_H
#define HEDDLE_RUNTIME_CHAT_CHATLOOP_H

#include "runtime/Chat/Dialogue.h"
#include "runtime/Chat/Talk.h"
#include "runtime/Chat/Terminal.h"
#include "runtime/Program/Commands.h"

namespace heddle::chat {

class ChatLoop {
public:
  ChatLoop(rt::Model &model, const rt::Tokenizer &tokenizer, Terminal &terminal, int64_t context);

  /// Takes the flags of sampling, --stats and what the conversation begins with. Errors: those of the flags.
  rt::Status readFlags(const rt::Args &args);
  /// Answers until the input ends. `interrupted`: Ctrl-C was pressed twice at the prompt.
  rt::Status run(bool &interrupted);

private:
  /// A command: a word after a slash, and what it is given.
  struct Command {
    const char *name, *takes, *does;
    rt::Status (ChatLoop::*run)(const std::string &given);
  };
  static const std::vector<Command> &commands();

  rt::Status readQuestion(std::string &question, Terminal::Got &got);
  rt::Status obey(const std::string &line);
  rt::Status ask(const std::string &question);
  rt::Status answer(std::string &said);
  rt::Status readOptions(size_t length, rt::GenerateOptions &options, std::vector<std::string> &stops) const;
  void tellStats(const Cost &cost) const;

  rt::Status help(const std::string &given);
  rt::Status system(const std::string &given);
  rt::Status clear(const std::string &given);
  rt::Status retry(const std::string &given);
  rt::Status undo(const std::string &given);
  rt::Status save(const std::string &given);
  rt::Status load(const std::string &given);
  rt::Status set(const std::string &given);
  rt::Status stats(const std::string &given);
  rt::Status leave(const std::string &given);

  rt::Model &model;
  const rt::Tokenizer &tokenizer;
  Terminal &terminal;
  Dialogue dialogue;
  Talk talk;
  std::vector<std::pair<std::string, std::string>> flags; ///< of sampling, with their values
  std::optional<int64_t> end;                             ///< the token that ends a turn
  uint64_t seed;                                          ///< where no flag gives one
  uint64_t answers = 0;                                   ///< answer n draws as row n of a batch
  Cost total;
  bool changed = false; ///< turns were taken away since the last answer
  bool tells = false;   ///< --stats
  bool leaves = false;  ///< /exit
};

} // namespace heddle::chat

#endif // HEDDLE_RUNTIME_CHAT_CHATLOOP_H
