//===- ElementwiseTest.cpp - elementwise ops --------------------------------===//
//
// Expected numbers were computed with numpy (float64) from the formulas of the language.
//
//===----------------------------------------------------------------------===//

#include "test/Interpreter/Support.h"

using namespace heddle;
using namespace heddle::check;

// clang-format off: expected values are written as matrices
TEST(Elementwise, Unary_neg) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[6], f32> {model.name = "x"}) -> (!model.tensor<[6], f32> {model.name = "out"}) {
  %out = model.unary neg %x : (!model.tensor<[6], f32>) -> !model.tensor<[6], f32>
  return %out : !model.tensor<[6], f32>
}
)mlir",
                  {{"x", reals({6}, {-2.5, -0.5, 0, 0.3, 1.7, 4})}}),
              "out",
      reals({6}, {2.5, 0.5, -0, -0.3, -1.7, -4}));
}

TEST(Elementwise, Unary_abs) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[6], f32> {model.name = "x"}) -> (!model.tensor<[6], f32> {model.name = "out"}) {
  %out = model.unary abs %x : (!model.tensor<[6], f32>) -> !model.tensor<[6], f32>
  return %out : !model.tensor<[6], f32>
}
)mlir",
                  {{"x", reals({6}, {-2.5, -0.5, 0, 0.3, 1.7, 4})}}),
              "out",
      reals({6}, {2.5, 0.5, 0, 0.3, 1.7, 4}));
}

TEST(Elementwise, Unary_exp) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[6], f32> {model.name = "x"}) -> (!model.tensor<[6], f32> {model.name = "out"}) {
  %out = model.unary exp %x : (!model.tensor<[6], f32>) -> !model.tensor<[6], f32>
  return %out : !model.tensor<[6], f32>
}
)mlir",
                  {{"x", reals({6}, {-2.5, -0.5, 0, 0.3, 1.7, 4})}}),
              "out",
      reals({6}, {0.0820849986239, 0.6065306597126, 1, 1.349858807576, 5.473947391727, 54.59815003314}));
}

TEST(Elementwise, Unary_sin) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[6], f32> {model.name = "x"}) -> (!model.tensor<[6], f32> {model.name = "out"}) {
  %out = model.unary sin %x : (!model.tensor<[6], f32>) -> !model.tensor<[6], f32>
  return %out : !model.tensor<[6], f32>
}
)mlir",
                  {{"x", reals({6}, {-2.5, -0.5, 0, 0.3, 1.7, 4})}}),
              "out",
      reals({6}, {-0.598472144104, -0.4794255386042, 0, 0.2955202066613, 0.9916648104525, -0.7568024953079}));
}

TEST(Elementwise, Unary_cos) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[6], f32> {model.name = "x"}) -> (!model.tensor<[6], f32> {model.name = "out"}) {
  %out = model.unary cos %x : (!model.tensor<[6], f32>) -> !model.tensor<[6], f32>
  return %out : !model.tensor<[6], f32>
}
)mlir",
                  {{"x", reals({6}, {-2.5, -0.5, 0, 0.3, 1.7, 4})}}),
              "out",
      reals({6}, {-0.8011436155469, 0.8775825618904, 1, 0.9553364891256, -0.1288444942955, -0.6536436208636}));
}

TEST(Elementwise, Unary_floor) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[6], f32> {model.name = "x"}) -> (!model.tensor<[6], f32> {model.name = "out"}) {
  %out = model.unary floor %x : (!model.tensor<[6], f32>) -> !model.tensor<[6], f32>
  return %out : !model.tensor<[6], f32>
}
)mlir",
                  {{"x", reals({6}, {-2.5, -0.5, 0, 0.3, 1.7, 4})}}),
              "out",
      reals({6}, {-3, -1, 0, 0, 1, 4}));
}

TEST(Elementwise, Unary_ceil) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[6], f32> {model.name = "x"}) -> (!model.tensor<[6], f32> {model.name = "out"}) {
  %out = model.unary ceil %x : (!model.tensor<[6], f32>) -> !model.tensor<[6], f32>
  return %out : !model.tensor<[6], f32>
}
)mlir",
                  {{"x", reals({6}, {-2.5, -0.5, 0, 0.3, 1.7, 4})}}),
              "out",
      reals({6}, {-2, -0, 0, 1, 2, 4}));
}

