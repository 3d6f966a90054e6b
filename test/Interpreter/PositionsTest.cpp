//===- PositionsTest.cpp - positions and reductions -------------------------===//
//
// Expected numbers were computed with numpy (float64) from the formulas of the language.
//
//===----------------------------------------------------------------------===//

#include "test/Interpreter/Support.h"

using namespace heddle;
using namespace heddle::check;

// clang-format off: expected values are written as matrices
TEST(Positions, SinusoidalInterleaved) {
  expectClose(run(R"mlir(
func.func @run(%p: !model.tensor<[2, 2], i64> {model.name = "p"}) -> (!model.tensor<[2, 2, 4], f32> {model.name = "out"}) {
  %out = model.sinusoidal %p width 4 theta 10000.0 : (!model.tensor<[2, 2], i64>) -> !model.tensor<[2, 2, 4], f32>
  return %out : !model.tensor<[2, 2, 4], f32>
}
)mlir",
                  {{"p", ints({2, 2}, {0, 3, 1, 7})}}),
              "out",
      reals({2, 2, 4}, {0, 1, 0, 1, 0.1411200080599, -0.9899924966004, 0.0299955002025, 0.999550033749, 0.8414709848079,
          0.5403023058681, 0.009999833334167, 0.9999500004167, 0.6569865987188, 0.7539022543433,
          0.06994284733753, 0.9975510002533}));
}

TEST(Positions, SinusoidalHalves) {
  expectClose(run(R"mlir(
func.func @run(%p: !model.tensor<[2, 2], i64> {model.name = "p"}) -> (!model.tensor<[2, 2, 4], f32> {model.name = "out"}) {
  %out = model.sinusoidal %p width 4 halves theta 50.0 : (!model.tensor<[2, 2], i64>) -> !model.tensor<[2, 2, 4], f32>
  return %out : !model.tensor<[2, 2, 4], f32>
}
)mlir",
                  {{"p", ints({2, 2}, {0, 3, 1, 7})}}),
              "out",
      reals({2, 2, 4}, {0, 0, 1, 1, 0.1411200080599, 0.4116502082403, -0.9899924966004, 0.9113419259837, 0.8414709848079,
          0.1409504228966, 0.5403023058681, 0.9900166555595, 0.6569865987188, 0.8359982652182, 0.7539022543433,
          0.5487320844931}));
}

TEST(Positions, Rotary_halves) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[1, 2, 10], f32> {model.name = "x"}, %p: !model.tensor<[1, 2], i64> {model.name = "p"}, %f: !model.tensor<[2], f32> {model.name = "f"}, %a: !model.tensor<[], f32> {model.name = "a"}) -> (!model.tensor<[1, 2, 10], f32> {model.name = "out"}) {
  %out = model.rotary %x at %p by %f amplitude %a head_width 5 : (!model.tensor<[1, 2, 10], f32>, !model.tensor<[1, 2], i64>, !model.tensor<[2], f32>, !model.tensor<[], f32>) -> !model.tensor<[1, 2, 10], f32>
  return %out : !model.tensor<[1, 2, 10], f32>
}
)mlir",
                  {{"x", fill({1, 2, 10}, 1)},
                   {"p", ints({1, 2}, {1, 5})},
                   {"f", reals({2}, {1, 0.25})},
                   {"a", reals({}, {1.5})}}),
              "out",
      reals({1, 2, 10}, {-0.7888790482574, -1.449486742196, 0.5065334117514, -1.144178497525, 1.25, -0.8453481755586,
          -1.314203905485, 0.7656159037531, -0.916119176094, 1.375, 1.364961430044, -0.05799136838545,
          0.01271001542181, -1.363788198802, -1.375, 1.597946391318, -0.1768030415655, -0.1139016263032,
          -1.126730639724, -1.25}));
}

TEST(Positions, Rotary_pairs) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[1, 2, 10], f32> {model.name = "x"}, %p: !model.tensor<[1, 2], i64> {model.name = "p"}, %f: !model.tensor<[2], f32> {model.name = "f"}, %a: !model.tensor<[], f32> {model.name = "a"}) -> (!model.tensor<[1, 2, 10], f32> {model.name = "out"}) {
  %out = model.rotary %x at %p by %f amplitude %a head_width 5 pairs : (!model.tensor<[1, 2, 10], f32>, !model.tensor<[1, 2], i64>, !model.tensor<[2], f32>, !model.tensor<[], f32>) -> !model.tensor<[1, 2, 10], f32>
  return %out : !model.tensor<[1, 2, 10], f32>
}
)mlir",
                  {{"x", fill({1, 2, 10}, 1)},
                   {"p", ints({1, 2}, {1, 5})},
                   {"f", reals({2}, {1, 0.25})},
                   {"a", reals({}, {1.5})}}),
              "out",
      reals({1, 2, 10}, {1.419982286863, -0.9117601411525, 1.093908364795, -0.4947431044819, 1.25, 1.363513159562,
          -0.6526776491507, 1.229191201505, -0.2666837830509, 1.375, -1.152214790947, -0.7319032214192,
          0.7697298329021, 1.127296427006, -1.375, -0.919229829673, -0.8585148631441, 0.6509181597221,
          1.364353986084, -1.25}));
}

