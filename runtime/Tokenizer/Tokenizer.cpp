//===- Tokenizer.cpp - Text to ids and back -------------------------------===//
//
// Added tokens are found leftmost first and longest first. Those that the file
// calls normalized are searched in normalized text by their normalized form.
//
//===----------------------------------------------------------------------===//
#include "runtime/Tokenizer/Tokenizer.h"

#include "runtime/Utf8.h"

#include <algorithm>

namespace heddle::rt {

std::string validUtf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    uint32_t c;
    size_t n = decodeUtf8(bytes, c);
    if (n) {
      out.append(bytes.substr(0, n));
      bytes.remove_prefix(n);
      continue;
    }
    // The longest beginning of a character counts as one.
    n = 1;
    auto first = static_cast<unsigned char>(bytes[0]);
    size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first >= 0xc2 && first <= 0xf4)
      while (n < length && n < bytes.size()) {
        auto next = static_cast<unsigned char>(bytes[n]);
        unsigned low = 0x80, high = 0xbf;
        if (n == 1 && first == 0xe0)
          low = 0xa0;
        if (n == 1 && first == 0xed)
          high = 0x9f;
        if (n == 1 && first == 0xf0)
          low = 0x90;
        if (n == 1 && first == 0xf4)
          high = 0x8f;
        if (next < low || next > high)
          break;
        ++n;
      }
    out += "\xef\xbf\xbd";
    bytes.remove_prefix(n);
  }
  return out;
}

Status Tokenizer::open(const unsigned char *data, uint64_t size) {
  HEDDLE_TRY(blob.open(data, size));
  added.clear();
  anyNormalized = false;
  for (WordReader list = blob.section(tok::kAdded); !list.done();) {
    Added token;
    token.id = list.next();
    token.flags = list.next();
    bool normalized = token.flags & tok::kNormalized;
    token.text = normalized ? normalize(blob.piece(token.id))
                            : std::string(blob.piece(token.id));
    anyNormalized |= normalized;
    if (!token.text.empty())
      added.push_back(std::move(token));
  }
  // Longest first within a first byte.
  std::stable_sort(added.begin(), added.end(),
                   [](const Added &a, const Added &b) {
                     if (a.text[0] != b.text[0])
                       return static_cast<unsigned char>(a.text[0]) <
                              static_cast<unsigned char>(b.text[0]);
                     return a.text.size() > b.text.size();
                   });
  return {};
}

const Tokenizer::Added *Tokenizer::addedAt(std::string_view text, size_t at,
                                           bool normalized) const {
  auto found = std::lower_bound(
      added.begin(), added.end(), static_cast<unsigned char>(text[at]),
      [](const Added &token, unsigned char byte) {
        return static_cast<unsigned char>(token.text[0]) < byte;
      });
  for (; found != added.end() && found->text[0] == text[at]; ++found)
    if (bool(found->flags & tok::kNormalized) == normalized &&
        text.substr(at, found->text.size()) == found->text)
      return &*found;
  return nullptr;
}

/// The character that ends before `at`; 0 if there is none.
static uint32_t characterBefore(std::string_view text, size_t at) {
  size_t begin = at;
  while (begin > 0 && (text[--begin] & 0xc0) == 0x80)
    ;
  uint32_t c = 0;
  return begin < at && decodeUtf8(text.substr(begin), c) ? c : 0;
}

