//===- Fibers.h - Threads that are switched by hand -------------*- C++ -*-===//
//
// A thread of the device is a stack and what is on it. Switching saves the
// registers that a call keeps and takes another stack: no system call, about
// 10 ns. Stacks have a page without access below them.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_EMULATOR_FIBERS_H
#define HEDDLE_TEST_EMULATOR_FIBERS_H

#include <cstddef>

namespace heddle::emulator {

/// Saves the running fiber at *from and goes on where the one at `to` stopped.
extern "C" void heddle_fiber_switch(void **from, void *to);

class Stacks {
public:
  static constexpr size_t kBytes = 256 << 10; ///< of one stack

  Stacks() = default;
  Stacks(const Stacks &) = delete;
  Stacks &operator=(const Stacks &) = delete;
  ~Stacks();

  /// Makes stacks 0 to `count` - 1 usable; false without memory.
  bool reserve(size_t count);
  /// What heddle_fiber_switch takes to call `body`, which never returns, on
  /// stack `index`.
  void *enter(size_t index, void (*body)()) const;

private:
  char *base = nullptr;
  size_t count = 0;
};

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_FIBERS_H