TEST(Positions, RotaryPositionsOfRank1) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[2, 2, 4], f32> {model.name = "x"}, %p: !model.tensor<[2], f32> {model.name = "p"}, %f: !model.tensor<[2], f32> {model.name = "f"}, %a: !model.tensor<[], f32> {model.name = "a"}) -> (!model.tensor<[2, 2, 4], f32> {model.name = "out"}) {
  %out = model.rotary %x at %p by %f amplitude %a head_width 4 : (!model.tensor<[2, 2, 4], f32>, !model.tensor<[2], f32>, !model.tensor<[2], f32>, !model.tensor<[], f32>) -> !model.tensor<[2, 2, 4], f32>
  return %out : !model.tensor<[2, 2, 4], f32>
}
)mlir",
                  {{"x", fill({2, 2, 4}, 1)},
                   {"p", reals({2}, {1, 5})},
                   {"f", reals({2}, {1, 0.25})},
                   {"a", reals({}, {1})}}),
              "out",
      reals({2, 2, 4}, {-0.5259193655049, -0.9663244947972, 0.3376889411676, -0.7627856650167, -0.6043465428341,
          -0.6723231692173, -1.482317528792, 0.3551148492159, -0.4129811109025, 1.5487330442, -0.1804760428359,
          -0.5076179250218, -1.070316465381, -0.4346998228572, -1.229094245342, -0.1190002689407}));
}

TEST(Positions, RotaryFrequenciesOfEachBatch) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[2, 2, 4], f32> {model.name = "x"}, %p: !model.tensor<[2, 2], i64> {model.name = "p"}, %f: !model.tensor<[2, 1, 2], f32> {model.name = "f"}, %a: !model.tensor<[], f32> {model.name = "a"}) -> (!model.tensor<[2, 2, 4], f32> {model.name = "out"}) {
  %out = model.rotary %x at %p by %f amplitude %a head_width 4 : (!model.tensor<[2, 2, 4], f32>, !model.tensor<[2, 2], i64>, !model.tensor<[2, 1, 2], f32>, !model.tensor<[], f32>) -> !model.tensor<[2, 2, 4], f32>
  return %out : !model.tensor<[2, 2, 4], f32>
}
)mlir",
                  {{"x", fill({2, 2, 4}, 1)},
                   {"p", ints({2, 2}, {1, 5, 2, 3})},
                   {"f", reals({2, 1, 2}, {1, 0.25, 0.5, 0.125})},
                   {"a", reals({}, {1})}}),
              "out",
      reals({2, 2, 4}, {-0.5259193655049, -0.9663244947972, 0.3376889411676, -0.7627856650167, -0.6043465428341,
          -0.6723231692173, -1.482317528792, 0.3551148492159, -0.4129811109025, 1.5487330442, -0.1804760428359,
          -0.5076179250218, 1.43345065804, -0.3699791038853, 0.7755444609855, 0.2573722259456}));
}

TEST(Positions, InterpolateBilinear) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[1, 2, 3, 2], f32> {model.name = "x"}) -> (!model.tensor<[1, 3, 2, 2], f32> {model.name = "out"}) {
  %out = model.interpolate %x to ["3", "2"] : (!model.tensor<[1, 2, 3, 2], f32>) -> !model.tensor<[1, 3, 2, 2], f32>
  return %out : !model.tensor<[1, 3, 2, 2], f32>
}
)mlir",
                  {{"x", fill({1, 2, 3, 2}, 1)}}),
              "out",
      reals({1, 3, 2, 2}, {0.15625, -0.96875, 1.09375, -0.03125, -0.34375, -0.03125, 0.59375, -0.171875, -0.84375, 0.90625,
          0.09375, -0.3125}));
}

