//===- TemplateTraits.cpp - What a template understands -------------------===//

#include "compiler/Template/TemplateTraits.h"

#include "heddle/template.h"

namespace heddle {

namespace {

constexpr const char *kNow = R"("now": "2025-03-04T05:06:07")";

std::string conversation(const std::string &messages, const std::string &more = "") {
  return "{\"messages\": [" + messages + "], " + more + kNow + "}";
}

std::string turn(const char *role, const std::string &content) {
  return std::string(R"({"role": ")") + role + R"(", "content": )" + content + "}";
}

bool has(const std::string &text, const char *part) { return text.find(part) != std::string::npos; }

const char *const kTools =
    R"("tools": [{"type": "function", "function": {"name": "weigh", "description": "Weighs.", )"
    R"("parameters": {"type": "object", "properties": {"thing": {"type": "string", "description": "What."}}, "required": ["thing"]}}}], )";

/// A turn in which the assistant calls a function with these arguments.
std::string callOf(const char *arguments) {
  return std::string(
             R"({"role": "assistant", "content": "", "tool_calls": [{"id": "abcdefghi", "type": "function", )") +
         R"("function": {"name": "weigh", "arguments": )" + arguments + "}}]}";
}

std::string resultOf(const char *content) {
  return std::string(R"({"role": "tool", "name": "weigh", "tool_call_id": "abcdefghi", "content": )") + content + "}";
}

} // namespace

TemplateTraits probeTemplate(const rt::TemplateRunner &runner,
                             const std::function<std::string(const std::string &)> &firstSpecial) {
  TemplateTraits traits;
  const std::string user = turn("user", "\"Qw7 asks\"");
  auto system = runner.render(conversation(turn("system", "\"Zx5 rules\"") + ", " + user));
  traits.system = system.good && has(system.text, "Zx5 rules") && has(system.text, "Qw7 asks");

  auto plain = runner.render(conversation(user));
  auto parts = runner.render(conversation(turn("user", R"([{"type": "text", "text": "Qw7 asks"}])")));
  traits.parts = parts.good && (plain.good ? parts.text == plain.text : has(parts.text, "Qw7 asks")) &&
                 !has(parts.text, "'text'") && !has(parts.text, "\"text\"");

  // Right is what writes the arguments as JSON, not as a text of JSON or as Python's dict.
  auto right = [&](const char *arguments) {
    auto made = runner.render(
        conversation(user + ", " + callOf(arguments) + ", " + resultOf("\"4 kg\"") + ", " + user, kTools));
    return made.good && has(made.text, "Vb3 gold") && !has(made.text, "\\\"Vb3 gold") && !has(made.text, "'Vb3 gold'");
  };
  bool object = right(R"({"thing": "Vb3 gold"})"), text = right(R"("{\"thing\": \"Vb3 gold\"}")");
  traits.arguments = object ? (text ? "either" : "object") : text ? "text" : "none";
  auto silent = runner.render(conversation(
      user + ", " + callOf(text && !object ? R"("{\"thing\": \"Vb3 gold\"}")" : R"({"thing": "Vb3 gold"})") + ", " +
          resultOf("\"\""),
      kTools));
  traits.toolTurn = silent.good;

  auto answered = runner.render(conversation(user + ", " + turn("assistant", "\"Mn9 says\"")));
  if (size_t at = answered.good ? answered.text.rfind("Mn9 says") : std::string::npos; at != std::string::npos)
    traits.turnEnd = firstSpecial(answered.text.substr(at + 8));
  return traits;
}

} // namespace heddle
