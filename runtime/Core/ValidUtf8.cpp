//===- ValidUtf8.cpp - Bytes as text --------------------------------------===//
#include "runtime/Core/ValidUtf8.h"

#include "heddle/utf8.h"

namespace heddle::rt {

std::string validUtf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    uint32_t c;
    size_t n = decodeUtf8(bytes, c);
    if (n) {
      out.append(bytes.substr(0, n));
      bytes.remove_prefix(n);
      continue;
    }
    // A maximal incomplete character counts as one error.
    n = 1;
    auto first = static_cast<unsigned char>(bytes[0]);
    size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first >= 0xc2 && first <= 0xf4)
      while (n < length && n < bytes.size()) {
        auto next = static_cast<unsigned char>(bytes[n]);
        unsigned low = 0x80, high = 0xbf;
        if (n == 1 && first == 0xe0)
          low = 0xa0;
        if (n == 1 && first == 0xed)
          high = 0x9f;
        if (n == 1 && first == 0xf0)
          low = 0x90;
        if (n == 1 && first == 0xf4)
          high = 0x8f;
        if (next < low || next > high)
          break;
        ++n;
      }
    out += "\xef\xbf\xbd";
    bytes.remove_prefix(n);
  }
  return out;
}

} // namespace heddle::rt
