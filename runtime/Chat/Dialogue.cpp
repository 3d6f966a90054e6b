//===- Dialogue.cpp - The turns of a conversation -------------------------===//
//
// The same reader of JSON takes a conversation from a file as from the server's
// sockets.
//
//===----------------------------------------------------------------------===//
#include "runtime/Chat/Dialogue.h"

#include "heddle/input_file.h"
#include "runtime/Core/FileWriter.h"
#include "runtime/Generate/ChatTurn.h"

#include <algorithm>

namespace heddle::chat {

using json::Value;
using rt::Status;

static constexpr uint64_t kMaxFile = uint64_t(64) << 20;

static std::string roleOf(const Value &message) {
  const Value *role = message.find("role");
  return role && role->is(Value::Kind::Text) ? role->text : "";
}

static Value messageOf(const char *role, std::string text) {
  Value message;
  message.kind = Value::Kind::Object;
  message.members.emplace_back("role", textValue(role));
  message.members.emplace_back("content", textValue(std::move(text)));
  return message;
}

bool Dialogue::hasSystem() const { return !messages.items.empty() && roleOf(messages.items[0]) == "system"; }

static void setVariable(Value &variables, const std::string &name, Value value) {
  variables.kind = Value::Kind::Object;
  auto &members = variables.members;
  auto there = std::find_if(members.begin(), members.end(), [&](const auto &member) { return member.first == name; });
  if (there != members.end())
    there->second = std::move(value);
  else
    members.emplace_back(name, std::move(value));
}

Status Dialogue::readFlags(const rt::Args &args) {
  if (args.has("--messages"))
    HEDDLE_TRY(load(args.get("--messages")));
  for (const std::string &given : args.all("--var")) {
    size_t at = given.find('=');
    std::string name = given.substr(0, at);
    if (at == std::string::npos || name.empty())
      return rt::badUsage("--var takes NAME=JSON, not " + rt::quote(given));
    if (name == "messages")
      return rt::badUsage("--var messages: the messages are the conversation").withHelp("--messages FILE reads one");
    Value value;
    if (json::Fault fault = json::readTree(given.substr(at + 1), value); !fault.ok())
      return rt::badUsage("--var " + rt::quote(name) + " is no JSON: " + fault.message())
          .withHelp("true, 1.5, [1, 2] and \"text\" are; a shell wants '" + name + "=\"text\"'");
    setVariable(variables, name, std::move(value));
  }
  if (!args.has("--system"))
    return {};
  if (hasSystem())
    return rt::badUsage("--system, and the conversation of --messages has a system turn");
  if (card->chatTrait("system") == "no")
    rt::note("this model's template has no system turn: its text goes in front of the first question");
  setSystem(args.get("--system"));
  return {};
}

Status Dialogue::load(const std::string &path) {
  ReadFile file = readInputFile(path == "-" ? "/dev/stdin" : path.c_str(), kMaxFile);
  if (!file.ok())
    return Status(Error::CannotRead, path + ": " + file.why);
  Value root;
  if (json::Fault fault = json::readTree(file.bytes, root); !fault.ok())
    return rt::badInput(path + ": no JSON: " + fault.message());
  const Value *list = root.is(Value::Kind::Object) ? root.find("messages") : &root;
  if (!list || !list->is(Value::Kind::Array))
    return rt::badInput(path + ": a list of messages expected, or an object that has it as `messages`")
        .withHelp("[{\"role\": \"user\", \"content\": \"Hello\"}] is one");
  for (size_t i = 0; i < list->items.size(); ++i)
    if (roleOf(list->items[i]).empty())
      return rt::badInput(rt::format("%s: message %zu has no `role`, a text", path.c_str(), i + 1));
  Value read = *list;
  for (auto &[name, value] : root.members) {
    if (name == "tools")
      tools = std::move(value);
    else if (name != "messages")
      setVariable(variables, name, std::move(value));
  }
  messages = std::move(read);
  return {};
}

Status Dialogue::save(const std::string &path) const {
  std::string text;
  for (const Value &message : messages.items)
    text += (text.empty() ? "[" : ",\n ") + json::write(message);
  text += text.empty() ? "[]\n" : "]\n";
  rt::FileWriter file;
  HEDDLE_TRY(file.open(path, text.size()));
  HEDDLE_TRY(file.write(text.data(), text.size()));
  return file.commit();
}

void Dialogue::setSystem(std::string text) {
  if (hasSystem())
    messages.items.erase(messages.items.begin());
  if (!text.empty())
    messages.items.insert(messages.items.begin(), messageOf("system", rt::validUtf8(text)));
}

void Dialogue::say(const char *role, std::string text) {
  messages.items.push_back(messageOf(role, rt::validUtf8(text)));
}

bool Dialogue::takeBack(std::string &question) {
  for (size_t i = messages.items.size(); i-- > 0;)
    if (roleOf(messages.items[i]) == "user") {
      const Value *content = messages.items[i].find("content");
      question = content ? content->text : "";
      messages.items.resize(i);
      return true;
    }
  return false;
}

void Dialogue::clear() { messages.items.resize(hasSystem() ? 1 : 0); }

Status Dialogue::encode(const rt::Tokenizer &tokenizer, std::vector<int64_t> &ids) const {
  std::string text;
  Request request = {&messages, tools.is(Value::Kind::Null) ? nullptr : &tools, &variables};
  if (Fault fault = renderConversation(*card, request, text))
    return rt::badInput(std::move(fault.message));
  // The template has written the special tokens; none are added.
  rt::Encoded encoded;
  HEDDLE_TRY(tokenizer.encode(text, nullptr, false, encoded));
  ids.clear();
  for (const rt::Token &token : encoded.tokens)
    ids.push_back(token.id);
  return {};
}

} // namespace heddle::chat

namespace heddle::rt {

static Status turnOf(const Model &model, const Tokenizers &tokenizers, const Args &args, const std::string *question,
                     ChatTurn &turn) {
  chat::Dialogue dialogue(model.card());
  HEDDLE_TRY(dialogue.readFlags(args));
  if (question)
    dialogue.say("user", *question);
  turn.end = turnEnd(model.card(), tokenizers.target());
  return dialogue.encode(tokenizers.source(), turn.ids);
}

} // namespace heddle::rt

const heddle::rt::AskInTurn heddle_chat_turn = heddle::rt::turnOf;