TEST(Positions, InterpolateBicubic) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[1, 2, 3, 2], f32> {model.name = "x"}) -> (!model.tensor<[1, 3, 4, 2], f32> {model.name = "out"}) {
  %out = model.interpolate %x to ["3", "4"] bicubic : (!model.tensor<[1, 2, 3, 2], f32>) -> !model.tensor<[1, 3, 4, 2], f32>
  return %out : !model.tensor<[1, 3, 4, 2], f32>
}
)mlir",
                  {{"x", fill({1, 2, 3, 2}, 1)}}),
              "out",
      reals({1, 3, 4, 2}, {0.0419447157118, -1.33262125651, 0.4179212782118, -0.9840628306071, 1.005689832899, -0.2789446512858,
          1.381666395399, 0.2745795779758, -0.5448608398438, -0.2323608398438, -0.1688842773438, 0.3015441894531,
          0.4188842773438, 0.21337890625, 0.7948608398438, -0.4333190917969, -1.131666395399, 0.8678995768229,
          -0.7556898328993, 1.587151209513, -0.1679212782118, 0.7057024637858, 0.2080552842882, -1.14121776157}));
}

TEST(Positions, InterpolateScales) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[1, 2, 3, 2], f32> {model.name = "x"}, %s: !model.tensor<[], f32> {model.name = "s"}, %t: !model.tensor<[], f32> {model.name = "t"}) -> (!model.tensor<[1, 3, 2, 2], f32> {model.name = "out"}) {
  %out = model.interpolate %x to ["3", "2"] scales %s, %t bicubic : (!model.tensor<[1, 2, 3, 2], f32>, !model.tensor<[], f32>, !model.tensor<[], f32>) -> !model.tensor<[1, 3, 2, 2], f32>
  return %out : !model.tensor<[1, 3, 2, 2], f32>
}
)mlir",
                  {{"x", fill({1, 2, 3, 2}, 1)},
                   {"s", reals({}, {1.6})},
                   {"t", reals({}, {0.7})}}),
              "out",
      reals({1, 3, 2, 2}, {0.194818346563, -1.204302795427, 1.168305955892, -0.04763816466484, -0.3278256964058, -0.1836862605793,
          0.6456619129237, -0.05828056113018, -0.939214856562, 1.010231271777, 0.0342727527674, -0.0707300397467}));
}

TEST(Reductions, MeanOfTwoAxes) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[2, 3, 2], f32> {model.name = "x"}) -> (!model.tensor<[3], f32> {model.name = "out"}) {
  %out = model.reduce mean %x axes [0, 2] : (!model.tensor<[2, 3, 2], f32>) -> !model.tensor<[3], f32>
  return %out : !model.tensor<[3], f32>
}
)mlir",
                  {{"x", fill({2, 3, 2}, 1)}}),
              "out",
      reals({3}, {-0.34375, 0.28125, 0.1875}));
}

TEST(Reductions, SumKeep) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[2, 3, 2], f32> {model.name = "x"}) -> (!model.tensor<[2, 1, 2], f32> {model.name = "out"}) {
  %out = model.reduce sum %x axes [1] keep : (!model.tensor<[2, 3, 2], f32>) -> !model.tensor<[2, 1, 2], f32>
  return %out : !model.tensor<[2, 1, 2], f32>
}
)mlir",
                  {{"x", fill({2, 3, 2}, 1)}}),
              "out",
      reals({2, 1, 2}, {1.875, -1.5, -1.125, 1.25}));
}

TEST(Reductions, SumOfIntegers) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[2, 3], i64> {model.name = "x"}) -> (!model.tensor<[2], i64> {model.name = "out"}) {
  %out = model.reduce sum %x axes [1] : (!model.tensor<[2, 3], i64>) -> !model.tensor<[2], i64>
  return %out : !model.tensor<[2], i64>
}
)mlir",
                  {{"x", ints({2, 3}, {1, -2, 3, 4, 5, 6})}}),
              "out",
      ints({2}, {2, 15}));
}

TEST(Reductions, MaxCarriesNaN) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[2, 3], f32> {model.name = "x"}) -> (!model.tensor<[2], f32> {model.name = "out"}) {
  %out = model.reduce max %x axes [1] : (!model.tensor<[2, 3], f32>) -> !model.tensor<[2], f32>
  return %out : !model.tensor<[2], f32>
}
)mlir",
                  {{"x", reals({2, 3}, {1, NAN, 3, -4, -5, -INFINITY})}}),
              "out",
      reals({2}, {NAN, -4}));
}