TEST(Elementwise, Unary_tanh) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[6], f32> {model.name = "x"}) -> (!model.tensor<[6], f32> {model.name = "out"}) {
  %out = model.unary tanh %x : (!model.tensor<[6], f32>) -> !model.tensor<[6], f32>
  return %out : !model.tensor<[6], f32>
}
)mlir",
                  {{"x", reals({6}, {-2.5, -0.5, 0, 0.3, 1.7, 4})}}),
              "out",
      reals({6}, {-0.9866142981514, -0.46211715726, 0, 0.2913126124516, 0.9354090706031, 0.9993292997391}));
}

TEST(Elementwise, Unary_sigmoid) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[6], f32> {model.name = "x"}) -> (!model.tensor<[6], f32> {model.name = "out"}) {
  %out = model.unary sigmoid %x : (!model.tensor<[6], f32>) -> !model.tensor<[6], f32>
  return %out : !model.tensor<[6], f32>
}
)mlir",
                  {{"x", reals({6}, {-2.5, -0.5, 0, 0.3, 1.7, 4})}}),
              "out",
      reals({6}, {0.07585818002124, 0.3775406687981, 0.5, 0.5744425168117, 0.8455347349165, 0.9820137900379}));
}

TEST(Elementwise, Unary_relu) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[6], f32> {model.name = "x"}) -> (!model.tensor<[6], f32> {model.name = "out"}) {
  %out = model.unary relu %x : (!model.tensor<[6], f32>) -> !model.tensor<[6], f32>
  return %out : !model.tensor<[6], f32>
}
)mlir",
                  {{"x", reals({6}, {-2.5, -0.5, 0, 0.3, 1.7, 4})}}),
              "out",
      reals({6}, {0, 0, 0, 0.3, 1.7, 4}));
}

TEST(Elementwise, Unary_gelu) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[6], f32> {model.name = "x"}) -> (!model.tensor<[6], f32> {model.name = "out"}) {
  %out = model.unary gelu %x : (!model.tensor<[6], f32>) -> !model.tensor<[6], f32>
  return %out : !model.tensor<[6], f32>
}
)mlir",
                  {{"x", reals({6}, {-2.5, -0.5, 0, 0.3, 1.7, 4})}}),
              "out",
      reals({6}, {-0.01552416331444, -0.154268769363, 0, 0.1853734266567, 1.62423871331, 3.999873315033}));
}

TEST(Elementwise, Unary_gelu_tanh) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[6], f32> {model.name = "x"}) -> (!model.tensor<[6], f32> {model.name = "out"}) {
  %out = model.unary gelu_tanh %x : (!model.tensor<[6], f32>) -> !model.tensor<[6], f32>
  return %out : !model.tensor<[6], f32>
}
)mlir",
                  {{"x", reals({6}, {-2.5, -0.5, 0, 0.3, 1.7, 4})}}),
              "out",
      reals({6}, {-0.01508426609, -0.1542859901749, 0, 0.1853709235428, 1.624105895551, 3.999929754052}));
}

TEST(Elementwise, Unary_quick_gelu) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[6], f32> {model.name = "x"}) -> (!model.tensor<[6], f32> {model.name = "out"}) {
  %out = model.unary quick_gelu %x : (!model.tensor<[6], f32>) -> !model.tensor<[6], f32>
  return %out : !model.tensor<[6], f32>
}
)mlir",
                  {{"x", reals({6}, {-2.5, -0.5, 0, 0.3, 1.7, 4})}}),
              "out",
      reals({6}, {-0.03498616504857, -0.1496115633936, 0, 0.1874841353816, 1.610782655877, 3.99558527586}));
}

TEST(Elementwise, Unary_silu) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[6], f32> {model.name = "x"}) -> (!model.tensor<[6], f32> {model.name = "out"}) {
  %out = model.unary silu %x : (!model.tensor<[6], f32>) -> !model.tensor<[6], f32>
  return %out : !model.tensor<[6], f32>
}
)mlir",
                  {{"x", reals({6}, {-2.5, -0.5, 0, 0.3, 1.7, 4})}}),
              "out",
      reals({6}, {-0.1896454500531, -0.1887703343991, 0, 0.1723327550435, 1.437409049358, 3.928055160152}));
}

TEST(Elementwise, Unary_relu2) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[6], f32> {model.name = "x"}) -> (!model.tensor<[6], f32> {model.name = "out"}) {
  %out = model.unary relu2 %x : (!model.tensor<[6], f32>) -> !model.tensor<[6], f32>
  return %out : !model.tensor<[6], f32>
}
)mlir",
                  {{"x", reals({6}, {-2.5, -0.5, 0, 0.3, 1.7, 4})}}),
              "out",
      reals({6}, {0, 0, 0, 0.09, 2.89, 16}));
}

