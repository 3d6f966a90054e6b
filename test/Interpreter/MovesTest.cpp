//===- MovesTest.cpp - ops that move elements -------------------------------===//
//
// Expected numbers were computed with numpy (float64) from the formulas of the language.
//
//===----------------------------------------------------------------------===//

#include "test/Interpreter/Support.h"

using namespace heddle;
using namespace heddle::check;

// clang-format off: expected values are written as matrices
TEST(Moves, BroadcastStretches) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[1, 3], f32> {model.name = "x"}) -> (!model.tensor<[2, 2, 3], f32> {model.name = "out"}) {
  %out = model.broadcast %x : !model.tensor<[1, 3], f32> -> !model.tensor<[2, 2, 3], f32>
  return %out : !model.tensor<[2, 2, 3], f32>
}
)mlir",
                  {{"x", fill({1, 3}, 2)}}),
              "out",
      reals({2, 2, 3}, {1.375, 0.25, -0.875, 1.375, 0.25, -0.875, 1.375, 0.25, -0.875, 1.375, 0.25, -0.875}));
}

TEST(Moves, Slice) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[2, 3, 4], f32> {model.name = "x"}) -> (!model.tensor<[2, 3, 2], f32> {model.name = "out"}) {
  %out = model.slice %x axis 2 from "1" to "3" : (!model.tensor<[2, 3, 4], f32>) -> !model.tensor<[2, 3, 2], f32>
  return %out : !model.tensor<[2, 3, 2], f32>
}
)mlir",
                  {{"x", fill({2, 3, 4}, 1)}}),
              "out",
      reals({2, 3, 2}, {-1.125, 0.625, 0.125, -1, 1.375, 0.25, -0.25, -1.375, 1, -0.125, -0.625, 1.125}));
}

TEST(Moves, SliceByDims) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[B, T, 4], f32> {model.name = "x"}) -> (!model.tensor<[B, 1, 4], f32> {model.name = "out"}) {
  %out = model.slice %x axis 1 from "T-1" to "T" : (!model.tensor<[B, T, 4], f32>) -> !model.tensor<[B, 1, 4], f32>
  return %out : !model.tensor<[B, 1, 4], f32>
}
)mlir",
                  {{"x", fill({2, 3, 4}, 1)}}),
              "out",
      reals({2, 1, 4}, {-0.375, 1.375, 0.25, -0.875, 0.5, -0.625, 1.125, 0}));
}

TEST(Moves, SqueezeAndUnsqueeze) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[2, 1, 3], f32> {model.name = "x"}) -> (!model.tensor<[2, 3, 1], f32> {model.name = "out"}) {
  %s = model.squeeze %x axis 1 : (!model.tensor<[2, 1, 3], f32>) -> !model.tensor<[2, 3], f32>
  %out = model.unsqueeze %s axis 2 : (!model.tensor<[2, 3], f32>) -> !model.tensor<[2, 3, 1], f32>
  return %out : !model.tensor<[2, 3, 1], f32>
}
)mlir",
                  {{"x", fill({2, 1, 3}, 1)}}),
              "out",
      reals({2, 3, 1}, {0, -1.125, 0.625, -0.5, 1.25, 0.125}));
}

TEST(Moves, RearrangeHeads) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[2, 3, 4], f32> {model.name = "x"}) -> (!model.tensor<[2, 2, 3, 2], f32> {model.name = "out"}) {
  %out = model.rearrange %x "b t (h d) -> b h t d" sizes {h = "2"} : (!model.tensor<[2, 3, 4], f32>) -> !model.tensor<[2, 2, 3, 2], f32>
  return %out : !model.tensor<[2, 2, 3, 2], f32>
}
)mlir",
                  {{"x", fill({2, 3, 4}, 1)}}),
              "out",
      reals({2, 2, 3, 2}, {0, -1.125, 1.25, 0.125, -0.375, 1.375, 0.625, -0.5, -1, 0.75, 0.25, -0.875, 0.875, -0.25, -0.75, 1,
          0.5, -0.625, -1.375, 0.375, -0.125, -1.25, 1.125, 0}));
}

TEST(Moves, RearrangeOnes) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[2, 3, 4], f32> {model.name = "x"}) -> (!model.tensor<[8, 1, 3], f32> {model.name = "out"}) {
  %out = model.rearrange %x "b t d -> (d b) 1 t" : (!model.tensor<[2, 3, 4], f32>) -> !model.tensor<[8, 1, 3], f32>
  return %out : !model.tensor<[8, 1, 3], f32>
}
)mlir",
                  {{"x", fill({2, 3, 4}, 1)}}),
              "out",
      reals({8, 1, 3}, {0, 1.25, -0.375, 0.875, -0.75, 0.5, -1.125, 0.125, 1.375, -0.25, 1, -0.625, 0.625, -1, 0.25, -1.375,
          -0.125, 1.125, -0.5, 0.75, -0.875, 0.375, -1.25, 0}));
}

