//===- CardFile.cpp - the card of a program that was compiled -------------===//
//
// The card is text in the file, and programs have no symbols: its first line is looked for. Weights may be far larger
// than memory, so the file is read in parts.
//
//===----------------------------------------------------------------------===//

#include "targets/Card/CardFile.h"
#include "heddle/card_words.h"
#include "heddle/input_file.h"
#include "llvm/ADT/SmallVector.h"

using namespace heddle;
using llvm::StringRef;

static constexpr StringRef kFirst = "heddle-card 1\nname ", kLast = "\nend\n";
static constexpr size_t kPart = 1 << 22, kLongest = 1 << 26;

/// At most `most` bytes from `offset` on.
static std::string read(const OpenedFile &file, uint64_t offset, size_t most, std::string &why) {
  std::string bytes(most, '\0');
  size_t have = 0;
  while (have < most) {
    ssize_t n = ::pread(file.descriptor(), &bytes[have], most - have, off_t(offset + have));
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      why = std::string("cannot read it: ") + std::strerror(errno);
    if (n <= 0)
      break;
    have += size_t(n);
  }
  bytes.resize(have);
  return bytes;
}

/// The texts of all cards, from the first line to the last `end`.
static std::string cardText(const OpenedFile &file, std::string &why) {
  for (uint64_t at = 0; at < file.size() && why.empty(); at += kPart) {
    size_t found = StringRef(read(file, at, kPart + kFirst.size(), why)).find(kFirst);
    if (found == StringRef::npos)
      continue;
    std::string text = read(file, at + found, kLongest, why);
    size_t end = 0;
    do {
      size_t last = StringRef(text).find(kLast, end);
      if (last == StringRef::npos)
        break;
      end = last + kLast.size();
    } while (StringRef(text).drop_front(end).starts_with(kFirst));
    text.resize(end);
    return text;
  }
  return "";
}

std::vector<CardFileLine> heddle::cardOfProgram(const std::string &path, std::string &why) {
  OpenedFile file(path.c_str());
  if (!file.ok()) {
    why = file.systemError() ? std::string("cannot read it: ") + std::strerror(file.systemError())
                             : std::string("a regular file expected, found ") + file.foundInstead();
    return {};
  }
  std::string text = cardText(file, why);
  std::vector<CardFileLine> lines;
  auto shown = [](StringRef word) { return textOfCardWord(std::string_view(word)).value_or(word.str()); };
  for (StringRef rest = text; !rest.empty();) {
    auto [line, next] = rest.split('\n');
    rest = next;
    auto [main, comment] = line.split(" # ");
    llvm::SmallVector<StringRef, 16> words;
    main.split(words, ' ', -1, /*KeepEmpty=*/false);
    if (words.empty())
      continue;
    CardFileLine one{words.front().str(), {}, comment.empty() ? "" : shown(comment)};
    for (StringRef word : llvm::ArrayRef(words).drop_front())
      one.rest.push_back(shown(word));
    lines.push_back(std::move(one));
  }
  if (lines.empty() && why.empty())
    why = "this program has no card, so heddle did not compile it";
  return lines;
}
