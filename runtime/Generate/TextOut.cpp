//===- TextOut.cpp - A text as it is made ---------------------------------===//
//
// Only the text that is held back is kept: no stop text can begin in what was
// printed, since whatever may become one is held back. A special token that a
// stop text names is there as a mark of bytes that no text has.
//
//===----------------------------------------------------------------------===//
#include "runtime/Generate/TextOut.h"

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
  markSpecial();
}

/// Three bits a byte, between two bytes that UTF-8 never has.
static std::string markOf(int64_t id) {
  std::string mark = "\xc1";
  for (uint64_t left = uint64_t(id); left; left >>= 3)
    mark += char(0xf8 + (left & 7));
  return mark + "\xc0";
}

/// Adds each stop text that names special tokens with their marks.
void TextOut::markSpecial() {
  for (size_t i = 0, count = stops.size(); i < count; ++i) {
    Encoded encoded;
    if (!tokenizer.encode(stops[i], nullptr, false, encoded).ok())
      continue;
    std::string marked = stops[i];
    for (const Token &token : encoded.tokens) {
      std::string piece = tokenizer.decodeBytes({int64_t(token.id)}, false);
      size_t at = piece.empty() ? marked.npos : marked.find(piece);
      if (at == marked.npos || !tokenizer.decodeBytes({int64_t(token.id)}, true).empty())
        continue; // no special token: it is printed
      marked.replace(at, piece.size(), marks.emplace(token.id, markOf(token.id)).first->second);
    }
    if (marked != stops[i])
      stops.push_back(std::move(marked));
  }
}

std::string TextOut::add(int64_t id, bool mayStop) {
  if (isStopped)
    return "";
  if (auto mark = marks.find(id); mark != marks.end()) {
    if (std::find(stops.begin(), stops.end(), mark->second) != stops.end())
      decoding.finish(unshown); // it is a stop by itself: no other token follows
    unshown += mark->second;
  } else if (std::find(roles.eos.begin(), roles.eos.end(), id) == roles.eos.end()) {
    tokenizer.decodeNext(id, true, decoding, unshown); // an eos adds nothing to the text
  }
  return show(false, mayStop);
}

std::string TextOut::finish() {
  decoding.finish(unshown);
  return show(true);
}

size_t wholeCharacters(std::string_view text) {
  for (size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xc0) == 0x80)
      continue;
    size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 1;
    return length > back ? text.size() - back : text.size();
  }
  return text.size();
}

std::string TextOut::show(bool all, bool mayStop) {
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
    if (size_t at = mayStop ? whole.find(stop) : whole.npos; at != std::string::npos) {
      end = isStopped ? std::min(end, at) : at;
      isStopped = true;
    }
  if (isStopped)
    unshown = whole;
  for (const std::string &stop : stops)
    for (size_t n = std::min(stop.size() - 1, unshown.size()); mayStop && !all && !isStopped && n > 0; --n)
      if (unshown.compare(unshown.size() - n, n, stop, 0, n) == 0) {
        end = std::min(end, unshown.size() - n);
        break;
      }
  std::string fresh = unshown.substr(0, end);
  for (const auto &[id, mark] : marks)
    for (size_t at = fresh.find(mark); at != fresh.npos; at = fresh.find(mark, at))
      fresh.erase(at, mark.size());
  unshown.erase(0, end);
  return validUtf8(fresh);
}

} // namespace heddle::rt
