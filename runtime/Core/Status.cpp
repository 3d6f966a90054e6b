//===- Status.cpp - Errors as values --------------------------------------===//
//
// The kinds of errors with their codes, and how they are printed.
//
//===----------------------------------------------------------------------===//
#include "runtime/Core/Status.h"

#include "heddle/input_file.h"
#include "heddle/printable.h"
#include "heddle/terminal_output.h"
#include "heddle/utf8.h"
#include "runtime/Core/TerminalProgress.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace heddle::rt {

Status badFile(std::string message) { return {Error::NotItsFormat, std::move(message)}; }
Status badInput(std::string message) { return {Error::BadInput, std::move(message)}; }
Status badUsage(std::string message) { return {Error::BadUsage, std::move(message)}; }
Status badTokenizer(std::string message) { return {Error::BadTokenizer, std::move(message)}; }
Status unsupported(std::string message) { return {Error::NotSupported, std::move(message)}; }
Status outOfResources(std::string message) { return {Error::NoResources, std::move(message)}; }
Status ioError(std::string_view what, std::string_view path, int error) {
  bool lack = error == ENOMEM || error == EMFILE || error == ENFILE;
  return {lack ? Error::NoResources : Error::CannotRead,
          std::string(what) + " " + quote(path) + ": " + strerror(error)};
}
Status checkOpened(const OpenedFile &file, std::string_view path) {
  if (file.systemError())
    return ioError("cannot open", path, file.systemError());
  if (!file.ok())
    return badFile(quote(path) + ": a regular file expected, found " + file.foundInstead());
  return {};
}
Status outputError(std::string_view what, std::string_view path, int error) {
  bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return {full ? Error::DiskFull : Error::CannotWrite, std::string(what) + " " + quote(path) + ": " + strerror(error)};
}
Status internalError(std::string message) { return {Error::OurMistake, std::move(message)}; }

Status flushOutput() {
  errno = 0;
  if (flushTerminal())
    return {};
  return outputError("cannot write", "standard output", errno ? errno : EIO);
}

std::string format(const char *pattern, ...) {
  va_list args, again;
  va_start(args, pattern);
  va_copy(again, args);
  int size = vsnprintf(nullptr, 0, pattern, args);
  va_end(args);
  std::string text(size > 0 ? size : 0, '\0');
  if (size > 0)
    vsnprintf(text.data(), size + 1, pattern, again);
  va_end(again);
  return text;
}

/// Appends `text` with control characters and invalid UTF-8 escaped.
static void appendEscaped(std::string &out, std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    uint32_t c;
    size_t n = decodeUtf8(text.substr(i), c);
    if (n == 0) {
      out += format("\\x%02x", static_cast<unsigned char>(text[i++]));
      continue;
    }
    if (steersTerminal(c))
      out += format("\\u%04x", c);
    else
      out.append(text.substr(i, n));
    i += n;
  }
}

std::string quote(std::string_view text) {
  std::string out = "`";
  appendEscaped(out, text.substr(0, 200));
  out += text.size() > 200 ? "...`" : "`";
  return out;
}

std::string jsonString(std::string_view text) {
  std::string out = "\"";
  for (size_t i = 0; i < text.size();) {
    uint32_t c;
    size_t n = decodeUtf8(text.substr(i), c);
    if (n == 0) {
      out += "\\ufffd";
      ++i;
      continue;
    }
    if (c == '"' || c == '\\')
      (out += '\\') += static_cast<char>(c);
    else if (c < 0x20 || c == 0x7f)
      out += format("\\u%04x", c);
    else
      out.append(text.substr(i, n));
    i += n;
  }
  return out + "\"";
}

std::string jsonNumber(double value) { return std::isfinite(value) ? format("%.9g", value) : "null"; }

std::string humanBytes(uint64_t bytes) {
  const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1024 && unit < 6; ++unit)
    value /= 1024;
  return unit ? format("%.1f %s", value, units[unit]) : format("%llu B", static_cast<unsigned long long>(bytes));
}

/// A message with what quotes nothing (names of programs, say) escaped, too.
static std::string shownLines(std::string_view message) {
  TerminalText text;
  return text.add(message) + text.finish();
}

void report(const Status &status, bool json) {
  std::string text;
  if (json) {
    text = "{\"level\":\"error\",\"code\":" + jsonString(status.code()) +
           ",\"message\":" + jsonString(status.message()) + ",\"children\":[";
    bool first = true;
    for (const std::string &line : status.helps()) {
      text += std::string(first ? "" : ",") + "{\"level\":\"help\",\"message\":" + jsonString(line) + "}";
      first = false;
    }
    text += "]}\n";
  } else {
    text = format("error[%s]: %s\n", status.code(), shownLines(status.message()).c_str());
    for (const std::string &line : status.helps())
      text += "   = help: " + shownLines(line) + "\n";
  }
  TerminalProgress::Erased erased;
  fputs(text.c_str(), stderr);
}

static bool quiet = false;

void beQuiet() { quiet = true; }
bool isQuiet() { return quiet; }

void note(const std::string &message) {
  if (quiet)
    return;
  TerminalProgress::Erased erased;
  fprintf(stderr, "note: %s\n", shownLines(message).c_str());
}

} // namespace heddle::rt
