//===- TerminalOutput.cpp - What a terminal is shown ----------------------===//
//
// stdout becomes a stream of glibc's with a write function of its own, so that
// every printf of the program goes through it. What steers the terminal on
// purpose (Chat/Terminal.cpp) writes to the descriptor.
//
//===----------------------------------------------------------------------===//
#include "heddle/printable.h"
#include "heddle/terminal_output.h"
#include "runtime/Core/Status.h"
#include "runtime/Core/TerminalProgress.h"

#include <cerrno>
#include <cstdio>
#include <unistd.h>

namespace heddle::rt {

/// Whether more bytes could make `text` a whole character.
static bool isBegun(std::string_view text) {
  auto first = static_cast<unsigned char>(text[0]);
  size_t length = first >= 0xf0 && first < 0xf5 ? 4 : first >= 0xe0 && first < 0xf0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (first >= 0xf5 || text.size() >= length)
    return false;
  for (char c : text.substr(1))
    if ((static_cast<unsigned char>(c) & 0xc0) != 0x80)
      return false;
  return true;
}

std::string TerminalText::add(std::string_view bytes) {
  std::string text = begun + std::string(bytes), out;
  begun.clear();
  for (size_t i = 0; i < text.size();) {
    std::string_view rest = std::string_view(text).substr(i);
    uint32_t c = 0;
    size_t n = decodeUtf8(rest, c);
    if (n == 0 && isBegun(rest)) {
      begun = rest;
      break;
    }
    if (n == 0)
      out += format("\\x%02x", static_cast<unsigned char>(rest[0]));
    else if (c != '\n' && c != '\t' && steersTerminal(c))
      out += format("\\u%04x", c);
    else
      out += rest.substr(0, n);
    i += n ? n : 1;
  }
  return out;
}

std::string TerminalText::finish() {
  std::string out;
  for (char c : begun)
    out += format("\\x%02x", static_cast<unsigned char>(c));
  begun.clear();
  return out;
}

static TerminalText shown;

/// Of a stream: all of `text` is taken, or 0 after an error.
static bool writeAll(std::string_view text) {
  while (!text.empty()) {
    ssize_t n = write(1, text.data(), text.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    text.remove_prefix(size_t(n));
  }
  return true;
}

void escapeOnTerminal() {
  if (!isatty(1))
    return;
  fflush(stdout);
  cookie_io_functions_t functions = {};
  functions.write = [](void *, const char *bytes, size_t size) -> ssize_t {
    TerminalProgress::Erased erased(size && bytes[size - 1] == '\n');
    return writeAll(shown.add({bytes, size})) ? ssize_t(size) : 0;
  };
  FILE *stream = fopencookie(nullptr, "w", functions);
  if (!stream)
    return;
  setvbuf(stream, nullptr, _IOLBF, BUFSIZ);
  stdout = stream;
}

bool flushTerminal() { return fflush(stdout) == 0 && !ferror(stdout) && writeAll(shown.finish()); }

} // namespace heddle::rt
