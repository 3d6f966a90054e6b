//===- LinearTest.cpp - products, tables and norms --------------------------===//
//
// Expected numbers were computed with numpy (float64) from the formulas of the language.
//
//===----------------------------------------------------------------------===//

#include "test/Interpreter/Support.h"

using namespace heddle;
using namespace heddle::check;

// clang-format off: expected values are written as matrices
TEST(Linear, LinearOutIn) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[2, 2, 4], f32> {model.name = "x"}) -> (!model.tensor<[2, 2, 3], f32> {model.name = "out"}) {
  %w = model.param "w" : !model.tensor<[3, 4], f32>
  %b = model.param "b" : !model.tensor<[3], f32>
  %out = model.linear %x, %w bias %b : (!model.tensor<[2, 2, 4], f32>, !model.tensor<[3, 4], f32>, !model.tensor<[3], f32>) -> !model.tensor<[2, 2, 3], f32>
  return %out : !model.tensor<[2, 2, 3], f32>
}
)mlir",
                  {{"x", fill({2, 2, 4}, 1)},
                   {"w", fill({3, 4}, 2)},
                   {"b", fill({3}, 3)}}),
              "out",
      reals({2, 2, 3}, {-1.390625, 0.90625, -0.390625, 3.15625, -2.671875, 3.359375, -1.28125, -2.296875, -0.796875, 2.546875,
          -1.921875, 3.3125}));
}

TEST(Linear, LinearInOut) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[2, 4], f32> {model.name = "x"}, %w: !model.tensor<[4, 3], f32> {model.name = "w"}) -> (!model.tensor<[2, 3], f32> {model.name = "out"}) {
  %out = model.linear %x, %w in_out : (!model.tensor<[2, 4], f32>, !model.tensor<[4, 3], f32>) -> !model.tensor<[2, 3], f32>
  return %out : !model.tensor<[2, 3], f32>
}
)mlir",
                  {{"x", fill({2, 4}, 1)},
                   {"w", fill({4, 3}, 2)}}),
              "out",
      reals({2, 3}, {-0.6875, 0.4375, 1.921875, 1.359375, 0.09375, -1.890625}));
}

// From `tiled` on a parameter is what its layout stores: 1 + 2^-8 is between two numbers of bf16 and goes to the even one.
TEST(Linear, PackedParameterIsWhatIsStored) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[1, 2], f32> {model.name = "x"}) -> (!model.tensor<[1, 2], f32> {model.name = "out"}) {
  %w = model.param "w" {layout = #model.layout<panels 32, bf16>, offset = 0 : i64, strides = array<i64>} : !model.tensor<[2, 2], f32>
  %out = model.linear %x, %w : (!model.tensor<[1, 2], f32>, !model.tensor<[2, 2], f32>) -> !model.tensor<[1, 2], f32>
  return %out : !model.tensor<[1, 2], f32>
}
)mlir",
                  {{"x", reals({1, 2}, {1, 2})}, {"w", reals({2, 2}, {1.00390625, 0.5, 1.01171875, -1})}}),
              "out", reals({1, 2}, {2, -0.984375}));
}

TEST(Linear, LinearPartsAndGroups) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[2, 4], f32> {model.name = "x"}, %w: !model.tensor<[12, 4], f32> {model.name = "w"}, %b: !model.tensor<[12], f32> {model.name = "b"}) -> (!model.tensor<[2, 12], f32> {model.name = "out"}) {
  %p, %q = model.linear %x, %w bias %b parts [2, 1] groups 2 : (!model.tensor<[2, 4], f32>, !model.tensor<[12, 4], f32>, !model.tensor<[12], f32>) -> (!model.tensor<[2, 8], f32>, !model.tensor<[2, 4], f32>)
  %out = model.concat %p, %q axis 1 : (!model.tensor<[2, 8], f32>, !model.tensor<[2, 4], f32>) -> !model.tensor<[2, 12], f32>
  return %out : !model.tensor<[2, 12], f32>
}
)mlir",
                  {{"x", fill({2, 4}, 1)},
                   {"w", fill({12, 4}, 2)},
                   {"b", fill({12}, 3)}}),
              "out",
      reals({2, 12}, {-1.390625, 0.90625, -0.390625, -1.328125, 0.53125, -0.765625, 1.53125, 0.234375, 2.40625, -1.765625,
          -0.703125, 0.15625, 3.15625, -2.671875, 3.359375, -2.109375, -1.984375, 0.453125, -1.78125, 4.25,
          0.6875, 0.25, -1.21875, -1.296875}));
}

