// OpenAI's clients send the arguments of a call as a text of JSON; most templates write them right only as an object.
#include "runtime/Serve/Messages.h"
#include <algorithm>

namespace heddle::serve {

using json::Value;

static Value *memberIn(Value &object, std::string_view name) {
  for (auto &[key, value] : object.members)
    if (key == name)
      return &value;
  return nullptr;
}

static Value textValue(std::string text) {
  Value value;
  value.kind = Value::Kind::Text;
  value.text = std::move(text);
  return value;
}

static void addSystem(const std::string &text, Value &messages) {
  const Value *role = messages.items.empty() ? nullptr : messages.items[0].find("role");
  if (role && (role->text == "system" || role->text == "developer"))
    return;
  Value turn;
  turn.kind = Value::Kind::Object;
  turn.members = {{"role", textValue("system")}, {"content", textValue(text)}};
  messages.items.insert(messages.items.begin(), std::move(turn));
}

/// The arguments of one call as `form` says, "object" or "text"; any other form takes both.
static ApiError convertCall(Value &call, const std::string &form) {
  Value *function = memberIn(call, "function");
  Value *arguments = function ? memberIn(*function, "arguments") : nullptr;
  if (!arguments)
    return {};
  if (form == "text" && arguments->is(Value::Kind::Object))
    *arguments = textValue(json::write(*arguments));
  if (form != "object" || !arguments->is(Value::Kind::Text))
    return {};
  Value parsed;
  if (json::Fault fault = json::readTree(arguments->text, parsed); !fault.ok() || !parsed.is(Value::Kind::Object))
    return {400, "the `arguments` of a call must be an object, or one as a text of JSON", "messages", "invalid_value"};
  *arguments = std::move(parsed);
  return {};
}

static ApiError checkSpecial(const rt::Tokenizer &tokenizer, const std::string &text) {
  rt::Encoded encoded;
  if (rt::Status status = tokenizer.encode(text, nullptr, false, encoded); !status.ok())
    return fromStatus(status, "messages");
  std::vector<uint32_t> ids;
  for (const rt::Token &token : encoded.tokens)
    ids.push_back(token.id);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  for (uint32_t id : ids) {
    // A special token is one that decodes to nothing when those are skipped.
    std::string piece = tokenizer.decode({int64_t(id)}, false);
    if (!piece.empty() && tokenizer.decode({int64_t(id)}, true).empty())
      return {400, "a message holds " + rt::quote(piece) + ", a special token of this model", "messages",
              "special_token"};
  }
  return {};
}

/// Of a turn's content: a text, or the texts of its parts.
static ApiError checkContent(const rt::Tokenizer &tokenizer, const Value &content) {
  if (content.is(Value::Kind::Text))
    return checkSpecial(tokenizer, content.text);
  for (const Value &part : content.items)
    if (const Value *text = part.find("text"); text && text->is(Value::Kind::Text))
      if (ApiError error = checkSpecial(tokenizer, text->text))
        return error;
  return {};
}

ApiError prepareMessages(const Service &service, Value &body) {
  Value &messages = *memberIn(body, "messages");
  for (Value &message : messages.items) {
    if (const Value *content = message.find("content"); content && service.refusesSpecial)
      if (ApiError error = checkContent(*service.tokenizer, *content))
        return error;
    if (Value *calls = memberIn(message, "tool_calls"))
      for (Value &call : calls->items)
        if (ApiError error = convertCall(call, service.callArguments))
          return error;
  }
  if (!service.system.empty())
    addSystem(service.system, messages);
  return {};
}

} // namespace heddle::serve