TEST(Elementwise, Unary_softplus) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[6], f32> {model.name = "x"}) -> (!model.tensor<[6], f32> {model.name = "out"}) {
  %out = model.unary softplus %x : (!model.tensor<[6], f32>) -> !model.tensor<[6], f32>
  return %out : !model.tensor<[6], f32>
}
)mlir",
                  {{"x", reals({6}, {-2.5, -0.5, 0, 0.3, 1.7, 4})}}),
              "out",
      reals({6}, {0.07888973429255, 0.4740769841801, 0.6931471805599, 0.8543552444685, 1.867786029386, 4.018149927918}));
}

TEST(Elementwise, Unary_bf16) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[6], f32> {model.name = "x"}) -> (!model.tensor<[6], f32> {model.name = "out"}) {
  %out = model.unary bf16 %x : (!model.tensor<[6], f32>) -> !model.tensor<[6], f32>
  return %out : !model.tensor<[6], f32>
}
)mlir",
                  {{"x", reals({6}, {1.00390625, 3.3, -1.01171875, 100000, -7e-05, 0.3333333333333})}}),
              "out",
      reals({6}, {1, 3.296875, -1.015625, 99840, -7.009506225586e-05, 0.333984375}));
}

TEST(Elementwise, Unary_sqrt) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[4], f32> {model.name = "x"}) -> (!model.tensor<[4], f32> {model.name = "out"}) {
  %out = model.unary sqrt %x : (!model.tensor<[4], f32>) -> !model.tensor<[4], f32>
  return %out : !model.tensor<[4], f32>
}
)mlir",
                  {{"x", reals({4}, {-1, 0, 0.25, 7})}}),
              "out",
      reals({4}, {NAN, 0, 0.5, 2.645751311065}));
}

TEST(Elementwise, Unary_log) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[4], f32> {model.name = "x"}) -> (!model.tensor<[4], f32> {model.name = "out"}) {
  %out = model.unary log %x : (!model.tensor<[4], f32>) -> !model.tensor<[4], f32>
  return %out : !model.tensor<[4], f32>
}
)mlir",
                  {{"x", reals({4}, {-1, 0, 0.25, 7})}}),
              "out",
      reals({4}, {NAN, -INFINITY, -1.38629436112, 1.945910149055}));
}

TEST(Elementwise, UnaryNot) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[2], i1> {model.name = "x"}) -> (!model.tensor<[2], i1> {model.name = "out"}) {
  %out = model.unary not %x : (!model.tensor<[2], i1>) -> !model.tensor<[2], i1>
  return %out : !model.tensor<[2], i1>
}
)mlir",
                  {{"x", bools({2}, {1, 0})}}),
              "out",
      bools({2}, {0, 1}));
}

TEST(Elementwise, UnaryIntegers) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[3], i64> {model.name = "x"}) -> (!model.tensor<[3], i64> {model.name = "out"}) {
  %y = model.unary neg %x : (!model.tensor<[3], i64>) -> !model.tensor<[3], i64>
  %z = model.unary abs %x : (!model.tensor<[3], i64>) -> !model.tensor<[3], i64>
  %out = model.binary add %y, %z : (!model.tensor<[3], i64>, !model.tensor<[3], i64>) -> !model.tensor<[3], i64>
  return %out : !model.tensor<[3], i64>
}
)mlir",
                  {{"x", ints({3}, {-3, 0, 5})}}),
              "out",
      ints({3}, {6, 0, 0}));
}

TEST(Elementwise, ReluKeepsNaN) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[2], f32> {model.name = "x"}) -> (!model.tensor<[2], f32> {model.name = "out"}) {
  %out = model.unary relu %x : (!model.tensor<[2], f32>) -> !model.tensor<[2], f32>
  return %out : !model.tensor<[2], f32>
}
)mlir",
                  {{"x", reals({2}, {NAN, -1})}}),
              "out",
      reals({2}, {NAN, 0}));
}

TEST(Elementwise, Binary_add_stretches) {
  expectClose(run(R"mlir(
func.func @run(%a: !model.tensor<[3, 1], f32> {model.name = "a"}, %b: !model.tensor<[2], f32> {model.name = "b"}) -> (!model.tensor<[3, 2], f32> {model.name = "out"}) {
  %out = model.binary add %a, %b : (!model.tensor<[3, 1], f32>, !model.tensor<[2], f32>) -> !model.tensor<[3, 2], f32>
  return %out : !model.tensor<[3, 2], f32>
}
)mlir",
                  {{"a", reals({3, 1}, {1.5, -2.25, 3})},
                   {"b", reals({2}, {2, -0.75})}}),
              "out",
      reals({3, 2}, {3.5, 0.75, -0.25, -3, 5, 2.25}));
}

