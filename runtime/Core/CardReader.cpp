//===- CardReader.cpp - Lines and words of a card -------------------------===//
#include "runtime/Core/CardReader.h"
#include "heddle/card_words.h"
#include "runtime/Core/Args.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace heddle::rt {

bool CardReader::nextLine() {
  if (rest.empty())
    return false;
  size_t n = rest.find('\n');
  line = rest.substr(0, n);
  rest.remove_prefix(n == std::string_view::npos ? rest.size() : n + 1);
  ++lines;
  behind = {};
  size_t at = line.find('#');
  while (at != std::string_view::npos && at && line[at - 1] != ' ')
    at = line.find('#', at + 1);
  if (at != std::string_view::npos) {
    behind = line.substr(std::min(at + 2, line.size()));
    line = line.substr(0, at);
  }
  line = line.substr(0, line.find_last_not_of(' ') + 1);
  return true;
}

std::string_view CardReader::word() {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

std::string_view CardReader::remaining() {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  std::string_view all = line;
  line = {};
  return all;
}

bool CardReader::integer(int64_t &to, int64_t least, int64_t most) {
  std::optional<int64_t> value = parseInteger(word());
  to = value.value_or(0);
  return value && to >= least && to <= most;
}

bool CardReader::number(double &to) {
  std::string spelled(word());
  char *end = nullptr;
  to = strtod(spelled.c_str(), &end);
  return !spelled.empty() && !*end && std::isfinite(to);
}

bool CardReader::text(std::string_view spelled, std::string &to) {
  std::optional<std::string> text = spelled.empty() ? std::nullopt : textOfCardWord(spelled);
  if (text)
    to = std::move(*text);
  return text.has_value();
}

bool CardReader::texts(std::vector<std::string> &to) {
  for (std::string_view one = word(); !one.empty(); one = word())
    if (!text(one, to.emplace_back()))
      return false;
  return true;
}

bool CardReader::form(std::string_view spelled, const std::vector<std::string> &dims, Form &to) {
  Status status = Form::parse(spelled, dims, to);
  return status.ok() || fail(status.message());
}

bool CardReader::fail(std::string why) {
  if (reason.empty())
    reason = std::move(why);
  return false;
}

Status CardReader::error(std::string_view expected) const {
  std::string what = reason.empty() ? "expected `" + std::string(expected) + "`" : reason;
  return internalError(format("the card of this program, line %d: %s", lines, what.c_str()));
}

} // namespace heddle::rt
