//===- TemplateRunner.cpp - Chat templates for the compiler ---------------===//

#include "heddle/template.h"

#include "runtime/Core/Status.h"
#include "runtime/Template/Machine.h"

#include <cstdio>
#include <ctime>

namespace heddle::rt {

struct TemplateRunner::State {
  chat::Templates templates;
};

TemplateRunner::TemplateRunner() : state(new State) {}
TemplateRunner::~TemplateRunner() = default;

std::unique_ptr<TemplateRunner> TemplateRunner::open(const std::string &blob, std::string &error) {
  std::unique_ptr<TemplateRunner> runner(new TemplateRunner);
  const char *wrong = runner->state->templates.open(reinterpret_cast<const unsigned char *>(blob.data()), blob.size());
  if (!wrong)
    return runner;
  error = wrong;
  return nullptr;
}

std::vector<std::string> TemplateRunner::names() const { return state->templates.names(); }

/// Reads 2025-03-04T05:06:07.
static bool readTime(const std::string &text, struct tm &out) {
  int n[6], end = 0;
  if (sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d%n", &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &end) != 6 ||
      size_t(end) != text.size())
    return false;
  out = {};
  out.tm_year = n[0] - 1900;
  out.tm_mon = n[1] - 1;
  out.tm_mday = n[2];
  out.tm_hour = n[3];
  out.tm_min = n[4];
  out.tm_sec = n[5];
  struct tm copy = out;
  timegm(&copy); // the days of the week and of the year
  bool same = copy.tm_mon == out.tm_mon && copy.tm_mday == out.tm_mday && copy.tm_hour == out.tm_hour &&
              copy.tm_min == out.tm_min && copy.tm_sec == out.tm_sec;
  out = copy;
  return same;
}

TemplateRunner::Result TemplateRunner::render(const std::string &request) const {
  json::Value conversation;
  json::Fault fault = json::readTree(request, conversation);
  if (!fault.ok())
    return {false, "the conversation is no JSON: " + fault.message()};
  if (!conversation.is(json::Value::Kind::Object))
    return {false, "the conversation is no JSON object"};
  chat::Rendering with;
  with.inputBytes = request.size();
  time_t clock = time(nullptr);
  localtime_r(&clock, &with.now);
  auto &members = conversation.members;
  for (size_t i = 0; i < members.size(); ++i) {
    if (members[i].first != "now")
      continue;
    if (!members[i].second.is(json::Value::Kind::Text) || !readTime(members[i].second.text, with.now))
      return {false, "`now` is a local time as 2025-03-04T05:06:07"};
    members.erase(members.begin() + long(i));
    break;
  }
  with.variables = &conversation;
  chat::Rendered rendered = state->templates.render(with);
  return {rendered.good, std::move(rendered.text)};
}

std::string TemplateRunner::answer(const std::string &request) const {
  Result result = render(request);
  return (result.good ? "{\"text\": " : "{\"error\": ") + jsonString(result.text) + "}";
}

} // namespace heddle::rt