TEST(Elementwise, Binary_sub_stretches) {
  expectClose(run(R"mlir(
func.func @run(%a: !model.tensor<[3, 1], f32> {model.name = "a"}, %b: !model.tensor<[2], f32> {model.name = "b"}) -> (!model.tensor<[3, 2], f32> {model.name = "out"}) {
  %out = model.binary sub %a, %b : (!model.tensor<[3, 1], f32>, !model.tensor<[2], f32>) -> !model.tensor<[3, 2], f32>
  return %out : !model.tensor<[3, 2], f32>
}
)mlir",
                  {{"a", reals({3, 1}, {1.5, -2.25, 3})},
                   {"b", reals({2}, {2, -0.75})}}),
              "out",
      reals({3, 2}, {-0.5, 2.25, -4.25, -1.5, 1, 3.75}));
}

TEST(Elementwise, Binary_mul_stretches) {
  expectClose(run(R"mlir(
func.func @run(%a: !model.tensor<[3, 1], f32> {model.name = "a"}, %b: !model.tensor<[2], f32> {model.name = "b"}) -> (!model.tensor<[3, 2], f32> {model.name = "out"}) {
  %out = model.binary mul %a, %b : (!model.tensor<[3, 1], f32>, !model.tensor<[2], f32>) -> !model.tensor<[3, 2], f32>
  return %out : !model.tensor<[3, 2], f32>
}
)mlir",
                  {{"a", reals({3, 1}, {1.5, -2.25, 3})},
                   {"b", reals({2}, {2, -0.75})}}),
              "out",
      reals({3, 2}, {3, -1.125, -4.5, 1.6875, 6, -2.25}));
}

TEST(Elementwise, Binary_div_stretches) {
  expectClose(run(R"mlir(
func.func @run(%a: !model.tensor<[3, 1], f32> {model.name = "a"}, %b: !model.tensor<[2], f32> {model.name = "b"}) -> (!model.tensor<[3, 2], f32> {model.name = "out"}) {
  %out = model.binary div %a, %b : (!model.tensor<[3, 1], f32>, !model.tensor<[2], f32>) -> !model.tensor<[3, 2], f32>
  return %out : !model.tensor<[3, 2], f32>
}
)mlir",
                  {{"a", reals({3, 1}, {1.5, -2.25, 3})},
                   {"b", reals({2}, {2, -0.75})}}),
              "out",
      reals({3, 2}, {0.75, -2, -1.125, 3, 1.5, -4}));
}

TEST(Elementwise, Binary_floordiv_stretches) {
  expectClose(run(R"mlir(
func.func @run(%a: !model.tensor<[3, 1], f32> {model.name = "a"}, %b: !model.tensor<[2], f32> {model.name = "b"}) -> (!model.tensor<[3, 2], f32> {model.name = "out"}) {
  %out = model.binary floordiv %a, %b : (!model.tensor<[3, 1], f32>, !model.tensor<[2], f32>) -> !model.tensor<[3, 2], f32>
  return %out : !model.tensor<[3, 2], f32>
}
)mlir",
                  {{"a", reals({3, 1}, {1.5, -2.25, 3})},
                   {"b", reals({2}, {2, -0.75})}}),
              "out",
      reals({3, 2}, {0, -2, -2, 3, 1, -4}));
}

TEST(Elementwise, Binary_mod_stretches) {
  expectClose(run(R"mlir(
func.func @run(%a: !model.tensor<[3, 1], f32> {model.name = "a"}, %b: !model.tensor<[2], f32> {model.name = "b"}) -> (!model.tensor<[3, 2], f32> {model.name = "out"}) {
  %out = model.binary mod %a, %b : (!model.tensor<[3, 1], f32>, !model.tensor<[2], f32>) -> !model.tensor<[3, 2], f32>
  return %out : !model.tensor<[3, 2], f32>
}
)mlir",
                  {{"a", reals({3, 1}, {1.5, -2.25, 3})},
                   {"b", reals({2}, {2, -0.75})}}),
              "out",
      reals({3, 2}, {1.5, 0, 1.75, 0, 1, 0}));
}

TEST(Elementwise, Binary_pow_stretches) {
  expectClose(run(R"mlir(
func.func @run(%a: !model.tensor<[3, 1], f32> {model.name = "a"}, %b: !model.tensor<[2], f32> {model.name = "b"}) -> (!model.tensor<[3, 2], f32> {model.name = "out"}) {
  %out = model.binary pow %a, %b : (!model.tensor<[3, 1], f32>, !model.tensor<[2], f32>) -> !model.tensor<[3, 2], f32>
  return %out : !model.tensor<[3, 2], f32>
}
)mlir",
                  {{"a", reals({3, 1}, {1.5, -2.25, 3})},
                   {"b", reals({2}, {2, -1})}}),
              "out",
      reals({3, 2}, {2.25, 0.6666666666667, 5.0625, -0.4444444444444, 9, 0.3333333333333}));
}

