// A status of the runtime becomes one of HTTP by whose fault it is: the request's, or want of memory, or ours.
#include "runtime/Serve/Requests.h"
#include <algorithm>

namespace heddle::serve {

using json::Value;

bool Service::hasName(std::string_view wanted) const {
  return wanted == name || std::find(aliases.begin(), aliases.end(), wanted) != aliases.end();
}

ApiError unknownModel(const Service &service, std::string_view name) {
  return {404, "the model " + rt::quote(name) + " is not served here; " + rt::quote(service.name) + " is", "model",
          "model_not_found"};
}

ApiError fromStatus(const rt::Status &status, const std::string &param) {
  std::string message = status.message();
  for (const std::string &help : status.helps())
    message += "; " + help;
  switch (status.exit()) {
  case Exit::Input:
  case Exit::Usage:
  case Exit::Unsupported: return {400, message, param, status.code()};
  case Exit::Resources: return {503, message, "", status.code()};
  default: return {500, message, "", status.code()};
  }
}

ApiError stopping() { return {503, "this server is stopping", "", "draining"}; }

void refuse(Listener &listener, const Exchange &to, const ApiError &error, const std::string &fields) {
  listener.whole(to, error.status, "application/json", errorBody(error),
                 fields + (error.status == 503 ? "Retry-After: 1\r\n" : ""));
}

ApiError readBody(const Service &service, Endpoint endpoint, const std::string &text, Value &body,
                  std::string &fields) {
  if (json::Fault fault = json::readTree(text, body); !fault.ok())
    return {400, "the body is no JSON: " + fault.message(), "", "invalid_json"};
  std::vector<std::string> ignored;
  if (ApiError error = checkFields(body, endpoint, ignored))
    return error;
  if (const Value *name = memberOf(body, "model"); name && !service.hasName(name->text))
    return unknownModel(service, name->text);
  std::string names;
  for (const std::string &name : ignored) // only what can be in a head
    if (name.size() <= 64 &&
        std::all_of(name.begin(), name.end(),
                    [](char c) { return isalnum(static_cast<unsigned char>(c)) || c == '_'; }) &&
        names.size() < 1024)
      names += (names.empty() ? "" : ", ") + name;
  if (!names.empty())
    fields = "Heddle-Ignored: " + names + "\r\n";
  return {};
}

ApiError readTokens(const Service &service, const Value &one, const char *param, std::vector<int64_t> &ids) {
  if (one.is(Value::Kind::Text)) {
    rt::Status status = service.tokenizer->encodeIds(one.text, ids);
    return status.ok() ? ApiError{} : fromStatus(status, param);
  }
  for (const Value &id : one.items) {
    if (id.integer < 0 || id.integer >= int64_t(service.tokenizer->size()))
      return {400,
              "the id " + std::to_string(id.integer) + " is outside this model's " +
                  std::to_string(service.tokenizer->size()) + " tokens",
              param, "invalid_value"};
    ids.push_back(id.integer);
  }
  return {};
}

} // namespace heddle::serve
