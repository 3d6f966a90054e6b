//===- Args.h - The command line ----------------------------------*- C++
//-*-===//
//
// Flags are `--name value`, `--name=value` or `--name`; every command names the
// ones it takes, anything else is a usage error with the nearest name. A flag
// that is named with a star, "--stop*", may come again and again.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_ARGS_H
#define HEDDLE_RUNTIME_ARGS_H

#include "runtime/Status.h"

#include <map>
#include <optional>

namespace heddle::rt {

class Args {
public:
  /// `valued` take a value, `plain` take none; the rest must be at most
  /// `maxPositional` words.
  static Status parse(const std::vector<std::string> &words,
                      const std::vector<std::string> &valued,
                      const std::vector<std::string> &plain,
                      size_t maxPositional, Args &args);

  bool has(const char *flag) const { return values.count(flag); }
  std::string get(const char *flag, const char *otherwise = "") const;
  /// Every value of a flag that may come again.
  std::vector<std::string> all(const char *flag) const;
  /// An integer of `least` to `most`; absent leaves `value` as it is.
  Status integer(const char *flag, int64_t least, int64_t most,
                 int64_t &value) const;
  Status number(const char *flag, double least, double most,
                double &value) const;
  const std::vector<std::string> &positional() const { return words; }
  /// How many of them stand before `--`, where a word may be a command.
  size_t beforeDashes() const { return spoken; }

private:
  std::multimap<std::string, std::string> values;
  std::vector<std::string> words;
  size_t spoken = 0;
};

/// A decimal integer with nothing around it.
std::optional<int64_t> parseInteger(std::string_view text);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_ARGS_H
