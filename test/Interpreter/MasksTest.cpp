//===- MasksTest.cpp - masks ------------------------------------------------===//
//
// Expected numbers were computed with numpy (float64) from the formulas of the language.
//
//===----------------------------------------------------------------------===//

#include "test/Interpreter/Support.h"

using namespace heddle;
using namespace heddle::check;

// clang-format off: expected values are written as matrices
TEST(Masks, All) {
  expectClose(weights(R"mlir(
  %m = mask.all
)mlir", "", {}, {1, 4, 4, 1, 0}),
              "out", reals({1, 4, 4}, {
      0.25, 0.25, 0.25, 0.25,
      0.25, 0.25, 0.25, 0.25,
      0.25, 0.25, 0.25, 0.25,
      0.25, 0.25, 0.25, 0.25}));
}

TEST(Masks, Causal) {
  expectClose(weights(R"mlir(
  %m = mask.causal
)mlir", "", {}, {1, 4, 4, 1, 0}),
              "out", reals({1, 4, 4}, {
      1, 0, 0, 0,
      0.5, 0.5, 0, 0,
      0.3333333333333, 0.3333333333333, 0.3333333333333, 0,
      0.25, 0.25, 0.25, 0.25}));
}

TEST(Masks, CausalAfterMemory) {
  expectClose(weights(R"mlir(
  %m = mask.causal
)mlir", "", {}, {1, 3, 5, 1, -2}),
              "out", reals({1, 3, 5}, {
      0.3333333333333, 0.3333333333333, 0.3333333333333, 0, 0,
      0.25, 0.25, 0.25, 0.25, 0,
      0.2, 0.2, 0.2, 0.2, 0.2}));
}

TEST(Masks, WindowLeftAndRight) {
  expectClose(weights(R"mlir(
  %m = mask.window left 1 right 2
)mlir", "", {}, {1, 5, 5, 1, 0}),
              "out", reals({1, 5, 5}, {
      0.3333333333333, 0.3333333333333, 0.3333333333333, 0, 0,
      0.25, 0.25, 0.25, 0.25, 0,
      0, 0.25, 0.25, 0.25, 0.25,
      0, 0, 0.3333333333333, 0.3333333333333, 0.3333333333333,
      0, 0, 0, 0.5, 0.5}));
}

TEST(Masks, WindowLeftOnly) {
  expectClose(weights(R"mlir(
  %m = mask.window left 1
)mlir", "", {}, {1, 4, 4, 1, 0}),
              "out", reals({1, 4, 4}, {
      0.25, 0.25, 0.25, 0.25,
      0.25, 0.25, 0.25, 0.25,
      0, 0.3333333333333, 0.3333333333333, 0.3333333333333,
      0, 0, 0.5, 0.5}));
}

TEST(Masks, WindowRightOnly) {
  expectClose(weights(R"mlir(
  %m = mask.window right -1
)mlir", "", {}, {1, 4, 4, 1, 0}),
              "out", reals({1, 4, 4}, {
      0, 0, 0, 0,
      1, 0, 0, 0,
      0.5, 0.5, 0, 0,
      0.3333333333333, 0.3333333333333, 0.3333333333333, 0}));
}

TEST(Masks, WindowOnLabels) {
  expectClose(weights(R"mlir(
  %m = mask.window left 0 right 1 on %t : !model.tensor<[2, 4], i64>
)mlir", "%t: !model.tensor<[2, 4], i64> {model.name = \"t\"}", {{"t", ints({2, 4}, {0, 0, 1, 2, 5, 4, 4, 4})}}, {2, 4, 4, 1, 0}),
              "out", reals({2, 4, 4}, {
      0.3333333333333, 0.3333333333333, 0.3333333333333, 0,
      0.3333333333333, 0.3333333333333, 0.3333333333333, 0,
      0, 0, 0.5, 0.5,
      0, 0, 0, 1,
      1, 0, 0, 0,
      0.25, 0.25, 0.25, 0.25,
      0.25, 0.25, 0.25, 0.25,
      0.25, 0.25, 0.25, 0.25}));
}

