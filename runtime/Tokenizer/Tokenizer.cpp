//===- Tokenizer.cpp - Text to ids and back -------------------------------===//
//
// Added tokens are searched from left to right, the longest first. Those marked
// `normalized` are searched in normalized text, by their normalized form.
//
//===----------------------------------------------------------------------===//
#include "runtime/Tokenizer/Tokenizer.h"

#include "heddle/utf8.h"
#include "runtime/Tokenizer/PrefixSearch.h"

#include <algorithm>

namespace heddle::rt {

static constexpr size_t kMaxText = size_t(1) << 30;

Status Tokenizer::open(const unsigned char *data, uint64_t size) {
  HEDDLE_TRY(blob.open(data, size));
  rawAdded.clear();
  normalizedAdded.clear();
  special.assign(blob.size(), false);
  ids = blob.size();
  if (WordReader model = blob.section(tok::kModel); model.next() == tok::kUnigram) {
    model.part(2); // the unknown token, byte fallback
    model.nextDouble();
    ids = std::min(ids, model.next());
  }
  for (WordReader list = blob.section(tok::kAdded); !list.done();) {
    Added token;
    token.id = list.next();
    token.flags = list.next();
    bool normalized = token.flags & tok::kNormalized;
    token.text = std::string(blob.piece(token.id));
    if (normalized)
      HEDDLE_TRY(runNormalizer(blob, blob.piece(token.id), token.text));
    if (token.text.empty() || token.id >= blob.size())
      continue;
    if (token.flags & tok::kSpecial)
      special[token.id] = true;
    (normalized ? normalizedAdded : rawAdded).push_back(std::move(token));
  }
  for (AddedList *list : {&rawAdded, &normalizedAdded})
    std::stable_sort(list->begin(), list->end(), [](const Added &a, const Added &b) { return a.text < b.text; });
  return {};
}

/// The character that ends before `at`; 0 if there is none.
static uint32_t characterBefore(std::string_view text, size_t at) {
  size_t begin = at;
  while (begin > 0 && (text[--begin] & 0xc0) == 0x80)
    ;
  uint32_t c = 0;
  return begin < at && decodeUtf8(text.substr(begin), c) ? c : 0;
}

// At every place the longest token of the list; flags then decide whether it
// counts (a single word) and how many spaces around it belong to it.
void Tokenizer::cutAdded(std::string_view text, const AddedList &list, std::vector<Section> &out) const {
  PrefixSearch search(list.size(), [&list](size_t i) { return std::string_view(list[i].text); });
  auto is = [&](uint32_t c, uint8_t property) { return c && (blob.classOf(c) & property); };
  size_t plain = 0;
  for (size_t at = 0; at < text.size() && !list.empty();) {
    const Added *token = nullptr;
    search.walk(text.substr(at), [&](size_t place, size_t) { token = &list[place]; });
    size_t begin = at, end = token ? at + token->text.size() : 0;
    uint32_t next = 0;
    bool keep = token != nullptr;
    if (token && token->flags & tok::kSingleWord) {
      decodeUtf8(text.substr(end), next);
      auto inWord = [&](uint32_t c) { return is(c, tok::kWord) || c == 0x200c || c == 0x200d; };
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

// `first` is true while a section is the beginning of the user's text: there
// some splitters add a space.
Status Tokenizer::encodeBody(std::string_view text, Encoded &encoded, bool stops) const {
  if (text.size() > kMaxText)
    return badInput("a text of more than 1 GiB");
  std::unique_ptr<WordModel> model = makeWordModel(blob);
  if (!model)
    return internalError("the tokenizer's model is unknown");
  std::vector<Section> raw, sections;
  cutAdded(validUtf8(text), rawAdded, raw);
  bool first = true;
  for (Section &section : raw) {
    if (section.added) {
      sections.push_back(std::move(section));
      continue;
    }
    std::string normal;
    HEDDLE_TRY(runNormalizer(blob, section.text, normal, &section == raw.data() ? &first : nullptr));
    if (!normalizedAdded.empty())
      cutAdded(normal, normalizedAdded, sections);
    else if (!normal.empty())
      sections.push_back({std::move(normal), nullptr});
  }
  std::vector<Split> splits;
  auto splitEnds = [&](bool added) {
    if (stops)
      splits.push_back({encoded.tokens.size(), added});
  };
  for (Section &section : sections) {
    if (section.added) {
      encoded.add(section.added->id, section.text);
      splitEnds(true);
    } else {
      std::vector<std::string> pieces;
      HEDDLE_TRY(runSplitter(blob, section.text, first, pieces));
      for (const std::string &piece : pieces) {
        HEDDLE_TRY(model->encode(piece, encoded));
        splitEnds(false);
      }
    }
    first = false;
  }
  if (stops)
    stopAtWholeSplits(blob.section(tok::kTruncation), splits, encoded);
  return {};
}

Status Tokenizer::encode(std::string_view text, const std::string_view *pair, bool addTemplate,
                         Encoded &encoded) const {
  Encoded first, second;
  WordReader truncation = blob.section(tok::kTruncation);
  bool stops = pair && !truncation.done();
  HEDDLE_TRY(encodeBody(text, first, stops && mayCutFirst(truncation)));
  if (pair)
    HEDDLE_TRY(encodeBody(*pair, second, stops));
  Encoded *other = pair ? &second : nullptr;
  WordReader items = blob.section(pair ? tok::kTemplatePair : tok::kTemplate);
  size_t added = 0;
  for (WordReader count = items; addTemplate && !count.done(); count.next())
    added += count.next() < tok::kSecond;
  size_t whole = first.tokens.size() + (other ? second.tokens.size() : 0) + added;
  HEDDLE_TRY(truncateTokens(truncation, added, first, other));
  fillTemplate(items, addTemplate, std::move(first), other, encoded);
  padTokens(blob.section(tok::kPadding), encoded);
  encoded.whole = whole;
  return {};
}

std::string_view Tokenizer::textOf(const Encoded &encoded, const Token &token) const {
  return token.surface ? encoded.surfaces[token.surface - 1] : blob.piece(token.id);
}

Status Tokenizer::encodeIds(std::string_view text, std::vector<int64_t> &ids) const {
  Encoded encoded;
  HEDDLE_TRY(encode(text, nullptr, true, encoded));
  ids.clear();
  for (const Token &token : encoded.tokens)
    if (token.real)
      ids.push_back(token.id);
  return {};
}

void Tokenizer::decodeNext(int64_t id, bool skipSpecial, Decoding &decoding, std::string &text) const {
  if (id < 0 || id >= int64_t(blob.size()))
    return;
  std::string_view piece = blob.piece(uint32_t(id));
  if (!piece.empty() && !(skipSpecial && special[id]))
    decoding.add(piece, text);
}

std::string Tokenizer::decodeBytes(const std::vector<int64_t> &ids, bool skipSpecial) const {
  Decoding decoding(blob);
  std::string text;
  for (int64_t id : ids)
    decodeNext(id, skipSpecial, decoding, text);
  decoding.finish(text);
  return text;
}

std::string Tokenizer::decode(const std::vector<int64_t> &ids, bool skipSpecial) const {
  return validUtf8(decodeBytes(ids, skipSpecial));
}

} // namespace heddle::rt
