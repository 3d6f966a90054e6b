//===- Normalizer.cpp - Stages that change the text -----------------------===//
//
// The normalizer: stages that rewrite a text, one after the other.
//
//===----------------------------------------------------------------------===//
#include "heddle/utf8.h"
#include "runtime/Tokenizer/Matcher.h"
#include "runtime/Tokenizer/Tokenizer.h"

namespace heddle::rt {

static std::string mapCharacters(WordReader table, std::string_view text, size_t most) {
  size_t entries = table.next();
  const uint32_t *entry = table.here();
  size_t targets = table.left() >= entries * 3 ? table.left() - entries * 3 : 0;
  const uint32_t *target = entry + entries * 3;
  size_t known = table.left() >= entries * 3 ? entries : 0;
  std::string out;
  out.reserve(text.size());
  uint32_t c;
  while (size_t n = decodeUtf8(text, c)) {
    if (out.size() > most)
      break;
    size_t low = 0, high = known;
    while (low < high) {
      size_t middle = (low + high) / 2;
      if (entry[middle * 3] < c)
        low = middle + 1;
      else
        high = middle;
    }
    if (low < known && entry[low * 3] == c) {
      size_t first = entry[low * 3 + 1], count = entry[low * 3 + 2];
      for (size_t i = first; i < first + count && i < targets; ++i)
        appendUtf8(out, target[i]);
    } else {
      out.append(text.substr(0, n));
    }
    text.remove_prefix(n);
  }
  return out;
}

static std::string replace(std::string_view text, std::string_view from, std::string_view to, size_t most) {
  std::string out;
  while (!from.empty() && out.size() <= most) {
    size_t at = text.find(from);
    if (at == std::string_view::npos)
      break;
    out.append(text.substr(0, at)).append(to);
    text.remove_prefix(at + from.size());
  }
  return out.append(text);
}

static std::string strip(const Blob &blob, std::string_view text, bool left, bool right) {
  uint32_t c;
  auto space = [&](std::string_view at) { return decodeUtf8(at, c) && (blob.classOf(c) & tok::kSpace); };
  while (left && !text.empty() && space(text))
    text.remove_prefix(decodeUtf8(text, c));
  while (right && !text.empty()) {
    size_t last = text.size() - 1;
    while (last > 0 && (text[last] & 0xc0) == 0x80)
      --last;
    if (!space(text.substr(last)))
      break;
    text = text.substr(0, last);
  }
  return std::string(text);
}

/// Whether the first `end` bytes of a text are one character.
static bool oneCharacter(std::string_view text, size_t end) {
  uint32_t c;
  return decodeUtf8(text, c) == end;
}

// `start` stays true while the first character comes from that of the text.
Status runNormalizer(const Blob &blob, std::string_view text, std::string &now, bool *fromStart) {
  bool start = true;
  const size_t most = mostBytes(text);
  now.assign(text);
  for (WordReader stages = blob.section(tok::kNormalizer); !stages.done();) {
    uint32_t kind = stages.next();
    WordReader stage = stages.part(stages.next());
    switch (kind) {
    case tok::kMapCharacters: {
      uint32_t c;
      size_t n = decodeUtf8(now, c);
      start &= !mapCharacters(stage, now.substr(0, n), most).empty();
      now = mapCharacters(stage, now, most);
      break;
    }
    case tok::kReplaceText: {
      std::string_view from = stage.string(), to = stage.string();
      bool replaced = !from.empty() && now.compare(0, from.size(), from) == 0;
      start &= !replaced || (!to.empty() && oneCharacter(now, from.size()));
      now = replace(now, from, to, most);
      break;
    }
    case tok::kReplaceMatch:
    case tok::kSurround: {
      bool surround = kind == tok::kSurround;
      std::string_view to = surround ? std::string_view() : stage.string();
      std::string out;
      std::vector<Span> matches;
      HEDDLE_TRY(Matcher(blob, stage).findAll(now, matches));
      size_t at = 0;
      // A replacement of several characters counts as made of the last of them.
      if (!surround && !matches.empty() && matches[0].begin == 0 && matches[0].end > 0)
        start &= !to.empty() && oneCharacter(now, matches[0].end);
      for (Span span : matches) {
        if (out.size() > most)
          break;
        out.append(now, at, span.begin - at).append(to);
        if (surround)
          out.append(" ").append(now, span.begin, span.end - span.begin) += ' ';
        at = span.end;
      }
      now = out.append(now, at);
      break;
    }
    case tok::kOrderMarks: now = orderMarks(stage, now); break;
    case tok::kCompose: now = composeMarks(stage, now); break;
    case tok::kCharsMap: now = runCharsMap(blob, stage, now); break;
    case tok::kLettersForBytes: {
      std::string letters;
      for (char byte : now)
        appendUtf8(letters, letterOfByte(static_cast<unsigned char>(byte)));
      now = std::move(letters);
      break;
    }
    case tok::kPrependText:
      if (!now.empty())
        now.insert(0, stage.string());
      break;
    case tok::kStripText: {
      bool left = stage.next(), right = stage.next();
      std::string rest = strip(blob, now, left, false);
      start &= rest.size() == now.size();
      now = strip(blob, rest, false, right);
      break;
    }
    }
    if (now.size() > most)
      return badTokenizer(format("the normalizer makes a text of %zu bytes "
                                 "more than %zu bytes long",
                                 text.size(), most));
  }
  if (fromStart)
    *fromStart &= start;
  return {};
}

} // namespace heddle::rt
