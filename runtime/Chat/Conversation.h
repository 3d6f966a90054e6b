//===- Conversation.h - Messages put into the program's template -*- C++ -*-===//
//
// What `chat`, a question on the command line and the server share: messages
// become the text that the model reads. What its template understands is in the
// card, and what it does not is done here: a system turn goes in front of the
// first question, parts are joined.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CHAT_CONVERSATION_H
#define HEDDLE_RUNTIME_CHAT_CONVERSATION_H

#include "runtime/Core/Card.h"
#include "runtime/Json/Tree.h"

namespace heddle::chat {

/// What is rendered; null: not given.
struct Request {
  const json::Value *messages = nullptr; ///< a list of objects with `role` and `content`
  const json::Value *tools = nullptr;
  const json::Value *variables = nullptr; ///< an object: other variables of the template
  bool opensAnswer = true;                ///< add_generation_prompt
  bool continues = false;                 ///< continue_final_message: the answer goes on in the last turn
};

/// Why a conversation cannot be rendered.
struct Fault {
  std::string message, code; ///< the code is that of the server's API
  explicit operator bool() const { return !message.empty(); }
};

/// A JSON text of these characters.
json::Value textValue(std::string text);

/// Renders `request` with the program's template, so that an answer follows where it opens one. An answer that goes on
/// in the last turn begins where that turn's text ends.
Fault renderConversation(const rt::Card &card, const Request &request, std::string &text);

} // namespace heddle::chat

// renderConversation where there is a template; null in other programs.
extern "C" heddle::chat::Fault (*const heddle_chat_render)(const heddle::rt::Card &, const heddle::chat::Request &,
                                                           std::string &) __attribute__((weak));

#endif // HEDDLE_RUNTIME_CHAT_CONVERSATION_H
