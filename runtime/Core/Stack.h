//===- Stack.h - Threads with room for their work ---------------*- C++ -*-===//
//
// Generated code and the runtime use at most kStackBytes of stack. A user's
// limit (`ulimit -s`) may be less, and an overflow would end the program by a
// signal. So threads are started with at least as much, and the first thread,
// whose stack is the system's, hands its work to another one if it has too
// little.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_STACK_H
#define HEDDLE_RUNTIME_CORE_STACK_H

#include "runtime/Core/Status.h"

#include <pthread.h>

namespace heddle::rt {

constexpr size_t kStackBytes = 1 << 20;

/// pthread_create with the system's default stack, or kStackBytes if that is
/// less; returns its error number.
int startThread(pthread_t &thread, void *(*body)(void *), void *argument);

/// Calls `body(argument)` on a stack of at least kStackBytes and waits for it.
Status onEnoughStack(void *(*body)(void *), void *argument);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CORE_STACK_H
