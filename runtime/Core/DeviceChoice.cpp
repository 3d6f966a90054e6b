//===- DeviceChoice.cpp - What --device says ------------------------------===//
#include "runtime/Core/DeviceChoice.h"

#include "runtime/Core/Args.h"

namespace heddle::rt {

bool Watching::take(std::string_view word) {
  std::pair<std::string_view, bool *> words[] = {
      {"checked", &waits}, {"digest", &digest}, {"digest8", &rounded}, {"timed", &timed}, {"log", &log}};
  for (auto [name, flag] : words)
    if (word == name) {
      *flag = true;
      digest |= rounded;
      return true;
    }
  return false;
}

bool DeviceChoice::parse(const std::string &text) {
  size_t colon = std::min(text.find(':'), text.size());
  std::string name = text.substr(0, colon);
  for (size_t at = colon + 1; at < text.size();) {
    size_t end = std::min(text.find(',', at), text.size());
    std::string word = text.substr(at, end - at);
    if (!watching.take(word))
      options += (options.empty() ? "" : ",") + word;
    at = end + 1;
  }
  std::optional<int64_t> number = parseInteger(name);
  host = text == "cpu";
  emulated = name == "emulator";
  ordinal = int(number.value_or(0));
  return host || emulated || (number && *number >= 0 && *number < 256 && options.empty());
}

} // namespace heddle::rt
