//===- Splitter.cpp - Stages that cut the text into words -----------------===//
//
// The splitter: stages that cut a text into words, each working on the pieces
// of the one before. The model then encodes every word separately.
//
//===----------------------------------------------------------------------===//
#include "heddle/utf8.h"
#include "runtime/Tokenizer/Matcher.h"
#include "runtime/Tokenizer/Tokenizer.h"

#include <algorithm>

namespace heddle::rt {

using Pieces = std::vector<std::string>;

// Bytes 33..126, 161..172 and 174..255 are their own letters; the others get
// the characters from 256 on.
uint32_t letterOfByte(unsigned char byte) {
  if ((byte >= 33 && byte <= 126) || (byte >= 161 && byte != 173))
    return byte;
  if (byte < 33)
    return 256 + byte;
  return byte == 173 ? 256 + 67 : 256 + 33 + (byte - 127);
}

int byteOfLetter(uint32_t c) {
  if (c >= 256 && c < 256 + 68) {
    uint32_t n = c - 256;
    return n < 33 ? int(n) : n == 67 ? 173 : int(127 + n - 33);
  }
  bool itself = (c >= 33 && c <= 126) || (c >= 161 && c <= 255 && c != 173);
  return itself ? int(c) : -1;
}

static void toLetters(std::string &piece, bool addSpace) {
  std::string out;
  if (addSpace && !piece.empty() && piece[0] != ' ')
    piece.insert(0, 1, ' ');
  for (char byte : piece)
    appendUtf8(out, letterOfByte(static_cast<unsigned char>(byte)));
  piece = std::move(out);
}

/// A match of the pattern, or the text between two.
struct Part {
  Span span;
  bool matched;
};

/// Cuts `text` at the matches as `behavior` says; whether the first piece
/// begins where the text did.
static bool splitPiece(const std::string &text, const std::vector<Span> &matches, uint32_t behavior, bool invert,
                       Pieces &out) {
  std::vector<Part> parts;
  size_t at = 0;
  for (Span match : matches) {
    if (match.begin > at)
      parts.push_back({{at, match.begin}, invert});
    parts.push_back({match, !invert});
    at = match.end;
  }
  if (at < text.size())
    parts.push_back({{at, text.size()}, invert});

  std::vector<Span> spans;
  bool previous = false;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Part &part = parts[i];
    switch (behavior) {
    case tok::kRemoved:
      if (!part.matched)
        spans.push_back(part.span);
      break;
    case tok::kContiguous:
      if (!spans.empty() && part.matched == previous)
        spans.back().end = part.span.end;
      else
        spans.push_back(part.span);
      break;
    case tok::kMergedWithPrevious:
      if (part.matched && !previous && !spans.empty())
        spans.back().end = part.span.end;
      else
        spans.push_back(part.span);
      break;
    case tok::kMergedWithNext:
      if (!part.matched && i > 0 && previous)
        spans.back().end = part.span.end;
      else
        spans.push_back(part.span);
      break;
    default: spans.push_back(part.span); break;
    }
    previous = part.matched;
  }
  bool fromStart = false;
  for (Span span : spans)
    if (span.end > span.begin) {
      fromStart |= span.begin == 0;
      out.push_back(text.substr(span.begin, span.end - span.begin));
    }
  return fromStart;
}

/// One piece for each run of one script. Spaces and characters without a script
/// join the run before them; in front of the first run they are dropped.
static void splitScripts(const std::string &text, WordReader table, Pieces &out) {
  const uint32_t *rows = table.here();
  size_t count = table.left() / 3;
  uint32_t last = 0, c = 0;
  size_t begin = std::string::npos;
  for (size_t at = 0; at < text.size();) {
    size_t n = decodeUtf8(std::string_view(text).substr(at), c);
    size_t low = 0, high = count;
    while (low < high) {
      size_t middle = (low + high) / 2;
      if (rows[middle * 3 + 1] < c)
        low = middle + 1;
      else
        high = middle;
    }
    uint32_t script = c != ' ' && low < count && rows[low * 3] <= c ? rows[low * 3 + 2] : 0;
    if (script && script != last) {
      if (begin != std::string::npos)
        out.push_back(text.substr(begin, at - begin));
      begin = at;
      last = script;
    }
    at += std::max<size_t>(n, 1);
  }
  if (begin != std::string::npos)
    out.push_back(text.substr(begin));
}

/// SentencePiece's: spaces become the mark (U+2581), one is put in front, and
/// the text is cut before each.
static void metaspace(const std::string &text, WordReader stage, bool first, Pieces &out) {
  std::string_view mark = stage.string();
  uint32_t prepend = stage.next();
  bool split = stage.next();
  std::string now;
  for (char byte : text)
    if (byte == ' ')
      now.append(mark);
    else
      now += byte;
  bool always = prepend == 2 || (prepend == 1 && first);
  if (always && now.compare(0, mark.size(), mark) != 0)
    now.insert(0, mark);
  if (!split || mark.empty()) { // a damaged table may have no mark
    out.push_back(std::move(now));
    return;
  }
  for (size_t begin = 0; begin < now.size();) {
    size_t end = now.find(mark, begin + mark.size());
    if (now.compare(begin, mark.size(), mark) != 0)
      end = now.find(mark, begin);
    out.push_back(now.substr(begin, end - begin));
    begin = end == std::string::npos ? now.size() : end;
  }
}

// `pieces` go through one stage after the other; `fromStart` stays true while
// the first piece is the beginning of the user's text.
Status runSplitter(const Blob &blob, std::string_view text, bool fromStart, std::vector<std::string> &pieces) {
  pieces.clear();
  std::vector<Span> matches;
  if (!text.empty())
    pieces.push_back(std::string(text));
  for (WordReader stages = blob.section(tok::kSplitter); !stages.done();) {
    uint32_t kind = stages.next();
    WordReader stage = stages.part(stages.next());
    Pieces next;
    if (kind == tok::kSplit) {
      uint32_t behavior = stage.next();
      bool invert = stage.next();
      Matcher matcher(blob, stage);
      for (const std::string &piece : pieces) {
        HEDDLE_TRY(matcher.findAll(piece, matches));
        bool kept = splitPiece(piece, matches, behavior, invert, next);
        if (&piece == pieces.data())
          fromStart &= kept;
      }
    } else if (kind == tok::kPrefixSpace) {
      next = std::move(pieces);
      for (std::string &piece : next)
        if (piece[0] != ' ')
          piece.insert(0, 1, ' ');
    } else if (kind == tok::kByteLevel) {
      bool addSpace = stage.next();
      next = std::move(pieces);
      for (std::string &piece : next)
        toLetters(piece, addSpace);
    } else if (kind == tok::kScripts) {
      for (const std::string &piece : pieces)
        splitScripts(piece, stage, next);
      fromStart &= !next.empty() && !pieces.empty() && pieces[0] == next[0];
    } else if (kind == tok::kMetaspace) {
      for (size_t i = 0; i < pieces.size(); ++i)
        metaspace(pieces[i], stage, fromStart && i == 0, next);
    }
    pieces = std::move(next);
    size_t bytes = 0;
    for (const std::string &piece : pieces)
      bytes += piece.size();
    if (bytes > mostBytes(text))
      return badTokenizer(format("the pre-tokenizer makes a text of %zu bytes "
                                 "more than %zu bytes long",
                                 text.size(), mostBytes(text)));
  }
  return {};
}

} // namespace heddle::rt
