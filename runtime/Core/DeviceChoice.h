//===- DeviceChoice.h - What --device says ----------------------*- C++ -*-===//
#ifndef HEDDLE_RUNTIME_CORE_DEVICECHOICE_H
#define HEDDLE_RUNTIME_CORE_DEVICECHOICE_H

#include <string>
#include <string_view>

namespace heddle::rt {

/// What is said of every launch (Device/Watch.h).
struct Watching {
  bool waits = false;   ///< `checked`: a wait after every launch, so that an error names its kernel
  bool digest = false;  ///< a line with hashes of arena and states after every launch; arenas begin as bytes 0xff
  bool rounded = false; ///< `digest8`: the same, of 32-bit words rounded to 8 bits of significand
  bool timed = false;   ///< events around every launch; a table at the end
  bool log = false;     ///< what the driver's assembler says of the kernels

  /// Takes one of the words; false for what is none.
  bool take(std::string_view word);
  /// Whether launches are looked at one by one.
  bool any() const { return waits || digest || timed; }
};

struct DeviceChoice {
  bool host = false, emulated = false;
  int ordinal = 0;
  Watching watching;
  std::string options; ///< of the emulator

  /// Takes NAME[:WORD,...] apart; false for what is no device.
  bool parse(const std::string &text);
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CORE_DEVICECHOICE_H
