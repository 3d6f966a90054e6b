//===- TextIn.cpp - The texts of a command line ---------------------------===//
//
// Without --lines a text is read to its end before anything is computed; with
// it each line is answered before the next is read.
//
//===----------------------------------------------------------------------===//
#include "runtime/Tokenizer/TextIn.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace heddle::rt {

static constexpr size_t kMaxText = size_t(64) << 20;

/// Reads up to `end` (a character, or EOF) and drops it; `more` becomes false
/// at the end of the input.
static Status readUpTo(int end, std::string &text, bool &more) {
  text.clear();
  int c;
  while ((c = getc_unlocked(stdin)) != EOF && c != end) {
    if (text.size() == kMaxText)
      return badInput("the text on standard input has more than 64 MiB");
    text += static_cast<char>(c);
  }
  if (ferror(stdin))
    return Status(Error::CannotRead, std::string("cannot read standard input: ") + strerror(errno));
  more = c != EOF || !text.empty();
  return {};
}

/// The same error with the number of its line.
static Status inLine(int64_t line, const Status &status) {
  Status named(status.error(), format("line %lld: ", static_cast<long long>(line)) + status.message());
  for (const std::string &help : status.helps())
    named = std::move(named).withHelp(help);
  return named;
}

Status forEachText(Texts texts, bool lines, const std::function<Status(const Texts &, int64_t line)> &answer) {
  if (lines && texts.empty())
    texts.push_back("-");
  auto at = std::find(texts.begin(), texts.end(), "-");
  if (at == texts.end())
    return lines ? badUsage("--lines reads standard input, and no text is -") : answer(texts, 0);
  if (std::find(at + 1, texts.end(), "-") != texts.end())
    return badUsage("- stands for standard input, and there is only one");
  bool more = false;
  if (!lines) {
    HEDDLE_TRY(readUpTo(EOF, *at, more));
    if (!at->empty() && at->back() == '\n')
      at->pop_back();
    return answer(texts, 0);
  }
  for (int64_t line = 0;; ++line) {
    HEDDLE_TRY(readUpTo('\n', *at, more));
    if (!more)
      return {};
    if (Status status = answer(texts, line); !status.ok())
      return inLine(line + 1, status);
  }
}

Status missingText(const char *what) {
  return badUsage(std::string(what) + " is missing").withHelp("- takes it from standard input; see --help");
}

} // namespace heddle::rt
