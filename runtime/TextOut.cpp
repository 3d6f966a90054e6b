//===- TextOut.cpp - A text as it is made ---------------------------------===//
//
// Only the text that is held back is kept: no stop text can begin in what was
// printed, since whatever may become one is held back.
//
//===----------------------------------------------------------------------===//
#include "runtime/TextOut.h"

#include <algorithm>

namespace heddle::rt {

TextOut::TextOut(const Tokenizer &tokenizer, const Roles &roles, std::vector<std::string> stops,
                 const std::vector<int64_t> &before)
    : tokenizer(tokenizer), roles(roles), stops(std::move(stops)), decoding(tokenizer.decoding()) {
  std::string said, rest;
  for (int64_t id : before)
    tokenizer.decodeNext(id, true, decoding, said);
  // What the decoder still holds of `before` comes later, and is dropped then.
  Decoding(decoding).finish(rest);
  hidden = rest.size();
}

std::string TextOut::add(int64_t id) {
  // An eos adds nothing to the text.
  if (!isStopped && std::find(roles.eos.begin(), roles.eos.end(), id) == roles.eos.end())
    tokenizer.decodeNext(id, true, decoding, unshown);
  return show(false);
}

std::string TextOut::finish() {
  decoding.finish(unshown);
  return show(true);
}

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
  size_t drop = std::min(hidden, unshown.size());
  unshown.erase(0, drop);
  hidden -= drop;
  size_t end = all ? unshown.size() : wholeCharacters(unshown);
  // A stop text counts if it would be there when the text ended here.
  std::string whole = unshown, rest;
  if (!all && !stops.empty())
    Decoding(decoding).finish(rest);
  whole.append(rest, std::min(hidden, rest.size()));
  for (const std::string &stop : stops)
    if (size_t at = whole.find(stop); at != std::string::npos) {
      end = isStopped ? std::min(end, at) : at;
      isStopped = true;
    }
  if (isStopped)
    unshown = whole;
  for (const std::string &stop : stops)
    for (size_t n = std::min(stop.size() - 1, unshown.size()); !all && !isStopped && n > 0; --n)
      if (unshown.compare(unshown.size() - n, n, stop, 0, n) == 0) {
        end = std::min(end, unshown.size() - n);
        break;
      }
  std::string fresh = validUtf8(std::string_view(unshown).substr(0, end));
  unshown.erase(0, end);
  return fresh;
}

} // namespace heddle::rt