TEST(Linear, LinearOnePart) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[2, 4], f32> {model.name = "x"}, %w: !model.tensor<[12, 4], f32> {model.name = "w"}, %b: !model.tensor<[12], f32> {model.name = "b"}) -> (!model.tensor<[2, 4], f32> {model.name = "out"}) {
  %out = model.linear %x, %w bias %b parts [2, 1] groups 2 {part = 1} : (!model.tensor<[2, 4], f32>, !model.tensor<[12, 4], f32>, !model.tensor<[12], f32>) -> !model.tensor<[2, 4], f32>
  return %out : !model.tensor<[2, 4], f32>
}
)mlir",
                  {{"x", fill({2, 4}, 1)},
                   {"w", fill({12, 4}, 2)},
                   {"b", fill({12}, 3)}}),
              "out",
      reals({2, 4}, {2.40625, -1.765625, -0.703125, 0.15625, 0.6875, 0.25, -1.21875, -1.296875}));
}

TEST(Linear, LinearEpilogue) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[2, 4], f32> {model.name = "x"}, %w: !model.tensor<[3, 4], f32> {model.name = "w"}, %r: !model.tensor<[2, 3], f32> {model.name = "r"}) -> (!model.tensor<[2, 3], f32> {model.name = "out"}) {
  %out = model.linear %x, %w with %r : (!model.tensor<[2, 4], f32>, !model.tensor<[3, 4], f32>, !model.tensor<[2, 3], f32>) -> !model.tensor<[2, 3], f32> {
  ^bb0(%acc: f32, %add: f32):
  %s = model.function silu %acc : f32 -> f32
  %y = arith.addf %s, %add : f32
  model.yield %y : f32
  }
  return %out : !model.tensor<[2, 3], f32>
}
)mlir",
                  {{"x", fill({2, 4}, 1)},
                   {"w", fill({3, 4}, 2)},
                   {"r", fill({2, 3}, 5)}}),
              "out",
      reals({2, 3}, {-0.5284464856159, 0.5575420233194, 0.1158451660273, 2.412402941693, 0.7236332687077, 2.579400506912}));
}

TEST(Linear, MatmulStretchesLeadingAxes) {
  expectClose(run(R"mlir(
func.func @run(%a: !model.tensor<[2, 1, 2, 3], f32> {model.name = "a"}, %b: !model.tensor<[2, 3, 2], f32> {model.name = "b"}) -> (!model.tensor<[2, 2, 2, 2], f32> {model.name = "out"}) {
  %out = model.matmul %a, %b : (!model.tensor<[2, 1, 2, 3], f32>, !model.tensor<[2, 3, 2], f32>) -> !model.tensor<[2, 2, 2, 2], f32>
  return %out : !model.tensor<[2, 2, 2, 2], f32>
}
)mlir",
                  {{"a", fill({2, 1, 2, 3}, 1)},
                   {"b", fill({2, 3, 2}, 2)}}),
              "out",
      reals({2, 2, 2, 2}, {0.828125, -1.84375, -1.8125, 0.796875, -1.90625, 0.453125, 0.90625, 0.28125, -1.9375, 0.921875,
          1.890625, 1.765625, 0.84375, 0.46875, 1.859375, -1.5}));
}

TEST(Linear, Conv1dStrideDilationGroups) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[2, 7, 4], f32> {model.name = "x"}, %w: !model.tensor<[2, 2, 3], f32> {model.name = "w"}, %b: !model.tensor<[2], f32> {model.name = "b"}) -> (!model.tensor<[2, 3, 2], f32> {model.name = "out"}) {
  %out = model.conv %x, %w bias %b stride [2] dilation [2] padding [2, 1] groups 2 : (!model.tensor<[2, 7, 4], f32>, !model.tensor<[2, 2, 3], f32>, !model.tensor<[2], f32>) -> !model.tensor<[2, 3, 2], f32>
  return %out : !model.tensor<[2, 3, 2], f32>
}
)mlir",
                  {{"x", fill({2, 7, 4}, 1)},
                   {"w", fill({2, 2, 3}, 2)},
                   {"b", fill({2}, 3)}}),
              "out",
      reals({2, 3, 2}, {-1.40625, -1.28125, -2.265625, -0.796875, 0.25, 0.734375, 2.265625, -1.34375, -1.546875, -0.828125,
          -2.265625, 0.703125}));
}

