//===- EntryTest.cpp - inputs, defaults, repeats, states, refusals ------------===//

#include "test/Interpreter/Support.h"

using namespace heddle;
using namespace heddle::check;

//===-- inputs -----------------------------------------------------------------===//

static const char *const twoInputs = R"mlir(
module attributes {model.dims = {T = 3 : i64}} {
func.func @run(%x: !model.tensor<[B, T], f32> {model.name = "states"},
               %y: !model.tensor<[B, "2*T"], f32> {model.name = "pairs"}) -> (!model.tensor<[B, "3*T"], f32> {model.name = "out"}) {
  %out = model.concat %x, %y axis 1 : (!model.tensor<[B, T], f32>, !model.tensor<[B, "2*T"], f32>) -> !model.tensor<[B, "3*T"], f32>
  return %out : !model.tensor<[B, "3*T"], f32>
}
})mlir";

TEST(Inputs, BindDims) {
  expectClose(run(twoInputs, {{"states", reals({1, 2}, {1, 2})}, {"pairs", reals({1, 4}, {3, 4, 5, 6})}}), "out",
              reals({1, 6}, {1, 2, 3, 4, 5, 6}));
}
TEST(Inputs, MissingLeadingAxesStretch) {
  expectClose(run(twoInputs, {{"states", reals({2, 1}, {1, 2})}, {"pairs", reals({2}, {3, 4})}}), "out",
              reals({2, 3}, {1, 3, 4, 2, 3, 4}));
}
TEST(Inputs, LeadingAxisThatNobodyGivesIsOne) {
  expectClose(run(twoInputs, {{"states", reals({1}, {1})}, {"pairs", reals({2}, {3, 4})}}), "out",
              reals({1, 3}, {1, 3, 4}));
}
TEST(Inputs, IntegersAreReals) {
  expectClose(run(twoInputs, {{"states", ints({1, 1}, {1})}, {"pairs", bools({1, 2}, {1, 0})}}), "out",
              reals({1, 3}, {1, 1, 0}));
}
TEST(Inputs, FormsAreChecked) {
  expectError(run(twoInputs, {{"states", fill({1, 2}, 1)}, {"pairs", fill({1, 5}, 1)}}),
              "input 'pairs': the axis 2*T should be 4, is 5");
}
TEST(Inputs, DimsAgree) {
  expectError(run(twoInputs, {{"states", fill({1, 2}, 1)}, {"pairs", fill({3, 4}, 1)}}),
              "input 'pairs' has B = 3, but it is 1 elsewhere");
}
TEST(Inputs, BoundsHold) {
  expectError(run(twoInputs, {{"states", fill({1, 4}, 1)}, {"pairs", fill({1, 8}, 1)}}), "T = 4 is past its bound 3");
}
TEST(Inputs, RankAtMostTheDeclared) {
  expectError(run(twoInputs, {{"states", fill({1, 1, 2}, 1)}, {"pairs", fill({1, 4}, 1)}}), "has rank 3");
}
TEST(Inputs, MissingOne) {
  expectError(run(twoInputs, {{"states", fill({1, 2}, 1)}}), "input 'pairs' is missing and has no default");
}
TEST(Inputs, UnknownOne) {
  expectError(run(twoInputs, {{"states", fill({1, 2}, 1)}, {"paris", fill({1, 4}, 1)}}),
              "no input 'paris'; did you mean 'pairs'?");
  expectError(run(twoInputs, {{"ids", fill({1, 2}, 1)}}), "no input 'ids'; the model takes states, pairs");
}

static const char *const table = R"mlir(
func.func @run(%ids: !model.tensor<[N], i64> {model.name = "ids"}) -> (!model.tensor<[N, 2], f32> {model.name = "out"}) {
  %w = model.param "w" : !model.tensor<[3, 2], f32>
  %out = model.embedding %ids in %w : (!model.tensor<[N], i64>, !model.tensor<[3, 2], f32>) -> !model.tensor<[N, 2], f32>
  return %out : !model.tensor<[N, 2], f32>
})mlir";

