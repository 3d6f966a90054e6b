//===- Assemble.cpp - From encoded texts to one sequence ------------------===//
//
// Texts are truncated first, so that the template's tokens always fit; then the
// template is filled, and the result is padded.
//
//===----------------------------------------------------------------------===//
#include "runtime/Tokenizer/Tokenizer.h"

#include <algorithm>

namespace heddle::rt {

static void keep(Encoded &encoded, size_t count, bool cutLeft) {
  std::vector<Token> &tokens = encoded.tokens;
  if (count >= tokens.size())
    return;
  if (cutLeft)
    tokens.erase(tokens.begin(), tokens.end() - count);
  else
    tokens.resize(count);
}

void stopAtWholeSplits(WordReader rule, const std::vector<Split> &splits, Encoded &encoded) {
  size_t most = rule.next();
  rule.next(); // which text may be cut
  bool left = rule.next();
  size_t total = encoded.tokens.size(), n = splits.size();
  for (size_t i = 0; i < n; ++i) {
    size_t at = left ? n - 1 - i : i;
    size_t begins = at ? splits[at - 1].end : 0;
    size_t count = left ? total - begins : splits[at].end;
    // Added tokens do not end the text here, only words do: so in the library.
    if (count >= most && !splits[at].added)
      return keep(encoded, count, left);
  }
}

bool mayCutFirst(WordReader rule) {
  rule.next();
  return rule.next() != tok::kOnlySecond;
}

/// How many tokens of texts with `a` and `b` stay when both share `most`; of an
/// odd number the longer one gets one more, of equally long ones the second.
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

Status truncateTokens(WordReader rule, size_t added, Encoded &first, Encoded *second) {
  if (rule.done())
    return {};
  size_t most = rule.next();
  uint32_t strategy = rule.next();
  bool left = rule.next();
  most = most > added ? most - added : 0;
  size_t total = first.tokens.size() + (second ? second->tokens.size() : 0);
  if (total <= most)
    return {};
  if (strategy == tok::kLongestFirst || most == 0) {
    size_t a = first.tokens.size(), b = second ? second->tokens.size() : 0;
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
  if (strategy != tok::kOnlyFirst && !second)
    return badTokenizer("truncation of the second text, and there is none");
  Encoded &target = strategy == tok::kOnlyFirst ? first : *second;
  size_t remove = total - most;
  if (target.tokens.size() <= remove)
    return badTokenizer("the text that may be cut is too short to make room");
  keep(target, target.tokens.size() - remove, left);
  return {};
}

void fillTemplate(WordReader items, bool addTokens, Encoded &&first, Encoded *second, Encoded &out) {
  auto firstSurfaces = uint32_t(first.surfaces.size());
  out.tokens.clear();
  out.surfaces = std::move(first.surfaces);
  if (second)
    out.surfaces.insert(out.surfaces.end(), second->surfaces.begin(), second->surfaces.end());
  auto append = [&](const Encoded &text, uint32_t type) {
    out.tokens.reserve(out.tokens.size() + text.tokens.size());
    for (Token token : text.tokens) {
      if (token.surface && &text == second)
        token.surface += firstSurfaces;
      token.type = type;
      out.tokens.push_back(token);
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
      out.tokens.push_back({item, 0, type});
  }
}

void padTokens(WordReader rule, Encoded &encoded) {
  if (rule.done())
    return;
  std::vector<Token> &tokens = encoded.tokens;
  size_t fixed = rule.next(), multiple = rule.next();
  bool left = rule.next();
  uint32_t id = rule.next(), type = rule.next();
  encoded.surfaces.push_back(std::string(rule.string()));
  Token pad{id, uint32_t(encoded.surfaces.size()), type, false};
  size_t length = fixed ? fixed : tokens.size();
  if (multiple && length % multiple)
    length += multiple - length % multiple;
  if (length > tokens.size())
    tokens.insert(left ? tokens.begin() : tokens.end(), length - tokens.size(), pad);
}

} // namespace heddle::rt