TEST(Masks, WindowOnLabelsOfKeys) {
  expectClose(weights(R"mlir(
  %m = mask.window left 0 right 1 on %t : !model.tensor<[2], i64> keys %u : !model.tensor<[4], i64>
)mlir", "%t: !model.tensor<[2], i64> {model.name = \"t\"}, %u: !model.tensor<[4], i64> {model.name = \"u\"}", {{"t", ints({2}, {1, 2})}, {"u", ints({4}, {0, 0, 1, 2})}}, {1, 2, 4, 1, 0}),
              "out", reals({1, 2, 4}, {
      0, 0, 0.5, 0.5,
      0, 0, 0, 1}));
}

TEST(Masks, Dilated) {
  expectClose(weights(R"mlir(
  %m = mask.dilated 2
)mlir", "", {}, {1, 4, 4, 1, 0}),
              "out", reals({1, 4, 4}, {
      0.5, 0, 0.5, 0,
      0, 0.5, 0, 0.5,
      0.5, 0, 0.5, 0,
      0, 0.5, 0, 0.5}));
}

TEST(Masks, Keys) {
  expectClose(weights(R"mlir(
  %m = mask.keys %t : !model.tensor<[2, 4], i64>
)mlir", "%t: !model.tensor<[2, 4], i64> {model.name = \"t\"}", {{"t", ints({2, 4}, {1, 0, 2, 1, 0, 0, 1, 0})}}, {2, 2, 4, 1, 0}),
              "out", reals({2, 2, 4}, {
      0.3333333333333, 0, 0.3333333333333, 0.3333333333333,
      0.3333333333333, 0, 0.3333333333333, 0.3333333333333,
      0, 0, 1, 0,
      0, 0, 1, 0}));
}

TEST(Masks, KeysOfReals) {
  expectClose(weights(R"mlir(
  %m = mask.keys %t : !model.tensor<[4], f32>
)mlir", "%t: !model.tensor<[4], f32> {model.name = \"t\"}", {{"t", reals({4}, {0, 0.5, -1, 0})}}, {1, 1, 4, 1, 0}),
              "out", reals({1, 1, 4}, {
      0, 0.5, 0.5, 0}));
}

TEST(Masks, Queries) {
  expectClose(weights(R"mlir(
  %m = mask.queries %t : !model.tensor<[2, 3], i64>
)mlir", "%t: !model.tensor<[2, 3], i64> {model.name = \"t\"}", {{"t", ints({2, 3}, {1, 0, 2, 0, 0, 1})}}, {2, 3, 2, 1, 0}),
              "out", reals({2, 3, 2}, {
      0.5, 0.5,
      0, 0,
      0.5, 0.5,
      0, 0,
      0, 0,
      0.5, 0.5}));
}

TEST(Masks, Prefix) {
  expectClose(weights(R"mlir(
  %m = mask.prefix %n : !model.tensor<[2], i64>
)mlir", "%n: !model.tensor<[2], i64> {model.name = \"n\"}", {{"n", ints({2}, {1, 3})}}, {2, 1, 4, 1, 0}),
              "out", reals({2, 1, 4}, {
      1, 0, 0, 0,
      0.3333333333333, 0.3333333333333, 0.3333333333333, 0}));
}

TEST(Masks, PrefixAfterMemory) {
  expectClose(weights(R"mlir(
  %m = mask.prefix %n : !model.tensor<[], i64>
)mlir", "%n: !model.tensor<[], i64> {model.name = \"n\"}", {{"n", ints({}, {1})}}, {1, 1, 4, 1, -2}),
              "out", reals({1, 1, 4}, {
      0.3333333333333, 0.3333333333333, 0.3333333333333, 0}));
}

TEST(Masks, Document) {
  expectClose(weights(R"mlir(
  %m = mask.document %q, %k : !model.tensor<[1, 3], i64>, !model.tensor<[1, 4], i64>
)mlir", "%q: !model.tensor<[1, 3], i64> {model.name = \"q\"}, %k: !model.tensor<[1, 4], i64> {model.name = \"k\"}", {{"q", ints({1, 3}, {1, 2, 2})}, {"k", ints({1, 4}, {2, 1, 1, 2})}}, {1, 3, 4, 1, 0}),
              "out", reals({1, 3, 4}, {
      0, 0.5, 0.5, 0,
      0.5, 0, 0, 0.5,
      0.5, 0, 0, 0.5}));
}

