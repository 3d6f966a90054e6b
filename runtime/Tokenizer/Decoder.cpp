//===- Decoder.cpp - Pieces to text ---------------------------------------===//
//
// Every stage rewrites the list of pieces; at the end they are joined.
//
//===----------------------------------------------------------------------===//
#include "runtime/Tokenizer/Matcher.h"
#include "runtime/Tokenizer/Tokenizer.h"
#include "runtime/Utf8.h"

#include <algorithm>

namespace heddle::rt {

using Pieces = std::vector<std::string>;

/// A piece made only of letters for bytes is those bytes, any other itself.
static void bytesFromLetters(Pieces &pieces) {
  std::string all;
  for (const std::string &piece : pieces) {
    std::string bytes;
    std::string_view rest = piece;
    uint32_t c;
    bool letters = true;
    while (size_t n = decodeUtf8(rest, c)) {
      int byte = byteOfLetter(c);
      if (byte < 0) {
        letters = false;
        break;
      }
      bytes += static_cast<char>(byte);
      rest.remove_prefix(n);
    }
    all += letters ? bytes : piece;
  }
  pieces = {std::move(all)};
}

static void replaceAll(std::string &text, std::string_view from,
                       std::string_view to) {
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

/// Runs of <0xNN> are bytes of characters; a run that is no UTF-8 becomes one
/// U+FFFD a byte.
static void bytesFromPieces(Pieces &pieces) {
  Pieces out;
  std::string run;
  auto flush = [&] {
    if (run.empty())
      return;
    if (isUtf8(run))
      out.push_back(run);
    else
      for (size_t i = 0; i < run.size(); ++i)
        out.push_back("\xef\xbf\xbd");
    run.clear();
  };
  auto hex = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
  };
  for (std::string &piece : pieces) {
    if (piece.size() == 6 && piece.compare(0, 3, "<0x") == 0 &&
        piece[5] == '>' && hex(piece[3]) >= 0 && hex(piece[4]) >= 0) {
      run += static_cast<char>(hex(piece[3]) * 16 + hex(piece[4]));
      continue;
    }
    flush();
    out.push_back(std::move(piece));
  }
  flush();
  pieces = std::move(out);
}

/// The blanks of English writing.
static void cleanUpBlanks(std::string &piece) {
  static const char *const from[] = {" .",  " ?",   " !",  " ,",
                                     " ' ", " n't", " 'm", " do not",
                                     " 's", " 've", " 're"};
  static const char *const to[] = {".",  "?",      "!",  ",",   "'",  "n't",
                                   "'m", " don't", "'s", "'ve", "'re"};
  for (int k = 0; k < 11; ++k)
    replaceAll(piece, from[k], to[k]);
}

/// CTC: of equal neighbours one, and none of the padding.
static void collapse(Pieces &pieces, std::string_view padding,
                     std::string_view delimiter, bool cleanUp) {
  pieces.erase(std::unique(pieces.begin(), pieces.end()), pieces.end());
  for (std::string &piece : pieces) {
    replaceAll(piece, padding, "");
    if (!cleanUp)
      continue;
    cleanUpBlanks(piece);
    replaceAll(piece, delimiter, " ");
  }
}

/// A piece in which the pattern takes too many steps stays what it is.
static void replaceMatches(const Blob &blob, Pieces &pieces,
                           std::string_view to, WordReader program) {
  Matcher matcher(blob, program);
  std::vector<Span> matches;
  for (std::string &piece : pieces) {
    if (!matcher.findAll(piece, matches).ok())
      continue;
    std::string out;
    size_t at = 0;
    for (Span span : matches) {
      out.append(piece, at, span.begin - at).append(to);
      at = span.end;
    }
    piece = out.append(piece, at);
  }
}

static void joinPieces(Pieces &pieces, std::string_view prefix, bool cleanUp) {
  for (size_t i = 0; i < pieces.size(); ++i) {
    std::string &piece = pieces[i];
    if (i && piece.compare(0, prefix.size(), prefix) == 0)
      piece.erase(0, prefix.size());
    else if (i)
      piece.insert(0, 1, ' ');
    if (cleanUp)
      cleanUpBlanks(piece);
  }
}

/// In the first piece all marks are dropped, if any are.
static void spaceFromMeta(Pieces &pieces, std::string_view mark,
                          bool dropFirst) {
  for (size_t i = 0; i < pieces.size(); ++i) {
    std::string out;
    std::string_view rest = pieces[i];
    bool drop = i == 0 && dropFirst;
    while (!rest.empty()) {
      if (!mark.empty() && rest.substr(0, mark.size()) == mark) {
        if (!drop)
          out += ' ';
        rest.remove_prefix(mark.size());
      } else {
        out += rest[0];
        rest.remove_prefix(1);
      }
    }
    pieces[i] = std::move(out);
  }
}

static void strip(Pieces &pieces, std::string_view mark, uint32_t left,
                  uint32_t right) {
  if (mark.empty())
    return;
  for (std::string &piece : pieces) {
    size_t begin = 0, end = piece.size();
    for (uint32_t i = 0; i < left && end - begin >= mark.size() &&
                         piece.compare(begin, mark.size(), mark) == 0;
         ++i)
      begin += mark.size();
    for (uint32_t i = 0;
         i < right && end - begin >= mark.size() &&
         piece.compare(end - mark.size(), mark.size(), mark) == 0;
         ++i)
      end -= mark.size();
    piece = piece.substr(begin, end - begin);
  }
}

std::string runDecoder(const Blob &blob, std::vector<std::string> pieces) {
  for (WordReader stages = blob.section(tok::kDecoder); !stages.done();) {
    uint32_t kind = stages.next();
    WordReader stage = stages.part(stages.next());
    std::string_view text = kind == tok::kBytesFromLetters ||
                                    kind == tok::kFuse ||
                                    kind == tok::kBytesFromPieces
                                ? std::string_view()
                                : stage.string();
    switch (kind) {
    case tok::kBytesFromLetters:
      bytesFromLetters(pieces);
      break;
    case tok::kFuse: {
      std::string all;
      for (const std::string &piece : pieces)
        all += piece;
      pieces = {std::move(all)};
      break;
    }
    case tok::kSuffixToSpace:
      for (size_t i = 0; i < pieces.size(); ++i)
        replaceAll(pieces[i], text, i + 1 == pieces.size() ? "" : " ");
      break;
    case tok::kJoinPieces:
      joinPieces(pieces, text, stage.next());
      break;
    case tok::kSpaceFromMeta:
      spaceFromMeta(pieces, text, stage.next());
      break;
    case tok::kReplaceDecoded: {
      std::string_view to = stage.string();
      for (std::string &piece : pieces)
        replaceAll(piece, text, to);
      break;
    }
    case tok::kReplaceInDecoded:
      replaceMatches(blob, pieces, text, stage);
      break;
    case tok::kCollapse: {
      std::string_view delimiter = stage.string();
      collapse(pieces, text, delimiter, stage.next());
      break;
    }
    case tok::kBytesFromPieces:
      bytesFromPieces(pieces);
      break;
    case tok::kStripDecoded: {
      uint32_t left = stage.next(), right = stage.next();
      strip(pieces, text, left, right);
      break;
    }
    case tok::kJoinWithSpaces:
      for (size_t i = 1; i < pieces.size(); ++i)
        pieces[i].insert(0, 1, ' ');
      break;
    }
  }
  std::string out;
  for (const std::string &piece : pieces)
    out += piece;
  return out;
}

} // namespace heddle::rt