TEST(Inputs, RealsAreNoIntegers) {
  expectError(run(table, {{"ids", reals({1}, {1})}, {"w", fill({3, 2}, 1)}}), "input 'ids' must be i64, but is f32");
}
TEST(Inputs, NoElements) {
  expectClose(run(table, {{"ids", ints({0}, {})}, {"w", fill({3, 2}, 1)}}), "out", reals({0, 2}, {}));
}
TEST(Refusals, IdOutsideOfTheTable) {
  expectError(run(table, {{"ids", ints({2}, {0, 3})}, {"w", fill({3, 2}, 1)}}),
              "the id 3 is outside of the table of 3 rows");
  expectError(run(table, {{"ids", ints({1}, {-1})}, {"w", fill({3, 2}, 1)}}), "the id -1 is outside");
}
TEST(Refusals, ParameterThatIsNotThere) {
  expectError(run(table, {{"ids", ints({1}, {0})}}), "the parameter 'w' cannot be read");
}
TEST(Refusals, ParameterOfAnotherShape) {
  expectError(run(table, {{"ids", ints({1}, {0})}, {"w", fill({2, 3}, 1)}}), "the parameter 'w' is [2, 3] in the file");
}
TEST(Refusals, GatherOutside) {
  expectError(run(R"mlir(
func.func @run(%x: !model.tensor<[1, 2, 1], f32> {model.name = "x"}, %at: !model.tensor<[1], i64> {model.name = "at"}) -> (!model.tensor<[1, 1], f32> {model.name = "out"}) {
  %out = model.gather %x at %at : (!model.tensor<[1, 2, 1], f32>, !model.tensor<[1], i64>) -> !model.tensor<[1, 1], f32>
  return %out : !model.tensor<[1, 1], f32>
})mlir",
                  {{"x", fill({1, 2, 1}, 1)}, {"at", ints({1}, {2})}}),
              "the row 2 is outside of 2 rows");
}
TEST(Refusals, MaskThatDoesNotFit) {
  expectError(weights("  %m = mask.keys %t : !model.tensor<[3], i64>\n",
                      "%t: !model.tensor<[3], i64> {model.name = \"t\"}", {{"t", ints({3}, {1, 1, 1})}},
                      {1, 2, 4, 1, 0}),
              "has an axis of 3 where the scores have one of 4");
  expectError(weights("  %m = mask.blocks 2, %t : !model.tensor<[2, 2, 1], i64>\n",
                      "%t: !model.tensor<[2, 2, 1], i64> {model.name = \"t\"}", {{"t", ints({2, 2, 1}, {0, 1, 1, 0})}},
                      {1, 3, 3, 3, 0}),
              "has an axis of 2 where the scores have one of 3");
}
TEST(Refusals, LengthBelowZero) {
  expectError(run(R"mlir(
func.func @run(%x: !model.tensor<[T], f32> {model.name = "x"}) -> (!model.tensor<["T-2"], f32> {model.name = "out"}) {
  %out = model.slice %x axis 0 from "2" to "T" : (!model.tensor<[T], f32>) -> !model.tensor<["T-2"], f32>
  return %out : !model.tensor<["T-2"], f32>
})mlir",
                  {{"x", fill({1}, 1)}}),
              "takes T >= 2, got T is 1");
}
TEST(Refusals, OpOfAnotherDialect) {
  expectError(run(R"mlir(
func.func @run(%x: !model.tensor<[1], f32> {model.name = "x"}) -> (!model.tensor<[1], f32> {model.name = "out"}) {
  func.call @other() : () -> ()
  return %x : !model.tensor<[1], f32>
}
func.func private @other())mlir",
                  {{"x", fill({1}, 1)}}),
              "cannot be interpreted");
}

//===-- defaults ---------------------------------------------------------------===//

static const char *const defaults = R"mlir(
func.func @run(%x: !model.tensor<[B, T], f32> {model.name = "x"},
               %mask: !model.tensor<[B, T], f32> {model.name = "mask", model.default},
               %far: !model.tensor<[N], f32> {model.name = "far", model.default}) -> (!model.tensor<[B, T], f32> {model.name = "out"}) {
  %m = model.default %mask : !model.tensor<[B, T], f32> -> !model.tensor<[B, T], f32> {
    %two = model.constant dense<2.0> : tensor<f64> : !model.tensor<[], f32>
    model.yield %two : !model.tensor<[], f32>
  }
  %f = model.default %far : !model.tensor<[N], f32> -> !model.tensor<[N], f32> {
    %c = model.constant dense<[10.0, 20.0, 30.0]> : tensor<3xf64> : !model.tensor<[3], f32>
    model.yield %c : !model.tensor<[3], f32>
  }
  %s = model.reduce sum %f axes [0] : (!model.tensor<[N], f32>) -> !model.tensor<[], f32>
  %a = model.binary mul %x, %m : (!model.tensor<[B, T], f32>, !model.tensor<[B, T], f32>) -> !model.tensor<[B, T], f32>
  %out = model.binary add %a, %s : (!model.tensor<[B, T], f32>, !model.tensor<[], f32>) -> !model.tensor<[B, T], f32>
  return %out : !model.tensor<[B, T], f32>
})mlir";

