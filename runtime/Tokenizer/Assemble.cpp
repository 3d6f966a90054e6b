//===- Assemble.cpp - From encoded texts to one sequence ------------------===//
//
// Texts are cut first, so that the template's tokens always fit; then the
// template is filled, and last the whole is padded.
//
//===----------------------------------------------------------------------===//
#include "runtime/Tokenizer/Tokenizer.h"

#include <algorithm>

namespace heddle::rt {

using Tokens = std::vector<Token>;

static void keep(Tokens &tokens, size_t count, bool cutLeft) {
  if (count >= tokens.size())
    return;
  if (cutLeft)
    tokens.erase(tokens.begin(), tokens.end() - count);
  else
    tokens.resize(count);
}

/// How many tokens of each text stay when both share `most`.
static void share(size_t most, size_t &a, size_t &b) {
  bool swapped = a > b;
  if (swapped)
    std::swap(a, b);
  b = a > most ? a : std::max(a, most - a);
  if (a + b > most) {
    a = most / 2;
    b = a + most % 2;
  }
  if (swapped)
    std::swap(a, b);
}

Status truncateTokens(WordReader rule, size_t added, Tokens &first,
                      Tokens *second) {
  if (rule.done())
    return {};
  size_t most = rule.next();
  uint32_t strategy = rule.next();
  bool left = rule.next();
  most = most > added ? most - added : 0;
  size_t total = first.size() + (second ? second->size() : 0);
  if (total <= most)
    return {};
  if (strategy == tok::kLongestFirst || most == 0) {
    size_t a = first.size(), b = second ? second->size() : 0;
    if (most == 0)
      a = b = 0;
    else if (second)
      share(most, a, b);
    else
      a = most;
    keep(first, a, left);
    if (second)
      keep(*second, b, left);
    return {};
  }
  if (strategy == tok::kOnlySecond && !second)
    return badTokenizer("truncation of the second text, and there is none");
  Tokens &target = strategy == tok::kOnlyFirst ? first : *second;
  size_t remove = total - most;
  if (target.size() <= remove)
    return badTokenizer("the text that may be cut is too short to make room");
  keep(target, target.size() - remove, left);
  return {};
}

void fillTemplate(const Blob &blob, WordReader items, bool addTokens,
                  const Tokens &first, const Tokens *second, Tokens &out) {
  auto append = [&](const Tokens &tokens, uint32_t type) {
    for (const Token &token : tokens) {
      out.push_back(token);
      out.back().type = type;
    }
  };
  if (items.done()) {
    append(first, 0);
    if (second)
      append(*second, 1);
    return;
  }
  while (!items.done()) {
    uint32_t item = items.next(), type = items.next();
    if (item == tok::kFirst)
      append(first, type);
    else if (item == tok::kSecond && second)
      append(*second, type);
    else if (item < tok::kSecond && addTokens)
      out.push_back({item, std::string(blob.piece(item)), type});
  }
}

void padTokens(WordReader rule, Tokens &tokens) {
  if (rule.done())
    return;
  size_t fixed = rule.next(), multiple = rule.next();
  bool left = rule.next();
  uint32_t id = rule.next(), type = rule.next();
  Token pad{id, std::string(rule.string()), type, false};
  size_t length = fixed ? fixed : tokens.size();
  if (multiple && length % multiple)
    length += multiple - length % multiple;
  if (length > tokens.size())
    tokens.insert(left ? tokens.begin() : tokens.end(), length - tokens.size(),
                  pad);
}

} // namespace heddle::rt
