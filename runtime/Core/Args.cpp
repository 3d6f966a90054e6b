//===- Args.cpp - The command line ----------------------------------------===//
//
// A lone `-` is a word, not a flag. Flags that other programs call differently
// (--temperature) are accepted under those names, too.
//
//===----------------------------------------------------------------------===//
#include "runtime/Core/Args.h"
#include "heddle/nearest.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

namespace heddle::rt {

std::optional<int64_t> parseInteger(std::string_view text) {
  if (text.empty() || text.size() > 20 ||
      text.find_first_not_of("0123456789", text[0] == '-') != std::string_view::npos)
    return std::nullopt;
  std::string copy(text);
  char *end = nullptr;
  errno = 0;
  int64_t value = strtoll(copy.c_str(), &end, 10);
  if (errno || *end || end == copy.c_str())
    return std::nullopt;
  return value;
}

/// Names that other programs use for a flag, and the name used here.
static const char *const kOtherNames[][2] = {
    {"--max-new-tokens", "-n"}, {"--temperature", "--temp"}, {"--beams", "--num-beams"}};

static std::string ownName(const std::string &flag) {
  for (const auto &name : kOtherNames)
    if (flag == name[0])
      return name[1];
  return flag;
}

/// The error of an unknown flag, with the nearest of the known ones.
static Status unknownFlag(const std::string &asked, std::vector<std::string> known) {
  for (std::string &name : known)
    if (name.back() == '*')
      name.pop_back();
  for (const auto &name : kOtherNames)
    if (std::find(known.begin(), known.end(), name[1]) != known.end())
      known.push_back(name[0]);
  std::string near = nearestName(asked, known);
  return badUsage("unknown option " + quote(asked))
      .withHelp(near.empty() ? "see --help" : "did you mean " + near + "?");
}

// One word at a time: `--` ends the flags, a word without a dash is positional,
// any other is a flag, with its value behind `=` or in the next word.
Status Args::parse(const std::vector<std::string> &input, const std::vector<std::string> &valued,
                   const std::vector<std::string> &plain, size_t maxPositional, Args &args) {
  args = Args();
  auto among = [](const std::vector<std::string> &list, const std::string &word) {
    return std::find(list.begin(), list.end(), word) != list.end();
  };
  bool onlyWords = false;
  for (size_t i = 0; i < input.size(); ++i) {
    const std::string &word = input[i];
    if (!onlyWords && word == "--") {
      onlyWords = true;
      continue;
    }
    if (onlyWords || word.size() < 2 || word[0] != '-') {
      if (args.words.size() == maxPositional)
        return badUsage("unexpected argument " + quote(word))
            .withHelp("a text of several words is put in quotes; see --help");
      args.words.push_back(word);
      args.spoken += !onlyWords;
      continue;
    }
    size_t equals = word.rfind("--", 0) == 0 ? word.find('=') : std::string::npos;
    std::string asked = word.substr(0, equals), value;
    std::string flag = ownName(asked);
    bool again = among(valued, flag + "*");
    bool takesValue = again || among(valued, flag);
    if (!takesValue && !among(plain, flag)) {
      std::vector<std::string> all = valued;
      all.insert(all.end(), plain.begin(), plain.end());
      return unknownFlag(asked, std::move(all));
    }
    auto isFlag = [&](const std::string &other) {
      std::string name = ownName(other);
      return among(valued, name) || among(valued, name + "*") || among(plain, name);
    };
    if (takesValue && equals != std::string::npos)
      value = word.substr(equals + 1);
    else if (takesValue && i + 1 < input.size() && isFlag(input[i + 1]))
      return badUsage("option " + flag + " takes a value, and " + input[i + 1] + " is an option");
    else if (takesValue && i + 1 < input.size())
      value = input[++i];
    else if (takesValue)
      return badUsage("option " + flag + " takes a value");
    else if (equals != std::string::npos)
      return badUsage("option " + flag + " takes no value");
    if (!again && args.values.count(flag))
      return badUsage("option " + flag + " appears twice");
    args.values.insert({flag, value});
  }
  return {};
}

std::string Args::get(const char *flag, const char *otherwise) const {
  auto found = values.find(flag);
  return found == values.end() ? otherwise : found->second;
}

std::vector<std::string> Args::all(const char *flag) const {
  std::vector<std::string> list;
  for (auto [at, end] = values.equal_range(flag); at != end; ++at)
    list.push_back(at->second);
  return list;
}

Status Args::integer(const char *flag, int64_t least, int64_t most, int64_t &value) const {
  auto found = values.find(flag);
  if (found == values.end())
    return {};
  std::optional<int64_t> number = parseInteger(found->second);
  if (!number || *number < least || *number > most)
    return badUsage(format("option %s takes an integer from %lld to %lld, not %s", flag, static_cast<long long>(least),
                           static_cast<long long>(most), quote(found->second).c_str()));
  value = *number;
  return {};
}

Status Args::number(const char *flag, double least, double most, double &value) const {
  auto found = values.find(flag);
  if (found == values.end())
    return {};
  char *end = nullptr;
  double number = strtod(found->second.c_str(), &end);
  if (found->second.empty() || *end || !(number >= least && number <= most))
    return badUsage(
        format("option %s takes a number from %g to %g, not %s", flag, least, most, quote(found->second).c_str()));
  value = number;
  return {};
}

} // namespace heddle::rt
