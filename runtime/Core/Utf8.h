//===- Utf8.h - Reading and writing UTF-8 -----------------------*- C++ -*-===//
//
// UTF-8 read and written, strictly: no overlong forms, no surrogates, nothing
// past U+10FFFF.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_UTF8_H
#define HEDDLE_RUNTIME_CORE_UTF8_H

#include "heddle/printable.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::rt {

/// Decodes the character at the start of `text`; returns its length in bytes,
/// or 0 if there is none.
inline size_t decodeUtf8(std::string_view text, uint32_t &c) { return utf8Character(text, c); }

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

#endif // HEDDLE_RUNTIME_CORE_UTF8_H
