//===- Dialogue.h - The turns of a conversation -----------------*- C++ -*-===//
//
// A conversation on the command line: its messages, tools and variables, read
// from flags and files, and the ids that the model reads of it.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CHAT_DIALOGUE_H
#define HEDDLE_RUNTIME_CHAT_DIALOGUE_H

#include "runtime/Chat/Conversation.h"
#include "runtime/Core/Args.h"
#include "runtime/Tokenizer/Tokenizer.h"

namespace heddle::chat {

class Dialogue {
public:
  explicit Dialogue(const rt::Card &card) : card(&card) { messages.kind = json::Value::Kind::Array; }

  /// Reads --messages, --var and --system, as far as they are given. Errors: a file that is no conversation, a variable
  /// that is no JSON, two system turns.
  rt::Status readFlags(const rt::Args &args);
  /// Takes all from a file: a list of messages, or an object that has it as `messages`, beside `tools` and variables.
  /// `-` is standard input.
  rt::Status load(const std::string &path);
  /// Writes the messages as such a list.
  rt::Status save(const std::string &path) const;

  /// Puts a system turn in front, in the place of the one that was there; "" takes it away.
  void setSystem(std::string text);
  /// Adds a turn.
  void say(const char *role, std::string text);
  /// Takes the last question and all after it away; false: there is none.
  bool takeBack(std::string &question);
  /// Takes all turns away but the system's.
  void clear();

  /// Renders all with the program's template, so that an answer follows, and encodes it. Errors: what the template
  /// raises, a text that the tokenizer cannot express.
  rt::Status encode(const rt::Tokenizer &tokenizer, std::vector<int64_t> &ids) const;

private:
  bool hasSystem() const;

  const rt::Card *card;
  json::Value messages, tools, variables; ///< tools is null where there are none
};

} // namespace heddle::chat

#endif // HEDDLE_RUNTIME_CHAT_DIALOGUE_H