TEST(Defaults, StandForWhatIsNotGiven) {
  expectClose(run(defaults, {{"x", reals({1, 2}, {1, 2})}}), "out", reals({1, 2}, {62, 64}));
}
TEST(Defaults, GiveWayToWhatIs) {
  expectClose(
      run(defaults, {{"x", reals({1, 2}, {1, 2})}, {"mask", reals({1, 2}, {0, 1})}, {"far", reals({2}, {1, 0})}}),
      "out", reals({1, 2}, {1, 3}));
}
TEST(Defaults, InputReadWithoutOne) {
  expectError(run(R"mlir(
func.func @run(%x: !model.tensor<[1], f32> {model.name = "x", model.default}) -> (!model.tensor<[1], f32> {model.name = "out"}) {
  %out = model.unary neg %x : (!model.tensor<[1], f32>) -> !model.tensor<[1], f32>
  return %out : !model.tensor<[1], f32>
})mlir",
                  {}),
              "operand 0 is an input that was not given");
}

//===-- repeats ----------------------------------------------------------------===//

static const char *const layers = R"mlir(
func.func @run(%x: !model.tensor<[T, 2], f32> {model.name = "x"}) -> (!model.tensor<[T, 2], f32> {model.name = "out"}, !model.tensor<[3, T, 2], f32> {model.name = "before"}) {
  %one = model.constant dense<1.0> : tensor<f64> : !model.tensor<[], f32>
  %y, %before = model.repeat 3 iter(%x) : (!model.tensor<[T, 2], f32>) -> (!model.tensor<[T, 2], f32>, !model.tensor<[3, T, 2], f32>) {
  ^bb0(%i: index, %h: !model.tensor<[T, 2], f32>):
    %w = model.param "h.{0}.scale"[%i] : !model.tensor<[2], f32>
    %a = model.binary mul %h, %w : (!model.tensor<[T, 2], f32>, !model.tensor<[2], f32>) -> !model.tensor<[T, 2], f32>
    %b = model.binary add %a, %one : (!model.tensor<[T, 2], f32>, !model.tensor<[], f32>) -> !model.tensor<[T, 2], f32>
    model.yield %b, %h : !model.tensor<[T, 2], f32>, !model.tensor<[T, 2], f32>
  }
  return %y, %before : !model.tensor<[T, 2], f32>, !model.tensor<[3, T, 2], f32>
})mlir";

TEST(Repeat, CarriesAndCollects) {
  Outcome got = run(layers, {{"x", reals({1, 2}, {1, 2})},
                             {"h.0.scale", reals({2}, {2, 3})},
                             {"h.1.scale", reals({2}, {-1, 1})},
                             {"h.2.scale", reals({2}, {10, 100})}});
  expectClose(got, "out", reals({1, 2}, {-19, 801}));
  expectClose(got, "before", reals({3, 1, 2}, {1, 2, 3, 7, -2, 8}));
}
TEST(Repeat, SwapsCarriedValues) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[1], f32> {model.name = "x"}, %y: !model.tensor<[1], f32> {model.name = "y"}) -> (!model.tensor<[1], f32> {model.name = "out"}) {
  %a, %b = model.repeat 3 iter(%x, %y) : (!model.tensor<[1], f32>, !model.tensor<[1], f32>) -> (!model.tensor<[1], f32>, !model.tensor<[1], f32>) {
  ^bb0(%i: index, %p: !model.tensor<[1], f32>, %q: !model.tensor<[1], f32>):
    model.yield %q, %p : !model.tensor<[1], f32>, !model.tensor<[1], f32>
  }
  return %a : !model.tensor<[1], f32>
})mlir",
                  {{"x", reals({1}, {1})}, {"y", reals({1}, {2})}}),
              "out", reals({1}, {2}));
}

