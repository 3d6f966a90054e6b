//===- Decoder.cpp - The stages of a decoder -------------------------------===//
//
// A piece arrives at a stage in parts, because some stages (kFuse) join all
// pieces into one that ends only with the text. What a stage makes goes to the
// next at once.
//
//===----------------------------------------------------------------------===//
#include "heddle/utf8.h"
#include "runtime/Tokenizer/Decoding.h"
#include "runtime/Tokenizer/Tokenizer.h"

#include <algorithm>
#include <utility>

namespace heddle::rt {

Decoding::Decoding(const Blob &blob) {
  for (WordReader words = blob.section(tok::kDecoder); !words.done();) {
    Stage stage;
    stage.kind = words.next();
    WordReader rest = words.part(words.next());
    switch (stage.kind) {
    case tok::kSuffixToSpace: stage.from = rest.string(); break;
    case tok::kJoinPieces:
    case tok::kSpaceFromMeta:
      stage.from = rest.string();
      stage.flag = rest.next();
      break;
    case tok::kReplaceDecoded:
      stage.from = rest.string();
      stage.to = rest.string();
      break;
    case tok::kReplaceInDecoded:
      stage.to = rest.string();
      stage.matcher.emplace(blob, rest);
      break;
    case tok::kCollapse: // the padding and the delimiter
      stage.from = rest.string();
      stage.to = rest.string();
      stage.flag = rest.next();
      break;
    case tok::kStripDecoded:
      stage.from = rest.string();
      stage.left = rest.next();
      stage.right = rest.next();
      break;
    }
    stages.push_back(std::move(stage));
  }
}

void Decoding::add(std::string_view piece, std::string &text) { part(0, piece, true, text); }

void Decoding::finish(std::string &text) { end(0, text); }

static void replaceAll(std::string &text, std::string_view from, std::string_view to) {
  size_t found = from.empty() ? text.npos : text.find(from);
  if (found == text.npos)
    return;
  std::string out;
  size_t at = 0;
  for (; found != text.npos; found = text.find(from, at)) {
    out.append(text, at, found - at).append(to);
    at = found + from.size();
  }
  text = out.append(text, at);
}

/// Removes the blanks in front of punctuation and English contractions, as the
/// library's clean_up_tokenization does.
static void cleanUpBlanks(std::string &piece) {
  static const char *const from[] = {" .", " ?", " !", " ,", " ' ", " n't", " 'm", " do not", " 's", " 've", " 're"};
  static const char *const to[] = {".", "?", "!", ",", "'", "n't", "'m", " don't", "'s", "'ve", "'re"};
  for (int k = 0; k < 11; ++k)
    replaceAll(piece, from[k], to[k]);
}

/// The bytes of a piece that consists of GPT-2's letters only; any other piece
/// stays as it is.
static std::string bytesOfLetters(std::string piece) {
  std::string bytes;
  std::string_view rest = piece;
  uint32_t c;
  while (size_t n = decodeUtf8(rest, c)) {
    int byte = byteOfLetter(c);
    if (byte < 0)
      return piece;
    bytes += static_cast<char>(byte);
    rest.remove_prefix(n);
  }
  return bytes;
}

/// The byte that a piece <0xNN> stands for, or -1.
static int byteOfPiece(std::string_view piece) {
  auto hex = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
  };
  bool is =
      piece.size() == 6 && piece.substr(0, 3) == "<0x" && piece[5] == '>' && hex(piece[3]) >= 0 && hex(piece[4]) >= 0;
  return is ? hex(piece[3]) * 16 + hex(piece[4]) : -1;
}

/// Replaces all matches; a piece on which the pattern takes too many steps
/// stays.
static void replaceMatches(Matcher &matcher, std::string &piece, std::string_view to) {
  std::vector<Span> matches;
  if (!matcher.findAll(piece, matches).ok())
    return;
  std::string out;
  size_t at = 0;
  for (Span span : matches) {
    out.append(piece, at, span.begin - at).append(to);
    at = span.end;
  }
  piece = out.append(piece, at);
}

void Decoding::part(size_t at, std::string_view text, bool ends, std::string &out) {
  if (at == stages.size()) {
    out += text;
    return;
  }
  Stage &stage = stages[at];
  bool begins = !stage.inside, first = stage.first;
  stage.inside = !ends;
  stage.first &= !ends;
  switch (stage.kind) {
  case tok::kFuse: return part(at + 1, text, false, out);
  case tok::kJoinWithSpaces:
    if (begins && !first)
      part(at + 1, " ", false, out);
    return part(at + 1, text, ends, out);
  case tok::kReplaceDecoded: return replace(at, text, ends, stage.to, out);
  case tok::kSpaceFromMeta: // the first piece may lose its marks
    return replace(at, text, ends, first && stage.flag ? "" : " ", out);
  case tok::kStripDecoded: return strip(at, text, ends, out);
  }
  stage.whole += text;
  if (!ends)
    return;
  stage.first = first; // as it was before this piece, for `piece`
  piece(at, std::exchange(stage.whole, {}), out);
  stage.first = false;
}

