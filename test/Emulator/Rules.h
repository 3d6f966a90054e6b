//===- Rules.h - What a real driver refuses ---------------------*- C++ -*-===//
//
// Which calls need a current context, which of them a capture forbids, and how
// much shared memory a block of a chip may have.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_EMULATOR_RULES_H
#define HEDDLE_TEST_EMULATOR_RULES_H

#include <cstdint>
#include <string_view>

namespace heddle::emulator {

/// Results that the runtime does not tell apart.
enum : int {
  kCuInvalidDevice = 101,
  kCuInvalidContext = 201,
  kCuCaptureUnsupported = 900, ///< of a call that a capture forbids
  kCuCaptureInvalidated = 901, ///< of a capture in which there was such a call
};

/// How calls are restricted while a stream is captured.
enum : int { kCuCaptureGlobal = 0, kCuCaptureRelaxed = 2 };

/// Bytes of shared memory that a kernel has without asking.
constexpr int64_t kSharedForAll = 48 << 10;
/// Bytes that a block can have on a chip, 86 of sm_86.
int64_t mostShared(int64_t capability);

bool needsContext(std::string_view symbol);
/// Whether a capture forbids the call: it allocates, waits for the device, or makes or launches a graph.
bool isForbiddenInCapture(std::string_view symbol);

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_RULES_H
