//===- JsonLines.cpp - A generation as JSON lines -------------------------===//
#include "runtime/Generate/JsonLines.h"

#include "runtime/Core/Status.h"

#include <cstdio>

namespace heddle::rt {

/// The beginning of a line: an object that says which text it is of.
static std::string opening(int64_t line) { return line ? "{\"line\":" + std::to_string(line) + "," : "{"; }

void JsonLines::piece(const std::string *text) {
  std::string list;
  for (int64_t id : ids)
    list += (list.empty() ? "" : ",") + std::to_string(id);
  ids.clear();
  puts((opening(line) + (text ? "\"text\":" + jsonString(*text) + "," : std::string()) + "\"ids\":[" + list + "]}")
           .c_str());
}

void JsonLines::add(int64_t id, const std::string *text) {
  ids.push_back(id);
  ++made;
  if (!text || !text->empty())
    piece(text);
}

void JsonLines::finish(const std::string *text, bool stopped, int64_t promptTokens, std::optional<uint64_t> seed,
                       const std::string &stats) {
  if (!ids.empty() || (text && !text->empty()))
    piece(text);
  std::string last = opening(line) + "\"finish_reason\":\"" + (stopped ? "stop" : "length") +
                     format("\",\"usage\":{\"prompt_tokens\":%lld,\"completion_tokens\":%lld,\"total_tokens\":%lld}",
                            static_cast<long long>(promptTokens), static_cast<long long>(made),
                            static_cast<long long>(promptTokens + made));
  if (seed)
    last += ",\"seed\":" + std::to_string(*seed);
  if (!stats.empty())
    last += ",\"stats\":" + stats;
  puts((last + "}").c_str());
}

} // namespace heddle::rt
