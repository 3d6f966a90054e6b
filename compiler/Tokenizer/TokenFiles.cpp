//===- TokenFiles.cpp - What a tokenizer's files have alike ---------------===//

#include "compiler/Tokenizer/TokenFiles.h"

namespace heddle {

using Json = nlohmann::json;

static constexpr int kMaxFileNesting = 64;

const Json &memberOf(const Json &object, const char *key) {
  static const Json none;
  auto found = object.find(key);
  return found == object.end() ? none : *found;
}

std::string contentOf(const Json &token) {
  const Json &text = token.is_object() ? memberOf(token, "content") : token;
  return text.is_string() ? text.get<std::string>() : "";
}

bool readJsonObject(const ModelFolder &folder, const std::string &name, Json &value, std::string &error) {
  ReadFile file = folder.read(name, kMostFileBytes);
  if (!file.ok()) {
    error = folder.path(name) + ": " + file.why;
    return false;
  }
  bool deep = false;
  auto watch = [&](int depth, Json::parse_event_t, Json &) {
    deep |= depth > kMaxFileNesting;
    return !deep;
  };
  value = Json::parse(file.bytes, watch, /*allow_exceptions=*/false);
  if (!deep && value.is_object())
    return true;
  error = folder.path(name) + ": no valid JSON object";
  return false;
}

} // namespace heddle