TEST(Reductions, ArgmaxTakesTheFirst) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[2, 3], f32> {model.name = "x"}) -> (!model.tensor<[2], i64> {model.name = "out"}) {
  %out = model.reduce argmax %x axes [1] : (!model.tensor<[2, 3], f32>) -> !model.tensor<[2], i64>
  return %out : !model.tensor<[2], i64>
}
)mlir",
                  {{"x", reals({2, 3}, {1, 3, 3, 7, 7, 7})}}),
              "out",
      ints({2}, {1, 0}));
}

TEST(Reductions, ArgmaxOfAnInnerAxis) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[2, 3, 2], f32> {model.name = "x"}) -> (!model.tensor<[2, 2], i64> {model.name = "out"}) {
  %out = model.reduce argmax %x axes [1] : (!model.tensor<[2, 3, 2], f32>) -> !model.tensor<[2, 2], i64>
  return %out : !model.tensor<[2, 2], i64>
}
)mlir",
                  {{"x", fill({2, 3, 2}, 1)}}),
              "out",
      ints({2, 2}, {2, 2, 2, 1}));
}

TEST(Reductions, Cumsum) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[2, 3, 2], f32> {model.name = "x"}) -> (!model.tensor<[2, 3, 2], f32> {model.name = "out"}) {
  %out = model.cumsum %x axis 1 : (!model.tensor<[2, 3, 2], f32>) -> !model.tensor<[2, 3, 2], f32>
  return %out : !model.tensor<[2, 3, 2], f32>
}
)mlir",
                  {{"x", fill({2, 3, 2}, 1)}}),
              "out",
      reals({2, 3, 2}, {0, -1.125, 0.625, -1.625, 1.875, -1.5, -1, 0.75, -1.375, 2.125, -1.125, 1.25}));
}

TEST(Reductions, CumsumGoesOn) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[2, 3], i64> {model.name = "x"}, %i: !model.tensor<[2], i64> {model.name = "i"}) -> (!model.tensor<[2, 3], i64> {model.name = "out"}) {
  %out = model.cumsum %x init %i axis 1 : (!model.tensor<[2, 3], i64>, !model.tensor<[2], i64>) -> !model.tensor<[2, 3], i64>
  return %out : !model.tensor<[2, 3], i64>
}
)mlir",
                  {{"x", ints({2, 3}, {1, 1, 0, 1, 0, 1})},
                   {"i", ints({2}, {10, 20})}}),
              "out",
      ints({2, 3}, {11, 12, 12, 21, 21, 22}));
}

TEST(Reductions, Softmax) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[2, 3, 2], f32> {model.name = "x"}) -> (!model.tensor<[2, 3, 2], f32> {model.name = "out"}) {
  %out = model.softmax %x axis 1 : (!model.tensor<[2, 3, 2], f32>) -> !model.tensor<[2, 3, 2], f32>
  return %out : !model.tensor<[2, 3, 2], f32>
}
)mlir",
                  {{"x", fill({2, 3, 2}, 1)}}),
              "out",
      reals({2, 3, 2}, {0.1572675971642, 0.1572675971642, 0.293814552637, 0.293814552637, 0.5489178501988, 0.5489178501988,
          0.1572675971642, 0.3262474951867, 0.293814552637, 0.6095105640049, 0.5489178501988, 0.06424194080838}));
}

TEST(Reductions, LogSoftmax) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[2, 3], f32> {model.name = "x"}) -> (!model.tensor<[2, 3], f32> {model.name = "out"}) {
  %out = model.softmax %x axis 1 logarithm : (!model.tensor<[2, 3], f32>) -> !model.tensor<[2, 3], f32>
  return %out : !model.tensor<[2, 3], f32>
}
)mlir",
                  {{"x", fill({2, 3}, 1)}}),
              "out",
      reals({2, 3}, {-1.160929101385, -2.285929101385, -0.5359291013853, -2.154415497999, -0.4044154979993, -1.529415497999}));
}

/// Of equals the lower index; a NaN is the largest.
TEST(Reductions, TopKTiesAndNaN) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[2, 4], f32> {model.name = "x"}) -> (!model.tensor<[2, 4], f32> {model.name = "out"}) {
  %out = model.top_k %x k 2 fill -1.5 : (!model.tensor<[2, 4], f32>) -> !model.tensor<[2, 4], f32>
  return %out : !model.tensor<[2, 4], f32>
}
)mlir",
                  {{"x", reals({2, 4}, {2, 5, 5, 5, 1, NAN, 0, 1})}}),
              "out",
      reals({2, 4}, {-1.5, 5, 5, -1.5, 1, NAN, -1.5, -1.5}));
}
