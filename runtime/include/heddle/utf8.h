//===- utf8.h - Reading and writing UTF-8 -----------------------*- C++ -*-===//
//
// UTF-8 read and written, strictly: no overlong forms, no surrogates, nothing
// past U+10FFFF.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_INCLUDE_HEDDLE_UTF8_H
#define HEDDLE_RUNTIME_INCLUDE_HEDDLE_UTF8_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace heddle {

/// The length in bytes of the first character of `text`, which `code` becomes;
/// 0 where there is none.
inline size_t decodeUtf8(std::string_view text, uint32_t &code) {
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

/// The bytes that the character `code` takes.
inline size_t utf8Length(uint32_t code) { return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4; }

/// Appends the character `code`, which must be a valid one.
inline void appendUtf8(std::string &out, uint32_t code) {
  size_t n = utf8Length(code);
  constexpr unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
  out += static_cast<char>(lead[n] | code >> (6 * (n - 1)));
  while (--n)
    out += static_cast<char>(0x80 | (code >> (6 * (n - 1)) & 0x3f));
}

/// Where `text` stops being UTF-8; npos: nowhere.
inline size_t invalidUtf8(std::string_view text) {
  uint32_t code = 0;
  for (size_t at = 0, n = 0; at < text.size(); at += n)
    if ((n = decodeUtf8(text.substr(at), code)) == 0)
      return at;
  return std::string_view::npos;
}

inline bool isUtf8(std::string_view text) { return invalidUtf8(text) == std::string_view::npos; }

} // namespace heddle

#endif // HEDDLE_RUNTIME_INCLUDE_HEDDLE_UTF8_H