TEST(Masks, BlocksOfEachHead) {
  expectClose(weights(R"mlir(
  %m = mask.blocks 2, %l : !model.tensor<[2, 2, 2], i64>
)mlir", "%l: !model.tensor<[2, 2, 2], i64> {model.name = \"l\"}", {{"l", ints({2, 2, 2}, {0, 2, 1, 1, 1, 0, 2, 2})}}, {1, 4, 5, 2, 0}),
              "out", reals({1, 4, 10}, {
      0.3333333333333, 0.3333333333333, 0, 0, 0.3333333333333, 0.25, 0.25, 0.25, 0.25, 0,
      0.3333333333333, 0.3333333333333, 0, 0, 0.3333333333333, 0.25, 0.25, 0.25, 0.25, 0,
      0, 0, 0.5, 0.5, 0, 0, 0, 0, 0, 1,
      0, 0, 0.5, 0.5, 0, 0, 0, 0, 0, 1}));
}

TEST(Masks, BlocksPastTheLists) {
  // Query 2 is in block 1, for which there is no list; block 9 has no query.
  expectClose(weights(R"mlir(
  %m = mask.blocks 2, %l : !model.tensor<[1, 2], i64>
)mlir", "%l: !model.tensor<[1, 2], i64> {model.name = \"l\"}", {{"l", ints({1, 2}, {0, 9})}}, {1, 3, 3, 1, 0}),
              "out", reals({1, 3, 3}, {0.5, 0.5, 0, 0.5, 0.5, 0, 0, 0, 0}));
}

