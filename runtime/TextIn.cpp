//===- TextIn.cpp - The texts of a command line ---------------------------===//
//
// Standard input is read to its end before anything is computed.
//
//===----------------------------------------------------------------------===//
#include "runtime/TextIn.h"

#include <algorithm>
#include <cerrno>
#include <unistd.h>

namespace heddle::rt {

static constexpr size_t kMaxText = size_t(64) << 20;

Status readStandardInput(std::vector<std::string> &texts) {
  auto at = std::find(texts.begin(), texts.end(), "-");
  if (at == texts.end())
    return {};
  if (std::find(at + 1, texts.end(), "-") != texts.end())
    return badUsage("- stands for standard input, and there is only one");
  std::string text;
  for (char buffer[1 << 16];;) {
    ssize_t n = read(0, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return Status(Exit::InputOutput, "H0702", "cannot read standard input");
    if (n == 0)
      break;
    text.append(buffer, size_t(n));
    if (text.size() > kMaxText)
      return badInput("the text on standard input has more than 64 MiB");
  }
  if (!text.empty() && text.back() == '\n')
    text.pop_back();
  *at = std::move(text);
  return {};
}

Status missingText(const char *what) {
  return badUsage(std::string(what) + " is missing")
      .withHelp("- takes it from standard input; see --help");
}

} // namespace heddle::rt
