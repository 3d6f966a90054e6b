#include "runtime/Serve/ServeChat.h"
#include "runtime/Status.h"

namespace heddle::serve {

using json::Value;

std::string chatTrait(const rt::Card &card, std::string_view name) {
  for (const auto &[key, value] : card.chat)
    if (key == name)
      return value;
  return "";
}

static Value textValue(std::string text) {
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
static ApiError joinParts(Value &content) {
  std::string text;
  for (const Value &part : content.items) {
    const Value *type = part.find("type"), *said = part.find("text");
    if (!type || type->text != "text" || !said || !said->is(Value::Kind::Text))
      return {400, "a part of `content` must be {\"type\": \"text\", \"text\": ...}: pictures and sound are not served",
              "messages", "unsupported_content"};
    text += (text.empty() ? "" : "\n") + said->text;
  }
  content = textValue(std::move(text));
  return {};
}

/// The content of a turn: a text, or a list of parts of text.
static ApiError checkContent(Value &message, bool parts) {
  Value *content = memberIn(message, "content");
  if (!content || content->is(Value::Kind::Null) || content->is(Value::Kind::Text))
    return {};
  if (!content->is(Value::Kind::Array))
    return {400, "the `content` of a message must be a text or a list of parts", "messages", "invalid_value"};
  Value joined = *content;
  if (ApiError error = joinParts(joined))
    return error;
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

ApiError conversationOf(const rt::Card &card, const Value &body, Value &variables) {
  variables.kind = Value::Kind::Object;
  Value messages = *memberOf(body, "messages");
  for (Value &message : messages.items) {
    const Value *role = message.find("role");
    if (!role || !role->is(Value::Kind::Text))
      return {400, "a message has a `role`, a text", "messages", "missing_required_parameter"};
    if (ApiError error = checkContent(message, chatTrait(card, "parts") == "yes"))
      return error;
  }
  if (chatTrait(card, "system") == "no")
    foldSystem(messages);
  variables.members.emplace_back("messages", std::move(messages));
  const Value *tools = memberOf(body, "tools"), *choice = memberOf(body, "tool_choice");
  if (tools && !(choice && choice->text == "none"))
    variables.members.emplace_back("tools", *tools);
  Value yes;
  yes.kind = Value::Kind::Boolean;
  yes.boolean = true;
  variables.members.emplace_back("add_generation_prompt", yes);
  if (const Value *more = memberOf(body, "chat_template_kwargs"))
    for (const auto &[name, value] : more->members) {
      if (Value *there = memberIn(variables, name))
        *there = value;
      else
        variables.members.emplace_back(name, value);
    }
  return {};
}

} // namespace heddle::serve
