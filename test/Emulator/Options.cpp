//===- Options.cpp - How the emulated device behaves ----------------------===//
//
// Reads the words of Options.h; one that is not there is an error.
//
//===----------------------------------------------------------------------===//
#include "test/Emulator/Options.h"

#include "runtime/Device/Driver.h"

#include <cerrno>
#include <cstdlib>

namespace heddle::emulator {

static bool readNumber(std::string_view text, int64_t &value) {
  std::string copy(text);
  char *end = nullptr;
  errno = 0;
  value = strtoll(copy.c_str(), &end, 10);
  return !copy.empty() && *end == 0 && errno == 0 && value >= 0;
}

/// SYMBOL:RESULT[:SKIP]
static bool readFailure(std::string_view text, Options &options) {
  size_t first = text.find(':'), second = text.find(':', first + 1);
  if (first == std::string_view::npos)
    return false;
  options.failing = std::string(text.substr(0, first));
  std::string_view result = text.substr(first + 1, second - first - 1);
  bool known = false;
#define HEDDLE_CUDA(member, symbol, parameters) known |= options.failing == #symbol;
#include "runtime/Device/driver.def"
#undef HEDDLE_CUDA
  return known && readNumber(result, options.result) &&
         (second == std::string_view::npos || readNumber(text.substr(second + 1), options.skip));
}

static bool readOption(std::string_view word, Options &options) {
  size_t equal = word.find('=');
  std::string_view name = word.substr(0, equal);
  if (equal == std::string_view::npos) {
    bool *flag = name == "races"   ? &options.races
                 : name == "early" ? &options.early
                 : name == "count" ? &options.count
                                   : nullptr;
    if (flag)
      *flag = true;
    return flag != nullptr;
  }
  std::string_view value = word.substr(equal + 1);
  if (name == "order") {
    options.order = value == "reverse" ? Order::Reverse : value == "random" ? Order::Random : Order::Forward;
    return value == "forward" || options.order != Order::Forward;
  }
  if (name == "copies" || name == "products") {
    Moments &moments = name == "copies" ? options.copies : options.products;
    moments = value == "early" ? Moments::Early : value == "random" ? Moments::Random : Moments::Late;
    return value == "late" || moments != Moments::Late;
  }
  if (name == "mma") {
    options.chop = value == "chop";
    return options.chop;
  }
  if (name == "fail")
    return readFailure(value, options);
  int64_t number = 0;
  if (!readNumber(value, number))
    return false;
  if (name == "seed") {
    options.seed = uint64_t(number);
    return true;
  }
  int64_t *place = name == "sms"          ? &options.multiprocessors
                   : name == "memory"     ? &options.memory
                   : name == "driver"     ? &options.version
                   : name == "capability" ? &options.capability
                   : name == "devices"    ? &options.devices
                                          : nullptr;
  if (place)
    *place = number;
  return place != nullptr;
}

std::string Options::parse(std::string_view text, Options &options) {
  while (!text.empty()) {
    size_t n = text.find(',');
    std::string_view word = text.substr(0, n);
    if (!readOption(word, options))
      return "the emulator has no option " + std::string(word);
    text.remove_prefix(n == std::string_view::npos ? text.size() : n + 1);
  }
  return {};
}

} // namespace heddle::emulator