TEST(Elementwise, Binary_min_stretches) {
  expectClose(run(R"mlir(
func.func @run(%a: !model.tensor<[3, 1], f32> {model.name = "a"}, %b: !model.tensor<[2], f32> {model.name = "b"}) -> (!model.tensor<[3, 2], f32> {model.name = "out"}) {
  %out = model.binary min %a, %b : (!model.tensor<[3, 1], f32>, !model.tensor<[2], f32>) -> !model.tensor<[3, 2], f32>
  return %out : !model.tensor<[3, 2], f32>
}
)mlir",
                  {{"a", reals({3, 1}, {1.5, -2.25, 3})},
                   {"b", reals({2}, {2, -0.75})}}),
              "out",
      reals({3, 2}, {1.5, -0.75, -2.25, -2.25, 2, -0.75}));
}

TEST(Elementwise, Binary_max_stretches) {
  expectClose(run(R"mlir(
func.func @run(%a: !model.tensor<[3, 1], f32> {model.name = "a"}, %b: !model.tensor<[2], f32> {model.name = "b"}) -> (!model.tensor<[3, 2], f32> {model.name = "out"}) {
  %out = model.binary max %a, %b : (!model.tensor<[3, 1], f32>, !model.tensor<[2], f32>) -> !model.tensor<[3, 2], f32>
  return %out : !model.tensor<[3, 2], f32>
}
)mlir",
                  {{"a", reals({3, 1}, {1.5, -2.25, 3})},
                   {"b", reals({2}, {2, -0.75})}}),
              "out",
      reals({3, 2}, {2, 1.5, 2, -0.75, 3, 3}));
}

TEST(Elementwise, Binary_floordiv_integers) {
  expectClose(run(R"mlir(
func.func @run(%a: !model.tensor<[5], i64> {model.name = "a"}, %b: !model.tensor<[5], i64> {model.name = "b"}) -> (!model.tensor<[5], i64> {model.name = "out"}) {
  %out = model.binary floordiv %a, %b : (!model.tensor<[5], i64>, !model.tensor<[5], i64>) -> !model.tensor<[5], i64>
  return %out : !model.tensor<[5], i64>
}
)mlir",
                  {{"a", ints({5}, {7, -7, 7, -7, 0})},
                   {"b", ints({5}, {3, 3, -3, -3, 5})}}),
              "out",
      ints({5}, {2, -3, -3, 2, 0}));
}

TEST(Elementwise, Binary_mod_integers) {
  expectClose(run(R"mlir(
func.func @run(%a: !model.tensor<[5], i64> {model.name = "a"}, %b: !model.tensor<[5], i64> {model.name = "b"}) -> (!model.tensor<[5], i64> {model.name = "out"}) {
  %out = model.binary mod %a, %b : (!model.tensor<[5], i64>, !model.tensor<[5], i64>) -> !model.tensor<[5], i64>
  return %out : !model.tensor<[5], i64>
}
)mlir",
                  {{"a", ints({5}, {7, -7, 7, -7, 0})},
                   {"b", ints({5}, {3, 3, -3, -3, 5})}}),
              "out",
      ints({5}, {1, 2, -2, -1, 0}));
}

TEST(Elementwise, Binary_add_integers) {
  expectClose(run(R"mlir(
func.func @run(%a: !model.tensor<[5], i64> {model.name = "a"}, %b: !model.tensor<[5], i64> {model.name = "b"}) -> (!model.tensor<[5], i64> {model.name = "out"}) {
  %out = model.binary add %a, %b : (!model.tensor<[5], i64>, !model.tensor<[5], i64>) -> !model.tensor<[5], i64>
  return %out : !model.tensor<[5], i64>
}
)mlir",
                  {{"a", ints({5}, {7, -7, 7, -7, 0})},
                   {"b", ints({5}, {3, 3, -3, -3, 5})}}),
              "out",
      ints({5}, {10, -4, 4, -10, 5}));
}

