//===- Options.h - How the emulated device behaves --------------*- C++ -*-===//
//
// What follows `--device=emulator:`, words between commas:
//
//   order=forward|reverse|random  of blocks, warps and lanes
//   seed=N          of the random order
//   races           words that two threads touch unordered, one writing, fail
//   copies=late|early|random  when cp.async is done: when it is waited for, when
//                   it is asked for, one or the other; copies in bulk when no
//                   thread can go on without
//   products=late|early|random  when wgmma is done, likewise
//   mma=chop        units that multiply matrices cut sums off, as hardware does,
//                   and do not round each
//   early           copies and launches happen when they are asked for, not
//                   when the stream is waited for
//   sms=N           multiprocessors, each with one block at a time
//   memory=BYTES    of the device
//   driver=N        what cuDriverGetVersion says: 12000
//   capability=N    86 is sm_86
//   devices=N       how many there are
//   fail=SYMBOL:RESULT[:SKIP]  the call after SKIP good ones of a function fails
//   count           at the end, a line on stderr of what was called how often
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_EMULATOR_OPTIONS_H
#define HEDDLE_TEST_EMULATOR_OPTIONS_H

#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::emulator {

enum class Order : uint8_t { Forward, Reverse, Random };
enum class Moments : uint8_t { Late, Early, Random };

struct Options {
  Order order = Order::Forward;
  Moments copies = Moments::Late, products = Moments::Late;
  bool chop = false;
  uint64_t seed = 1;
  bool races = false, early = false, count = false;
  int64_t multiprocessors = 2, memory = int64_t(8) << 30;
  int64_t version = 12020, capability = 90, devices = 1;
  std::string failing; ///< symbol of the function that fails; "": none
  int64_t result = 0, skip = 0;

  /// Reads `text`; what is wrong with it, or "".
  static std::string parse(std::string_view text, Options &options);
};

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_OPTIONS_H