/// The stages that need a piece as a whole.
void Decoding::piece(size_t at, std::string text, std::string &out) {
  Stage &stage = stages[at];
  switch (stage.kind) {
  case tok::kBytesFromLetters: return part(at + 1, bytesOfLetters(std::move(text)), false, out);
  case tok::kBytesFromPieces:
    if (int byte = byteOfPiece(text); byte >= 0) {
      stage.kept += static_cast<char>(byte);
      return;
    }
    flushBytes(at, out);
    break;
  case tok::kSuffixToSpace: {
    // The suffix becomes a blank only if another piece follows; keep it till
    // then.
    if (std::exchange(stage.keeps, true)) {
      replaceAll(stage.kept, stage.from, " ");
      part(at + 1, stage.kept, true, out);
    }
    size_t found = stage.from.empty() ? text.npos : text.find(stage.from);
    stage.kept = found == text.npos ? "" : text.substr(found);
    return part(at + 1, std::string_view(text).substr(0, found), false, out);
  }
  case tok::kJoinPieces:
    if (!stage.first && text.compare(0, stage.from.size(), stage.from) == 0)
      text.erase(0, stage.from.size());
    else if (!stage.first)
      text.insert(0, 1, ' ');
    if (stage.flag)
      cleanUpBlanks(text);
    break;
  case tok::kReplaceInDecoded: replaceMatches(*stage.matcher, text, stage.to); break;
  case tok::kCollapse: // CTC: equal neighbours count once, padding is dropped
    if (std::exchange(stage.keeps, true) && stage.kept == text)
      return;
    stage.kept = text;
    replaceAll(text, stage.from, "");
    if (stage.flag) {
      cleanUpBlanks(text);
      replaceAll(text, stage.to, " ");
    }
    break;
  }
  part(at + 1, text, true, out);
}

/// The text ends: every stage hands on what it kept.
void Decoding::end(size_t at, std::string &out) {
  if (at == stages.size())
    return;
  Stage &stage = stages[at];
  if (stage.kind == tok::kFuse || stage.kind == tok::kBytesFromLetters) {
    part(at + 1, "", true, out); // the one piece ends
  } else if (stage.kind == tok::kBytesFromPieces) {
    flushBytes(at, out);
  } else if (stage.kind == tok::kSuffixToSpace && stage.keeps) {
    replaceAll(stage.kept, stage.from, "");
    part(at + 1, stage.kept, true, out);
  }
  end(at + 1, out);
}

/// Hands the run of <0xNN> on as text; if it is not UTF-8, one U+FFFD a byte.
void Decoding::flushBytes(size_t at, std::string &out) {
  std::string run = std::exchange(stages[at].kept, {});
  if (run.empty())
    return;
  if (isUtf8(run))
    return part(at + 1, run, true, out);
  for (size_t i = 0; i < run.size(); ++i)
    part(at + 1, "\xef\xbf\xbd", true, out);
}

/// Replaces `from` by `to`; keeps what may be the beginning of `from` while the
/// piece goes on.
void Decoding::replace(size_t at, std::string_view text, bool ends, std::string_view to, std::string &out) {
  std::string_view from = stages[at].from;
  std::string all = std::exchange(stages[at].kept, {}).append(text), made;
  size_t done = 0;
  for (size_t found; !from.empty() && (found = all.find(from, done)) != all.npos; done = found + from.size())
    made.append(all, done, found - done).append(to);
  size_t keep = ends || from.empty() ? 0 : std::min(from.size() - 1, all.size() - done);
  while (keep && all.compare(all.size() - keep, keep, from, 0, keep) != 0)
    --keep;
  made.append(all, done, all.size() - keep - done);
  stages[at].kept = all.substr(all.size() - keep);
  part(at + 1, made, ends, out);
}

/// Strips marks from both ends of a piece: at the left it counts them, at the
/// right it keeps as many as may have to go when the piece ends.
void Decoding::strip(size_t at, std::string_view text, bool ends, std::string &out) {
  Stage &stage = stages[at];
  std::string_view mark = stage.from;
  if (mark.empty())
    return part(at + 1, text, ends, out);
  std::string all = std::exchange(stage.kept, {}).append(text);
  size_t begin = 0;
  while (stage.dropped < stage.left && all.compare(begin, mark.size(), mark) == 0) {
    begin += mark.size();
    ++stage.dropped;
  }
  bool more = stage.dropped < stage.left && !ends && all.size() - begin < mark.size() &&
              mark.substr(0, all.size() - begin) == std::string_view(all).substr(begin);
  if (!more)
    stage.dropped = stage.left;
  size_t stop = more ? begin : all.size();
  if (ends)
    for (uint32_t i = 0;
         i < stage.right && stop - begin >= mark.size() && all.compare(stop - mark.size(), mark.size(), mark) == 0; ++i)
      stop -= mark.size();
  else
    stop -= std::min(stop - begin, size_t(stage.right) * mark.size());
  if (ends)
    stage.dropped = 0;
  else
    stage.kept = all.substr(stop);
  part(at + 1, std::string_view(all).substr(begin, stop - begin), ends, out);
}

} // namespace heddle::rt
