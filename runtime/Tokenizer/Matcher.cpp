//===- Matcher.cpp - Patterns of the tokenizer ----------------------------===//
//
// A repeat of one set is one choice that gives characters back one at a time.
//
//===----------------------------------------------------------------------===//
#include "runtime/Tokenizer/Matcher.h"

#include "runtime/Utf8.h"

#include <algorithm>

namespace heddle::rt {

// Published patterns take about ten steps a byte.
static constexpr uint64_t kStepsPerByte = 200;

bool Matcher::contains(size_t set, uint32_t c) const {
  bool negated = word(set), inside = false;
  // A damaged program counts no further than it is long.
  size_t ranges = std::min<size_t>(word(set + 1), size), at = set + 2;
  for (size_t i = 0; i < ranges; ++i, at += 2)
    inside |= c >= word(at) && c <= word(at + 1);
  size_t classes = std::min<size_t>(word(at++), size);
  uint8_t properties = classes && !inside ? blob.classOf(c) : 0;
  for (size_t i = 0; i < classes && !inside; ++i, at += 3) {
    bool has = (word(at) >> (properties & 31) & 1) ||
               (word(at + 1) & properties & ~31u);
    inside = has != bool(word(at + 2));
  }
  return inside != negated;
}

bool Matcher::match(std::string_view text, size_t pc, size_t at, size_t &end,
                    unsigned depth) {
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
      failed = n == 0 || !(word(pc) == tok::kChar ? c == word(pc + 1)
                                                  : contains(word(pc + 1), c));
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
    case tok::kJump:
      pc = word(pc + 1);
      break;
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
    case tok::kMatch:
      end = at;
      return leave(true);
    default:
      return leave(false);
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
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    bool found = match(text, 0, at, end, 0);
    if (steps == 0)
      return badTokenizer(
          format("a pattern of the tokenizer takes more than %llu steps and "
                 "%llu a byte",
                 static_cast<unsigned long long>(kFreeSteps),
                 static_cast<unsigned long long>(kStepsPerByte)));
    if (found && end > at) {
      spans.push_back({at, end});
      at = end;
      continue;
    }
    uint32_t c;
    size_t n = decodeUtf8(text.substr(at), c);
    at += n ? n : 1;
  }
  return {};
}

} // namespace heddle::rt
