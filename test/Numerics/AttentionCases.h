//===- AttentionCases.h - attention by plain loops in double ----*- C++ -*-===//
//
// One kernel under test has free dims B, T, S, P (past) and K (key_start); masks and biases
// are given as ops and as lambdas that say the same. The loops here know nothing of tiles.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_NUMERICS_ATTENTIONCASES_H
#define HEDDLE_TEST_NUMERICS_ATTENTIONCASES_H

#include "test/Numerics/Jit.h"
#include <functional>
#include <ostream>

namespace heddle::test {

/// Ways of computing attention that this processor has: "" (f32), "wide", "f16", "dots", "matrix" (dots in matrix
/// registers).
std::vector<std::string> mathHere();

/// A module of these functions that computes in f32 ("") or stores bf16 ("wide", "dots", "matrix") or f16 ("f16").
std::string moduleText(const std::string &math, const std::string &functions);

struct Sizes {
  int64_t B = 1, T = 1, S = 1, P = 0, K = 0;
};

/// An input beside q, k and v: reals, integers or booleans.
struct Extra {
  std::string name, axes, element; ///< "t", "B, S", "i64"
  std::function<std::vector<double>(const Sizes &, uint64_t seed)> make;
};

struct Case {
  std::string name;
  int heads = 2, kvHeads = 2, width = 16, valueWidth = 16;
  std::vector<Extra> extras;
  std::string ops;        ///< define %m and/or %bias
  std::string operands;   ///< "mask %m bias %bias"
  std::string attributes; ///< "softcap 3.0", "masked_rows nan"
  bool sharedKeys = false;
  double scale = 0.25;
  double softcap = 0;
  enum { Zero, Nan, Mean } masked = Zero;
  int vectorWidth = 16;
  std::string math; ///< "wide", "dots", "matrix": keys and values are stored in bf16; "f16": in f16

  bool dots() const { return math == "dots" || math == "matrix"; }
  /// In this math; widths for which there are matrix registers, unless they were chosen.
  void in(const std::string &how) {
    math = how;
    if (math == "matrix" && width == 16)
      width = 32;
  }

  struct At {
    const Sizes &n;
    const std::vector<std::vector<double>> &extra;
    int64_t b, h, r, k;
    int64_t i() const { return n.P + r; } ///< position of the query
    int64_t j() const { return n.K + k; } ///< position of the key
  };
  std::function<int(const At &)> count;   ///< none: always 1
  std::function<double(const At &)> bias; ///< none: 0
  std::function<double(const std::vector<std::vector<double>> &, int64_t)> sink;

  std::string function = "run";
  /// The function alone, and a module of it. `dims`: with the argument that names P and K.
  std::string functionText(bool dims = true) const;
  std::string text() const { return moduleText(math, functionText()); }
};

inline void PrintTo(const Case &c, std::ostream *os) { *os << c.name; }

/// Tensors of one call. Poison goes into q, k, v before run().
struct Call {
  const Case &test;
  Sizes n;
  std::vector<float> q, k, v, y;
  std::vector<std::vector<double>> extras;
  Call(const Case &test, Sizes n, uint64_t seed);
  /// The extras as the code reads them.
  std::vector<std::vector<char>> memory() const;
  void run(Program &program, int threads = 1);
  /// What the rows must be; NaN where a row sees something that is not finite. And by how much each may be off
  /// because weights were rounded (dots), by a part in 150 at most each: their sum is of rounded ones, so
  /// it is sum(p |v - y|) / (149 l) with weights p, values v, sum of weights l.
  struct Expected {
    std::vector<double> y, rounding;
  };
  Expected expected() const;
  /// The largest difference beyond what rounding explains, infinity where only one side is NaN.
  double error() const;
};

uint64_t hash(uint64_t seed, uint64_t index);
double uniform(uint64_t seed, uint64_t index); ///< -1 .. 1
/// The cases of AttentionTest.cpp, by name.
std::vector<Case> maskCases();
std::vector<Case> biasCases(int heads = 4);

} // namespace heddle::test

#endif
