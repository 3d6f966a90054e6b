//===- Matcher.cpp - Patterns of the tokenizer ----------------------------===//
//
// A repeat of one set (\w+) is a single choice, which gives characters back one
// at a time.
//
//===----------------------------------------------------------------------===//
#include "runtime/Tokenizer/Matcher.h"

#include "heddle/utf8.h"

#include <algorithm>

namespace heddle::rt {

// Published patterns take about ten steps a byte.
static constexpr uint64_t kStepsPerByte = 200;

bool Matcher::contains(size_t set, uint32_t c) const {
  bool negated = word(set), inside = false;
  // Even a damaged program is read no further than its end.
  size_t ranges = std::min<size_t>(word(set + 1), size), at = set + 2;
  size_t low = 0, high = ranges;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (word(at + 2 * middle + 1) < c)
      low = middle + 1;
    else
      high = middle;
  }
  inside = low < ranges && word(at + 2 * low) <= c;
  at += 2 * ranges;
  size_t classes = std::min<size_t>(word(at++), size);
  uint8_t properties = classes && !inside ? blob.classOf(c) : 0;
  for (size_t i = 0; i < classes && !inside; ++i, at += 3) {
    bool has = (word(at) >> (properties & 31) & 1) || (word(at + 1) & properties & ~31u);
    inside = has != bool(word(at + 2));
  }
  return inside != negated;
}

/// The character that ends before `at`.
static size_t backOne(std::string_view text, size_t at) {
  do
    --at;
  while (at > 0 && (text[at] & 0xc0) == 0x80);
  return at;
}

/// Whether a look-behind's inner program matches up to `at`.
bool Matcher::standsBefore(std::string_view text, size_t pc, size_t at, unsigned depth) {
  uint32_t fewest = word(pc + 3), most = word(pc + 4);
  size_t begin = at, past = 0;
  for (uint32_t count = 0; count <= most; ++count) {
    if (count >= fewest && depth < 16 && match(text, pc + 5, begin, past, depth + 1, at))
      return true;
    if (begin == 0)
      break;
    begin = backOne(text, begin);
  }
  return false;
}

/// Whether `text` begins with a character of a word.
bool Matcher::inWord(std::string_view text) const {
  uint32_t c;
  if (!decodeUtf8(text, c))
    return false;
  return (blob.classOf(c) & tok::kWord) || c == 0xb2 || c == 0xb3 || c == 0xb9 || (c >= 0xbc && c <= 0xbe);
}

// One loop: each code word either goes on, or sets `failed`; then the last
// choice made in this call is taken up again.
bool Matcher::match(std::string_view text, size_t pc, size_t at, size_t &end, unsigned depth, size_t stop) {
  const size_t bottom = choices.size();
  auto leave = [&](bool found) {
    choices.resize(bottom);
    return found;
  };
  for (;;) {
    if (steps == 0)
      return leave(false);
    --steps;
    bool failed = false;
    uint32_t c;
    switch (word(pc)) {
    case tok::kChar:
    case tok::kSet: {
      size_t n = decodeUtf8(text.substr(at), c);
      failed = n == 0 || !(word(pc) == tok::kChar ? c == word(pc + 1) : contains(word(pc + 1), c));
      at += n;
      pc += 2;
      break;
    }
    case tok::kRepeat: {
      size_t set = word(pc + 1), least = word(pc + 2), most = word(pc + 3);
      size_t count = 0, floor = at;
      while (count < most) {
        size_t n = decodeUtf8(text.substr(at), c);
        if (n == 0 || !contains(set, c))
          break;
        at += n;
        if (++count == least)
          floor = at;
      }
      steps -= std::min<uint64_t>(steps, count);
      failed = count < least;
      bool possessive = word(pc + 4);
      pc += 5;
      if (!failed && !possessive && at > floor)
        choices.push_back({pc, at, floor});
      break;
    }
    case tok::kFork:
      choices.push_back({word(pc + 2), at, at});
      pc = word(pc + 1);
      break;
    case tok::kJump: pc = word(pc + 1); break;
    case tok::kAhead:
    case tok::kAtomic: {
      bool ahead = word(pc) == tok::kAhead;
      size_t inner = pc + (ahead ? 3 : 2), past = 0;
      bool found = depth < 16 && match(text, inner, at, past, depth + 1);
      failed = ahead && word(pc + 1) ? found : !found;
      if (!ahead && found)
        at = past;
      pc = word(pc + (ahead ? 2 : 1));
      break;
    }
    case tok::kLineStart:
      failed = at != 0 && text[at - 1] != '\n';
      ++pc;
      break;
    case tok::kLineEnd:
      failed = at != text.size() && text[at] != '\n';
      ++pc;
      break;
    case tok::kBehind:
      failed = standsBefore(text, pc, at, depth) == bool(word(pc + 1));
      pc = word(pc + 2);
      break;
    case tok::kTextStart:
      failed = at != 0;
      ++pc;
      break;
    case tok::kTextEnd:
      failed = at != text.size() && !(word(pc + 1) && text.substr(at) == "\n");
      pc += 2;
      break;
    case tok::kWordEdge: {
      bool before = at > 0 && inWord(text.substr(backOne(text, at)));
      failed = (before != inWord(text.substr(at))) == bool(word(pc + 1));
      pc += 2;
      break;
    }
    case tok::kMatch:
      failed = stop != std::string_view::npos && at != stop;
      if (failed)
        break;
      end = at;
      return leave(true);
    default: return leave(false);
    }
    if (!failed)
      continue;
    if (choices.size() == bottom)
      return leave(false);
    Choice &choice = choices.back();
    if (choice.at > choice.least) {
      // Back over one character of the repeat.
      do
        --choice.at;
      while (choice.at > choice.least && (text[choice.at] & 0xc0) == 0x80);
      pc = choice.pc;
      at = choice.at;
      if (choice.at == choice.least)
        choices.pop_back();
      continue;
    }
    pc = choice.pc;
    at = choice.at;
    choices.pop_back();
  }
}

Status Matcher::findAll(std::string_view text, std::vector<Span> &spans) {
  spans.clear();
  steps += kStepsPerByte * text.size();
  size_t last = std::string_view::npos; // the end of the match before
  for (size_t at = 0; at <= text.size() && !text.empty();) {
    size_t end = at;
    bool found = match(text, 0, at, end, 0);
    if (steps == 0)
      return badTokenizer(format("a pattern of the tokenizer takes more than %llu steps and "
                                 "%llu a byte",
                                 static_cast<unsigned long long>(kFreeSteps),
                                 static_cast<unsigned long long>(kStepsPerByte)));
    if (found && (end > at || at != last)) {
      spans.push_back({at, end});
      at = last = end;
      continue;
    }
    uint32_t c;
    size_t n = decodeUtf8(text.substr(at), c);
    at += n ? n : 1;
  }
  return {};
}

} // namespace heddle::rt
