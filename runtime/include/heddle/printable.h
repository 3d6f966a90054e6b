//===- printable.h - What a terminal only shows -----------------*- C++ -*-===//
//
// Which characters a message, a name or a text may have as they are. Compiler
// and runtime escape all others, each in its own notation.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_INCLUDE_HEDDLE_PRINTABLE_H
#define HEDDLE_RUNTIME_INCLUDE_HEDDLE_PRINTABLE_H

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heddle {

/// The length in bytes of the first character of `text`, or 0 where its bytes
/// are not UTF-8 (no overlong forms, no surrogates, nothing past U+10FFFF).
/// `code` becomes the character.
inline size_t utf8Character(std::string_view text, uint32_t &code) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.empty())
    return 0;
  if ((code = byte(0)) < 0x80)
    return 1;
  size_t n = code >= 0xf0 ? 4 : code >= 0xe0 ? 3 : 2;
  if (code < 0xc2 || code > 0xf4 || text.size() < n)
    return 0;
  code &= 0x7fu >> n;
  for (size_t i = 1; i < n; ++i) {
    if ((byte(i) & 0xc0) != 0x80)
      return 0;
    code = code << 6 | (byte(i) & 0x3fu);
  }
  constexpr uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  return code < least[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : n;
}

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
  size_t n = utf8Character(text, code);
  return n && !steersTerminal(code) ? n : 0;
}

} // namespace heddle

#endif // HEDDLE_RUNTIME_INCLUDE_HEDDLE_PRINTABLE_H
