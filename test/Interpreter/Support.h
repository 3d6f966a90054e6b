//===- Support.h - running a few lines of IR on a few numbers ---*- C++ -*-===//
//
// Light on purpose: tests include no MLIR, so they compile in a second.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_INTERPRETER_SUPPORT_H
#define HEDDLE_TEST_INTERPRETER_SUPPORT_H

#include "compiler/Interpreter/Tensor.h"
#include <cmath>
#include <gtest/gtest.h>
#include <string>

namespace heddle::check {

/// Eighths from -11/8 to 11/8 that repeat after 23 elements; element i is
/// ((37 i + 11 seed) mod 23 - 11) / 8.
Tensor fill(std::vector<int64_t> shape, int64_t seed);
Tensor reals(std::vector<int64_t> shape, std::vector<double> elements);
Tensor ints(std::vector<int64_t> shape, std::vector<int64_t> elements);
Tensor bools(std::vector<int64_t> shape, std::vector<int64_t> elements);

/// What @run of `ir` gives, or what was said instead.
struct Outcome {
  bool good = false;
  Tensors results;
  std::string error;
};

/// Runs @run on those of `tensors` that are its inputs; the others are parameters of the file.
Outcome run(const char *ir, const Tensors &tensors, bool declaredTypes = false);

/// Several calls of entries of one module with the states between them.
struct Call {
  std::string entry;
  Tensors inputs;
  std::map<std::string, int64_t> dims;
};
std::vector<Outcome> runAll(const char *ir, const std::vector<Call> &calls, const Tensors &parameters = {});

/// Greedy generation, cached or recomputed: the ids, or what was said instead.
struct Text {
  bool good = false;
  Tensor ids;
  std::vector<Tensor> logits;
  std::string error;
};
Text generate(const char *ir, const Tensors &tensors, int64_t newTokens, bool cached, bool ignoreEos = true);

/// The weights that attention gives to the keys under the mask %m of `lines`, whose operands
/// are the arguments `signature`: [B, T, heads * S], each a key's count over the row's sum.
struct Sizes {
  int64_t batches, rows, keys, heads, keyStart;
};
Outcome weights(const char *lines, const char *signature, Tensors tensors, Sizes sizes);

/// The result has the kind, the lengths and (within 1e-9) the numbers; NaN equals NaN.
void expectClose(const Outcome &outcome, const char *name, const Tensor &expected, double tolerance = 1e-9);
void expectError(const Outcome &outcome, const char *part);

/// Runs a pipeline in which the pass `test-shift` (adds 1 to every real constant) may be, as
/// `heddle verify` does; gives "PASS: WHAT", or nothing where no pass changed a result.
std::string verify(const char *ir, const Tensors &tensors, const char *pipeline, int64_t newTokens = 0);

} // namespace heddle::check

#endif