TEST(Linear, Conv2d) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[1, 4, 5, 2], f32> {model.name = "x"}, %w: !model.tensor<[3, 2, 2, 3], f32> {model.name = "w"}) -> (!model.tensor<[1, 2, 3, 3], f32> {model.name = "out"}) {
  %out = model.conv %x, %w stride [2, 1] dilation [1, 1] padding [0, 1, 0, 0] : (!model.tensor<[1, 4, 5, 2], f32>, !model.tensor<[3, 2, 2, 3], f32>) -> !model.tensor<[1, 2, 3, 3], f32>
  return %out : !model.tensor<[1, 2, 3, 3], f32>
}
)mlir",
                  {{"x", fill({1, 4, 5, 2}, 1)},
                   {"w", fill({3, 2, 2, 3}, 2)}}),
              "out",
      reals({1, 2, 3, 3}, {1.640625, 0.015625, -0.171875, 4.71875, -0.765625, -0.140625, -0.109375, -3.703125, 3.484375, 4.03125,
          0.828125, -3.8125, 2.4375, -7.140625, 3.046875, -3.46875, 2.859375, 0.5625}));
}

TEST(Linear, Embedding) {
  expectClose(run(R"mlir(
func.func @run(%ids: !model.tensor<[2, 2], i64> {model.name = "ids"}) -> (!model.tensor<[2, 2, 2], f32> {model.name = "out"}) {
  %w = model.param "w" : !model.tensor<[3, 2], f32>
  %out = model.embedding %ids in %w : (!model.tensor<[2, 2], i64>, !model.tensor<[3, 2], f32>) -> !model.tensor<[2, 2, 2], f32>
  return %out : !model.tensor<[2, 2, 2], f32>
}
)mlir",
                  {{"ids", ints({2, 2}, {2, 0, 1, 2})},
                   {"w", fill({3, 2}, 1)}}),
              "out",
      reals({2, 2, 2}, {1.25, 0.125, 0, -1.125, 0.625, -0.5, 1.25, 0.125}));
}

TEST(Norms, LayerNorm) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[2, 5], f32> {model.name = "x"}, %w: !model.tensor<[5], f32> {model.name = "w"}, %b: !model.tensor<[5], f32> {model.name = "b"}) -> (!model.tensor<[2, 5], f32> {model.name = "out"}) {
  %out = model.layer_norm %x weight %w bias %b eps 1.0e-2 : (!model.tensor<[2, 5], f32>, !model.tensor<[5], f32>, !model.tensor<[5], f32>) -> !model.tensor<[2, 5], f32>
  return %out : !model.tensor<[2, 5], f32>
}
)mlir",
                  {{"x", fill({2, 5}, 1)},
                   {"w", fill({5}, 2)},
                   {"b", fill({5}, 3)}}),
              "out",
      reals({2, 5}, {-0.2070986971786, -1.600785342491, -0.1008131929892, -1.199690880251, 0.7667511395841,
          -0.2070986971786, -1.600785342491, -0.1008131929892, -1.199690880251, 0.7667511395841}));
}

TEST(Norms, LayerNormPlain) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[2, 5], f32> {model.name = "x"}) -> (!model.tensor<[2, 5], f32> {model.name = "out"}) {
  %out = model.layer_norm %x eps 1.0e-5 : (!model.tensor<[2, 5], f32>) -> !model.tensor<[2, 5], f32>
  return %out : !model.tensor<[2, 5], f32>
}
)mlir",
                  {{"x", fill({2, 5}, 1)}}),
              "out",
      reals({2, 5}, {-0.06013804293911, -1.413244009069, 0.6915874937998, -0.6615184723303, 1.443313030539,
          -0.06013804293911, -1.413244009069, 0.6915874937998, -0.6615184723303, 1.443313030539}));
}