//===-- states -----------------------------------------------------------------===//

static const char *const states = R"mlir(
func.func @step(%x: !model.tensor<[B, new], f32> {model.name = "x"}, %s: !model.state<[2, B, capacity], f32> {model.state = "rows"},
                %t: !model.state<[], f32> {model.state = "sum"}) -> (!model.tensor<[2, B, "past+new"], f32> {model.name = "all"}, !model.tensor<[], f32> {model.name = "before"}) {
  %all = model.repeat 2 iter() : () -> (!model.tensor<[2, B, "past+new"], f32>) {
  ^bb0(%i: index):
    %w = model.param "w.{0}"[%i] : !model.tensor<[], f32>
    %y = model.binary mul %x, %w : (!model.tensor<[B, new], f32>, !model.tensor<[], f32>) -> !model.tensor<[B, new], f32>
    %a = model.append %s[%i], %y axis 1 : !model.state<[2, B, capacity], f32>, !model.tensor<[B, new], f32> -> !model.tensor<[B, "past+new"], f32>
    model.yield %a : !model.tensor<[B, "past+new"], f32>
  }
  %before = model.load %t : !model.state<[], f32> -> !model.tensor<[], f32>
  %sum = model.reduce sum %x axes [0, 1] : (!model.tensor<[B, new], f32>) -> !model.tensor<[], f32>
  %more = model.binary add %before, %sum : (!model.tensor<[], f32>, !model.tensor<[], f32>) -> !model.tensor<[], f32>
  model.store %more in %t : !model.tensor<[], f32>, !model.state<[], f32>
  return %all, %before : !model.tensor<[2, B, "past+new"], f32>, !model.tensor<[], f32>
})mlir";

TEST(States, AppendLoadAndStore) {
  Tensors w{{"w.0", reals({}, {1})}, {"w.1", reals({}, {10})}};
  auto got = runAll(states,
                    {{"step", {{"x", reals({1, 2}, {1, 2})}}, {{"past", 0}, {"capacity", 3}}},
                     {"step", {{"x", reals({1, 1}, {3})}}, {{"past", 2}, {"capacity", 3}}},
                     {"step", {{"x", reals({1, 1}, {4})}}, {{"past", 1}, {"capacity", 3}}},
                     {"step", {{"x", reals({1, 1}, {5})}}, {{"past", 3}, {"capacity", 3}}}},
                    w);
  expectClose(got[0], "all", reals({2, 1, 2}, {1, 2, 10, 20}));
  expectClose(got[0], "before", reals({}, {0}));
  expectClose(got[1], "all", reals({2, 1, 3}, {1, 2, 3, 10, 20, 30}));
  expectClose(got[1], "before", reals({}, {3}));
  expectClose(got[2], "all", reals({2, 1, 2}, {1, 4, 10, 40}));
  expectError(got[3], "row 4 is past the capacity of 3 rows");
}
TEST(States, KeepTheirShape) {
  Tensors w{{"w.0", reals({}, {1})}, {"w.1", reals({}, {10})}};
  auto got = runAll(states,
                    {{"step", {{"x", reals({1, 1}, {1})}}, {{"past", 0}, {"capacity", 3}}},
                     {"step", {{"x", reals({2, 1}, {1, 1})}}, {{"past", 1}, {"capacity", 3}}}},
                    w);
  expectError(got[1], "the state 'rows' is [2, 1, 3], but here [2, 2, 3]");
}

//===-- declared types ---------------------------------------------------------===//

TEST(DeclaredTypes, RoundEveryResult) {
  const char *ir = R"mlir(
func.func @run(%x: !model.tensor<[1], f32> {model.name = "x"}) -> (!model.tensor<[1], f32> {model.name = "out"}) {
  %c = model.constant dense<0.1> : tensor<f64> : !model.tensor<[], f32>
  %out = model.binary mul %x, %c : (!model.tensor<[1], f32>, !model.tensor<[], f32>) -> !model.tensor<[1], f32>
  return %out : !model.tensor<[1], f32>
})mlir";
  expectClose(run(ir, {{"x", reals({1}, {3})}}), "out", reals({1}, {3 * 0.1}), 0);
  expectClose(run(ir, {{"x", reals({1}, {3})}}, true), "out", reals({1}, {double(3 * 0.1f)}), 0);
}