TEST(Masks, ABlockListedTwice) {
  // Without `+` it is seen; below one it counts twice: 1 + 2 beside 1.
  const char *lists = "%l: !model.tensor<[1, 2], i64> {model.name = \"l\"}";
  expectClose(weights(R"mlir(
  %m = mask.blocks 2, %l : !model.tensor<[1, 2], i64>
)mlir", lists, {{"l", ints({1, 2}, {0, 0})}}, {1, 1, 4, 1, 0}), "out", reals({1, 1, 4}, {0.5, 0.5, 0, 0}));
  expectClose(weights(R"mlir(
  %a = mask.all
  %b = mask.blocks 2, %l : !model.tensor<[1, 2], i64>
  %m = mask.add %a, %b
)mlir", lists, {{"l", ints({1, 2}, {0, 0})}}, {1, 1, 4, 1, 0}), "out", reals({1, 1, 4}, {0.375, 0.375, 0.125, 0.125}));
}

TEST(Masks, Band) {
  // From i - 1, and no further back than 1; below i + 1 or the prefix, and below 4.
  expectClose(weights(R"mlir(
  %m = mask.band from [affine_map<(i)[n] -> (i - 1)>, affine_map<(i)[n] -> (1)>]
    below [affine_map<(i)[n] -> (i + 1, n)>, affine_map<(i)[n] -> (4)>] of %n : !model.tensor<[1], i64>
)mlir", "%n: !model.tensor<[1], i64> {model.name = \"n\"}", {{"n", ints({1}, {3})}}, {1, 5, 5, 1, 0}),
              "out", reals({1, 5, 5}, {
      0, 0.5, 0.5, 0, 0,
      0, 0.5, 0.5, 0, 0,
      0, 0.5, 0.5, 0, 0,
      0, 0, 0.5, 0.5, 0,
      0, 0, 0, 1, 0}));
}

TEST(Masks, None) {
  expectClose(weights("  %m = mask.none\n", "", {}, {1, 2, 2, 1, 0}), "out", reals({1, 2, 2}, {0, 0, 0, 0}));
}

TEST(Masks, Dense) {
  expectClose(weights(R"mlir(
  %m = mask.dense %t : !model.tensor<[3, 2], i1>
)mlir", "%t: !model.tensor<[3, 2], i1> {model.name = \"t\"}", {{"t", bools({3, 2}, {1, 0, 0, 1, 0, 0})}}, {1, 3, 2, 2, 0}),
              "out", reals({1, 3, 4}, {
      1, 0, 1, 0,
      0, 1, 0, 1,
      0, 0, 0, 0}));
}

TEST(Masks, DenseOfEachHead) {
  expectClose(weights(R"mlir(
  %m = mask.dense %t : !model.tensor<[1, 2, 1, 3], i64>
)mlir", "%t: !model.tensor<[1, 2, 1, 3], i64> {model.name = \"t\"}", {{"t", ints({1, 2, 1, 3}, {0, 1, 1, 1, 0, 0})}}, {1, 2, 3, 2, 0}),
              "out", reals({1, 2, 6}, {
      0, 0.5, 0.5, 1, 0, 0,
      0, 0.5, 0.5, 1, 0, 0}));
}

TEST(Masks, AndOrNot) {
  expectClose(weights(R"mlir(
  %c = mask.causal
  %w = mask.window left 1 right 0
  %n = mask.not %w
  %a = mask.and %c, %n
  %k = mask.keys %t : !model.tensor<[4], i64>
  %m = mask.or %a, %k
)mlir", "%t: !model.tensor<[4], i64> {model.name = \"t\"}", {{"t", ints({4}, {0, 0, 0, 1})}}, {1, 4, 4, 1, 0}),
              "out", reals({1, 4, 4}, {
      0, 0, 0, 1,
      0, 0, 0, 1,
      0.5, 0, 0, 0.5,
      0.3333333333333, 0.3333333333333, 0, 0.3333333333333}));
}

TEST(Masks, CountsAdd) {
  expectClose(weights(R"mlir(
  %c = mask.causal
  %w = mask.window left 1 right 1
  %m = mask.add %c, %w
)mlir", "", {}, {1, 4, 4, 1, 0}),
              "out", reals({1, 4, 4}, {
      0.6666666666667, 0.3333333333333, 0, 0,
      0.4, 0.4, 0.2, 0,
      0.1666666666667, 0.3333333333333, 0.3333333333333, 0.1666666666667,
      0.1666666666667, 0.1666666666667, 0.3333333333333, 0.3333333333333}));
}

TEST(Masks, CountsMultiply) {
  expectClose(weights(R"mlir(
  %c = mask.causal
  %w = mask.window left 1 right 1
  %s = mask.add %c, %w
  %m = mask.and %s, %s
)mlir", "", {}, {1, 4, 4, 1, 0}),
              "out", reals({1, 4, 4}, {
      0.8, 0.2, 0, 0,
      0.4444444444444, 0.4444444444444, 0.1111111111111, 0,
      0.1, 0.4, 0.4, 0.1,
      0.1, 0.1, 0.4, 0.4}));
}

TEST(Masks, OrTakesTheLargerCount) {
  expectClose(weights(R"mlir(
  %c = mask.causal
  %w = mask.window left 0 right 0
  %s = mask.add %c, %w
  %m = mask.or %s, %c
)mlir", "", {}, {1, 4, 4, 1, 0}),
              "out", reals({1, 4, 4}, {
      1, 0, 0, 0,
      0.3333333333333, 0.6666666666667, 0, 0,
      0.25, 0.25, 0.5, 0,
      0.2, 0.2, 0.2, 0.4}));
}

TEST(Masks, Select) {
  expectClose(weights(R"mlir(
  %c = mask.causal
  %w = mask.window left 0 right 0
  %m = mask.select %b, %w, %c : !model.tensor<[], i1>
)mlir", "%b: !model.tensor<[], i1> {model.name = \"b\"}", {{"b", bools({}, {0})}}, {1, 4, 4, 1, 0}),
              "out", reals({1, 4, 4}, {
      1, 0, 0, 0,
      0.5, 0.5, 0, 0,
      0.3333333333333, 0.3333333333333, 0.3333333333333, 0,
      0.25, 0.25, 0.25, 0.25}));
}