TEST(Elementwise, Binary_sub_integers) {
  expectClose(run(R"mlir(
func.func @run(%a: !model.tensor<[5], i64> {model.name = "a"}, %b: !model.tensor<[5], i64> {model.name = "b"}) -> (!model.tensor<[5], i64> {model.name = "out"}) {
  %out = model.binary sub %a, %b : (!model.tensor<[5], i64>, !model.tensor<[5], i64>) -> !model.tensor<[5], i64>
  return %out : !model.tensor<[5], i64>
}
)mlir",
                  {{"a", ints({5}, {7, -7, 7, -7, 0})},
                   {"b", ints({5}, {3, 3, -3, -3, 5})}}),
              "out",
      ints({5}, {4, -10, 10, -4, -5}));
}

TEST(Elementwise, Binary_mul_integers) {
  expectClose(run(R"mlir(
func.func @run(%a: !model.tensor<[5], i64> {model.name = "a"}, %b: !model.tensor<[5], i64> {model.name = "b"}) -> (!model.tensor<[5], i64> {model.name = "out"}) {
  %out = model.binary mul %a, %b : (!model.tensor<[5], i64>, !model.tensor<[5], i64>) -> !model.tensor<[5], i64>
  return %out : !model.tensor<[5], i64>
}
)mlir",
                  {{"a", ints({5}, {7, -7, 7, -7, 0})},
                   {"b", ints({5}, {3, 3, -3, -3, 5})}}),
              "out",
      ints({5}, {21, -21, -21, 21, 0}));
}

TEST(Elementwise, Binary_min_integers) {
  expectClose(run(R"mlir(
func.func @run(%a: !model.tensor<[5], i64> {model.name = "a"}, %b: !model.tensor<[5], i64> {model.name = "b"}) -> (!model.tensor<[5], i64> {model.name = "out"}) {
  %out = model.binary min %a, %b : (!model.tensor<[5], i64>, !model.tensor<[5], i64>) -> !model.tensor<[5], i64>
  return %out : !model.tensor<[5], i64>
}
)mlir",
                  {{"a", ints({5}, {7, -7, 7, -7, 0})},
                   {"b", ints({5}, {3, 3, -3, -3, 5})}}),
              "out",
      ints({5}, {3, -7, -3, -7, 0}));
}

TEST(Elementwise, Binary_max_integers) {
  expectClose(run(R"mlir(
func.func @run(%a: !model.tensor<[5], i64> {model.name = "a"}, %b: !model.tensor<[5], i64> {model.name = "b"}) -> (!model.tensor<[5], i64> {model.name = "out"}) {
  %out = model.binary max %a, %b : (!model.tensor<[5], i64>, !model.tensor<[5], i64>) -> !model.tensor<[5], i64>
  return %out : !model.tensor<[5], i64>
}
)mlir",
                  {{"a", ints({5}, {7, -7, 7, -7, 0})},
                   {"b", ints({5}, {3, 3, -3, -3, 5})}}),
              "out",
      ints({5}, {7, 3, 7, -3, 5}));
}

TEST(Elementwise, DividesByZeroTo0) {
  expectClose(run(R"mlir(
func.func @run(%a: !model.tensor<[2], i64> {model.name = "a"}, %b: !model.tensor<[2], i64> {model.name = "b"}) -> (!model.tensor<[2], i64> {model.name = "out"}) {
  %out = model.binary floordiv %a, %b : (!model.tensor<[2], i64>, !model.tensor<[2], i64>) -> !model.tensor<[2], i64>
  return %out : !model.tensor<[2], i64>
}
)mlir",
                  {{"a", ints({2}, {7, -7})},
                   {"b", ints({2}, {0, 0})}}),
              "out",
      ints({2}, {0, 0}));
}

TEST(Elementwise, MinMaxCarryNaN) {
  expectClose(run(R"mlir(
func.func @run(%a: !model.tensor<[3], f32> {model.name = "a"}, %b: !model.tensor<[3], f32> {model.name = "b"}) -> (!model.tensor<[3], f32> {model.name = "out"}) {
  %m = model.binary min %a, %b : (!model.tensor<[3], f32>, !model.tensor<[3], f32>) -> !model.tensor<[3], f32>
  %n = model.binary max %a, %b : (!model.tensor<[3], f32>, !model.tensor<[3], f32>) -> !model.tensor<[3], f32>
  %out = model.binary sub %n, %m : (!model.tensor<[3], f32>, !model.tensor<[3], f32>) -> !model.tensor<[3], f32>
  return %out : !model.tensor<[3], f32>
}
)mlir",
                  {{"a", reals({3}, {NAN, 1, 2})},
                   {"b", reals({3}, {1, NAN, 3})}}),
              "out",
      reals({3}, {NAN, NAN, 1}));
}

