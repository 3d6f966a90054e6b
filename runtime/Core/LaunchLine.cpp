//===- LaunchLine.cpp - Lines of the card for a device --------------------===//
//
// `launch KERNEL items FORM of 32|1 threads N [optional] [shared BYTES [on CHIP..]] [with
// NUMBER..]`, `repeat FORM`, `again`. A form may have spaces in it, so a line is cut at its words from
// behind.
//
//===----------------------------------------------------------------------===//
#include "heddle/card_words.h"
#include "runtime/Core/Args.h"
#include "runtime/Core/Card.h"

namespace heddle::rt {

/// Repeats that are open at the end of `lines`.
static int depth(const std::vector<LaunchLine> &lines) {
  int open = 0;
  for (const LaunchLine &line : lines)
    open += line.kind == LaunchLine::Kind::Repeat ? 1 : line.kind == LaunchLine::Kind::Again ? -1 : 0;
  return open;
}

/// Cuts `word` and the number after it, both at the end of `text`, off it; no
/// value if they are not there.
static std::optional<int64_t> cutNumber(std::string_view &text, std::string_view word) {
  size_t at = text.rfind(word);
  if (at == std::string_view::npos)
    return std::nullopt;
  std::optional<int64_t> value = parseInteger(text.substr(at + word.size()));
  if (value)
    text = text.substr(0, at);
  return value;
}

/// The words of `text`.
template <typename Take> static bool eachWord(std::string_view text, Take take) {
  while (!text.empty()) {
    size_t end = std::min(text.find(' '), text.size());
    if (!take(text.substr(0, end)))
      return false;
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return true;
}

static Status parseLaunch(std::string_view text, const std::vector<std::string> &dims, LaunchLine &line) {
  constexpr int64_t kMostThreads = 1024, kMostShared = 1 << 20;
  constexpr size_t kMostNumbers = 256; // of the 4 KiB that arguments may take
  auto expected = [] {
    return internalError("expected `launch KERNEL items FORM of 32|1 threads N "
                         "[optional] [shared BYTES [on CHIP..]] [with NUMBER..]`");
  };
  if (size_t at = text.find(" with "); at != std::string_view::npos) {
    bool good = eachWord(text.substr(at + 6), [&](std::string_view word) {
      std::optional<int64_t> number = parseInteger(word);
      line.numbers.push_back(number.value_or(0));
      return number.has_value();
    });
    if (!good || line.numbers.empty() || line.numbers.size() > kMostNumbers)
      return expected();
    text = text.substr(0, at);
  }
  if (size_t at = text.find(" on "); text.find(" shared ") < at && at != std::string_view::npos) {
    bool good = eachWord(text.substr(at + 4), [&](std::string_view word) {
      std::optional<std::string> chip = textOfCardWord(word);
      line.chips.push_back(chip.value_or(""));
      return chip.has_value();
    });
    if (!good)
      return expected();
    text = text.substr(0, at);
  }
  if (text.find(" shared ") != std::string_view::npos) {
    std::optional<int64_t> shared = cutNumber(text, " shared ");
    if (!shared || *shared < 0 || *shared > kMostShared)
      return expected();
    line.shared = *shared;
  }
  constexpr std::string_view optional = " optional";
  line.optional = text.size() > optional.size() && text.substr(text.size() - optional.size()) == optional;
  if (line.optional)
    text.remove_suffix(optional.size());
  std::optional<int64_t> threads = cutNumber(text, " threads ");
  std::optional<int64_t> lanes = cutNumber(text, " of ");
  size_t items = text.find(" items ");
  if (!threads || !lanes || items == 0 || items == std::string_view::npos ||
      text.substr(0, items).find(' ') != std::string_view::npos)
    return expected();
  if (*lanes != 1 && *lanes != 32)
    return internalError("an item takes 1 thread or 32");
  if (*threads < 32 || *threads % 32 != 0 || *threads > kMostThreads)
    return internalError("a block has 32, 64, ... 1024 threads");
  std::optional<std::string> kernel = textOfCardWord(text.substr(0, items));
  if (!kernel)
    return expected();
  line.kernel = std::move(*kernel);
  line.lanes = *lanes;
  line.threads = *threads;
  return Form::parse(text.substr(items + 7), dims, line.count);
}

Status LaunchLine::parse(std::string_view key, std::string_view text, const std::vector<std::string> &dims,
                         std::vector<LaunchLine> &lines) {
  LaunchLine line;
  if (key == "launch") {
    HEDDLE_TRY(parseLaunch(text, dims, line));
  } else if (key == "repeat") {
    line.kind = Kind::Repeat;
    if (depth(lines) == 2)
      return internalError("repeats are two deep at most");
    HEDDLE_TRY(Form::parse(text, dims, line.count));
  } else {
    line.kind = Kind::Again;
    if (depth(lines) == 0 || !text.empty())
      return internalError("`again` ends a repeat and takes nothing");
  }
  lines.push_back(std::move(line));
  return {};
}

Status LaunchLine::checkEnded(const std::vector<LaunchLine> &lines) {
  return depth(lines) == 0 ? Status() : internalError("a repeat without `again`");
}

} // namespace heddle::rt
