//===- Utf8.h - Reading and writing UTF-8 -----------------------*- C++ -*-===//
//
// UTF-8 read and written, strictly: no overlong forms, no surrogates, nothing
// past U+10FFFF.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_UTF8_H
#define HEDDLE_RUNTIME_UTF8_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::rt {

/// Decodes the character at the start of `text`; returns its length in bytes,
/// or 0 if there is none.
inline size_t decodeUtf8(std::string_view text, uint32_t &c) {
  if (text.empty())
    return 0;
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned first = byte(0);
  if (first < 0x80) {
    c = first;
    return 1;
  }
  size_t n = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < n)
    return 0;
  c = first & (0x7f >> n);
  for (size_t i = 1; i < n; ++i) {
    if ((byte(i) & 0xc0) != 0x80)
      return 0;
    c = c << 6 | (byte(i) & 0x3f);
  }
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
    return 0;
  return n;
}

/// Appends the character `c`, which must be a valid one.
inline void appendUtf8(std::string &out, uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xc0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xe0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (c & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | c >> 18);
    out += static_cast<char>(0x80 | (c >> 12 & 0x3f));
    out += static_cast<char>(0x80 | (c >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (c & 0x3f));
  }
}

inline bool isUtf8(std::string_view text) {
  uint32_t c;
  while (!text.empty()) {
    size_t n = decodeUtf8(text, c);
    if (n == 0)
      return false;
    text.remove_prefix(n);
  }
  return true;
}

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_UTF8_H