TEST(Elementwise, Logic) {
  expectClose(run(R"mlir(
func.func @run(%a: !model.tensor<[4], i1> {model.name = "a"}, %b: !model.tensor<[4], i1> {model.name = "b"}) -> (!model.tensor<[4], i1> {model.name = "out"}) {
  %x = model.binary and %a, %b : (!model.tensor<[4], i1>, !model.tensor<[4], i1>) -> !model.tensor<[4], i1>
  %n = model.unary not %x : (!model.tensor<[4], i1>) -> !model.tensor<[4], i1>
  %o = model.binary or %a, %b : (!model.tensor<[4], i1>, !model.tensor<[4], i1>) -> !model.tensor<[4], i1>
  %out = model.binary and %n, %o : (!model.tensor<[4], i1>, !model.tensor<[4], i1>) -> !model.tensor<[4], i1>
  return %out : !model.tensor<[4], i1>
}
)mlir",
                  {{"a", bools({4}, {1, 1, 0, 0})},
                   {"b", bools({4}, {1, 0, 1, 0})}}),
              "out",
      bools({4}, {0, 1, 1, 0}));
}

TEST(Elementwise, Compare_eq) {
  expectClose(run(R"mlir(
func.func @run(%a: !model.tensor<[4], f32> {model.name = "a"}, %b: !model.tensor<[2, 1], f32> {model.name = "b"}) -> (!model.tensor<[2, 4], i1> {model.name = "out"}) {
  %out = model.compare eq %a, %b : (!model.tensor<[4], f32>, !model.tensor<[2, 1], f32>) -> !model.tensor<[2, 4], i1>
  return %out : !model.tensor<[2, 4], i1>
}
)mlir",
                  {{"a", reals({4}, {1, 2, NAN, 3})},
                   {"b", reals({2, 1}, {2, NAN})}}),
              "out",
      bools({2, 4}, {0, 1, 0, 0, 0, 0, 0, 0}));
}

TEST(Elementwise, Compare_ne) {
  expectClose(run(R"mlir(
func.func @run(%a: !model.tensor<[4], f32> {model.name = "a"}, %b: !model.tensor<[2, 1], f32> {model.name = "b"}) -> (!model.tensor<[2, 4], i1> {model.name = "out"}) {
  %out = model.compare ne %a, %b : (!model.tensor<[4], f32>, !model.tensor<[2, 1], f32>) -> !model.tensor<[2, 4], i1>
  return %out : !model.tensor<[2, 4], i1>
}
)mlir",
                  {{"a", reals({4}, {1, 2, NAN, 3})},
                   {"b", reals({2, 1}, {2, NAN})}}),
              "out",
      bools({2, 4}, {1, 0, 1, 1, 1, 1, 1, 1}));
}

TEST(Elementwise, Compare_lt) {
  expectClose(run(R"mlir(
func.func @run(%a: !model.tensor<[4], f32> {model.name = "a"}, %b: !model.tensor<[2, 1], f32> {model.name = "b"}) -> (!model.tensor<[2, 4], i1> {model.name = "out"}) {
  %out = model.compare lt %a, %b : (!model.tensor<[4], f32>, !model.tensor<[2, 1], f32>) -> !model.tensor<[2, 4], i1>
  return %out : !model.tensor<[2, 4], i1>
}
)mlir",
                  {{"a", reals({4}, {1, 2, NAN, 3})},
                   {"b", reals({2, 1}, {2, NAN})}}),
              "out",
      bools({2, 4}, {1, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(Elementwise, Compare_le) {
  expectClose(run(R"mlir(
func.func @run(%a: !model.tensor<[4], f32> {model.name = "a"}, %b: !model.tensor<[2, 1], f32> {model.name = "b"}) -> (!model.tensor<[2, 4], i1> {model.name = "out"}) {
  %out = model.compare le %a, %b : (!model.tensor<[4], f32>, !model.tensor<[2, 1], f32>) -> !model.tensor<[2, 4], i1>
  return %out : !model.tensor<[2, 4], i1>
}
)mlir",
                  {{"a", reals({4}, {1, 2, NAN, 3})},
                   {"b", reals({2, 1}, {2, NAN})}}),
              "out",
      bools({2, 4}, {1, 1, 0, 0, 0, 0, 0, 0}));
}

TEST(Elementwise, Compare_gt) {
  expectClose(run(R"mlir(
func.func @run(%a: !model.tensor<[4], f32> {model.name = "a"}, %b: !model.tensor<[2, 1], f32> {model.name = "b"}) -> (!model.tensor<[2, 4], i1> {model.name = "out"}) {
  %out = model.compare gt %a, %b : (!model.tensor<[4], f32>, !model.tensor<[2, 1], f32>) -> !model.tensor<[2, 4], i1>
  return %out : !model.tensor<[2, 4], i1>
}
)mlir",
                  {{"a", reals({4}, {1, 2, NAN, 3})},
                   {"b", reals({2, 1}, {2, NAN})}}),
              "out",
      bools({2, 4}, {0, 0, 0, 1, 0, 0, 0, 0}));
}

TEST(Elementwise, Compare_ge) {
  expectClose(run(R"mlir(
func.func @run(%a: !model.tensor<[4], f32> {model.name = "a"}, %b: !model.tensor<[2, 1], f32> {model.name = "b"}) -> (!model.tensor<[2, 4], i1> {model.name = "out"}) {
  %out = model.compare ge %a, %b : (!model.tensor<[4], f32>, !model.tensor<[2, 1], f32>) -> !model.tensor<[2, 4], i1>
  return %out : !model.tensor<[2, 4], i1>
}
)mlir",
                  {{"a", reals({4}, {1, 2, NAN, 3})},
                   {"b", reals({2, 1}, {2, NAN})}}),
              "out",
      bools({2, 4}, {0, 1, 0, 1, 0, 0, 0, 0}));
}

