//===- printable.h - What a terminal only shows -----------------*- C++ -*-===//
//
// Which characters a message, a name or a text may have as they are. Compiler
// and runtime escape all others, each in its own notation.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_INCLUDE_HEDDLE_PRINTABLE_H
#define HEDDLE_RUNTIME_INCLUDE_HEDDLE_PRINTABLE_H

#include "heddle/utf8.h"

namespace heddle {

/// Whether a terminal acts on `code` instead of showing it: control characters,
/// ends of lines, and the marks that turn the direction of a text.
inline bool steersTerminal(uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

/// The length of the first character of `text` where it is UTF-8 and only shown;
/// else 0.
inline size_t shownCharacter(std::string_view text) {
  uint32_t code = 0;
  size_t n = decodeUtf8(text, code);
  return n && !steersTerminal(code) ? n : 0;
}

/// Text from a file, safe to print: what a terminal acts on and what is no UTF-8 as \xNN, and so is a backquote, which
/// ends a quotation. Cut at `limit` bytes.
inline std::string printable(std::string_view text, size_t limit = 120) {
  std::string out;
  size_t at = 0;
  while (at < text.size() && out.size() < limit) {
    size_t length = text[at] == '`' ? 0 : shownCharacter(text.substr(at));
    if (length) {
      out += text.substr(at, length);
    } else {
      constexpr char digits[] = "0123456789ABCDEF";
      auto byte = static_cast<unsigned char>(text[at]);
      out += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
    }
    at += length ? length : 1;
  }
  return at < text.size() ? out + "..." : out;
}

} // namespace heddle

#endif // HEDDLE_RUNTIME_INCLUDE_HEDDLE_PRINTABLE_H
