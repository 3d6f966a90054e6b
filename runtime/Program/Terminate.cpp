//===- Terminate.cpp - what a program says when it is ended ---------------===//
//
// The handler that libstdc++ calls where nothing catches an exception. Its own
// names the exception in C++ words, by 46 KB of code that takes symbols apart.
//
//===----------------------------------------------------------------------===//
#include "runtime/Core/Status.h"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <unistd.h>

[[noreturn]] static void terminate() {
  for (const char *text : {"error[", heddle::codeOf(heddle::Error::OurMistake), "]: the runtime ended the program\n"}) {
    ssize_t ignored = write(2, text, strlen(text));
    (void)ignored;
  }
  abort();
}

namespace __cxxabiv1 {
extern std::terminate_handler __terminate_handler __attribute__((visibility("hidden")));
std::terminate_handler __terminate_handler = terminate;
} // namespace __cxxabiv1