TEST(Elementwise, SelectStretchesAll) {
  expectClose(run(R"mlir(
func.func @run(%c: !model.tensor<[2, 1], i1> {model.name = "c"}, %a: !model.tensor<[2], f32> {model.name = "a"}, %b: !model.tensor<[], f32> {model.name = "b"}) -> (!model.tensor<[2, 2], f32> {model.name = "out"}) {
  %out = model.select %c, %a, %b : (!model.tensor<[2, 1], i1>, !model.tensor<[2], f32>, !model.tensor<[], f32>) -> !model.tensor<[2, 2], f32>
  return %out : !model.tensor<[2, 2], f32>
}
)mlir",
                  {{"c", bools({2, 1}, {1, 0})},
                   {"a", reals({2}, {1, 2})},
                   {"b", reals({}, {9})}}),
              "out",
      reals({2, 2}, {1, 2, 9, 9}));
}

TEST(Elementwise, CastToInteger) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[4], f32> {model.name = "x"}) -> (!model.tensor<[4], i64> {model.name = "out"}) {
  %out = model.cast %x : !model.tensor<[4], f32> -> !model.tensor<[4], i64>
  return %out : !model.tensor<[4], i64>
}
)mlir",
                  {{"x", reals({4}, {-1.9, 1.9, 0, 3})}}),
              "out",
      ints({4}, {-1, 1, 0, 3}));
}

TEST(Elementwise, CastToBool) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[3], f32> {model.name = "x"}) -> (!model.tensor<[3], i1> {model.name = "out"}) {
  %out = model.cast %x : !model.tensor<[3], f32> -> !model.tensor<[3], i1>
  return %out : !model.tensor<[3], i1>
}
)mlir",
                  {{"x", reals({3}, {-1.9, 0, NAN})}}),
              "out",
      bools({3}, {1, 0, 1}));
}

TEST(Elementwise, CastOfBool) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[2], i1> {model.name = "x"}) -> (!model.tensor<[2], f32> {model.name = "out"}) {
  %out = model.cast %x : !model.tensor<[2], i1> -> !model.tensor<[2], f32>
  return %out : !model.tensor<[2], f32>
}
)mlir",
                  {{"x", bools({2}, {1, 0})}}),
              "out",
      reals({2}, {1, 0}));
}

TEST(Elementwise, MapOnScalars) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[2, 3], f32> {model.name = "x"}, %n: !model.tensor<[3], i64> {model.name = "n"}) -> (!model.tensor<[2, 3], f32> {model.name = "out"}) {
  %out = model.map %x, %n : (!model.tensor<[2, 3], f32>, !model.tensor<[3], i64>) -> !model.tensor<[2, 3], f32> {
  ^bb0(%a: f32, %i: i64):
  %two = arith.constant 2.5 : f32
  %three = arith.constant 3 : i64
  %q = arith.floordivsi %i, %three : i64
  %f = arith.sitofp %q : i64 to f32
  %g = model.function gelu %a : f32 -> f32
  %m = arith.mulf %g, %two : f32
  %lt = arith.cmpf olt, %a, %f : f32
  %s = arith.select %lt, %m, %f : f32
  %e = math.exp %s : f32
  model.yield %e : f32
  }
  return %out : !model.tensor<[2, 3], f32>
}
)mlir",
                  {{"x", fill({2, 3}, 1)},
                   {"n", ints({3}, {5, -7, 2})}}),
              "out",
      reals({2, 3}, {1, 0.04978706836786, 1, 0.6799935790654, 0.04978706836786, 1}));
}