TEST(Norms, RmsNormOffset) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[2, 5], f32> {model.name = "x"}, %w: !model.tensor<[5], f32> {model.name = "w"}) -> (!model.tensor<[2, 5], f32> {model.name = "out"}) {
  %out = model.rms_norm %x weight %w eps 1.0e-2 offset 1.0 : (!model.tensor<[2, 5], f32>, !model.tensor<[5], f32>) -> !model.tensor<[2, 5], f32>
  return %out : !model.tensor<[2, 5], f32>
}
)mlir",
                  {{"x", fill({2, 5}, 1)},
                   {"w", fill({5}, 2)}}),
              "out",
      reals({2, 5}, {0, -1.676306123669, 0.09312811798159, -1.117537415779, 1.117537415779, 0.3470205316109,
          -1.461139080467, 0.109585431035, -0.8218907327627, 1.205439741385}));
}

TEST(Norms, GroupNorm) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[2, 3, 4], f32> {model.name = "x"}, %w: !model.tensor<[4], f32> {model.name = "w"}, %b: !model.tensor<[4], f32> {model.name = "b"}) -> (!model.tensor<[2, 3, 4], f32> {model.name = "out"}) {
  %out = model.group_norm %x weight %w bias %b groups 2 eps 1.0e-2 : (!model.tensor<[2, 3, 4], f32>, !model.tensor<[4], f32>, !model.tensor<[4], f32>) -> !model.tensor<[2, 3, 4], f32>
  return %out : !model.tensor<[2, 3, 4], f32>
}
)mlir",
                  {{"x", fill({2, 3, 4}, 1)},
                   {"w", fill({4}, 2)},
                   {"b", fill({4}, 3)}}),
              "out",
      reals({2, 3, 4}, {-0.4495380578238, -1.627644285468, -0.4284645911832, -1.089232295592, 1.497690289119, -1.273602767842,
          1.583208689714, 0.4582086897137, -1.033706561907, -0.9195612502158, 0.03576770440842, -1.553464591183,
          1.334015786145, -1.38263779874, 1.656535624245, -0.04673218787765, -1.827185083836, -0.9405118029389,
          0.417390312554, -1.657621093076, 0.6045078930725, -1.515275597481, -0.8217549991368, -0.4184757813849}));
}

TEST(Norms, BatchNorm) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[2, 3], f32> {model.name = "x"}, %m: !model.tensor<[3], f32> {model.name = "m"}, %v: !model.tensor<[3], f32> {model.name = "v"}, %w: !model.tensor<[3], f32> {model.name = "w"}, %b: !model.tensor<[3], f32> {model.name = "b"}) -> (!model.tensor<[2, 3], f32> {model.name = "out"}) {
  %out = model.batch_norm %x mean %m variance %v weight %w bias %b eps 1.0e-2 : (!model.tensor<[2, 3], f32>, !model.tensor<[3], f32>, !model.tensor<[3], f32>, !model.tensor<[3], f32>, !model.tensor<[3], f32>) -> !model.tensor<[2, 3], f32>
  return %out : !model.tensor<[2, 3], f32>
}
)mlir",
                  {{"x", fill({2, 3}, 1)},
                   {"m", fill({3}, 2)},
                   {"v", reals({3}, {0.5, 2, 1.25})},
                   {"w", fill({3}, 3)},
                   {"b", fill({3}, 4)}}),
              "out",
      reals({2, 3}, {1.490673139442, 1.337312777257, -0.3318468952189, 1.578190644694, -0.7566820198232, -0.5545645968126}));
}

TEST(Norms, L2Norm) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[2, 2], f32> {model.name = "x"}) -> (!model.tensor<[2, 2], f32> {model.name = "out"}) {
  %out = model.l2_norm %x eps 1.0e-3 : (!model.tensor<[2, 2], f32>) -> !model.tensor<[2, 2], f32>
  return %out : !model.tensor<[2, 2], f32>
}
)mlir",
                  {{"x", reals({2, 2}, {3, 4, 0, 0})}}),
              "out",
      reals({2, 2}, {0.6, 0.8, 0, 0}));
}
