//===- Conversation.cpp - Messages put into the program's template --------===//
//
// The variables of a template are those that transformers passes: messages,
// tools, add_generation_prompt, and what the caller names.
//
//===----------------------------------------------------------------------===//
#include "runtime/Chat/Conversation.h"

#include "heddle/template.h"

#include <cstring>

extern "C" {
extern const unsigned char heddle_template[];
extern const uint64_t heddle_template_size;
extern heddle::chat::Fault (*const heddle_chat_render)(const heddle::rt::Card &, const heddle::chat::Request &,
                                                       std::string &);
}
heddle::chat::Fault (*const heddle_chat_render)(const heddle::rt::Card &, const heddle::chat::Request &,
                                                std::string &) = heddle::chat::renderConversation;

namespace heddle::chat {

using json::Value;

Value textValue(std::string text) {
  Value value;
  value.kind = Value::Kind::Text;
  value.text = std::move(text);
  return value;
}

static Value *memberIn(Value &object, std::string_view name) {
  for (auto &[key, value] : object.members)
    if (key == name)
      return &value;
  return nullptr;
}

/// Joins the texts of a list of parts with line feeds.
static Fault joinParts(Value &content) {
  std::string text;
  for (const Value &part : content.items) {
    const Value *type = part.find("type"), *said = part.find("text");
    if (!type || type->text != "text" || !said || !said->is(Value::Kind::Text))
      return {"a part of `content` must be {\"type\": \"text\", \"text\": ...}: pictures and sound are not read here",
              "unsupported_content"};
    text += (text.empty() ? "" : "\n") + said->text;
  }
  content = textValue(std::move(text));
  return {};
}

/// The content of a turn: a text, or a list of parts of text.
static Fault checkContent(Value &message, bool parts) {
  Value *content = memberIn(message, "content");
  if (content && content->is(Value::Kind::Null))
    *content = textValue(""); // a turn that only calls tools has no text
  if (!content || content->is(Value::Kind::Text))
    return {};
  if (!content->is(Value::Kind::Array))
    return {"the `content` of a message must be a text or a list of parts", "invalid_value"};
  Value joined = *content;
  if (Fault fault = joinParts(joined))
    return fault;
  if (!parts)
    *content = std::move(joined);
  return {};
}

/// Puts a system turn in front of the first question, for a template that has none.
static void foldSystem(Value &messages) {
  if (messages.items.size() < 2)
    return;
  const Value *role = messages.items[0].find("role");
  Value *question = memberIn(messages.items[1], "content");
  const Value *system = messages.items[0].find("content");
  if (!role || role->text != "system" || !system || !question || !question->is(Value::Kind::Text))
    return;
  *question = textValue(system->text + "\n\n" + question->text);
  messages.items.erase(messages.items.begin());
}

/// Stands after the text that an answer continues while the template is run. It ends in a blank: where the template
/// trims that, it would have trimmed the text, too.
static constexpr std::string_view kContinued = "<|heddle:continued|> ";

/// Marks the end of the last turn's text.
static Fault markLast(Value &messages) {
  Value *content = messages.items.empty() ? nullptr : memberIn(messages.items.back(), "content");
  if (content && content->is(Value::Kind::Array) && !content->items.empty())
    content = memberIn(content->items.back(), "text");
  if (!content || !content->is(Value::Kind::Text))
    return {"the last message has no text that could be continued", "invalid_value"};
  content->text += kContinued;
  return {};
}

/// Cuts what a template has made after the text that is continued.
static Fault cutAtMark(std::string &text) {
  std::string_view mark = kContinued.substr(0, kContinued.size() - 1);
  size_t at = text.rfind(mark);
  if (at == std::string::npos)
    return {"the chat template does not show the text of the last message, so that it cannot be continued",
            "chat_template_error"};
  bool trimmed = text.compare(at, kContinued.size(), kContinued) != 0;
  text.resize(at);
  while (trimmed && !text.empty() && strchr(" \t\r\n\f\v", text.back()))
    text.pop_back();
  return {};
}

/// The variables of the template.
static Fault variablesOf(const rt::Card &card, const Request &request, Value &variables) {
  variables.kind = Value::Kind::Object;
  Value messages = *request.messages;
  for (Value &message : messages.items) {
    const Value *role = message.find("role");
    if (!role || !role->is(Value::Kind::Text))
      return {"a message has a `role`, a text", "missing_required_parameter"};
    if (Fault fault = checkContent(message, card.chatTrait("parts") == "yes"))
      return fault;
  }
  if (card.chatTrait("system") == "no")
    foldSystem(messages);
  if (request.continues)
    if (Fault fault = markLast(messages))
      return fault;
  variables.members.emplace_back("messages", std::move(messages));
  if (request.tools)
    variables.members.emplace_back("tools", *request.tools);
  Value opens;
  opens.kind = Value::Kind::Boolean;
  opens.boolean = request.opensAnswer;
  variables.members.emplace_back("add_generation_prompt", opens);
  if (request.variables)
    for (const auto &[name, value] : request.variables->members) {
      if (Value *there = memberIn(variables, name))
        *there = value;
      else
        variables.members.emplace_back(name, value);
    }
  return {};
}

Fault renderConversation(const rt::Card &card, const Request &request, std::string &text) {
  // One thread of a program renders: the server's reader, or the command line.
  static const std::string blob(reinterpret_cast<const char *>(heddle_template), heddle_template_size);
  static std::string error;
  static const std::unique_ptr<rt::TemplateRunner> runner = rt::TemplateRunner::open(blob, error);
  if (!runner)
    return {"the chat template in this program is damaged: " + error, "chat_template_error"};
  Value variables;
  if (Fault fault = variablesOf(card, request, variables))
    return fault;
  rt::TemplateRunner::Result result = runner->render(json::write(variables));
  if (!result.good)
    return {std::move(result.text), "chat_template_error"};
  text = std::move(result.text);
  return request.continues ? cutAtMark(text) : Fault();
}

} // namespace heddle::chat