TEST(Moves, ConcatStretchesOtherAxes) {
  expectClose(run(R"mlir(
func.func @run(%a: !model.tensor<[1, 1, 2], f32> {model.name = "a"}, %b: !model.tensor<[2, 2, 2], f32> {model.name = "b"}, %c: !model.tensor<[1, 2], f32> {model.name = "c"}) -> (!model.tensor<[2, 4, 2], f32> {model.name = "out"}) {
  %out = model.concat %a, %b, %c axis 1 : (!model.tensor<[1, 1, 2], f32>, !model.tensor<[2, 2, 2], f32>, !model.tensor<[1, 2], f32>) -> !model.tensor<[2, 4, 2], f32>
  return %out : !model.tensor<[2, 4, 2], f32>
}
)mlir",
                  {{"a", fill({1, 1, 2}, 1)},
                   {"b", fill({2, 2, 2}, 2)},
                   {"c", fill({1, 2}, 3)}}),
              "out",
      reals({2, 4, 2}, {0, -1.125, 1.375, 0.25, -0.875, 0.875, -0.125, -1.25, 0, -1.125, -0.25, -1.375, 0.375, -0.75, -0.125,
          -1.25}));
}

TEST(Moves, Pad) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[2, 2], f32> {model.name = "x"}) -> (!model.tensor<[5, 2], f32> {model.name = "out"}) {
  %out = model.pad %x axis 0 before "1" after "2" value 7.5 : (!model.tensor<[2, 2], f32>) -> !model.tensor<[5, 2], f32>
  return %out : !model.tensor<[5, 2], f32>
}
)mlir",
                  {{"x", fill({2, 2}, 1)}}),
              "out",
      reals({5, 2}, {7.5, 7.5, 0, -1.125, 0.625, -0.5, 7.5, 7.5, 7.5, 7.5}));
}

TEST(Moves, PadIntegers) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[2], i64> {model.name = "x"}) -> (!model.tensor<[3], i64> {model.name = "out"}) {
  %out = model.pad %x axis 0 before "1" after "0" value -2.0 : (!model.tensor<[2], i64>) -> !model.tensor<[3], i64>
  return %out : !model.tensor<[3], i64>
}
)mlir",
                  {{"x", ints({2}, {3, 4})}}),
              "out",
      ints({3}, {-2, 3, 4}));
}

TEST(Moves, GatherOne) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[2, 3, 2], f32> {model.name = "x"}, %at: !model.tensor<[2], i64> {model.name = "at"}) -> (!model.tensor<[2, 2], f32> {model.name = "out"}) {
  %out = model.gather %x at %at : (!model.tensor<[2, 3, 2], f32>, !model.tensor<[2], i64>) -> !model.tensor<[2, 2], f32>
  return %out : !model.tensor<[2, 2], f32>
}
)mlir",
                  {{"x", fill({2, 3, 2}, 1)},
                   {"at", ints({2}, {2, 0})}}),
              "out",
      reals({2, 2}, {1.25, 0.125, -1, 0.75}));
}

TEST(Moves, GatherSeveral) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[2, 3, 2], f32> {model.name = "x"}, %at: !model.tensor<[2, 2], i64> {model.name = "at"}) -> (!model.tensor<[2, 2, 2], f32> {model.name = "out"}) {
  %out = model.gather %x at %at : (!model.tensor<[2, 3, 2], f32>, !model.tensor<[2, 2], i64>) -> !model.tensor<[2, 2, 2], f32>
  return %out : !model.tensor<[2, 2, 2], f32>
}
)mlir",
                  {{"x", fill({2, 3, 2}, 1)},
                   {"at", ints({2, 2}, {2, 0, 1, 1})}}),
              "out",
      reals({2, 2, 2}, {1.25, 0.125, 0, -1.125, -0.375, 1.375, -0.375, 1.375}));
}

TEST(Moves, Range) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[B, T], f32> {model.name = "x"}) -> (!model.tensor<["2*T-2"], i64> {model.name = "out"}) {
  %out = model.range "2" to "2*T" : !model.tensor<["2*T-2"], i64>
  return %out : !model.tensor<["2*T-2"], i64>
}
)mlir",
                  {{"x", fill({2, 3}, 1)}}),
              "out",
      ints({4}, {2, 3, 4, 5}));
}

TEST(Moves, Size) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[B, T], f32> {model.name = "x"}) -> (!model.tensor<[], i64> {model.name = "out"}) {
  %out = model.size "B*T-1" : !model.tensor<[], i64>
  return %out : !model.tensor<[], i64>
}
)mlir",
                  {{"x", fill({2, 3}, 1)}}),
              "out",
      ints({}, {5}));
}
