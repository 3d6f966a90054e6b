//===- Stack.cpp - Threads with room for their work -----------------------===//
//
// A large stack costs nothing: its memory is taken when it is touched.
//
//===----------------------------------------------------------------------===//
#include "runtime/Core/Stack.h"

#include <csignal>
#include <cstring>
#include <sys/resource.h>

namespace heddle::rt {

int startThread(pthread_t &thread, void *(*body)(void *), void *argument) {
  pthread_attr_t attributes;
  if (int error = pthread_attr_init(&attributes))
    return error;
  size_t bytes = 0;
  int error = pthread_attr_getstacksize(&attributes, &bytes);
  if (!error && bytes < kStackBytes)
    error = pthread_attr_setstacksize(&attributes, kStackBytes);
  if (!error)
    error = pthread_create(&thread, &attributes, body, argument);
  pthread_attr_destroy(&attributes);
  return error;
}

Status onEnoughStack(void *(*body)(void *), void *argument) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kStackBytes) {
    body(argument);
    return {};
  }
  pthread_t thread;
  if (int error = startThread(thread, body, argument))
    return outOfResources(format("no stack of %zu KiB, which the program needs "
                                 "(the limit is %llu KiB): %s",
                                 kStackBytes >> 10, static_cast<unsigned long long>(limit.rlim_cur >> 10),
                                 strerror(error)))
        .withHelp("allow more with ulimit -s 1024");
  // Signals are the working thread's: what it blocks must not reach this one instead.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  pthread_join(thread, nullptr);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return {};
}

} // namespace heddle::rt
