//===- TextOut.cpp - A text as it is made ---------------------------------===//
//
// The whole text is decoded at each id: a decoder may change what it said of
// the ids before (a space that is dropped, bytes that become a character).
//
//===----------------------------------------------------------------------===//
#include "runtime/TextOut.h"

#include <algorithm>

namespace heddle::rt {

TextOut::TextOut(const Tokenizer &tokenizer, const Roles &roles,
                 std::vector<std::string> stops,
                 const std::vector<int64_t> &before)
    : tokenizer(tokenizer), roles(roles), stops(std::move(stops)), ids(before) {
  if (!ids.empty())
    first = shown = tokenizer.decodeBytes(ids, true).size();
}

std::string TextOut::add(int64_t id) {
  // The token that ends a text is no part of it.
  if (!isStopped && std::find(roles.eos.begin(), roles.eos.end(), id) ==
                        roles.eos.end())
    ids.push_back(id);
  return show(false);
}

std::string TextOut::finish() { return show(true); }

/// Where the last whole character of `text` ends.
static size_t wholeCharacters(std::string_view text) {
  for (size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xc0) == 0x80)
      continue;
    size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 1;
    return length > back ? text.size() - back : text.size();
  }
  return text.size();
}

std::string TextOut::show(bool all) {
  if (isStopped)
    return "";
  std::string text = tokenizer.decodeBytes(ids, true);
  size_t end = all ? text.size() : wholeCharacters(text);
  // A stop text may begin anywhere after the prompt.
  for (const std::string &stop : stops) {
    size_t at = text.find(stop, std::min(first, text.size()));
    if (at != std::string::npos) {
      end = std::min(end, at);
      isStopped = true;
    }
  }
  for (const std::string &stop : stops)
    for (size_t n = std::min(stop.size() - 1, text.size() - std::min(shown, text.size()));
         !all && !isStopped && n > 0; --n)
      if (text.compare(text.size() - n, n, stop, 0, n) == 0) {
        end = std::min(end, text.size() - n);
        break;
      }
  if (end <= shown)
    return "";
  std::string fresh =
      validUtf8(std::string_view(text).substr(shown, end - shown));
  shown = end;
  return fresh;
}

} // namespace heddle::rt