void Tokenizer::cutAdded(std::string_view text, bool normalized,
                         std::vector<Section> &out) const {
  auto is = [&](uint32_t c, uint8_t property) {
    return c && (blob.classOf(c) & property);
  };
  size_t plain = 0;
  for (size_t at = 0; at < text.size();) {
    const Added *token = addedAt(text, at, normalized);
    size_t begin = at, end = token ? at + token->text.size() : 0;
    uint32_t next = 0;
    bool keep = token != nullptr;
    if (token && token->flags & tok::kSingleWord) {
      decodeUtf8(text.substr(end), next);
      auto inWord = [&](uint32_t c) {
        return is(c, tok::kWord) || c == 0x200c || c == 0x200d;
      };
      keep = !inWord(characterBefore(text, at)) && !inWord(next);
    }
    if (!keep) {
      at += token ? token->text.size() : 1;
      continue;
    }
    if (token->flags & tok::kStripLeft)
      while (begin > plain && is(characterBefore(text, begin), tok::kSpace))
        while ((text[--begin] & 0xc0) == 0x80)
          ;
    if (token->flags & tok::kStripRight)
      while (size_t n = decodeUtf8(text.substr(end), next)) {
        if (!is(next, tok::kSpace))
          break;
        end += n;
      }
    if (begin > plain)
      out.push_back({std::string(text.substr(plain, begin - plain)), nullptr});
    out.push_back({std::string(text.substr(begin, end - begin)), token});
    plain = at = end;
  }
  if (plain < text.size())
    out.push_back({std::string(text.substr(plain)), nullptr});
}

std::string Tokenizer::normalize(std::string_view text) const {
  return runNormalizer(blob, text);
}

Status Tokenizer::encodeBody(std::string_view text,
                             std::vector<Token> &tokens) const {
  std::string clean = validUtf8(text);
  std::vector<Section> raw, sections;
  cutAdded(clean, false, raw);
  for (Section &section : raw) {
    if (section.added) {
      sections.push_back(std::move(section));
      continue;
    }
    std::string normal = normalize(section.text);
    if (anyNormalized)
      cutAdded(normal, true, sections);
    else if (!normal.empty())
      sections.push_back({std::move(normal), nullptr});
  }
  bool first = true;
  std::vector<ModelToken> made;
  for (const Section &section : sections) {
    if (section.added) {
      tokens.push_back({section.added->id, section.text});
    } else {
      for (const std::string &piece : runSplitter(blob, section.text, first)) {
        made.clear();
        HEDDLE_TRY(runTokenModel(blob, piece, made));
        for (ModelToken &token : made)
          tokens.push_back({token.id, token.text.empty()
                                          ? std::string(blob.piece(token.id))
                                          : std::move(token.text)});
      }
    }
    first = false;
  }
  return {};
}

Status Tokenizer::encode(std::string_view text, const std::string_view *pair,
                         bool addTemplate, std::vector<Token> &tokens) const {
  std::vector<Token> first, second;
  HEDDLE_TRY(encodeBody(text, first));
  if (pair)
    HEDDLE_TRY(encodeBody(*pair, second));
  std::vector<Token> *other = pair ? &second : nullptr;
  WordReader items = blob.section(pair ? tok::kTemplatePair : tok::kTemplate);
  size_t added = 0;
  for (WordReader count = items; addTemplate && !count.done(); count.next())
    added += count.next() < tok::kSecond;
  HEDDLE_TRY(
      truncateTokens(blob.section(tok::kTruncation), added, first, other));
  tokens.clear();
  fillTemplate(blob, items, addTemplate, first, other, tokens);
  padTokens(blob.section(tok::kPadding), tokens);
  return {};
}

Status Tokenizer::encodeIds(std::string_view text,
                            std::vector<int64_t> &ids) const {
  std::vector<Token> tokens;
  HEDDLE_TRY(encode(text, nullptr, true, tokens));
  ids.clear();
  for (const Token &token : tokens)
    if (token.real)
      ids.push_back(token.id);
  return {};
}

bool Tokenizer::special(uint32_t id) const {
  for (const Added &token : added)
    if (token.id == id)
      return token.flags & tok::kSpecial;
  return false;
}

std::string Tokenizer::decodeBytes(const std::vector<int64_t> &ids,
                                   bool skipSpecial) const {
  std::vector<std::string> pieces;
  for (int64_t id : ids) {
    if (id < 0 || id >= int64_t(blob.size()))
      continue;
    std::string_view piece = blob.piece(uint32_t(id));
    if (!piece.empty() && !(skipSpecial && special(uint32_t(id))))
      pieces.push_back(std::string(piece));
  }
  return runDecoder(blob, std::move(pieces));
}

std::string Tokenizer::decode(const std::vector<int64_t> &ids,
                              bool skipSpecial) const {
  return validUtf8(decodeBytes(ids, skipSpecial));
}

} // namespace heddle::rt
