//===- Args.h - The command line --------------------------------*- C++ -*-===//
//
// Command-line words taken apart into flags and positional words. Flags are
// `--name value`, `--name=value` or `--name`. Every command lists those that it
// takes; any other is a usage error with the nearest name. A flag listed with a
// star, "--stop*", may be given several times.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_ARGS_H
#define HEDDLE_RUNTIME_CORE_ARGS_H

#include "runtime/Core/Status.h"

#include <map>
#include <optional>

namespace heddle::rt {

class Args {
public:
  /// Reads `words` into `args`. Flags in `valued` take a value, those in
  /// `plain` none; what is left may be at most `maxPositional` words. After
  /// `--` every word is positional. Errors: an unknown flag, a missing or
  /// superfluous value, a flag given twice, too many words.
  static Status parse(const std::vector<std::string> &words, const std::vector<std::string> &valued,
                      const std::vector<std::string> &plain, size_t maxPositional, Args &args);

  bool has(const char *flag) const { return values.count(flag); }
  /// The value of a flag, or `otherwise` if it was not given.
  std::string get(const char *flag, const char *otherwise = "") const;
  /// Every value of a flag that may be given several times, in order.
  std::vector<std::string> all(const char *flag) const;
  /// Reads a flag's value, which has to be in [least, most]; a flag that was
  /// not given leaves `value` as it is.
  Status integer(const char *flag, int64_t least, int64_t most, int64_t &value) const;
  Status number(const char *flag, double least, double most, double &value) const;
  const std::vector<std::string> &positional() const { return words; }
  /// How many positional words are before `--`; those after it are never
  /// taken for a command.
  size_t beforeDashes() const { return spoken; }

private:
  std::multimap<std::string, std::string> values;
  std::vector<std::string> words;
  size_t spoken = 0;
};

/// The decimal integer that `text` is, or none: no blanks, no rest, no
/// overflow.
std::optional<int64_t> parseInteger(std::string_view text);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CORE_ARGS_H
