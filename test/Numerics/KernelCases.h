//===- KernelCases.h - small modules, one or more for every op ------------===//
//
// Written in short: `f[B, 7]` stands for !model.tensor<[B, 7], f32>, `i[..]` for i64, `b[..]`
// for i1; a header "x: f[B, 7], n: i[B] below 9 -> y: f[B]" for the function @run.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_NUMERICS_KERNELCASES_H
#define HEDDLE_TEST_NUMERICS_KERNELCASES_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace heddle::test {

struct KernelCase {
  std::string name, header, body;
  std::vector<std::map<std::string, int64_t>> dims;
  double tolerance = 3e-6;
  bool alone = false; ///< every input and output begins with B, and batch elements are independent

  std::string text() const;
};

/// The whole function.
std::string functionText(const std::string &header, const std::string &body);
std::vector<KernelCase> kernelCases();

} // namespace heddle::test

#endif
