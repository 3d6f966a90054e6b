//===- Program.h - Whole calls of a program, for tests ----------*- C++ -*-===//
//
// A call of a compiled model as its command line makes it, in this process.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_RUNTIME_PROGRAM_H
#define HEDDLE_TEST_RUNTIME_PROGRAM_H

#include "test/Runtime/Fake.h"

#include <gtest/gtest.h>

namespace heddle::test {

struct Result {
  int exit;
  std::string out, err;
};

inline Result program(const rt::Image &image, std::vector<std::string> words) {
  words.insert(words.begin(), "model");
  std::vector<char *> argv;
  for (std::string &word : words)
    argv.push_back(word.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  int exit = rt::runProgram(image, int(argv.size()), argv.data());
  fflush(stdout);
  return {exit, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

} // namespace heddle::test

#endif // HEDDLE_TEST_RUNTIME_PROGRAM_H
